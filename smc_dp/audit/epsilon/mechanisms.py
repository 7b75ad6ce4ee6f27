"""The three distributions of noise, on vectors in few dimensions that move by the sensitivity exactly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.audit.epsilon.case import Case
from smc_dp.audit.epsilon.mutants import (
    HALF_NOISE,
    ExponentialRadius,
    FloatSampler,
    MultipliedNoise,
    MutantName,
    MutantSampler,
    check_mutant,
)
from smc_dp.audit.epsilon.one_run import Canaries
from smc_dp.core.arrays import Array
from smc_dp.privacy.noise import DiscreteGaussian, DiscreteLaplace, KNorm
from smc_dp.privacy.output import Calibrated, NoiseDistribution, calibrate_gaussian, noise_statement
from smc_dp.privacy.statement import PrivacyStatement, round_up
from smc_dp.privacy.target import NoiseName, Target

SENSITIVITY = (1 << 20) + 1
"""Sensitivity in whole units, of both norms; it has a remainder modulo every small prime, or residues would tell
nothing.
"""

MECHANISMS: Mapping[NoiseName, str] = MappingProxyType(
    {"knorm": "rounded K-norm noise", "laplace": "discrete Laplace noise", "gauss": "discrete Gaussian noise"}
)
_DIMENSIONS = (1, 2)
_MECHANISM_OF_MUTANT: Mapping[MutantName, tuple[NoiseName, int]] = MappingProxyType(
    {
        "exponential-radius": ("knorm", 2),
        "float-sampler": ("laplace", 1),
        "k-times-integer": ("knorm", 1),
        "half-variance": ("gauss", 1),
        "half-sensitivity": ("gauss", 1),
    }
)


def mechanism_cases(target: Target, mutant: MutantName | None = None) -> list[Case]:
    """Return the target's mechanism in one and two dimensions, or a mutant of it; raise InputError for none such."""
    own = {x: dimension for x, (belongs, dimension) in _MECHANISM_OF_MUTANT.items() if belongs == target.noise}
    check_mutant(target.noise, mutant, (*HALF_NOISE, *own))
    return [_case(target, d, mutant) for d in ((own[mutant],) if mutant in own else _DIMENSIONS)]


def distribution_of(target: Target, dimension: int) -> NoiseDistribution:
    """Return the distribution of noise for vectors of this dimension that move by SENSITIVITY."""
    if target.noise == "gauss":
        return calibrate_gaussian(target, dimension, SENSITIVITY).distribution
    scale = SENSITIVITY / target.wanted
    return KNorm(dimension, scale) if target.noise == "knorm" else DiscreteLaplace(dimension, scale)


def claim_of(distribution: NoiseDistribution, target: Target) -> PrivacyStatement:
    """Return the privacy statement of this distribution for the vector."""
    who = "anyone who sees the vector with noise"
    if isinstance(distribution, DiscreteGaussian):
        return noise_statement(Calibrated(distribution, SENSITIVITY), target, "record", "replace", who)
    return PrivacyStatement("pure", round_up(distribution.epsilon(SENSITIVITY)), 0.0, "record", "replace", who, ())


def _case(target: Target, dimension: int, mutant: MutantName | None) -> Case:
    claimed = distribution_of(target, dimension)
    drawn = _drawn(target, dimension, mutant)
    noise = _sampler(drawn, mutant)
    centres = (np.zeros(dimension), np.eye(dimension)[0] * SENSITIVITY)

    def draw(world: int, rng: Stream) -> Array:
        return centres[world] + noise(rng)

    return Case(
        f"{target.noise}, d = {dimension}" + (f": {mutant}" if mutant else ""),
        f"two vectors, {SENSITIVITY} units apart in one coordinate",
        claim_of(claimed, target),
        centres,
        draw,
        noise,
        canaries=None if isinstance(drawn, KNorm) or mutant == "float-sampler" else _canaries(drawn),
        whole=mutant != "float-sampler",
        scale=float(claimed.scale) if isinstance(claimed, DiscreteLaplace) else None,
    )


def _drawn(target: Target, dimension: int, mutant: MutantName | None) -> NoiseDistribution:
    if mutant == "half-noise":
        return distribution_of(twice_epsilon(target), dimension)
    if mutant == "half-sensitivity":
        return calibrate_gaussian(target, dimension, SENSITIVITY // 2).distribution
    distribution = distribution_of(target, dimension)
    if mutant == "half-variance" and isinstance(distribution, DiscreteGaussian):
        return DiscreteGaussian(dimension, distribution.variance / 2)
    return distribution


def _sampler(distribution: NoiseDistribution, mutant: MutantName | None) -> MutantSampler:
    if isinstance(distribution, KNorm) and mutant == "exponential-radius":
        return ExponentialRadius(distribution.dimension, float(distribution.scale))
    if isinstance(distribution, KNorm) and mutant == "k-times-integer":
        return MultipliedNoise(distribution.dimension, distribution.scale)
    if isinstance(distribution, DiscreteLaplace) and mutant == "float-sampler":
        return FloatSampler(float(distribution.scale))
    return lambda rng: np.array(distribution.sample(rng), dtype=np.float64)


def _canaries(distribution: DiscreteLaplace | DiscreteGaussian) -> Callable[[int, Stream], Canaries]:
    def run(number: int, rng: Stream) -> Canaries:
        """Release one vector, each coordinate of which is 0 or SENSITIVITY by a record of its own."""
        bits = np.array([rng.bits(1) for _ in range(number)])
        noise = np.array(replace(distribution, dimension=number).sample(rng), dtype=np.float64)
        return Canaries(bits + noise / SENSITIVITY, bits)

    return run


def twice_epsilon(target: Target) -> Target:
    """Return the target for twice the epsilon, whose noise is half of what is claimed."""
    return Target(target.wanted * 2, target.calibration, target.noise, target.delta)
