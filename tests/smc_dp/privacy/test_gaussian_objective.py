"""Gaussian objective perturbation: what it states against dp-accounting, and against densities integrated by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss
from mpmath import mp, mpf

from smc_dp.core.arrays import Array
from smc_dp.methods.training.perturbed import Huber, Logistic, Loss
from smc_dp.methods.training.solver import PUBLIC_TAU
from smc_dp.privacy.gaussian import VARIANCE_LOST, mu_for, variance_for
from smc_dp.privacy.gaussian_objective import ROUNDING_RADIUS, GaussianPerturbation, gaussian_perturbation
from smc_dp.privacy.noise import DiscreteGaussian, KNorm
from smc_dp.privacy.objective_perturbation import LINEAR_TERM_SENSITIVITY
from smc_dp.privacy.target import HIGHEST, LEAST_DELTA, LOWEST

UNIT = 2.0**40
DELTA = Fraction(1, 10**5)
RNG = np.random.default_rng(2012)


def a9a(epsilon: str, modulus: float = 4e-4) -> GaussianPerturbation:
    return gaussian_perturbation(Fraction(epsilon), DELTA, 32561, modulus, Fraction(1, 4), 123, PUBLIC_TAU)


def sigma(law: GaussianPerturbation) -> float:
    """Of the Gaussian in the theorem, in reals."""
    return math.sqrt(law.noise.variance - VARIANCE_LOST) / UNIT


def stated(law: GaussianPerturbation, epsilon: float, c: float) -> float:
    """The delta of the theorem by dp-accounting, from the noise and the moduli alone."""
    left = epsilon - math.log1p(c / (law.n * law.total)) - law.moved / float(law.output.scale)
    whole, half = (GaussianPrivacyLoss(sigma(law), sensitivity=length) for length in (2, 1))
    return float(whole.get_delta_for_epsilon(left) + 2 * half.get_delta_for_epsilon(left))


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "1", "8"])
@pytest.mark.parametrize(
    ("n", "modulus", "c", "d"), [(32561, 4e-4, 0.25, 123), (10, 0.4, 1.0, 3), (500, 1e-6, 0.25, 1)]
)
@pytest.mark.parametrize("delta", ["1e-9", "1e-5", "0.3"])
def test_what_is_asked_for_is_stated_and_no_noise_is_wasted(
    epsilon: str, n: int, modulus: float, c: float, d: int, delta: str
) -> None:
    wanted, missed = Fraction(epsilon), Fraction(delta)
    law = gaussian_perturbation(wanted, missed, n, modulus, Fraction(c), d, PUBLIC_TAU)
    assert law.keeps(wanted, missed)
    assert not law.keeps(wanted * (1 - Fraction(1, 10**6)), missed)
    assert not law.keeps(wanted, missed * (1 - Fraction(1, 10**6)))
    assert stated(law, float(wanted), c) == pytest.approx(float(missed), rel=1e-6)
    assert Fraction(law.total) == Fraction(modulus) + law.extra
    assert math.log1p(c / (n * law.total)) <= 0.99 * float(wanted) / 2 * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [LOWEST, Fraction(1), HIGHEST])
@pytest.mark.parametrize("delta", [LEAST_DELTA, 1 - Fraction(1, 2**50)])
@pytest.mark.parametrize(("n", "modulus", "d"), [(1, 2.0**-29, 1), (10**7, 1e6, 784)])
def test_it_is_so_at_the_ends_of_all_ranges(epsilon: Fraction, delta: Fraction, n: int, modulus: float, d: int) -> None:
    law = gaussian_perturbation(epsilon, delta, n, modulus, Fraction(1, 4), d, PUBLIC_TAU)
    assert law.keeps(epsilon, delta)
    assert not law.keeps(epsilon * (1 - Fraction(1, 10**6)), delta)


def twins(law: GaussianPerturbation, epsilon: Fraction) -> dict[str, GaussianPerturbation]:
    """The same with one thing forgotten."""

    def of_mu(mu: Fraction, apart: int = LINEAR_TERM_SENSITIVITY) -> DiscreteGaussian:
        return DiscreteGaussian(law.noise.dimension, variance_for(apart, mu))

    first = epsilon * Fraction(99, 100)
    mu = mu_for(first - law.jacobian, DELTA)
    return {
        "the determinant": replace(law, noise=of_mu(mu_for(first, DELTA))),
        "that two slopes change": replace(law, noise=of_mu(mu, LINEAR_TERM_SENSITIVITY // 2)),
        "that b moves in units of the grid": replace(law, noise=of_mu(mu, 2)),
        "that a variance is a square": replace(
            law, noise=DiscreteGaussian(3, Fraction(math.isqrt(LINEAR_TERM_SENSITIVITY)))
        ),
        "the other corners": replace(law, noise=of_mu(mu)),
        "the share of the solution": replace(law, noise=of_mu(mu_for(epsilon - law.jacobian, DELTA))),
        "the tolerance of the solver": replace(law, output=KNorm(3, law.output.scale / 10)),
    }


def test_each_thing_forgotten_is_refused() -> None:
    epsilon = Fraction(1, 2)
    law = gaussian_perturbation(epsilon, DELTA, 50, 0.1, Fraction(1, 4), 3, PUBLIC_TAU)
    assert law.keeps(epsilon, DELTA)
    assert [what for what, twin in twins(law, epsilon).items() if twin.keeps(epsilon, DELTA)] == []


def test_the_noise_on_the_solution_covers_solver_and_discrete_b() -> None:
    law = a9a("0.1")
    beta = 100 * math.sqrt(123) / UNIT
    least = UNIT * 2 * (PUBLIC_TAU + beta / law.n) / law.total + math.sqrt(123)
    assert least <= law.moved <= least * (1 + 1e-3)
    assert law.output.epsilon(law.moved) == Fraction(1, 1000)
    forgotten = UNIT * 2 * beta / law.n / law.total + math.sqrt(123)  # a solver that is exact
    assert forgotten < least / 100
    # It is small beside b.
    assert 123 * float(law.output.scale) / UNIT < 0.01 * sigma(law) * math.sqrt(123) / (law.n * law.total)


def beyond(t: Fraction, centre: float) -> mpf:
    """The probability that a discrete Gaussian of variance parameter 9 is further than t from its centre."""
    with mp.workdps(400):
        weights = {k: mp.exp(-((k - mpf(centre)) ** 2) / (2 * VARIANCE_LOST)) for k in range(-400, 401)}
        return sum(w for k, w in weights.items() if abs(k - centre) > t) / sum(weights.values())


def test_z_is_as_near_to_y_as_the_proof_says() -> None:
    for centre in (0.0, 0.25, 0.5):
        assert beyond(ROUNDING_RADIUS, centre) < mpf(2) ** -800
        assert beyond(ROUNDING_RADIUS / 2, centre) > mpf(2) ** -300


# The pointwise bound, and densities of the exact minimiser in one dimension.


def pointwise(epsilon: float, low: float, high: float) -> Array:
    """Where slopes lie in [low, high]: by how much the loss in a point exceeds the three corners together."""
    size = 30_000

    def in_the_disc() -> Array:
        rows = RNG.normal(size=(size, 2))
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)

    def loss(v: Array) -> Array:
        g, moved = (np.exp(-((b**2).sum(axis=1)) / 2) for b in (noise, noise + v))
        return np.asarray(np.maximum(g - math.exp(epsilon) * moved, 0))

    u, other, noise = in_the_disc(), in_the_disc(), RNG.normal(size=(size, 2))
    s, t = RNG.uniform(low, high, size=(2, size, 1))
    return np.asarray(loss(s * u - t * other) - loss(-u) - loss(other) - loss(other - u))


def test_the_loss_in_every_point_is_below_that_of_the_corners() -> None:
    for epsilon in (0.0, 0.3, 1.0):
        assert pointwise(epsilon, -1, 0).max() <= 1e-12
        assert pointwise(epsilon, -1, 1).max() > 0.01  # a loss whose slope may have either sign


def density(f: Array, x: Array, y: Array, loss: Loss, modulus: float, deviation: float) -> Array:
    z = f[:, np.newaxis] * (x * y)
    b = -(loss.slope(z) * (x * y)).sum(axis=1) - len(x) * modulus * f
    jacobian = (loss.curvature_near(z, 0.0) * x**2).sum(axis=1) + len(x) * modulus
    return np.asarray(scipy.stats.norm(scale=deviation).pdf(b) * jacobian)


def realised(law: GaussianPerturbation, loss: Loss, epsilon: float, deviation: float, modulus: float) -> float:
    """The largest delta of the exact minimiser at this epsilon, among neighbours made to be bad: d = 1."""
    end = 12 * deviation / (law.n * modulus) + 2
    f = np.linspace(-end, end, 20_001)
    worst = 0.0
    for others in (0.0, 1.0):
        x, y = np.full(law.n, others), np.ones(law.n)
        for pair in (((1, 1), (1, -1)), ((1, 1), (0, 1)), ((1, -1), (0.3, 1))):
            p = []
            for x[0], y[0] in pair:
                p.append(density(f, x, y, loss, modulus, deviation))
            for a, b in (p, p[::-1]):
                worst = max(worst, float(scipy.integrate.trapezoid(np.maximum(a - math.exp(epsilon) * b, 0), f)))
    return worst


@pytest.mark.parametrize("loss", [Huber(0.5), Logistic()])
@pytest.mark.parametrize(("epsilon", "n", "modulus"), [("1", 10, 0.4), ("2", 4, 0.1)])
def test_densities_differ_by_no_more_than_is_stated(loss: Loss, epsilon: str, n: int, modulus: float) -> None:
    delta = Fraction(1, 1000)
    law = gaussian_perturbation(Fraction(epsilon), delta, n, modulus, loss.largest_curvature, 1, PUBLIC_TAU)
    assert realised(law, loss, 0.99 * float(epsilon), sigma(law), law.total) <= float(delta) * (1 + 1e-6)


def test_the_bound_is_nearly_attained_and_each_mistake_is_found() -> None:
    """A row's label changes where the slopes of a Huber loss are both -1 nearly always, and bent where it counts."""
    loss, delta, first, n, modulus = Huber(0.5), Fraction(1, 1000), 0.99, 10, 10.0
    law = gaussian_perturbation(Fraction(1), delta, n, modulus, Fraction(1), 1, PUBLIC_TAU)
    assert law.extra == 0
    assert 0.9 * float(delta) < realised(law, loss, first, sigma(law), modulus) <= float(delta)
    assert realised(law, loss, first, sigma(law) / 2, modulus) > 10 * float(delta)  # |b - b'| <= 1
    # The determinant: weakly regularised, and all of epsilon for b.
    weak = gaussian_perturbation(Fraction(1), delta, n, 0.2, Fraction(1), 1, PUBLIC_TAU)
    without = 2 / float(mu_for(Fraction(99, 100), delta))
    assert realised(weak, loss, first, sigma(weak), weak.total) <= float(delta)
    assert realised(weak, loss, first, without, weak.total) > 1.2 * float(delta)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        *[(i, "is positive and finite, got 0") for i in (0, 2, 3, 4, 5, 6)],
        *[(1, "delta lies from 2"), (7, "delta lies from 2"), (8, "wanted at most")],
    ],
)
def test_figures_out_of_range_are_named(wrong: int, said: str) -> None:
    given = [Fraction(1), DELTA, 10, 0.1, Fraction(1), 3, PUBLIC_TAU]
    place, value = {7: (1, Fraction(1)), 8: (5, 2**51)}.get(wrong, (wrong, 0))
    given[place] = value
    with pytest.raises(ValueError, match=said):
        gaussian_perturbation(*given)  # type: ignore[arg-type]


def test_nothing_is_kept_where_nothing_is_left() -> None:
    law = a9a("0.1")
    assert not law.keeps(law.jacobian, DELTA)
    assert not law.keeps(Fraction(10**6), Fraction(1, 1 << 334))  # errors are charged for no smaller delta
