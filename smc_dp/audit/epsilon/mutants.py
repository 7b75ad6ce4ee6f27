"""Mutants of mechanisms: each has a known fault, which the tests must find while the claim stays as it was.

Nothing is protected by them, so they may draw with numpy, from a seed that the stream gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Literal, Protocol, TypeAlias

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError
from smc_dp.privacy.noise import KNorm
from smc_dp.privacy.target import NoiseName

MutantName: TypeAlias = Literal[
    "half-noise",
    "exponential-radius",
    "float-sampler",
    "k-times-integer",
    "half-variance",
    "half-sensitivity",
    "all-honest",
    "silent-party",
    "stripped",
    "unclipped-weight",
]

MUTANT_FAULTS: Mapping[MutantName, str] = MappingProxyType(
    {
        "half-noise": "the noise that belongs to twice the epsilon that is claimed",
        "exponential-radius": "K-norm noise whose length is drawn from an exponential distribution, not from Gamma(d)",
        "float-sampler": "Laplace noise in floats, added without a grid",
        "half-variance": "Gaussian noise whose scale is wrong by the root of 2",
        "half-sensitivity": "Gaussian noise made for half of what neighbours move the vector by",
        "k-times-integer": "whole noise multiplied by the number of parties, as the published protocol does",
        "all-honest": "shares of noise that are enough only if all parties are honest",
        "silent-party": "shares of noise, of which one honest party adds none",
        "stripped": "the noise of the smallest party, as that party sees the release: without it",
        "unclipped-weight": "noise for records of the weight 1, while weights up to 4 enter as they are",
    }
)
HALF_NOISE: tuple[MutantName, ...] = ("half-noise",)
SHARE_MUTANTS: tuple[MutantName, ...] = (*HALF_NOISE, "all-honest", "silent-party")
"""Mutants of noise that parties draw in shares."""
_PARTIES = 5  # where there is no protocol beside the noise
_SEED_BITS = 64


def check_mutant(audited: str, mutant: MutantName | None, known: Sequence[MutantName]) -> None:
    """Raise InputError unless what is audited has this mutant."""
    if mutant not in (None, *known):
        raise InputError("mutant.not_available", audited=audited, known=known, got=mutant)


def check_audited_noise(audited: str, noise: NoiseName, known: Sequence[NoiseName]) -> None:
    """Raise InputError unless what is audited draws this noise."""
    if noise not in known:
        raise InputError("noise.not_audited", audited=audited, known=known, got=noise)


class MutantSampler(Protocol):
    """Sampler of noise for a vector, one number for each coordinate."""

    def __call__(self, rng: Stream) -> Array:
        """Draw the noise: (dimension,)."""
        ...


@dataclass(frozen=True)
class ExponentialRadius:
    """Uniform direction times an exponential length: no epsilon holds in more than one dimension."""

    dimension: int
    scale: float

    def __call__(self, rng: Stream) -> Array:
        """Draw the noise."""
        generator = np.random.default_rng(rng.bits(_SEED_BITS))
        direction = generator.normal(size=self.dimension)
        length = generator.exponential(self.scale)
        rounded: Array = np.rint(direction / np.linalg.norm(direction) * length)
        return rounded


@dataclass(frozen=True)
class FloatSampler:
    """-scale log(u) with a random sign, u a multiple of 2^-53: one float, whose set of values has holes."""

    scale: float

    def __call__(self, rng: Stream) -> Array:
        """Draw the noise."""
        u = (rng.bits(53) + 1) * 2.0**-53
        sign = 1.0 if rng.bits(1) else -1.0
        return np.array([sign * (self.scale * -np.log(u))])


@dataclass(frozen=True)
class MultipliedNoise:
    """K times integer noise of a Kth of the scale: all residues modulo K are those without noise."""

    dimension: int
    scale: Fraction
    parties: int = _PARTIES

    def __call__(self, rng: Stream) -> Array:
        """Draw the noise."""
        return np.array(KNorm(self.dimension, self.scale / self.parties).sample(rng), dtype=np.float64) * self.parties
