"""Lengths and directions of shares of noise: exact distributions, with stated probabilities of a false alarm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import isqrt, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv, gammaln

from smc_dp.audit.run.privacy import direction
from smc_dp.audit.run.privacy.private_inputs import NOISE_FALSE_ALARM
from smc_dp.privacy.grid import ceil_sqrt
from smc_dp.privacy.noise import DiscreteGaussian, KNorm

_POINTS = 4001
_LEFT_OUT = 1e-16  # of the second number, at either end


@dataclass(frozen=True)
class GaussianGammaProduct:
    """Distribution of the squared length of a Gaussian vector whose variance is twice a Gamma number.

    It is that of 4 X Y, X and Y Gamma numbers of these two shapes. Probabilities are means over Y, on an even grid of
    its logarithm.
    """

    first_shape: float
    second_shape: float

    def chance(self, value: float, *, below: bool) -> float:
        """Return the probability that the product is at most this, or at least."""
        points, weights = self._grid
        tail = gammainc if below else gammaincc
        return float(np.sum(weights * tail(self.first_shape, value / (4 * points))))

    def quantile(self, chance: float, *, below: bool) -> float:
        """Return the value at or below which, or from which on, the product lies with this probability."""
        low, high = 1e-300, 1e300
        for _ in range(200):  # of its logarithm, until the ends agree
            middle = float(np.sqrt(low) * np.sqrt(high))
            if (self.chance(middle, below=below) < chance) == below:
                low = middle
            else:
                high = middle
        return low if below else high

    @cached_property
    def _grid(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Values of Y and their weights, which come to 1."""
        ends = gammaincinv(self.second_shape, _LEFT_OUT), gammainccinv(self.second_shape, _LEFT_OUT)
        logs = np.linspace(np.log(max(ends[0], 1e-300)), np.log(ends[1]), _POINTS)
        points = np.exp(logs)
        weights = np.exp(self.second_shape * logs - points - gammaln(self.second_shape)) * (logs[1] - logs[0])
        return points, weights / np.sum(weights)


Integers = Sequence[int]


def squared_length(shares: Sequence[Sequence[int]], distribution: Any) -> int:
    """Return the squared length of shares: of ddg end to end, of vg that of their sum, of self of all lengths added."""
    if distribution.name == "vg":
        return sum(sum(column) ** 2 for column in zip(*shares, strict=True))
    squares = [sum(x * x for x in share) for share in shares]
    return sum(squares) if distribution.name == "ddg" else sum(map(isqrt, squares)) ** 2


@lru_cache(maxsize=8)
def squared_limits(distribution: Any, shares: int) -> tuple[float, float]:
    """Return limits of that squared length in units of the distribution, missed with probability `NOISE_FALSE_ALARM`.

    Of ddg it is a chi-square number, of self the square of a Gamma number, and of vg a product of both kinds.
    """
    d, tail = distribution.dimension, NOISE_FALSE_ALARM / 2  # too short, or too long
    if distribution.name == "self":
        return float(gammaincinv(d * shares, tail)) ** 2, float(gammainccinv(d * shares, tail)) ** 2
    if distribution.name == "ddg":
        return 2 * float(gammaincinv(d * shares / 2, tail)), 2 * float(gammainccinv(d * shares / 2, tail))
    product = _product(distribution, shares)
    return product.quantile(tail, below=True), product.quantile(tail, below=False)


def _product(distribution: Any, shares: int) -> GaussianGammaProduct:
    return GaussianGammaProduct(float(distribution.shape) * shares, distribution.dimension / 2)


def squared_unit(distribution: Any) -> Fraction:
    """Return the square of the unit of lengths; it may be too large for a float."""
    return Fraction(distribution.variance if distribution.name == "ddg" else distribution.scale**2)


def is_plausible_length(square: int, distribution: Any, shares: int) -> bool:
    """Return whether a squared length is that of so many shares, whatever rounding to the grid has done."""
    low, high = squared_limits(distribution, shares)
    slack = sqrt(Fraction((shares * (ceil_sqrt(distribution.dimension) + 1)) ** 2) / squared_unit(distribution))
    return sqrt(low) - slack <= sqrt(Fraction(square) / squared_unit(distribution)) <= sqrt(high) + slack


def power_of_length(distribution: Any, shares: int) -> float:
    """Return the least probability that shares of half the length are noticed for that."""
    d, (low, high) = distribution.dimension, squared_limits(distribution, shares)
    if distribution.name == "self":
        return float(gammainc(d * shares, 2 * sqrt(low)) + gammaincc(d * shares, 2 * sqrt(high)))
    if distribution.name == "ddg":
        return float(gammainc(d * shares / 2, 2 * low) + gammaincc(d * shares / 2, 2 * high))
    product = _product(distribution, shares)
    return product.chance(4 * low, below=True) + product.chance(4 * high, below=False)


def are_plausible_lengths(shares: Sequence[tuple[Integers, Any]]) -> bool:
    """Return whether shares of ddg, each of its own variance, are together as long as their distributions have them."""
    d = sum(distribution.dimension for _, distribution in shares)
    found = sqrt(
        sum(Fraction(sum(x * x for x in noise)) / squared_unit(distribution) for noise, distribution in shares)
    )
    slack = sqrt(
        sum(
            Fraction((ceil_sqrt(distribution.dimension) + 1) ** 2) / squared_unit(distribution)
            for _, distribution in shares
        )
    )
    low, high = gammaincinv(d / 2, NOISE_FALSE_ALARM / 2), gammainccinv(d / 2, NOISE_FALSE_ALARM / 2)
    return bool(sqrt(2 * low) - slack <= found <= sqrt(2 * high) + slack)


def power_of_all_lengths(numbers: int) -> float:
    """Return the least probability that half the noise in so many numbers is noticed for its length."""
    low, high = gammaincinv(numbers / 2, NOISE_FALSE_ALARM / 2), gammainccinv(numbers / 2, NOISE_FALSE_ALARM / 2)
    return float(gammainc(numbers / 2, 4 * low) + gammaincc(numbers / 2, 4 * high))


def share_has_direction(noise: Integers, beside: Integers, distribution: Any) -> bool:
    """Return whether one share points somewhere, along what it hides above all; never on a grid too coarse for that."""
    if _is_coarse(distribution) or not any(noise):
        return False
    return direction.direction_chance(_scores(noise, distribution), _floats(beside)) < NOISE_FALSE_ALARM


def shares_have_direction(shares: Sequence[Integers], beside: Sequence[Integers], distribution: Any) -> bool:
    """Return whether all shares point somewhere, or several the same way; never of vg, whose lengths do not compare."""
    if distribution.name == "vg" or len(shares) < 2 or _is_coarse(distribution):
        return False
    scores = np.array([_scores(noise, distribution) for noise in shares])
    return direction.common_direction_chance(scores, np.array([*map(_floats, beside)])) < NOISE_FALSE_ALARM


def _is_coarse(distribution: Any) -> bool:
    return squared_unit(distribution) < direction.COARSE**2


def _scores(noise: Integers, distribution: Any) -> direction.Vectors:
    """Return numbers that point where a share does: given its length every direction is as likely, also of vg."""
    gauss = distribution.name == "ddg"
    like = (
        DiscreteGaussian(distribution.dimension, distribution.variance)
        if gauss
        else KNorm(distribution.dimension, distribution.scale)
    )
    return direction.normal_scores(noise, like)


def _floats(numbers: Integers) -> direction.Vectors:
    """Return numbers in parts of the largest: their direction matters, and they may be too large for floats."""
    largest = max(map(abs, numbers), default=0) or 1
    return np.array([float(Fraction(x, largest)) for x in numbers])
