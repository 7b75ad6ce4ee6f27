"""Public random Fourier features of integer rows, so that `newton` and `gd` learn what is not linear in a row.

A row x becomes x/sqrt(2) and the pairs (cos w_i.x, sin w_i.x)/sqrt(D), i = 1 ... D/2, with frequencies w_i drawn from
the normal distribution with deviation 1/bandwidth. Twice the product of the pairs of two rows is near
exp(-|x - y|^2 / (2 bandwidth^2)) (Rahimi and Recht, Random features for large-scale kernel machines, NIPS 2007). In
reals the pairs of every row have length sqrt(1/2), so that all of it is in the unit ball. Pairs alone, of length 1,
lose to a linear model where that is right and rows are few; beside the row they hardly do.

Everything is integers, the same on every machine, and public: the map follows from the setting and the number of
columns, and no row has a say in it. The seed is both of them, and SHAKE-256 of it draws quantiles of the normal
distribution. Frequencies stand in units of 2^-16 turns, rows in units of 2^-14, so that a phase is an exact product in
units of 2^-30 turns. It goes to the nearest of 2^14 steps, and a table has the entry. All entries are truncated toward
zero: the row keeps its half of the squared length, and no pair is longer than its place in the other half.
`IntegerRows` checks the length of each row once more.

Why products are exact in float64: by Cauchy and Schwarz the absolute values of their terms add up to at most
|x_int| |w_int| <= 2^14 2^26 2^8, for frequencies below 2^26 and up to 2^16 columns, and so to less than 2^53.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from hashlib import shake_256
from math import isqrt
from statistics import NormalDist
from typing import Self

import numpy as np

from smc_dp.core.arrays import Array, IntArray
from smc_dp.core.errors import InputError, shown
from smc_dp.methods.training.integer_rows import (
    MOST_INTEGER_COLUMNS,
    ROW_BITS,
    SmallIntArray,
    rows_on_grid,
    slices_of_rows,
)

FEWEST_FEATURES, MOST_FEATURES = 16, 4096
MOST_FREQUENCIES = 2**21
"""Numbers of all frequencies, which are D/2 times the columns of a row: 16 MiB while they are drawn."""
LEAST_BANDWIDTH, LARGEST_BANDWIDTH = Fraction(1, 1000), Fraction(1000)
DEFAULT_BANDWIDTH = Fraction(3, 10)
"""Bandwidth of a setting that states none: never changed, as a digest has the text of the setting alone."""
FREQUENCY_BITS = 16
TURN_BITS = 14
QUANTILE_BITS = 16
_ROOT_HALF, _ROOT_BITS = 759250124, 30  # 2^30 sqrt(1/2), rounded down
_INVERSE_TURN = 11199533475044  # 2^46 / (2 pi), rounded
_INVERSE_BITS = 46
_INSIDE = 128  # bits of the cosines from which the table is made
_SETTING = re.compile(r"fourier:([1-9][0-9]{0,4})(?::([0-9]{1,4}(?:\.[0-9]{1,6}|/[1-9][0-9]{0,6})?))?", re.ASCII)


@dataclass(frozen=True)
class FourierFeatures:
    """Random Fourier features beside a row: an even number of them, and the bandwidth in the units of encoded rows."""

    setting: str
    count: int
    bandwidth: Fraction

    @classmethod
    def of(cls, setting: str) -> Self:
        """Read `fourier:D` or `fourier:D:BANDWIDTH`; raise InputError for another text or a number out of range."""
        said = _SETTING.fullmatch(setting)
        if said is not None:
            count, bandwidth = int(said[1]), DEFAULT_BANDWIDTH if said[2] is None else Fraction(said[2])
            fits = count % 2 == 0 and FEWEST_FEATURES <= count <= MOST_FEATURES
            if fits and LEAST_BANDWIDTH <= bandwidth <= LARGEST_BANDWIDTH:
                return cls(setting, count, bandwidth)
        least, largest = str(LEAST_BANDWIDTH), str(LARGEST_BANDWIDTH)
        got, fewest, most = shown(setting), FEWEST_FEATURES, MOST_FEATURES
        raise InputError("features.unknown", fewest=fewest, most=most, least=least, largest=largest, got=got)

    def dimension(self, columns: int) -> int:
        """Return the length of a row of so many numbers with its features."""
        return columns + self.count

    def check_columns(self, columns: int) -> None:
        """Raise InputError for rows of so many numbers that the frequencies would take too much memory and time."""
        most = min(MOST_FREQUENCIES * 2 // self.count, MOST_INTEGER_COLUMNS - self.count)
        if columns > most:
            raise InputError("features.too_many", name=self.setting, most=most, got=columns)

    def integers(self, X: Array) -> SmallIntArray:
        """Return rows of the unit ball, (n, d), with their features on the grid of rows: (n, d + D).

        First the row, then all cosines, then all sines.
        """
        (n, d), half = X.shape, self.count // 2
        W, table = self._frequencies(d).T.astype(np.float64), cosine_table(self.count)
        quarter, steps, fine = 1 << TURN_BITS - 2, (1 << TURN_BITS) - 1, ROW_BITS + FREQUENCY_BITS - TURN_BITS
        found = np.empty((n, self.dimension(d)), dtype=np.int16)
        for rows in slices_of_rows(n, self.dimension(d)):
            x = rows_on_grid(X[rows]).astype(np.int64)
            places = ((x.astype(np.float64) @ W).astype(np.int64) + (1 << fine - 1)) >> fine
            found[rows, :d] = np.sign(x) * (np.abs(x) * _ROOT_HALF >> _ROOT_BITS)
            found[rows, d : d + half] = table[places & steps]
            found[rows, d + half :] = table[(places - quarter) & steps]
        return found

    def of_rows(self, X: Array) -> Array:
        """Return rows of the unit ball with their features in reals, as a model of them scores them: (n, d + D)."""
        features: Array = np.ldexp(self.integers(X).astype(np.float64), -ROW_BITS)
        return features

    def turns(self, columns: int) -> Array:
        """Return the frequencies of so many columns in turns, in reals: (D/2, d)."""
        turns: Array = np.ldexp(self._frequencies(columns).astype(np.float64), -FREQUENCY_BITS)
        return turns

    def _frequencies(self, d: int) -> IntArray:
        """Return the frequencies of d columns: (D/2, d), in units of 2^-16 turns."""
        return _draw_frequencies(self.setting, self.count // 2, self.bandwidth, d)


@lru_cache(maxsize=2)
def _draw_frequencies(setting: str, half: int, bandwidth: Fraction, d: int) -> IntArray:
    """Draw so many frequencies of d columns, (half, d), once for all blocks of rows."""
    drawn = shake_256(f"smc-dp {setting} {d}".encode()).digest(2 * half * d)
    found: IntArray = _scaled_quantiles(bandwidth)[np.frombuffer(drawn, dtype="<u2")].reshape(half, d)
    found.flags.writeable = False
    return found


@lru_cache(maxsize=4)
def cosine_table(count: int) -> IntArray:
    """Return 2^14 sqrt(1/D) cos of every step of a turn, truncated toward zero.

    The root of 2^27 (1 + cos 2t)/D is the absolute value. Rational cosines are exact; the others decide no digit by
    their last bits.
    """
    doubled = _cosines()
    unit = 1 << _INSIDE
    falling = [isqrt((unit + c << 2 * ROW_BITS - 1) // (count << _INSIDE)) for c in doubled]
    half = falling + [-entry for entry in falling[-2::-1]]
    return _read_only(half + half[-2:0:-1])


@lru_cache(maxsize=1)
def _cosines() -> list[int]:
    """Return 2^128 cos t of 2^12 + 1 even steps from 0 to half a turn, nearly, and exactly at both ends and between."""
    quarter = 1 << TURN_BITS - 3
    unit = 1 << _INSIDE
    c, s = 0, unit  # of a quarter of a turn, which is halved until it is one step
    for _ in range(TURN_BITS - 3):
        c = isqrt((unit + c) * unit // 2)
        s = (s * unit) // (2 * c)
    x, y = unit, 0
    first = []
    for _ in range(quarter):
        first.append(x)
        x, y = (x * c - y * s) >> _INSIDE, (y * c + x * s) >> _INSIDE
    return [*first, 0, *(-one for one in reversed(first))]


@lru_cache(maxsize=1)
def normal_quantiles() -> tuple[int, ...]:
    """Return 2^16 times the normal quantile in the middle of each of 2^16 parts of equal probability, rounded.

    None is so near to the middle of two integers that the last digits of a float decide.
    """
    parts, law = 1 << QUANTILE_BITS, NormalDist()
    below = [round(law.inv_cdf((i + 0.5) / parts) * parts) for i in range(parts // 2)]
    return (*below, *(-one for one in reversed(below)))


@lru_cache(maxsize=4)
def _scaled_quantiles(bandwidth: Fraction) -> IntArray:
    """Return the quantiles over 2 pi times the bandwidth, rounded: frequencies in units of 2^-16 turns."""
    over, under = _INVERSE_TURN * bandwidth.denominator, bandwidth.numerator << _INVERSE_BITS
    return _read_only([(2 * z * over + under) // (2 * under) for z in normal_quantiles()])


def _read_only(numbers: list[int]) -> IntArray:
    table = np.array(numbers, dtype=np.int64)
    table.flags.writeable = False
    return table
