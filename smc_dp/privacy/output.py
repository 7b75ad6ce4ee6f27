"""Output perturbation: a vector of known sensitivity goes on the grid, and exactly distributed integers are added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError
from smc_dp.privacy.gaussian import MOST_INTEGERS, epsilon_of, mu_above, variance_for
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.noise import DiscreteGaussian, DiscreteLaplace, KNorm
from smc_dp.privacy.statement import Adjacency, PrivacyStatement, Unit, round_up, short_figure
from smc_dp.privacy.target import SHARED_NOISES, Target, epsilon_for

NoiseDistribution: TypeAlias = KNorm | DiscreteLaplace | DiscreteGaussian

GRID = Grid(fraction_bits=40, ring_bits=128)
"""Fine enough that rounding adds nothing visible to a sensitivity, wide enough that no noise in use wraps round."""
NO_NOISE = "No noise was asked for (epsilon = inf)."


@dataclass(frozen=True)
class Calibrated:
    """Noise, and the sensitivity of the integers that it is added to, in the norm of the noise."""

    distribution: NoiseDistribution
    sensitivity: int


def calibrate_noise(target: Target, dimension: int, delta: Fraction) -> Calibrated:
    """Calibrate noise to the target for a vector of this dimension and L2 sensitivity delta (in reals).

    InputError for noise of which every party draws a share: that is `smc_dp.privacy.distributed`.
    """
    if target.noise in SHARED_NOISES:
        raise InputError("noise.drawn_in_shares", noise=target.noise)
    if target.noise == "laplace":
        D = GRID.l1_sensitivity(delta, dimension)
        return Calibrated(DiscreteLaplace(dimension, D / target.wanted), D)
    D = GRID.l2_sensitivity(delta, dimension)
    if target.noise == "gauss":
        return calibrate_gaussian(target, dimension, D)
    return Calibrated(KNorm(dimension, D / target.wanted), D)


def calibrate_gaussian(target: Target, dimension: int, D: int) -> Calibrated:
    """Calibrate Gaussian noise to the target for integers that move by D in L2: every sigma comes from here.

    ValueError for more integers than the theorem of `smc_dp.privacy.gaussian` is used for.
    """
    if dimension > MOST_INTEGERS:
        raise ValueError(f"wanted at most {MOST_INTEGERS} integers, got {dimension}")
    return Calibrated(DiscreteGaussian(dimension, variance_for(D, target.mu)), D)


def calibrate_as_published(target: Target, dimension: int, delta: Fraction, scale: Fraction) -> Calibrated:
    """Return noise of a published scale (in reals), beside the true sensitivity, whatever that makes of epsilon."""
    on_grid = scale * (1 << GRID.fraction_bits)
    if target.noise == "laplace":
        return Calibrated(DiscreteLaplace(dimension, on_grid), GRID.l1_sensitivity(delta, dimension))
    return Calibrated(KNorm(dimension, on_grid), GRID.l2_sensitivity(delta, dimension))


def perturb(integers: Sequence[int], noise: Calibrated | None, rng: Stream) -> Array:
    """Add noise, if any, to integers on the grid, as floats: (dimension,)."""
    return np.array(GRID.decode(with_noise(integers, noise, rng)))


def with_noise(integers: Sequence[int], noise: Calibrated | None, rng: Stream) -> tuple[int, ...]:
    """Add noise, if any, to integers on the grid."""
    if noise is None:
        return tuple(integers)
    return tuple(w + e for w, e in zip(integers, noise.distribution.sample(rng), strict=True))


def on_grid(values: Array) -> list[int]:
    """Encode the entries of an array of any shape, in its order, as integers on the grid."""
    return GRID.encode(values.ravel().tolist())


def noise_statement(
    noise: Calibrated | None,
    target: Target,
    unit: Unit,
    adjacency: Adjacency,
    adversary: str,
    caveats: tuple[str, ...] = (),
) -> PrivacyStatement:
    """State what a release with this noise guarantees; nothing without noise."""
    if noise is None:
        return no_guarantee(unit, adjacency, NO_NOISE)
    if isinstance(noise.distribution, DiscreteGaussian):
        law, D = noise.distribution, noise.sensitivity
        return gaussian_statement(law.rho(D), law.mu_squared(D), target, unit, adjacency, adversary, caveats)
    true = round_up(noise.distribution.epsilon(noise.sensitivity))
    if target.calibration == "paper":
        caveats += (f"{published_noise_caveat(target.wanted, true)}.",)
    return PrivacyStatement("pure", true, 0.0, unit, adjacency, adversary, caveats)


def gaussian_statement(
    rho: Fraction,
    mu_squared: Fraction,
    target: Target,
    unit: Unit,
    adjacency: Adjacency,
    adversary: str,
    caveats: tuple[str, ...],
) -> PrivacyStatement:
    """State what Gaussian noise of this rho and mu^2 guarantees, with its epsilon at the target's delta."""
    mu = mu_above(mu_squared)
    epsilon, delta = round_up(_implied_epsilon(rho, mu, target)), round_up(target.delta)
    return PrivacyStatement("zcdp", epsilon, delta, unit, adjacency, adversary, caveats, round_up(rho), mu)


def published_noise_caveat(nominal: Fraction, true: float) -> str:
    """Return the caveat of noise as published, without its full stop."""
    shown, proved = short_figure(float(nominal)), short_figure(true)
    return f"The noise is the paper's. Its nominal epsilon is {shown}; the epsilon proved for it is at most {proved}"


def _implied_epsilon(rho: Fraction, mu: float | None, target: Target) -> Fraction:
    """Return the epsilon of Gaussian noise at the target's delta, by its curve where it has one."""
    # No more mu than the target's implies no more than its epsilon, which has not been rounded twice.
    if mu is not None and mu <= target.mu:
        return target.wanted
    by_curve = None if mu is None else epsilon_of(Fraction(mu) ** 2, target.delta)
    return epsilon_for(rho, target.delta) if by_curve is None else by_curve


def no_guarantee(unit: Unit, adjacency: Adjacency, *why: str) -> PrivacyStatement:
    """State that a release guarantees nothing, and why."""
    return PrivacyStatement("none", None, 0.0, unit, adjacency, "nobody", why)
