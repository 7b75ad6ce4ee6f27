"""Lower bounds from samples against laws whose figures are known: never above them but as often as is allowed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import e, exp, isclose, log

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import logsumexp
from scipy.stats import binom

from smc_dp.audit.epsilon import renyi
from smc_dp.audit.epsilon.bounds import (
    EpsilonMeasure,
    Event,
    EventPlan,
    HockeyStickMeasure,
    Worlds,
    choose_event,
    exact_limits,
    measure_bound,
    rough_limits,
)
from smc_dp.audit.epsilon.one_run import Guesses, guess
from smc_dp.core.arrays import Array

ALPHA = 0.1  # large, so that too many wrong bounds are seen
REPEATS, DRAWS = 200, 400
RNG = partial(np.random.default_rng)
SUPPORT = np.arange(-60, 61)


def laplace(scale: float, moved: int = 0) -> Array:
    """Probabilities on SUPPORT."""
    weights = np.exp(-np.abs(SUPPORT - moved) / scale)
    return np.asarray(weights / weights.sum())


def gauss(sigma: float, moved: int = 0) -> Array:
    weights = np.exp(-((SUPPORT - moved) ** 2) / (2 * sigma**2))
    return np.asarray(weights / weights.sum())


def hockey_stick(p: Array, q: Array, epsilon: float) -> float:
    return float(np.maximum(p - exp(epsilon) * q, 0).sum())


def drawn(p: Array, q: Array, draws: int, seed: int) -> Worlds:
    """One score, the output itself."""
    rng = RNG(seed)
    first, second = (rng.choice(SUPPORT, size=(1, draws), p=law).astype(float) for law in (p, q))
    return first, second


def wrong(p: Array, q: Array, choose: Callable[[Worlds], EventPlan], true: float, draws: int = DRAWS) -> int:
    """How many of REPEATS bounds exceed the true figure."""
    return sum(measure_bound(drawn(p, q, draws, seed), choose).bound > true + 1e-12 for seed in range(REPEATS))


def too_often(times: int, alpha: float = ALPHA) -> float:
    """The chance of so many wrong bounds or more, if each is wrong with chance alpha."""
    return float(binom.sf(times - 1, REPEATS, alpha))


def test_the_limits_solve_the_binomial_tails() -> None:
    low, high = exact_limits(np.array([300, 0, 500]), np.array([100, 0, 500]), 500, 0.01)
    assert isclose(low[0], brentq(lambda p: binom.sf(299, 500, p) - 0.005, 0.01, 0.99), rel_tol=1e-9)
    assert isclose(high[0], brentq(lambda p: binom.cdf(100, 500, p) - 0.005, 0.01, 0.99), rel_tol=1e-9)
    assert isclose(high[1], 1 - 0.005 ** (1 / 500))
    assert isclose(low[2], 0.005 ** (1 / 500))
    assert (low[1], high[2]) == (0, 1)
    k, m = np.array([300, 20, 499]), np.array([100, 0, 490])
    for exact, rough in zip(exact_limits(k, m, 500, 0.01), rough_limits(k, m, 500, 0.01), strict=True):
        assert np.abs(exact - rough).max() < 0.01


def test_nothing_is_bounded_by_zero() -> None:
    inside, outside = np.array([0, 50]), np.array([25, 25])
    for measure in (EpsilonMeasure(0.1), HockeyStickMeasure(0.1, 1.0)):
        assert Event(0, 0.0, True, 0, measure).bound(inside, outside) == 0


def test_an_event_is_chosen_by_either_side_in_either_world() -> None:
    """Outputs below 3 in world 1 against almost none in world 0; and the same with the worlds swapped."""
    rng = RNG(0)
    high, low = rng.uniform(3, 4, (1, 1000)), rng.uniform(2, 3, (1, 1000))
    low[0, :500] = high[0, :500]
    event = choose_event((high, low), EpsilonMeasure(0.01))
    assert (event.above, event.likely) == (False, 1)
    assert event.counts((high, low))[0][0] in range(490, 510)
    assert choose_event((low, high), EpsilonMeasure(0.01)).likely == 0
    assert not choose_event((-high, -low), EpsilonMeasure(0.01)).above or event.threshold < 3.01


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_epsilon_is_exceeded_as_often_as_allowed(epsilon: float) -> None:
    p, q = laplace(1 / epsilon), laplace(1 / epsilon, 1)
    assert too_often(wrong(p, q, partial(choose_event, measure=EpsilonMeasure(ALPHA)), epsilon)) > 1e-6


def noise(seed: int) -> Worlds:
    """Eight scores that say nothing."""
    rng = RNG(seed)
    return rng.normal(size=(8, DRAWS)), rng.normal(size=(8, DRAWS))


def test_many_scores_cost_nothing() -> None:
    """Whoever chooses among thousands of worthless events on half of the draws is no more often wrong; epsilon is 0."""
    choose = partial(choose_event, measure=EpsilonMeasure(ALPHA))
    times = sum(measure_bound(noise(seed), choose).bound > 0 for seed in range(REPEATS // 4))
    assert binom.sf(times - 1, REPEATS // 4, ALPHA) > 1e-6


def test_epsilon_of_an_approximate_guarantee_allows_for_delta() -> None:
    """Everything is revealed with probability 0.05: infinite epsilon for delta = 0, not for delta = 0.06."""
    first, second = np.zeros((1, 4000)), np.zeros((1, 4000))
    first[0, ::20] = 1
    counts = np.array([200, 3800]), np.array([0, 4000])
    assert Event(0, 1.0, True, 0, EpsilonMeasure(0.01)).bound(*counts) > 2
    assert Event(0, 1.0, True, 0, EpsilonMeasure(0.01, 0.06)).bound(*counts) == 0
    assert measure_bound((first, second), partial(choose_event, measure=EpsilonMeasure(0.01))).bound > 2


def renyi_of(p: Array, q: Array, order: float) -> float:
    return float(logsumexp(order * np.log(p) + (1 - order) * np.log(q))) / (order * (order - 1))


def worst_rho(p: Array, q: Array) -> float:
    """The largest D/order among the orders in use, in either direction."""
    return max(renyi_of(*pair, order) for pair in ((p, q), (q, p)) for order in renyi.ORDERS)


@pytest.mark.parametrize(("p", "q"), [(gauss(2), gauss(2, 2)), (laplace(1), laplace(1, 1)), (gauss(2), gauss(2, 3))])
def test_hockey_stick_and_divergence_are_bounded_and_not_idly(p: Array, q: Array) -> None:
    stick = partial(choose_event, measure=HockeyStickMeasure(ALPHA, 0.4))
    cells = partial(renyi.choose_cells, alpha=ALPHA)
    for true, choose, least in ((hockey_stick(p, q, 0.4), stick, 0.9), (worst_rho(p, q), cells, 0.6)):
        assert too_often(wrong(p, q, choose, true)) > 1e-6
        assert least * true < measure_bound(drawn(p, q, 40_000, 1), choose).bound <= true


def test_lowest_mean_is_that_of_the_values_themselves() -> None:
    """Against the formula of Maurer and Pontil on single draws, scaled to [0, 1]."""
    values, counts = np.array([2.0, -1.0, 5.0]), np.array([30, 50, 20])
    single = (np.repeat(values, counts) + 1) / 6
    margin = np.sqrt(2 * single.var(ddof=1) * log(2 / 0.05) / 100) + 7 * log(2 / 0.05) / (3 * 99)
    assert isclose(renyi.lowest_mean(values, counts, 0.05), 6 * (single.mean() - margin) - 1)


def answered(m: int, seed: int, truth: float, keep: float = 1.0) -> Guesses:
    """Randomised response on m bits: each is guessed right with this probability, or left out."""
    rng = RNG(seed)
    made = int(rng.binomial(m, keep))
    return Guesses(made, int(rng.binomial(made, truth)))


def test_one_run_solves_the_binomial_tail() -> None:
    def tail(epsilon: float) -> float:
        return float(binom.sf(80 - 1, 100, exp(epsilon) / (exp(epsilon) + 1)))

    assert isclose(Guesses(100, 80).epsilon_at_least(0.05), brentq(lambda x: tail(x) - 0.05, 0, 5), rel_tol=1e-9)
    assert Guesses(100, 50).epsilon_at_least(0.05) == 0
    assert Guesses(0, 0).epsilon_at_least(0.05) == 0
    assert Guesses(100, 100).epsilon_at_least(0.05) < log(100 / 0.05)


def test_one_run_is_wrong_as_often_as_allowed() -> None:
    truth = e / (e + 1)  # epsilon = 1
    found = [answered(500, seed, truth, 0.6).epsilon_at_least(ALPHA) for seed in range(REPEATS)]
    assert too_often(sum(bound > 1 for bound in found)) > 1e-6
    assert np.median(found) > 0.7


@pytest.mark.parametrize(
    ("position", "bit", "made", "right"),
    [(0.0, 0, 1, 1), (-3.0, 1, 1, 0), (0.5, 1, 0, 0), (1.0, 1, 1, 1), (2.0, 0, 1, 0)],
)
def test_a_guess_is_made_beyond_the_ends_only(position: float, bit: int, made: int, right: int) -> None:
    assert guess(np.array([position]), np.array([bit])) == Guesses(made, right)
