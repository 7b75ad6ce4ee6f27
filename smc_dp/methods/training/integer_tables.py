"""Public tables of integers for the logistic function and for softmax, looked up by exact margins.

The tables are computed in integers and so are the same on every machine, and whatever is looked up is a function of
the record's own margins. No guarantee of privacy rests on what stands in them: that is checked after the look-up.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from functools import lru_cache

import numpy as np

from smc_dp.core.arrays import IntArray

SHARE_BITS = 12  # of a looked-up share: 2^12 stands for 1
STEP_BITS = 10  # the tables go in steps of 2^-10
POWER_BITS = 24  # of e^-t, so that k quotients of 12 bits see no rounding of theirs
_LAST = 18 << STEP_BITS  # e^-18 is 0 in 24 bits, and so is the sigmoid of -18 in 12
_INSIDE = 128  # bits while the powers are multiplied


def signed_shares(margins: IntArray, bits: int) -> IntArray:
    """Return 2^12 sigma(-m) for margins m in units of 2^-bits, each taken to the nearest step: from 0 to 2^12.

    They differ from the real value by less than one: half a unit by their rounding, half a step times a slope of at
    most 1/4. Shares of m and -m add up to 2^12 unless m is in the middle between steps.
    """
    steps = np.clip(_nearest(margins, bits), -_LAST, _LAST)
    return _sigmoids()[steps + _LAST]


def class_shares(margins: IntArray, bits: int) -> IntArray:
    """Return 2^12 times the softmax of each row of margins: (n, k), in units of 2^-bits; integers from 0 to 2^12.

    From the exponentials of the differences to the row's largest margin, by division of integers, to the nearest.
    For up to 512 classes they differ from the real values by less than 1.6: half a unit by their rounding, the rest by
    half a step in every exponent.
    """
    below = _nearest(margins.max(axis=1, keepdims=True) - margins, bits)
    powers = _powers()[np.minimum(below, _LAST)]
    whole = powers.sum(axis=1, keepdims=True)
    shares: IntArray = ((powers << (SHARE_BITS + 1)) + whole) // (2 * whole)
    return shares


def _nearest(margins: IntArray, bits: int) -> IntArray:
    """Return the number of the nearest step, the upper one in the middle."""
    fine = bits - STEP_BITS
    steps: IntArray = (margins + (1 << (fine - 1))) >> fine
    return steps


@lru_cache(maxsize=1)
def _exact_powers() -> list[int]:
    """Return 2^128 e^-t for every step t from 0 to 18, each too low by less than 2^17."""
    with localcontext() as context:
        context.prec = 60  # the exponential of decimals is correctly rounded everywhere
        factor = int((Decimal(-1) / (1 << STEP_BITS)).exp() * (1 << _INSIDE))
    powers = [1 << _INSIDE]
    while len(powers) <= _LAST:
        powers.append(powers[-1] * factor >> _INSIDE)
    return powers


@lru_cache(maxsize=1)
def _powers() -> IntArray:
    """Return 2^24 e^-t to the nearest integer, for every step t from 0 to 18, read-only."""
    return _read_only([_divided(power << POWER_BITS, 1 << _INSIDE) for power in _exact_powers()])


@lru_cache(maxsize=1)
def _sigmoids() -> IntArray:
    """Return 2^12 sigma(-t) to the nearest integer, for every step t from -18 to 18, read-only."""
    one = 1 << _INSIDE
    falling = [_divided(power << SHARE_BITS, one + power) for power in _exact_powers()]
    rising = [(1 << SHARE_BITS) - share for share in falling[:0:-1]]
    return _read_only(rising + falling)


def _divided(a: int, b: int) -> int:
    """Return a/b to the nearest integer, for natural numbers."""
    return (2 * a + b) // (2 * b)


def _read_only(numbers: list[int]) -> IntArray:
    table = np.array(numbers, dtype=np.int64)
    table.flags.writeable = False
    return table
