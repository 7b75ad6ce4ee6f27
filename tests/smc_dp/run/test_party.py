from __future__ import annotations

import statistics
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from protocols.arithmetic.rng import Stream
from smc_dp.core.errors import InputError
from smc_dp.data import sources
from smc_dp.data.bounds import Bounds, NumericColumn
from smc_dp.data.federation import Public, Rows
from smc_dp.methods.functionality import ideal
from smc_dp.methods.model import LinearModel, classify
from smc_dp.methods.nonprivate import accuracy_alone, majority_accuracy
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.privacy.target import Target
from smc_dp.run.agreement import Agreement
from smc_dp.run.party import LocalParty
from smc_dp.run.protocols.registry import CuratorTerms
from tests.support.refusals import refused


def rows(n: int, d: int, seed: int) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True) * (1 + 1e-9)
    return Rows(X, (X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(np.int64))


def stream(seed: int) -> Stream:
    return Stream.insecure_from_seed(seed)


# One party's part.


def test_weights_are_the_minimiser_of_objective_2_on_the_grid():
    data = rows(60, 4, seed=1)
    contribution = PathakMean(0.1).part(data, Public(3, 4, 2), Target(1), stream(1))
    # scikit-learn minimises C sum log-loss + |w|^2/2, so C = 1/(2 lam n).
    oracle = LogisticRegression(C=1 / (2 * 0.1 * 60), fit_intercept=False, tol=1e-12, max_iter=10_000)
    oracle.fit(data.X, data.y)
    np.testing.assert_allclose(np.array(contribution.weights) / 2**40, oracle.coef_[0], atol=1e-7)
    assert (contribution.size, len(contribution.noise)) == (60, 4)


def noise_p(divide_by: int) -> float:
    """Kolmogorov-Smirnov p-value of the noise's norm against the Gamma law of the proven scale."""
    n, d, parties, epsilon = 50, 3, 4, 1.0
    data, public = rows(n, d, seed=2), Public(parties, d, 2)
    norms = [
        float(np.linalg.norm([e / divide_by for e in PathakMean(0.1).part(data, public, Target(1), stream(s)).noise]))
        for s in range(200)
    ]
    # The noise of the *sum*: one record moves one model by G/(2 lam n), G at most 1.1293 for lam = 0.1.
    scale = 1.1293 / (2 * 0.1 * n) / epsilon * 2**40
    return float(scipy.stats.kstest(norms, scipy.stats.gamma(d, scale=scale).cdf).pvalue)


def test_the_noise_is_that_of_the_sum():
    assert noise_p(divide_by=1) > 1e-6
    assert noise_p(divide_by=4) < 1e-12  # broken twin: noise of the mean, K times less


def agreed(
    names: tuple[str, ...],
    d: int,
    target: Target,
    lam: float = 0.1,
    as_printed: bool = False,
    ring_bits: int = 64,
    **options: Any,
) -> Agreement:
    bounds = Bounds(tuple(NumericColumn(f"x{i}", -1.0, 1.0) for i in range(d)), ("no", "yes"), "y", bias=0.0)
    terms = CuratorTerms(ring_bits=ring_bits)
    return Agreement(PathakMean(lam, as_printed), target, parties=names, bounds=bounds, terms=terms, **options)


FIVE = ("north", "south", "east", "west", "centre")


@pytest.mark.parametrize(
    ("agreement", "ring_bits"),
    [
        (agreed(FIVE, 3, Target(Fraction(1, 10**9))), 64),
        (agreed(FIVE, 3, Target(1), 1e-9), 64),
        (agreed(FIVE, 3, Target(1), ring_bits=40), 40),
    ],
)
def test_numbers_too_large_for_the_grid_are_refused(agreement, ring_bits):
    with refused("grid.too_small", at="party north", ring_bits=ring_bits):
        LocalParty("north", rows(20, 3, seed=3), agreement, stream(0)).check()


def test_the_range_check_does_not_look_at_the_rows():
    agreement = agreed(FIVE, 3, Target(1), ring_bits=48)
    one = rows(20, 3, seed=4)
    flat = Rows(np.zeros((20, 3)), one.y)
    outcomes = set()
    for data in (one, flat):
        try:
            LocalParty("a", data, agreement, stream(0)).check()
            outcomes.add("fits")
        except InputError:
            outcomes.add("too large")
    assert len(outcomes) == 1


@pytest.mark.parametrize("lam", [0, -1, 1e-10, 1e7, float("nan"), "1"])
def test_settings_out_of_range_are_refused(lam):
    with refused("lambda.out_of_printed_range", name="lambda"):
        PathakMean(lam)


# Dave's part.


def test_the_release_is_the_sum_divided_by_the_number_of_parties():
    release = PathakMean(0.1).finish((-(1 << 39), 3 << 40), Public(2, 2, 2), Target(1))
    assert isinstance(release.model, LinearModel)
    assert (release.model.W[1] - release.model.W[0]).tolist() == [-0.25, 1.5]


def sigmoid_says(margin: float) -> int:
    """The testing phase word for word, with 400 digits."""
    with localcontext() as context:
        context.prec = 400
        t = 1 / (1 + (-Decimal(margin)).exp())
        return 0 if t <= Decimal(1) / 2 else 1


@given(st.one_of(st.floats(-50, 50), st.sampled_from([0.0, -0.0, 1e-17, 1e-300, -1e-300])))
def test_classification_is_the_printed_rule_for_the_sigmoid(margin):
    assert classify([1.0], np.array([[margin]]))[0] == sigmoid_says(margin)


# All of it, against the ideal functionality.


def ideal_run(data: sources.PreparedData, target: Target, seed: int) -> float:
    rng, method, public = stream(seed), PathakMean(0.1), data.federation.public
    parts = [method.part(rows, public, target, rng.fork(name)) for name, rows in data.federation.by_name.items()]
    value = ideal(method.functionality(public, target), parts, rng.fork("ideal"))
    assert data.test is not None
    return method.finish(value, public, target).model.accuracy(data.test)


@cache
def dealt(seed: int) -> sources.PreparedData:
    return sources.dataset("breast_cancer", seed=seed)


def test_five_hospitals_beat_85_percent_at_epsilon_1():
    found = [ideal_run(dealt(seed), Target(1), seed) for seed in range(10)]
    assert statistics.median(found) >= 0.85


def test_baselines_agree_with_scikit_learn():
    data = sources.dataset("breast_cancer")
    assert data.test is not None

    def oracle(X, y) -> float:
        model = LogisticRegression(C=1 / (2 * 0.1 * len(y)), fit_intercept=False, tol=1e-10, max_iter=10_000)
        return float(model.fit(X, y).score(data.test.X, data.test.y))

    for found in (*data.federation.parties, data.federation.pooled()):
        assert accuracy_alone(found, 0.1, data.test) == oracle(found.X, found.y)
    assert majority_accuracy(data.federation, data.test) == np.mean(data.test.y == 1)


def test_steps_as_printed_draw_the_noise_of_the_mean():
    """They multiply it by K; drawn for the sum, as in our own steps, it would come out K times too large."""
    printed, ours, public = PathakMean(0.1, as_published=True), PathakMean(0.1), Public(5, 31, 2)
    target = Target(1, "paper")
    assert printed.distribution(target, 91, public).scale * 5 == ours.distribution(target, 91, public).scale
    assert float(printed.distribution(target, 91, public).scale) == pytest.approx(2 / (91 * 1 * 0.1) * 2**40, rel=1e-12)
    assert printed.functionality(public, target).times == 5


def test_steps_as_printed_refuse_another_calibration():
    with refused("calibration.of_printed_steps"):
        agreed(FIVE, 3, Target(1), as_printed=True, protocol="pathak2010-as-printed-insecure", marks=("as printed",))


def test_a_party_beyond_the_public_cap_on_rows_is_refused():
    big = Rows(np.broadcast_to(np.zeros(1), (10**7 + 1, 1)), np.zeros(1, dtype=np.int64))
    with refused("party.too_many_rows", at="party p", most=10000000, got=10000001):
        LocalParty("p", big, agreed(("p", "q"), 1, Target(1)), stream(0)).check()
