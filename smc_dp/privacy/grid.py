"""The fixed-point grid: floats stop here, and everything below is integers.

A weight w stands on the grid of step 2^-fraction_bits as round(2^fraction_bits w). The integers are shared
and added modulo 2^ring_bits; rounding and the sensitivities it causes are exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Grid:
    """Grid of reals as integers: step 2^-fraction_bits (>= 0 bits), arithmetic modulo 2^ring_bits (>= 2 bits)."""

    fraction_bits: int
    ring_bits: int

    def __post_init__(self) -> None:
        if self.fraction_bits < 0:
            raise ValueError(f"fraction_bits is not negative, got {self.fraction_bits}")
        if self.ring_bits < 2:
            raise ValueError(f"ring_bits is at least 2, got {self.ring_bits}")

    def encode(self, weights: Sequence[float], factor: int = 1) -> list[int]:
        """Return floor(2^fraction_bits factor w + 1/2) of each weight, exactly; ValueError for a weight not finite."""
        return [self._encode_one(float(w), factor) for w in weights]

    def decode(self, values: Sequence[int], divisor: int = 1) -> list[float]:
        """Lift each value, divide by 2^fraction_bits and the divisor (>= 1), and round once, to nearest."""
        if divisor < 1:
            raise ValueError(f"the divisor is at least 1, got {divisor}")
        denominator = divisor << self.fraction_bits
        return [self.lift(value) / denominator for value in values]  # int / int rounds correctly

    def wrap(self, value: int) -> int:
        """Return the residue of the value in [0, 2^ring_bits)."""
        return value & ((1 << self.ring_bits) - 1)

    def lift(self, value: int) -> int:
        """Return the representative of the value's residue in [-2^(ring_bits-1), 2^(ring_bits-1))."""
        half = 1 << (self.ring_bits - 1)
        return self.wrap(value + half) - half

    def l2_sensitivity(self, delta: Fraction, dimension: int) -> int:
        """Return the L2 sensitivity of the integers when the reals have L2 sensitivity delta, rounded up.

        Rounding moves each of the two vectors by at most 1/2 in every coordinate: ceil(2^f delta) +
        ceil(sqrt d).
        """
        _check(delta, dimension)
        return math.ceil(delta * (1 << self.fraction_bits)) + ceil_sqrt(dimension)

    def l1_sensitivity(self, delta_l2: Fraction, dimension: int) -> int:
        """Return the L1 sensitivity of the integers when the reals have *L2* sensitivity delta_l2, rounded up.

        |v|_1 <= sqrt(d) |v|_2, and rounding adds at most 1 in every coordinate: ceil(2^f sqrt(d) delta) + d.
        """
        _check(delta_l2, dimension)
        in_units = delta_l2 * (1 << self.fraction_bits)
        return ceil_sqrt(math.ceil(dimension * in_units * in_units)) + dimension

    def _encode_one(self, weight: float, factor: int) -> int:
        if not math.isfinite(weight):
            raise ValueError(f"a weight must be finite to stand on the grid, got {weight}")
        numerator, denominator = weight.as_integer_ratio()
        return ((factor * numerator << (self.fraction_bits + 1)) + denominator) // (2 * denominator)


def ceil_sqrt(value: int) -> int:
    """Return the smallest integer whose square is at least the value (>= 0)."""
    root = math.isqrt(value)
    return root if root * root == value else root + 1


def _check(delta: Fraction, dimension: int) -> None:
    if delta < 0:
        raise ValueError(f"a sensitivity is not negative, got {delta}")
    if dimension < 1:
        raise ValueError(f"the dimension is at least 1, got {dimension}")
