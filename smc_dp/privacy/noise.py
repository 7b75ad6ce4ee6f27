"""Noise for integer vectors: how it is drawn and what it guarantees, side by side.

Each mechanism adds integers to an integer vector W. Its guarantee needs only that neighbouring data sets
move W by at most a known amount, in whole grid units, in the norm that belongs to the mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt
from typing import ClassVar, Literal

from protocols.arithmetic.rng import Stream
from smc_dp.privacy.discrete import discrete_gaussian, discrete_laplace
from smc_dp.privacy.gaussian import LEAST_VARIANCE, VARIANCE_LOST
from smc_dp.privacy.knorm import knorm_integers

_LN_2 = Fraction(6931471806, 10**10)  # rounded up


@dataclass(frozen=True)
class KNorm:
    """K-norm noise: round(Y), Y in R^dimension with density proportional to e^(-|y|_2/scale), scale > 0 in grid units.

    On integers W + round(Y) = round(W + Y), so rounding is post-processing of the continuous mechanism,
    whose density at W and at W' differs by a factor of at most e^(|W - W'|_2/scale): epsilon =
    sensitivity/scale, pure.
    """

    dimension: int
    scale: Fraction
    name: ClassVar[Literal["knorm"]] = "knorm"
    norm: ClassVar[Literal["L2"]] = "L2"

    def __post_init__(self) -> None:
        _check(self.dimension, self.scale)

    def sample(self, rng: Stream) -> list[int]:
        """Draw the noise, exactly distributed for uniform bits."""
        return knorm_integers(self.dimension, self.scale, rng)

    def epsilon(self, sensitivity: Fraction | int) -> Fraction:
        """Return the pure epsilon for a vector of integers with this L2 sensitivity: sensitivity/scale."""
        return _ratio(sensitivity, self.scale)

    def tail(self, bits: int = 80) -> int:
        """Bound every |coordinate|, except with probability 2^-bits.
        P(|Y|_2 > scale (d + sqrt(2 d x) + x)) <= e^-x, the tail of Gamma(d), at x = bits ln 2; rounding adds
        1/2.
        """
        d, x = self.dimension, bits * _LN_2
        return ceil(self.scale * (d + isqrt(ceil(2 * d * x)) + 1 + x)) + 1


@dataclass(frozen=True)
class DiscreteLaplace:
    """Independent integers, each y with probability proportional to e^(-|y|/scale), scale > 0 in grid units.

    Shifting the vector by h changes its probability by a factor of at most e^(|h|_1/scale):
    epsilon = sensitivity/scale, pure, with the sensitivity in L1.
    """

    dimension: int
    scale: Fraction
    name: ClassVar[Literal["laplace"]] = "laplace"
    norm: ClassVar[Literal["L1"]] = "L1"

    def __post_init__(self) -> None:
        _check(self.dimension, self.scale)

    def sample(self, rng: Stream) -> list[int]:
        """Draw the noise, exactly distributed for uniform bits."""
        return [discrete_laplace(self.scale, rng) for _ in range(self.dimension)]

    def epsilon(self, sensitivity: Fraction | int) -> Fraction:
        """Return the pure epsilon for a vector of integers with this L1 sensitivity: sensitivity/scale."""
        return _ratio(sensitivity, self.scale)

    def tail(self, bits: int = 80) -> int:
        """Bound every |coordinate|, except with probability 2^-bits.
        P(|y| >= m) <= 2 e^(-m/scale) for each coordinate, summed over all of them.
        """
        return ceil(self.scale * _LN_2 * (bits + 1 + (self.dimension - 1).bit_length()))


@dataclass(frozen=True)
class DiscreteGaussian:
    """Independent integers, each y with probability proportional to e^(-y^2/(2 variance)), in grid units squared.

    Zero-concentrated differential privacy with rho = sensitivity^2/(2 variance), sensitivity in L2: of a coordinate
    shifted by h it is h^2/(2 variance) (Canonne, Kamath and Steinke 2020), and independent coordinates add up. And the
    curve of a Gaussian with mu^2 = sensitivity^2/(variance - 9), for a variance of at least 18; see `gaussian`.
    """

    dimension: int
    variance: Fraction
    name: ClassVar[Literal["gauss"]] = "gauss"
    norm: ClassVar[Literal["L2"]] = "L2"

    def __post_init__(self) -> None:
        _check(self.dimension, self.variance, "variance")

    def sample(self, rng: Stream) -> list[int]:
        """Draw the noise, exactly distributed for uniform bits."""
        return [discrete_gaussian(self.variance, rng) for _ in range(self.dimension)]

    def rho(self, sensitivity: Fraction | int) -> Fraction:
        """Return the rho of zCDP for a vector of integers with this L2 sensitivity."""
        if sensitivity < 0:
            raise ValueError(f"a sensitivity is not negative, got {sensitivity}")
        return Fraction(sensitivity) ** 2 / (2 * self.variance)

    def mu_squared(self, sensitivity: Fraction | int) -> Fraction:
        """Return mu^2 of the Gaussian curve for this L2 sensitivity; ValueError for a variance below 18."""
        if sensitivity < 0:
            raise ValueError(f"a sensitivity is not negative, got {sensitivity}")
        if self.variance < LEAST_VARIANCE:
            raise ValueError(f"the variance is at least {LEAST_VARIANCE} for a Gaussian curve, got {self.variance}")
        return Fraction(sensitivity) ** 2 / (self.variance - VARIANCE_LOST)

    def tail(self, bits: int = 80) -> int:
        """Bound every |coordinate|, except with probability 2^-bits.
        P(|y| >= m) <= 2 e^(-m^2/(2 variance)) for each coordinate (it is sub-Gaussian), summed over all of them.
        """
        squared = 2 * self.variance * _LN_2 * (bits + 1 + (self.dimension - 1).bit_length())
        return isqrt(ceil(squared)) + 1


def _check(dimension: int, size: Fraction, what: str = "scale") -> None:
    if dimension < 1:
        raise ValueError(f"the dimension of noise is at least 1, got {dimension}")
    if size <= 0:
        raise ValueError(f"the {what} of noise is positive, got {size}")


def _ratio(sensitivity: Fraction | int, scale: Fraction) -> Fraction:
    if sensitivity < 0:
        raise ValueError(f"a sensitivity is not negative, got {sensitivity}")
    return Fraction(sensitivity) / scale
