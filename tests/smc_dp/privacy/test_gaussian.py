"""The curve of Gaussian noise against mpmath, the law that is drawn against sums over it, errors charged."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from mpmath import mp, mpf

from smc_dp.privacy import gaussian
from smc_dp.privacy.gaussian import (
    LEAST_MU,
    LEAST_VARIANCE,
    MOST_MU,
    VARIANCE_LOST,
    curve,
    epsilon_of,
    mu_above,
    mu_for,
    mu_keeps,
    variance_for,
)
from smc_dp.privacy.target import HIGHEST, LEAST_DELTA, LOWEST

RNG = np.random.default_rng(2018)
PAIRS = [
    (Fraction(10.0 ** RNG.uniform(-9, 6)).limit_denominator(10**12), Fraction(float(10.0 ** RNG.uniform(-30, -0.01))))
    for _ in range(30)
] + [(LOWEST, LEAST_DELTA), (HIGHEST, LEAST_DELTA), (HIGHEST, Fraction(1, 2)), (Fraction(1), 1 - Fraction(1, 2**50))]
ERROR = Fraction(1, 1 << 180)
Calibration = Callable[[Fraction, Fraction], Fraction]


def exactly(epsilon: Fraction, mu: Fraction) -> Any:
    """Balle and Wang 2018, theorem 5, in 150 digits of mpmath."""
    with mp.workdps(150):
        e, m = (mpf(x.numerator) / x.denominator for x in (epsilon, mu))
        root = mp.sqrt(2)
        return (mp.erfc((e / m - m / 2) / root) - mp.exp(e) * mp.erfc((e / m + m / 2) / root)) / 2


def is_kept(mu: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    with mp.workdps(150):
        return bool(exactly(epsilon, mu) <= mpf(delta.numerator) / delta.denominator)


def next_to(value: Fraction, towards: float) -> Fraction:
    return Fraction(math.nextafter(float(value), towards))


def rounded_the_other_way(epsilon: Fraction, delta: Fraction) -> Fraction:
    return next_to(mu_for(epsilon, delta), math.inf)


def flattering(calibration: Calibration) -> int:
    return sum(not is_kept(calibration(epsilon, delta), epsilon, delta) for epsilon, delta in PAIRS)


def test_mu_is_the_largest_float_whose_curve_keeps_epsilon_and_delta() -> None:
    assert flattering(mu_for) == 0
    assert flattering(rounded_the_other_way) == len(PAIRS)


def test_epsilon_is_the_smallest_float_that_the_curve_keeps() -> None:
    for epsilon, delta in PAIRS[:-1]:
        mu = mu_for(epsilon, delta)
        found = epsilon_of(mu**2, delta)
        assert found is not None
        if delta <= Fraction(1, 2):
            assert is_kept(mu, found, delta)
            assert not is_kept(mu, next_to(found, 0.0), delta)
        assert found <= epsilon * (1 + Fraction(1, 1 << 52)) or delta > Fraction(1, 2)
    assert epsilon_of(Fraction(1, 10**6), Fraction(2, 5)) == Fraction(1, 1 << 128)  # delta alone pays for it
    assert epsilon_of(Fraction(1), Fraction(9, 10)) == epsilon_of(Fraction(1), Fraction(1, 2))
    for beyond in (Fraction(MOST_MU) ** 2 + 1, Fraction(LEAST_MU) ** 2 / 2):
        assert epsilon_of(beyond, Fraction(1, 10)) is None
        assert mu_above(beyond) is None
    with pytest.raises(ValueError, match=str(LEAST_MU)):
        mu_for(Fraction(1, 1 << 70), LEAST_DELTA)


def test_what_a_stranger_asks_costs_a_few_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ledger may hold 40,000 data sets with a mu each; the twin, which does not know where to look, takes 60."""
    asked: list[Fraction] = []

    def counted(mu_squared: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
        asked.append(epsilon)
        return mu_keeps(mu_squared, epsilon, delta)

    def most(near: Callable[[Fraction, Fraction], float]) -> int:
        monkeypatch.setattr(gaussian, "_near", near)
        found = []
        for k in range(-64, 13, 3):
            for delta in (LEAST_DELTA, Fraction(1, 10**6), Fraction(99, 100)):
                asked.clear()
                assert gaussian.epsilon_of(Fraction(2) ** (2 * k) + Fraction(1, 3**90), delta) or k == 12
                found.append(len(asked))
        return max(found)

    near = gaussian._near
    monkeypatch.setattr(gaussian, "mu_keeps", counted)
    assert most(near) <= 20
    assert most(lambda *_: 1.0) >= 60


def above(ball: arb) -> Fraction:
    """The upper end of a ball."""
    top = ball.upper().fmpq()
    return Fraction(int(top.p), int(top.q))


@pytest.mark.parametrize(("epsilon", "mu"), [(Fraction(1), 0.25), (Fraction(1, 10), 0.03), (Fraction(8), 2.0)])
def test_the_errors_of_the_theorem_are_charged(epsilon: Fraction, mu: float) -> None:
    """At the very delta of the continuous curve nothing is claimed; 2^-170 of it more is enough."""
    with ctx.workprec(450):
        delta = above(curve(arb(fmpq(epsilon.numerator, epsilon.denominator)), arb(mu)))
    square = Fraction(mu) ** 2
    assert is_kept(Fraction(mu), epsilon, delta)  # the twin, which charges nothing, would claim it
    assert not mu_keeps(square, epsilon, delta)
    assert not mu_keeps(square, epsilon, delta * (1 + Fraction(1, 1 << 181)))
    assert not mu_keeps(square, epsilon + Fraction(1, 1 << 181), delta)
    assert mu_keeps(square, epsilon, delta * (1 + Fraction(1, 1 << 170)))
    # Each error alone: twins that charge the other one only would claim these.
    assert not mu_keeps(square, epsilon + ERROR, delta)
    assert mu_keeps(square, epsilon + ERROR, delta / (1 - ERROR) ** 2)
    assert not mu_keeps(square, epsilon, delta / (1 - ERROR) ** 2)
    assert mu_keeps(square, epsilon + 2 * ERROR, delta / (1 - ERROR))


def test_mu_is_rounded_up() -> None:
    for square in (*(Fraction(int(n), 7**9) for n in RNG.integers(1, 10**9, 30)), Fraction(LEAST_MU) ** 2, Fraction(4)):
        found = mu_above(square)
        assert found is not None
        assert Fraction(math.nextafter(found, 0.0)) ** 2 < square <= Fraction(found) ** 2
    thirds = [Fraction(n, 3) for n in range(1, 40)]
    assert sum(Fraction(math.sqrt(s)) ** 2 < s for s in thirds) > 10  # the twin: to nearest


# The law that is drawn.


@cache
def masses(variance: Fraction, reach: int) -> np.ndarray[Any, Any]:
    """P(y) for |y| <= reach, by its definition."""
    weights = np.exp([-float(y * y / (2 * variance)) for y in range(-reach, reach + 1)])
    return np.asarray(weights / weights.sum())


def true_delta(variance: Fraction, D: int, epsilon: float) -> float:
    """The exact delta of one discrete Gaussian that moves by D: the sum of what P exceeds e^epsilon (P moved) by."""
    law = masses(variance, 50 + D + math.ceil(12 * math.sqrt(variance)))
    return float(np.maximum(law[D:] - math.exp(epsilon) * law[:-D], 0).sum())


def continuous(epsilon: float, mu: float) -> float:
    with ctx.workprec(200):
        return float(curve(arb(epsilon), arb(mu)))


@pytest.mark.parametrize(("s", "D"), [(5, 1), (5, 8), (8, 1), (8, 8), (8, 20), (20, 3)])
def test_the_discrete_law_is_below_the_curve_with_9_taken_off_and_not_without(s: int, D: int) -> None:
    steps = np.linspace(0.01, 9, 450) * D / s
    true = np.array([true_delta(Fraction(s * s), D, e) for e in steps])
    shown = true > 1e-12
    claimed, twin = (np.array([continuous(e, D / math.sqrt(s * s - off)) for e in steps]) for off in (VARIANCE_LOST, 0))
    assert (true <= claimed * (1 + 1e-9))[shown].all()
    worst = float((true / twin)[shown].max())
    assert worst > 1 + 1 / s**2
    if (s, D) == (8, 8):
        assert worst == pytest.approx(1.035, abs=0.001)


def test_a_vector_and_an_adaptive_second_release_are_below_the_curve() -> None:
    """Two coordinates of variance 18 that move by (3, 4), or the second by an amount that the first one decides."""
    law = masses(Fraction(LEAST_VARIANCE), 90)
    first = np.roll(law, 3)
    moves = np.where(np.arange(len(law)) % 3 == 0, 4, -4)[:, None]
    second = np.array([np.roll(law, int(k)) for k in moves[:, 0]])
    for epsilon in np.linspace(0.05, 4, 40):
        true = np.maximum(np.outer(law, law) - math.exp(epsilon) * first[:, None] * second, 0).sum()
        assert true <= continuous(epsilon, math.sqrt(25 / (LEAST_VARIANCE - VARIANCE_LOST))) * (1 + 1e-9) + 1e-15
        # twin: the larger of the two alone
        assert true > continuous(epsilon, math.sqrt(16 / LEAST_VARIANCE))


def test_the_variance_is_the_least_whole_one() -> None:
    for D, mu in ((8, Fraction(1)), (10**6, Fraction(0.3)), (2**40, Fraction(1, 7))):
        found = variance_for(D, mu)
        assert found.denominator == 1
        assert Fraction(D * D) / (found - VARIANCE_LOST) <= mu**2 < Fraction(D * D) / (found - 1 - VARIANCE_LOST)
    assert variance_for(1, Fraction(10)) == LEAST_VARIANCE
