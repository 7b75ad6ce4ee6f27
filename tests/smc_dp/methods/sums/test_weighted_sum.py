"""Size-weighted sums: their models, what one record can move, replaced or added, and what may be known of sizes."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.method import AGAINST_ALL_BUT_AGGREGATOR
from smc_dp.methods.model import LinearModel
from smc_dp.methods.sums.threat_model import AnnouncedRows, RowCounts, ThreatModel
from smc_dp.methods.sums.weighted_sum import ADD_REMOVE_CAVEATS, WEIGHTED_SUM_CAVEATS, WeightedSum, WeightedSumAddRemove
from smc_dp.methods.training.classes import code
from smc_dp.methods.training.solver import PUBLIC_TAU
from smc_dp.privacy.output import GRID, calibrate_noise
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.sensitivity import add_remove, largest_norm, logistic_constants
from smc_dp.privacy.target import NoiseName, Target
from tests.smc_dp.methods.pathak2010.test_averages import rows

LAM = 0.05
Method = WeightedSum | WeightedSumAddRemove


FEDERATION = Federation((rows(40, 1), rows(25, 2), rows(60, 3)), 2)


def seeded(name: str = "weighted") -> Stream:
    return Stream.insecure_from_seed(name)


def released(method: Method, target: Target, rng: Stream) -> Array:
    model = method.train(FEDERATION).release(target, rng).model
    return np.asarray(model.W[1] - model.W[0])


def weighted_oracle() -> Array:
    """The sum of n_j w_j by scikit-learn."""
    total = np.zeros(3)
    for data in FEDERATION.parties:
        other = LogisticRegression(C=1 / (2 * LAM * len(data)), fit_intercept=False, tol=1e-12, max_iter=10_000)
        total += len(data) * other.fit(data.X, data.y).coef_[0]
    return total


def test_without_noise_it_is_the_mean_over_all_rows() -> None:
    found = released(WeightedSum(LAM), Target(None), seeded())
    np.testing.assert_allclose(found, weighted_oracle() / 125, atol=1e-6)


def test_the_number_of_rows_is_not_in_a_release_that_protects_it() -> None:
    """Weights are the sum over a public constant; the same labels as the mean, by the same direction."""
    found = released(WeightedSumAddRemove(LAM), Target(None), seeded())
    np.testing.assert_allclose(found * LARGEST_N, weighted_oracle(), rtol=1e-6, atol=1e-4)
    mean = released(WeightedSum(LAM), Target(None), seeded())
    np.testing.assert_allclose(found / np.linalg.norm(found), mean / np.linalg.norm(mean), rtol=1e-7)
    X = rows(500, 9).X
    both = [LinearModel.from_coordinates(w[np.newaxis], 2).predict(X) for w in (found, mean)]
    assert (both[0] == both[1]).all()


def test_sensitivities_are_G_over_mu_and_the_root_of_squares() -> None:
    mu = 2 * Fraction(LAM)
    tolerance = 2 * LARGEST_N * Fraction(PUBLIC_TAU) / mu
    assert WeightedSum(LAM).sensitivity == Fraction(logistic_constants(mu).G) / mu + tolerance
    W = largest_norm(mu)
    exact = math.hypot(1 / (1 + math.exp(-W)), 2 * LAM * W) / (2 * LAM)
    assert float(WeightedSumAddRemove(LAM).sensitivity - tolerance) == pytest.approx(exact, rel=1e-11)
    assert WeightedSumAddRemove(LAM).sensitivity - tolerance > exact


@pytest.mark.parametrize("make", [WeightedSum, WeightedSumAddRemove])
@pytest.mark.parametrize("noise", ["knorm", "laplace", "gauss"])
def test_a_release_is_the_sum_on_the_grid_and_the_proven_noise(make: type[Method], noise: NoiseName) -> None:
    method, target = make(LAM), Target(Fraction(1, 2), noise=noise)
    calibrated = calibrate_noise(target, 3, method.sensitivity)
    drawn = np.array([float(e) for e in calibrated.distribution.sample(seeded())]) / 2**40
    divisor = 125 if make is WeightedSum else LARGEST_N
    wanted = released(method, Target(None), seeded()) + drawn / divisor
    np.testing.assert_allclose(released(method, target, seeded()), wanted, rtol=1e-9, atol=1e-15)


# Neighbours, exactly: how far the sum on the grid moves.


def sum_of(method: Method, parties: list[Rows]) -> Array:
    """The sum as integers, from a release without noise."""
    divisor = sum(map(len, parties)) if isinstance(method, WeightedSum) else LARGEST_N
    trained = method.train(Federation(tuple(parties), 2))
    parts = [GRID.encode(w.tolist(), factor=n) for w, n in zip(trained.known, map(len, parties), strict=True)]
    total = np.array([float(sum(column)) for column in zip(*parts, strict=True)])
    model = trained.release(Target(None), seeded()).model
    np.testing.assert_allclose((model.W[1] - model.W[0]) * divisor * 2.0**40, total, rtol=1e-9, atol=10)
    return total


def at_one(label: int, n: int) -> Rows:
    """A row at x = 1 with this label, and n - 1 at zero, which curve the objective least."""
    return Rows((1 - 2.0**-40) * np.eye(n)[:, :1], np.array([label] + [0] * (n - 1)))


@pytest.mark.parametrize("n", [1, 2, 40])
def test_replacing_a_record_costs_the_same_in_a_party_of_any_size(n: int) -> None:
    method, rest = WeightedSum(1.0), at_one(1, 7)
    moved = abs(float((sum_of(method, [at_one(0, n), rest]) - sum_of(method, [at_one(1, n), rest]))[0]))
    charged = calibrate_noise(Target(Fraction(1)), 1, method.sensitivity).sensitivity
    assert moved <= charged
    if n > 2:
        assert moved > 0.95 * charged
        assert (
            moved > calibrate_noise(Target(Fraction(1)), 1, WeightedSum(2.0).sensitivity).sensitivity
        )  # broken twin: 2 mu


@pytest.mark.parametrize("lam", [1.0, 0.01, 0.001])
def test_adding_a_record_costs_no_more_than_is_charged(lam: float) -> None:
    method, W = WeightedSumAddRemove(lam), largest_norm(2 * lam)
    charged = calibrate_noise(Target(Fraction(1)), 1, method.sensitivity).sensitivity
    moves = []
    for length in (min(1.0, t / W) for t in (0.8, 1.278, 2.0)):
        for m in (1, 8, 400):
            X = np.full((m + 1, 1), length)
            X[m] = -(1 - 2.0**-40)
            y = np.ones(m + 1, dtype=np.int64)
            more, fewer = (sum_of(method, [Rows(X[:k], y[:k]), at_one(0, 5)]) for k in (m + 1, m))
            moves.append(abs(float(more[0] - fewer[0])))
    assert 0.6 * charged < max(moves) <= charged
    twin = calibrate_noise(Target(Fraction(1)), 1, add_remove(4 * Fraction(lam), 0.0)).sensitivity
    assert max(moves) > twin  # broken twin: a modulus twice too large


# Statements.


def test_statements_say_what_of_sizes() -> None:
    replaced, added = (
        method.train(FEDERATION).release(Target(Fraction(1)), Stream.from_system()).privacy
        for method in (WeightedSum(LAM), WeightedSumAddRemove(LAM))
    )
    assert all(found.adversary == AGAINST_ALL_BUT_AGGREGATOR for found in (replaced, added))
    assert (replaced.caveats, added.caveats) == (WEIGHTED_SUM_CAVEATS, ADD_REMOVE_CAVEATS)


# Three classes.


def in_three(n: int, seed: int, d: int = 3) -> Rows:
    found = rows(n, seed, d)
    return Rows(found.X, (np.random.default_rng(seed).normal(size=(n, 3)) + 3 * found.X[:, :3]).argmax(axis=1))


def test_of_three_classes_it_is_the_weighted_sum_of_softmax_models() -> None:
    parties = (in_three(60, 1), in_three(35, 2))
    wanted = np.zeros((3, 3))
    for data in parties:
        other = LogisticRegression(C=1 / (2 * LAM * len(data)), fit_intercept=False, tol=1e-12, max_iter=10_000)
        wanted += len(data) * other.fit(data.X, data.y).coef_
    for method, divisor in ((WeightedSum(LAM), 95), (WeightedSumAddRemove(LAM), LARGEST_N)):
        model = method.train(Federation(parties, 3)).release(Target(None), seeded()).model
        np.testing.assert_allclose(model.W * divisor, wanted - wanted.mean(axis=0), atol=1e-4)


@pytest.mark.parametrize("make", [WeightedSum, WeightedSumAddRemove])
def test_of_three_classes_every_number_has_the_noise_that_is_proven_for_three(make: type[Method]) -> None:
    parties, method, target = Federation((in_three(60, 1), in_three(35, 2)), 3), make(LAM), Target(Fraction(1, 2))
    law = calibrate_noise(target, 2 * 3, method.sensitivity_to(LARGEST_N, 3)).distribution
    drawn = np.array([float(e) for e in law.sample(seeded())]).reshape(2, 3) / 2**40
    models = [method.train(parties).release(wanted, seeded()).model for wanted in (target, Target(None))]
    noisy, plain = (code(3).T @ model.W for model in models)
    divisor = 95 if make is WeightedSum else LARGEST_N
    np.testing.assert_allclose(noisy, plain + drawn / divisor, rtol=1e-9, atol=1e-15)
    two = calibrate_noise(target, 2 * 3, method.sensitivity).distribution  # broken twin: what is proven for two
    assert [float(e) for e in two.sample(seeded())] != [float(e) for e in law.sample(seeded())]


@pytest.mark.parametrize("make", [WeightedSum, WeightedSumAddRemove])
def test_of_three_classes_a_party_enters_nothing_longer_than_the_ring_has_room_for(make: type[Method]) -> None:
    most, public = 50, Public(3, 1, 3, None)
    sizes: RowCounts = "released" if make is WeightedSum else "hidden"
    spec = make(1.0).shared(public, Target(Fraction(1), noise="ddg"), ThreatModel(3, 1, 0), AnnouncedRows(most, sizes))
    alike = Rows(np.full((most, 1), 1 - 2.0**-40), np.zeros(most, dtype=np.int64))
    entered = float(np.linalg.norm(spec.reals(spec.numbers(alike))))
    assert most * largest_norm(2) < entered <= spec.reach.longest  # and more than there is room for of two


def neighbours(rng: np.random.Generator, n: int) -> tuple[Rows, Rows, Rows]:
    """Rows, the same with another first record, and without it: misfits, which pull the most, at either end."""
    d = int(rng.integers(1, 3))
    X = rng.normal(size=(n, d)) * rng.choice([0.0, 1.0], (n, 1), p=[0.8, 0.2])
    X[0] = rng.normal(size=d)
    X /= np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True) * (1 + 1e-9))
    X[0] *= (1 - 1e-9) / np.linalg.norm(X[0])
    y = np.where(np.arange(n) == 0, 0, rng.integers(1, 3, n))
    other, classes = X.copy(), y.copy()
    other[0], classes[0] = (-X[0], 0) if rng.random() < 0.7 else (X[0], 1)
    return Rows(X, y), Rows(other, classes), Rows(X[1:], y[1:])


@pytest.mark.parametrize("lam", [1.0, 0.02])
def test_no_neighbours_of_three_classes_are_further_apart_than_is_charged(lam: float) -> None:
    """But further than would be charged for two: with a strong regulariser hardly less than the bound moves a sum."""
    rng, most = np.random.default_rng(5), {WeightedSum: 0.0, WeightedSumAddRemove: 0.0}
    for _ in range(50):
        first, replaced, without = neighbours(rng, int(rng.integers(2, 8)))
        here, there, less = (len(data) * trained_alone(data, lam) for data in (first, replaced, without))
        for make, other in ((WeightedSum, there), (WeightedSumAddRemove, less)):
            most[make] = max(most[make], float(np.linalg.norm(here - other)))
    for make, moved in most.items():
        assert moved <= make(lam).sensitivity_to(8, 3)
        assert lam < 1 or moved > make(lam).sensitivity_to(8)


def trained_alone(data: Rows, lam: float) -> Array:
    found: Array = WeightedSum(lam).train(Federation((data,), 3)).known[0]
    return found
