"""Distributions of one party's share of noise, and what H honest shares guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt
from typing import ClassVar, Literal, TypeAlias

from flint import ctx

from protocols.arithmetic.rng import Stream
from smc_dp.privacy.bulk import discrete_gaussians
from smc_dp.privacy.discrete import discrete_gaussian
from smc_dp.privacy.gamma import gamma_above
from smc_dp.privacy.gaussian import LEAST_VARIANCE, VARIANCE_LOST
from smc_dp.privacy.knorm import knorm_integers
from smc_dp.privacy.lazy import exact_ball
from smc_dp.privacy.noise import DiscreteGaussian, KNorm

MOST_HONEST, MOST_COORDINATES = 2_000, 1 << 46
"""Honest parties and integers in one sum that the errors of the theorems are charged for."""
LEAST_SCALE, MOST_DIMENSION = 16, 10**4
"""Least scale and largest dimension of `vg` that its theorem covers."""
ERROR = Fraction(1, 1 << 80)
"""Addition to the epsilon of `vg` for the lattice and for rounding: above 4 H d kappa + 2^-81 for any H and d."""
LEAST_CLAIMED = Fraction(1, 1 << 256)
"""No delta of `vg` is stated smaller; it is above the 2^-2000 that rounding costs."""

_CLOSENESS = Fraction(1, 1 << 252)  # above 10 e^(-18 pi^2)
_LN_2 = Fraction(6931471806, 10**10)  # rounded up
_BITS = 192


@dataclass(frozen=True)
class GaussianShares:
    """Shares `ddg`: a discrete Gaussian of this variance parameter, at least 18, in every coordinate."""

    dimension: int
    honest: int
    variance: Fraction
    name: ClassVar[Literal["ddg"]] = "ddg"

    def __post_init__(self) -> None:
        _check(self.dimension, self.honest)
        if self.variance < LEAST_VARIANCE:
            raise ValueError(f"the variance of a share is at least {LEAST_VARIANCE}, got {self.variance}")

    @property
    def text(self) -> str:
        """Public description of the distribution; equal texts mean equal distributions."""
        return f"{_begun(self)} variance={_exact(self.variance)}"

    def share(self, rng: Stream) -> list[int]:
        """Draw one party's share, exactly distributed for uniform bits."""
        return discrete_gaussians(self.variance, self.dimension, rng)

    def rho(self, sensitivity: int) -> Fraction:
        """Return the rho of zCDP for a vector of integers with this L2 sensitivity, rounded up."""
        return Fraction(sensitivity) ** 2 / (2 * self.honest * self.variance) + self.closeness

    @property
    def closeness(self) -> Fraction:
        """Addition to rho because a sum of shares is not one discrete Gaussian, rounded up."""
        return (self.honest - 1) * _CLOSENESS * self.dimension / 4

    def mu_squared(self, sensitivity: int) -> Fraction:
        """Return mu^2 of the Gaussian curve for a vector with this L2 sensitivity."""
        return Fraction(sensitivity) ** 2 / (self.honest * self.variance - VARIANCE_LOST)

    def coordinate_variance(self, shares: int) -> Fraction:
        """Return the variance of a coordinate of the sum of so many shares, that of its continuous distribution."""
        return shares * self.variance

    def tail(self, parties: int, bits: int = 80) -> int:
        """Bound every |coordinate| of all parties' shares together, except with probability 2^-bits.
        A sum of discrete Gaussians is sub-Gaussian with the sum of their variance parameters, as one of those is.
        """
        return DiscreteGaussian(self.dimension, parties * self.variance).tail(bits)


@dataclass(frozen=True)
class GammaShares:
    """Shares `vg`: V from Gamma((d+1)/(2H), 2 scale^2), then discrete Gaussians of variance parameter V.

    ValueError for what the theorem does not cover: a scale below 16, more than 10^4 coordinates.
    """

    dimension: int
    honest: int
    scale: Fraction
    name: ClassVar[Literal["vg"]] = "vg"

    def __post_init__(self) -> None:
        _check(self.dimension, self.honest)
        if self.scale < LEAST_SCALE:
            raise ValueError(f"the scale of such noise is at least {LEAST_SCALE}, got {self.scale}")
        if self.dimension > MOST_DIMENSION:
            raise ValueError(f"the dimension of such noise is at most {MOST_DIMENSION}, got {self.dimension}")

    @property
    def text(self) -> str:
        """Public description of the distribution; equal texts mean equal distributions."""
        return f"{_begun(self)} scale={_exact(self.scale)}"

    @property
    def shape(self) -> Fraction:
        """Shape of each party's V."""
        return Fraction(self.dimension + 1, 2 * self.honest)

    def share(self, rng: Stream) -> list[int]:
        """Draw one party's share. From uniform bits its distribution is exact, except that V is rounded up."""
        V = gamma_above(self.shape, 2 * self.scale**2, rng)
        return [discrete_gaussian(V, rng) for _ in range(self.dimension)]

    def epsilon(self, sensitivity: int) -> Fraction:
        """Return the epsilon for a vector of integers with this L2 sensitivity, at `delta`."""
        return sensitivity / self.scale + ERROR

    def delta(self, sensitivity: int) -> Fraction:
        """Return the delta that goes with `epsilon`, rounded up; 1 where nothing is guaranteed."""
        with ctx.workprec(_BITS):
            missed = (
                self.honest
                * (8 / exact_ball(self.scale**2)) ** exact_ball(self.shape)
                / exact_ball(self.shape + 1).gamma()
            )
            found = (1 + 2 * exact_ball(self.epsilon(sensitivity)).exp()) * missed + exact_ball(LEAST_CLAIMED) / 2
            if found < exact_ball(LEAST_CLAIMED):
                return LEAST_CLAIMED
            if not found < 1:
                return Fraction(1)
            top = found.upper().fmpq()
        return Fraction(int(top.p), int(top.q))

    def coordinate_variance(self, shares: int) -> Fraction:
        """Return the variance of a coordinate of the sum of so many shares, that of its continuous distribution."""
        return 2 * shares * self.shape * self.scale**2

    def tail(self, parties: int, bits: int = 80) -> int:
        """Bound every |coordinate| of all parties' shares together, except with probability 2^-bits.
        All V together are Gamma(a) times 2 scale^2, a = parties times `shape`, which exceeds a + sqrt(2 a x) + x with
        probability e^-x at most, and given those the sum is sub-Gaussian. Each has half of the probability.
        """
        a, x = parties * self.shape, (bits + 1) * _LN_2
        most = 2 * self.scale**2 * (a + isqrt(ceil(2 * a * x)) + 1 + x)
        rounded = most * (1 + Fraction(1, 1 << 90))  # `gamma_above` rounds V up, by a factor below 1 + 2^-94
        return DiscreteGaussian(self.dimension, rounded).tail(bits + 1)


@dataclass(frozen=True)
class WholeShares:
    """Shares `self`: K-norm noise of this scale, which is enough alone."""

    dimension: int
    honest: int
    scale: Fraction
    name: ClassVar[Literal["self"]] = "self"

    def __post_init__(self) -> None:
        _check(self.dimension, self.honest)
        if self.scale <= 0:
            raise ValueError(f"the scale of noise is positive, got {self.scale}")

    @property
    def text(self) -> str:
        """Public description of the distribution; equal texts mean equal distributions."""
        return f"{_begun(self)} scale={_exact(self.scale)}"

    def share(self, rng: Stream) -> list[int]:
        """Draw one party's share, exactly distributed for uniform bits."""
        return knorm_integers(self.dimension, self.scale, rng)

    def epsilon(self, sensitivity: int) -> Fraction:
        """Return the pure epsilon for integers with this L2 sensitivity, against all other parties together."""
        return sensitivity / self.scale

    def coordinate_variance(self, shares: int) -> Fraction:
        """Return the variance of a coordinate of the sum of so many shares, that of its continuous distribution."""
        return shares * (self.dimension + 1) * self.scale**2  # E|Y|^2 = d (d + 1) scale^2

    def tail(self, parties: int, bits: int = 80) -> int:
        """Bound every |coordinate| of all parties' shares together, except with probability 2^-bits."""
        # Union bound over the parties: each share exceeds its own bound with probability 2^-bits/parties at most.
        return parties * KNorm(self.dimension, self.scale).tail(bits + parties.bit_length())


ShareDistribution: TypeAlias = GaussianShares | GammaShares | WholeShares


def _check(dimension: int, honest: int) -> None:
    if not 1 <= dimension <= MOST_COORDINATES:
        raise ValueError(f"the dimension of noise lies from 1 to {MOST_COORDINATES}, got {dimension}")
    if not 1 <= honest <= MOST_HONEST:
        raise ValueError(f"from 1 to {MOST_HONEST} honest parties are counted, got {honest}")


def _begun(distribution: ShareDistribution) -> str:
    return f"{distribution.name} dimension={distribution.dimension} honest={distribution.honest}"


def _exact(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"
