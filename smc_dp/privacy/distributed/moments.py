"""Counts, sums and sums of squares in one vector: how far one replaced record moves them, exactly, in integers.

A record adds, in units of U = 2^24:
* for a column of levels one U among its places;
* for a column of numbers an integer z from -U to U, and beside it s(z) = floor(w z^2/U) with w = 213/128;
* for a column of numbers in which cells may be empty the same, and U at one more place for an empty cell, whose z is 0.

Rows may be grouped: then each of these stands among the places of the record's group, and all other places are 0.

Theorem. Replacing a record moves the three by at most sqrt2 U, 2 U and sqrt(2 + w^2) U in L2; in groups levels by sqrt2
U and numbers, missing or not, by sqrt(2 + 2 w^2) U. Columns are independent, so squares add up: D^2 = (2 B + 4 N + (2 +
w^2) M + (2 + 2 w^2) G) U^2 for so many columns of each kind, G of numbers in groups, and B with that of the groups
themselves.

Proof. Levels: two places change by U each, or none. Numbers: let a = |z - z'|, b = |z + z'|, so a + b <= 2 U and
|z^2 - z'^2| = a b. If z + z' = 0 then s(z) = s(z') and the square is a^2 <= 4 U^2. Else let e = 2 U - a, so e >= b >= 1
and a <= 2 U - 1. As a floor takes less than 1, |s(z) - s(z')| < w a b/U + 1 <= w a e/U + 1, and it is left to show
that (w a e/U + 1)^2 <= 4 U^2 - a^2 = e (4 U - e) =: T. In parts x = a/U, (w a e/U)^2 <= r T where
w^2 x^2 (2 - x) <= r (2 + x) for all x in [0, 2]. The largest value of x^2 (2 - x)/(2 + x) is 4/p^5, p = (1 + sqrt5)/2,
at x = sqrt5 - 1; so r = 4 w^2/p^5 < .9988 will do. Then (sqrt(r T) + 1)^2 <= T wherever sqrt(T) (1 - sqrt(r)) >= 1. As
1 <= e <= 2 U, T >= 4 U - 1 and sqrt(T) > 8191; and 1 - sqrt(r) > .0006. So the square may have any weight w^2 up to
p^5/4 = 2.7725, and is free; here it is 2.7691. Empty cells: of two records with numbers the square is at most 4 U^2,
and of one with a number and one without z^2 + s(z)^2 + U^2 <= (2 + w^2) U^2, which is more. Groups: within one group as
before. Records of two groups have no place in common, so their squares add up, each at most (1 + w^2) U^2 with a number
and U^2 without; 2 + 2 w^2 is more than 4 and 2 + w^2. A level in a group is one place of many.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from smc_dp.privacy.grid import ceil_sqrt

MOMENT_BITS = 24
MOMENT_UNIT = 1 << MOMENT_BITS
"""Integer that a record adds to a count; a number at an end of its range becomes as much."""
SQUARE_WEIGHT = Fraction(213, 128)
"""w: weight of the square of a number beside the number itself."""


@dataclass(frozen=True)
class RecordReach:
    """Reach of one record with so many columns of levels, of numbers, and of numbers of which some may be missing.

    `grouped`: the number of columns of numbers, missing or not, that are added up in groups.
    """

    levels: int
    numbers: int
    gaps: int = 0
    grouped: int = 0

    @property
    def sensitivity(self) -> Fraction:
        """L2 distance that a replaced record moves the sum by at most, in units of U, rounded up to an integer."""
        square = SQUARE_WEIGHT**2
        return _root(2 * self.levels + 4 * self.numbers + (2 + square) * self.gaps + (2 + 2 * square) * self.grouped)

    @property
    def longest(self) -> Fraction:
        """Largest L2 norm of what one record adds, in units of U, rounded up to an integer."""
        return _root(self.levels + (1 + SQUARE_WEIGHT**2) * (self.numbers + self.gaps + self.grouped))


def weigh_squares(z: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return s(z) of integers z from -U to U."""
    numerator, shift = SQUARE_WEIGHT.numerator, MOMENT_BITS + SQUARE_WEIGHT.denominator.bit_length() - 1
    return np.asarray((numerator * z * z) >> shift, dtype=np.int64)


def _root(square: Fraction) -> Fraction:
    """Return the root of a multiple of 2^-14, rounded up to a multiple of 1/U."""
    return Fraction(ceil_sqrt(int(square * MOMENT_UNIT * MOMENT_UNIT)), MOMENT_UNIT)
