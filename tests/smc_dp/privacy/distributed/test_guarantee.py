"""What is claimed of H shares against sums over their exact laws, and the constants of the theorems in balls."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from mpmath import mp, mpf
from scipy.signal import fftconvolve
from scipy.special import gammaln

from smc_dp.core.arrays import Array
from smc_dp.privacy.distributed.share_distributions import (
    ERROR,
    LEAST_CLAIMED,
    LEAST_SCALE,
    MOST_COORDINATES,
    MOST_DIMENSION,
    MOST_HONEST,
    GammaShares,
    GaussianShares,
    WholeShares,
)
from smc_dp.privacy.gaussian import (
    LEAST_VARIANCE,
    MOST_INTEGERS,
    MOST_RELEASES,
    VARIANCE_LOST,
    epsilon_of,
    variance_for,
)

STEP = 0.02  # of the logarithm of V: the trapezoid rule is exact to 1e-12 for such integrands


def mixed(shape: float, variance: float, dimension: int, squares: Array) -> Array:
    """Pmf of discrete Gaussians whose variance is Gamma(shape, variance), at these squared lengths, sorted."""
    u = np.arange(-60 / min(shape, 1), math.log(shape + 80), STEP)
    weights, V = np.exp(shape * u - np.exp(u) - gammaln(shape)) * STEP, variance * np.exp(u)
    found = np.zeros(len(squares))
    found[0] = weights[V < 1e-3].sum()  # all mass is at zero
    for v, weight in zip(V[V >= 1e-3], weights[V >= 1e-3], strict=True):
        reach = 40 * math.sqrt(v) + 2
        inside = slice(np.searchsorted(squares, reach**2))
        theta = math.sqrt(2 * math.pi * v)  # but for 2 exp(-2 pi^2 v)
        if v < 4:
            theta = np.exp(-(np.arange(-math.ceil(reach), math.ceil(reach) + 1) ** 2) / (2 * v)).sum()
        found[inside] += weight * np.exp(-squares[inside] / (2 * v)) / theta**dimension
    return found


def share(law: GammaShares, shape: Fraction | None = None, factor: int = 2) -> Array:
    """Pmf of one share in one dimension, on a range symmetric around zero."""
    scale = float(law.scale)
    half = mixed(float(shape or law.shape), factor * scale**2, 1, np.arange(int(30 * scale) + 1) ** 2)
    return np.concatenate([half[:0:-1], half])


def folded(pmf: Array, parties: int) -> Array:
    """The law of a sum."""
    found = pmf
    for _ in range(parties - 1):
        found = np.maximum(fftconvolve(found, pmf), 0)
    return found


def hockey_stick(pmf: Array, moved: int, epsilon: float) -> float:
    """The delta that really goes with this epsilon, for a value that moves by so many units."""
    here, there = np.pad(pmf, (0, moved)), np.pad(pmf, (moved, 0))
    return float(np.maximum(here - math.exp(epsilon) * there, 0).sum())


@pytest.mark.parametrize(
    ("H", "scale", "epsilon"),
    [
        *((1, 64, 1), (2, 256, 1), (3, 64, 1)),
        *(pytest.param(H, 1024, 1, marks=pytest.mark.slow) for H in (1, 2, 4)),
        *(pytest.param(H, 512, 3, marks=pytest.mark.slow) for H in (1, 4)),
    ],
)
def test_mixed_shares_keep_their_epsilon_and_other_ones_do_not(H: int, scale: int, epsilon: int) -> None:
    law, D = GammaShares(1, H, Fraction(scale)), epsilon * scale
    stated = float(law.delta(D))
    assert law.epsilon(D) == epsilon + ERROR
    assert hockey_stick(folded(share(law), H), D, epsilon) <= min(stated, 1e-11)
    for_all = hockey_stick(folded(share(law, Fraction(1, H + 2)), H), D, epsilon)  # the shape for K = H + 2 parties
    half = hockey_stick(folded(share(law, factor=1), H), D, epsilon)  # half the variance
    assert min(for_all, half) > 0.01
    if (H, epsilon) == (2, 1):
        assert min(for_all, half) > stated  # what is stated is not idle


@pytest.mark.parametrize("scale", [0.3, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("d", [1, 2])
def test_discrete_gaussians_of_a_gamma_variance_are_pure(d: int, scale: float) -> None:
    """-1/scale <= the slope of log P along the radius <= 0, from each length to the next: so for all pairs."""
    reach = int(25 * scale) + 3
    squares = np.array(sorted({a * a + b * b for a in range(reach) for b in range(reach if d == 2 else 1)}))

    def steepest(shape: float, variance: float) -> float:
        slopes = np.diff(np.log(mixed(shape, variance, d, squares))) / np.diff(np.sqrt(squares)) * scale
        assert slopes.max() <= 1e-9
        return float(-slopes.min())

    assert steepest((d + 1) / 2, 2 * scale**2) <= 1 + 1e-9
    assert steepest((d + 1) / 2, scale**2) > 1.02  # twins: half the variance, and too small a shape
    assert steepest((d + 1) / 4, 2 * scale**2) > 1.02


def gaussian_pmf(variance: Fraction) -> Array:
    reach = math.ceil(30 * math.sqrt(variance))
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * float(variance)))
    return np.asarray(weights / weights.sum())


@pytest.mark.parametrize(("H", "K", "D"), [(3, 5, 8), (2, 3, 20)])
def test_gaussian_shares_keep_their_epsilon_and_other_ones_do_not(H: int, K: int, D: int) -> None:
    law = GaussianShares(1, H, max(Fraction(LEAST_VARIANCE), variance_for(D, Fraction(1)) / H))
    s2 = H * law.variance
    assert law.mu_squared(D) == Fraction(D * D) / (s2 - VARIANCE_LOST)
    honest = folded(gaussian_pmf(law.variance), H)
    for_all = folded(gaussian_pmf(s2 / K), H)
    continuous_misses = 0
    for delta in (Fraction(1, 10**2), Fraction(1, 10**4), Fraction(1, 10**7)):
        epsilon = epsilon_of(law.mu_squared(D), delta)
        flattering = epsilon_of(Fraction(D * D) / s2, delta)  # twin: the continuous curve at s^2
        assert epsilon is not None
        assert flattering is not None
        assert hockey_stick(honest, D, float(epsilon)) <= float(delta)
        assert hockey_stick(for_all, D, float(epsilon)) > 1.2 * float(delta)  # share variance s^2/K
        continuous_misses += hockey_stick(honest, D, float(flattering)) > float(delta)
    assert continuous_misses or D > 8


def test_rho_is_that_of_the_sum_and_covers_that_it_is_no_discrete_gaussian() -> None:
    """Renyi divergences of the exact law at several orders; and tau of the theorem in balls."""
    law = GaussianShares(1, 3, Fraction(18))
    D, one = 9, gaussian_pmf(Fraction(18))
    pmf = np.convolve(np.convolve(one, one), one)  # of positive numbers, so that tails are right as well
    pmf = pmf[np.abs(np.arange(len(pmf)) - len(pmf) // 2) < 150]
    for alpha in (1.5, 2.0, 4.0):
        here, there = np.pad(pmf, (0, D)), np.pad(pmf, (D, 0))
        inside = (here > 0) & (there > 0)
        divergence = math.log((here[inside] ** alpha * there[inside] ** (1 - alpha)).sum()) / (alpha - 1)
        assert divergence <= alpha * float(law.rho(D)) * (1 + 1e-9)
        assert divergence > alpha * D**2 / (2 * 3 * 18) * (1 - 1e-9)
        assert divergence > alpha * D**2 / (2 * 5 * 18)  # twin: all five parties counted
    with ctx.workprec(600):
        for H in (1, 2, 50, MOST_HONEST):
            for variance in (Fraction(18), Fraction(61, 3)):
                v = arb(fmpq(variance.numerator, variance.denominator))
                tau = 10 * sum(((-2 * arb.pi() ** 2 * v * k / (k + 1)).exp() for k in range(1, H)), arb(0))
                beyond = GaussianShares(7, H, variance).rho(D) - Fraction(D * D) / (2 * H * variance)
                assert arb(fmpq(beyond.numerator, beyond.denominator)) >= tau * 7 / 4
                assert H == 1 or beyond > 0  # twin: as of one discrete Gaussian


def test_the_errors_of_both_theorems_are_charged() -> None:
    with ctx.workprec(600):
        pi2 = arb.pi() ** 2
        kappa = arb("2.0001") * (-16 * pi2).exp()
        lattice = 4 * MOST_HONEST * MOST_DIMENSION * kappa
        assert lattice + arb(2) ** -81 < arb(fmpq(1, 1 << 80)) == arb(fmpq(ERROR.numerator, ERROR.denominator))
        eta = MOST_HONEST * arb("2.01") * (-2 * VARIANCE_LOST * pi2).exp()
        assert 2 * MOST_COORDINATES * MOST_RELEASES * eta < arb(2) ** -180
        assert 2 * MOST_COORDINATES * MOST_RELEASES * eta > arb(2) ** -188  # what holds for one party is not enough
        assert 2 * MOST_INTEGERS * MOST_RELEASES * eta > arb(2) ** -180  # nor is there room for as many as of one party
    # P(|noise| > 2^14 scale) for Gamma(10^4), by the bound of Chernoff: what rounding V up leaves out.
    d, x = MOST_DIMENSION, 2.0**14
    assert (x - d - d * math.log(x / d)) / math.log(2) > 2000


@pytest.mark.parametrize(("d", "H"), [(1, 1), (1, 50), (124, 49), (124, 3)])
def test_delta_is_the_formula_rounded_up_and_follows_the_rule_for_the_grid(d: int, H: int) -> None:
    """The rule: a (2 log2 scale - 3) >= log2(H/delta) + 0.18; the formula in 100 digits."""
    a = (d + 1) / (2 * H)
    for bits in (20, 66, 90):  # log2(H/delta)
        exponent = max(4, math.ceil((bits + 0.18) / a / 2 + 1.5))
        law = GammaShares(d, H, Fraction(1 << exponent, 3) + 16)
        found = law.delta(D := int(law.scale))
        with mp.workdps(100):
            s, a_ = mpf(law.scale.numerator) / law.scale.denominator, mpf(d + 1) / (2 * H)
            formula = (1 + 2 * mp.exp(D / s + mpf(2) ** -80)) * H * (8 / s**2) ** a_ / mp.gamma(a_ + 1)
            above = mpf(found.numerator) / found.denominator
            assert min(formula + mpf(2) ** -257, 1) <= above  # nothing is rounded down, not even in the last bit
            assert above <= formula * (1 + mpf(10) ** -50) + mpf(2) ** -256
        ruled = GammaShares(d, H, Fraction(1 << exponent))
        assert float(ruled.delta(1 << exponent)) <= (1 + 2 * math.exp(1.0001)) * H * 2.0**-bits


def test_delta_where_it_is_tiny_and_where_nothing_is_left() -> None:
    assert GammaShares(10**4, 1, Fraction(1 << 500)).delta(1) == LEAST_CLAIMED
    assert GammaShares(1, 200, Fraction(LEAST_SCALE)).delta(16) == 1
    assert GammaShares(123, 1, Fraction(1 << 30)).delta(10**6 << 30) == 1
    assert 1e-100 < float(LEAST_CLAIMED) < 2.0**-64  # what a ledger can hold


def test_whole_shares_are_pure_whoever_colludes() -> None:
    assert {WholeShares(3, honest, Fraction(7, 2)).epsilon(21) for honest in (1, 5, MOST_HONEST)} == {Fraction(6)}
