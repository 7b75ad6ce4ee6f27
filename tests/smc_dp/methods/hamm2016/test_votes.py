"""Aggregation of local classifiers (Hamm, Cao and Belkin 2016): neighbours, scales, dimensions, true epsilons."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
import scipy.special
import scipy.stats
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array, into_ball
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.hamm2016 import votes
from smc_dp.methods.hamm2016.ensemble import Ensemble, train_ensemble
from smc_dp.methods.hamm2016.release_all import ReleaseAll
from smc_dp.methods.hamm2016.votes import Average, Soft, SoftAuxiliary, Vote, majority_labels
from smc_dp.methods.hamm2016.weights import (
    TrainedWeights,
    WeightNoise,
    clipped,
    minimiser_sensitivity,
    stacking_error,
    sum_on_grid,
)
from smc_dp.methods.model import LinearModel, area_under_curve
from smc_dp.methods.training.classes import code
from smc_dp.methods.training.votes import count_votes
from smc_dp.privacy.output import GRID, calibrate_noise
from smc_dp.privacy.sensitivity import largest_softmax_norm
from smc_dp.privacy.target import Calibration, NoiseName, Target
from tests.support.refusals import refused

ONE = Target(Fraction(1))


def rows_in_ball(n: int, d: int, rng: np.random.Generator) -> Array:
    return into_ball(rng.normal(size=(n, d)), math.sqrt(d))


def a_federation(M: int = 5, n: int = 6, N: int = 20, d: int = 3, classes: int = 2, seed: int = 0) -> Federation:
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(classes, d))
    parties = []
    for _ in range(M):
        X = rows_in_ball(n, d, rng)
        parties.append(Rows(X, (X @ truth.T).argmax(axis=1)))
    return Federation(tuple(parties), classes, rows_in_ball(N, d, rng))


@dataclass(frozen=True)
class Says:
    """A classifier that chooses these classes for the auxiliary rows, in their order."""

    answers: tuple[int, ...]

    def __call__(self, X: Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array(self.answers)[: len(X)]


def voting(X: Array, classes: int, *answers: tuple[int, ...]) -> Ensemble:
    """As many parties as there are answers, whose classifiers give them on the auxiliary rows X."""
    party = Rows(X[:1], np.zeros(1, dtype=np.int64))
    return Ensemble(Federation((party,) * len(answers), classes, X), tuple(map(Says, answers)))


def moved(a: TrainedWeights, b: TrainedWeights) -> float:
    """The distance of what stands on the grid, as real numbers."""
    difference = np.array(sum_on_grid(a.V), dtype=object) - np.array(sum_on_grid(b.V), dtype=object)
    return math.sqrt(sum(int(v) ** 2 for v in difference)) / 2**GRID.fraction_bits


def allowed(bound: Fraction, trained: TrainedWeights) -> float:
    """What neighbours may be apart on the grid, as a real number."""
    return GRID.l2_sensitivity(bound, trained.V[0].size) / 2**GRID.fraction_bits


def weights(model: object) -> Array:
    return model.W


# What is trained


@pytest.mark.parametrize("classes", [2, 3])
def test_soft_is_the_weighted_loss_s_minimiser(classes: int) -> None:
    # scikit-learn, each row once for each class with its share of the votes as weight
    federation = a_federation(classes=classes, M=7)
    trained = train_ensemble(federation, 0.1)
    X, counts = federation.unlabelled, trained.counts
    reference = LogisticRegression(C=1 / (0.1 * len(X)), fit_intercept=False, tol=1e-12, max_iter=10_000).fit(
        np.repeat(X, classes, axis=0), np.tile(np.arange(classes), len(X)), (counts / 7).ravel()
    )
    W = weights(Soft(lam=0.1).train_from(trained).release(Target(None), Stream.from_system()).model)
    expected = reference.coef_ if classes > 2 else np.vstack([-reference.coef_ / 2, reference.coef_ / 2])
    assert np.abs(W - (expected - expected.mean(axis=0))).max() < 1e-5


def test_majority_breaks_ties_as_the_paper_does() -> None:
    assert majority_labels(np.array([[1, 1], [2, 0], [0, 2]])).tolist() == [1, 0, 1]
    assert majority_labels(np.array([[1, 1, 0], [0, 2, 2], [0, 1, 3]])).tolist() == [0, 1, 2]


def test_average_is_the_mean_of_the_local_minimisers() -> None:
    federation = a_federation(classes=3, M=4)
    trained = train_ensemble(federation, 0.05)
    W = weights(Average(lam=0.05).train(federation).release(Target(None), Stream.from_system()).model)
    expected = weights(LinearModel.from_coordinates(trained.models(Average()).mean(axis=0), 3))
    assert np.abs(W - expected).max() < 1e-11


# Neighbours


def all_one(N: int, k: int) -> tuple[int, ...]:
    return (k,) * N


def test_vote_worst_case_flips_every_label() -> None:
    # the other M - 1 votes are tied (section 4.2)
    X = np.eye(2)[np.zeros(10, dtype=int)] * 1.0
    ties = (all_one(10, 0), all_one(10, 1))
    neighbours = [voting(X, 2, *ties, all_one(10, k)) for k in (0, 1)]
    assert all((majority_labels(e.counts) == k).all() for k, e in enumerate(neighbours))
    for lam in (1.0, 100.0):
        trained = [Vote(lam).train_from(e) for e in neighbours]
        distance, bound = moved(*trained), allowed(Vote(lam).sensitivity(2), trained[0])
        assert 0.65 * bound < distance <= bound
        assert distance > float(
            minimiser_sensitivity(Fraction(1, 3), lam, 2)
        )  # twin: as if a party had a share of 1/M only


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("lam", [1.0, 10.0])
def test_soft_with_constant_votes_comes_near_its_bound(classes: int, lam: float) -> None:
    M, N, X = 5, 8, np.tile([[1.0, 0.0]], (8, 1))
    others = [all_one(N, 0)] * (M - 1)
    neighbours = [voting(X, classes, *others, all_one(N, k)) for k in (0, 1)]
    trained = [Soft(lam).train_from(e) for e in neighbours]
    distance, bound = moved(*trained), allowed(Soft(lam).sensitivity(classes, M), trained[0])
    assert 0.5 * bound < distance <= bound
    assert distance > float(minimiser_sensitivity(Fraction(1, M * M), lam, classes))  # twin: M twice
    if classes > 2 and lam == 10:
        assert distance > float(minimiser_sensitivity(Fraction(1, M), lam, classes))  # twin: sqrt 2 missing


def test_printed_factor_for_auxiliary_rows_is_not_enough_for_the_logistic_loss() -> None:
    # N - 1 rows make w long; the last one turns from (-c, s) to (-c, -s), both on the wrong side.
    M, N, lam, c, s = 1500, 100, 0.005, math.cos(1.1), math.sin(1.1)
    pinned = np.tile([[1.0, 0.0]], (N - 1, 1))
    trained = []
    for sign in (1, -1):
        X = np.vstack([pinned, [[-c, sign * s]]]) * (1 - 1e-12)
        trained.append(SoftAuxiliary(lam).train_from(voting(X, 2, *[all_one(N, 1)] * M)))
    distance, bound = moved(*trained), allowed(SoftAuxiliary(lam).sensitivity(2, M, N), trained[0])
    assert 0.5 * bound < distance <= bound
    assert distance > (N + M - 1) / (N * M * lam) * 1.1  # twin: the printed factor on half of the printed constant


def test_average_reaches_its_bound() -> None:
    lam, w = 0.1, largest_softmax_norm(2, 0.1)
    V = np.array([[[w, 0.0]], [[0.3, 0.2]]])
    opposite = V.copy()
    opposite[0] = -V[0]
    federation = a_federation(M=2, d=2)
    trained = [Average(lam).train_from(Ensemble(federation, models)) for models in (V, opposite)]
    distance, bound = moved(*trained), allowed(Average(lam).sensitivity(2), trained[0])
    assert 0.999 * bound < distance <= bound
    assert distance > bound / 2  # twin: one W instead of two


def test_local_minimisers_are_never_clipped() -> None:
    for classes in (2, 4):
        federation = a_federation(M=3, n=1, d=2, classes=classes, seed=3)
        for lam in (1.0, 0.01, 1e-4):
            V = train_ensemble(federation, lam).models(Average())
            assert np.abs(clipped(V, largest_softmax_norm(classes, lam)) - V).max() <= 1e-9


def test_clipped_models_stay_inside_exactly() -> None:
    rng = np.random.default_rng(2)
    lengths = 10.0 ** rng.uniform(-2, 3, size=(40, 1, 1))
    V = rng.normal(size=(40, 3, 7)) * lengths
    V[0], V[1], V[2, 0, 0], V[3, 0, 0], V[4, 0, 0] = 1e308, 1e-310, np.nan, np.inf, -np.inf
    inside = clipped(V, 0.7)
    for v, before in zip(inside, V, strict=True):
        assert sum(Fraction(float(x)) ** 2 for x in v.ravel()) <= Fraction(0.7) ** 2
        if math.hypot(*before.ravel()) < 0.69:
            assert (v == before).all()
    assert not inside[2:5].any()


def test_sum_on_grid_is_exact() -> None:
    V = np.random.default_rng(3).uniform(-(2.0**21), 2.0**21, size=(50, 2, 3))
    expected = [sum(column) for column in zip(*(GRID.encode(v.ravel().tolist()) for v in V), strict=True)]
    assert sum_on_grid(V) == expected


# Scales, dimensions, statements


def epsilon_of(trained: TrainedWeights, calibration: Calibration, noise: NoiseName = "knorm") -> float:
    privacy = trained.release(Target(Fraction(1), calibration, noise), Stream.from_system()).privacy
    assert (privacy.kind, privacy.unit, privacy.adjacency) == ("pure", "party", "party")
    return privacy.epsilon


@pytest.mark.parametrize(("classes", "lam"), [(2, 1e-4), (2, 1.0), (6, 1e-4), (6, 1.0)])
def test_printed_noise_has_the_true_epsilon_of_the_theory(classes: int, lam: float) -> None:
    # nominal epsilon 1: true one = tight sensitivity over the printed scale, here from the closed forms
    M, N = 5, 20
    if classes == 2:
        w = max(scipy.optimize.brentq(lambda t: lam * t * t - t * scipy.special.expit(-t), 1e-6, 2e3), 0)
        W = math.sqrt(0.2784645427610738 / lam) if w > 1.278 else w
        constant, diameter, dimension = 2.0, 1.0, 3
    else:
        W = min(math.sqrt(float(scipy.special.lambertw((classes - 1) / math.e).real) / lam), math.sqrt(2) / lam)
        constant, diameter, dimension = math.sqrt(2), math.sqrt(2), 15
    expected = {
        Vote: min(diameter / lam, 2 * W) * lam / constant,
        Soft: min(diameter / (M * lam), 2 * W) * M * lam / constant,
        SoftAuxiliary: min(diameter * (N + 2 * M - 1) / (N * M * lam), 2 * W) * M * lam / constant * N / (N + M - 1),
        Average: 2 * W * lam / (2 if classes == 2 else 2 * math.sqrt(2)),
    }
    federation = a_federation(M=M, N=N, classes=classes)
    for method, figure in expected.items():
        trained = method(lam).train(federation)
        assert epsilon_of(trained, "paper") == pytest.approx(figure, rel=2e-5)
        assert epsilon_of(trained, "proven") == 1.0
        assert epsilon_of(trained, "proven", "laplace") == 1.0
        assert trained.V[0].size == dimension
    assert epsilon_of(Soft(lam).train(federation), "paper") <= 0.50001 * constant * diameter  # half for two classes


def test_only_printed_noise_leaves_the_zero_sum_subspace() -> None:
    trained = Soft(1.0).train(a_federation(classes=3))
    rng = Stream.insecure_from_seed(4)
    proven, printed = (weights(trained.release(Target(Fraction(1), c), rng).model) for c in ("proven", "paper"))
    assert np.abs(proven.sum(axis=0)).max() < 1e-9 < 1e-3 < np.abs(printed.sum(axis=0)).max()


def test_stacking_covers_the_float_product() -> None:
    rng = np.random.default_rng(5)
    B, W, exactly = code(10), largest_softmax_norm(10, 1.0), np.vectorize(Fraction, otypes=[object])
    for _ in range(20):
        V = clipped(rng.normal(size=(1, 9, 4)) * 9, W)[0]
        error = (exactly(B @ V) - exactly(B) @ exactly(V)).astype(float)
        assert 0 < 2 * np.linalg.norm(error) <= stacking_error(10, 1.0)
    assert stacking_error(2, 1.0) == 0


def test_a_mean_needs_weights_and_no_public_rows() -> None:
    federation = a_federation()
    with refused("learner.no_weights", method="avg"):
        Average().train_from(train_ensemble(federation, 1.0, LogisticRegression()))
    without = Federation(federation.parties, 2)
    assert Average().train(without).release(ONE, Stream.from_system()).privacy.epsilon == 1.0


def test_soft_aux_says_that_one_auxiliary_row_is_covered() -> None:
    def caveats(method: Soft | SoftAuxiliary) -> set[str]:
        return {*method.train(a_federation()).release(ONE, Stream.from_system()).privacy.caveats}

    assert caveats(SoftAuxiliary()) >= {*votes.ONE_ROW_CAVEATS}
    assert votes.PUBLIC_ROWS_CAVEAT in caveats(Soft())
    assert votes._ROW_BY_ROW_CAVEAT in caveats(SoftAuxiliary(learner=KNeighborsClassifier(1)))


@pytest.mark.parametrize("nominal", [None, Fraction(1)])
def test_proven_noise_is_for_the_sensitivity_of_the_sum(nominal: Fraction | None) -> None:
    found = WeightNoise(3, 0.1, Fraction(2, 3), nominal).calibrated(ONE, 4)
    assert found == calibrate_noise(ONE, 8, Fraction(2, 3))


# All classifiers of an ensemble, each with noise of its own.


def a_simulation(M: int = 30, classes: int = 3) -> tuple[Federation, Rows]:
    rng = np.random.default_rng(0)
    X = into_ball(rng.normal(size=(M * 8 + 200, 3)), 2.0)
    y = (X @ rng.normal(size=(3, classes))).argmax(axis=1)
    parties = tuple(Rows(X[i : i + 8], y[i : i + 8]) for i in range(0, M * 8, 8))
    return Federation(parties, classes), Rows(X[M * 8 :], y[M * 8 :])


def committee(method: ReleaseAll, federation: Federation, target: Target, rng: Stream) -> Array:
    model = method.train(federation).release(target, rng).model
    return model.V


def test_release_all_gives_every_model_noise_of_its_own() -> None:
    federation, _ = a_simulation()
    lam, rng, epsilon = 0.1, Stream.insecure_from_seed(1), Fraction(1, 2)
    exact = committee(ReleaseAll(lam), federation, Target(None), rng)
    assert np.abs(exact - train_ensemble(federation, lam).models(Average())).max() < 1e-9
    draws = [committee(ReleaseAll(lam), federation, Target(epsilon), rng) - exact for _ in range(8)]
    lengths = np.linalg.norm(np.reshape(draws, (240, 6)), axis=1)
    scale = 2 * largest_softmax_norm(3, lam) / float(epsilon)
    assert scipy.stats.kstest(lengths, scipy.stats.gamma(6, scale=scale).cdf).pvalue > 1e-6
    # twin: the noise of an average, which is 1/M of this
    assert scipy.stats.kstest(lengths, scipy.stats.gamma(6, scale=scale / 30).cdf).pvalue < 1e-12
    assert len({float(v) for v in draws[0].ravel()}) == draws[0].size  # no two the same


def test_a_committee_votes_and_is_protected_even_from_the_other_parties() -> None:
    federation, test = a_simulation()
    model = ReleaseAll(0.01).train(federation).release(Target(None), Stream.from_system()).model
    counts = count_votes(model.V, test.X, 3)
    assert model.accuracy(test) == np.mean(counts.argmax(axis=1) == test.y)
    assert model.accuracy(test) > 0.7
    accuracy, area = model.accuracy_and_auc(test)
    assert (accuracy, area) == (model.accuracy(test), area_under_curve(counts, test.y))
    assert 0.8 < area <= 1
    release = ReleaseAll().train(federation).release(Target(Fraction(2)), Stream.from_system())
    assert "other parties" in release.privacy.adversary
    assert 0 <= release.model.accuracy(test) <= 1
