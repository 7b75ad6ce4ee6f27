"""The tables against arithmetic of fifty digits, look-ups against floats, each with a table that is wrong."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import scipy.special

from smc_dp.core.arrays import IntArray
from smc_dp.methods.training import integer_tables
from smc_dp.methods.training.integer_tables import class_shares, signed_shares

BITS = 30
ONE = 1 << BITS
LAST = 18 << 10


def entries_that_differ(sigmoids: IntArray, powers: IntArray, every: int) -> int:
    """Of every so-manieth step: how many entries are not the nearest integer to the real value."""
    with mpmath.workdps(50):
        wrong = 0
        for j in range(0, LAST + 1, every):
            e = mpmath.exp(mpmath.mpf(-j) / 1024)
            wrong += int(sigmoids[LAST + j]) != int(mpmath.nint(4096 * e / (1 + e)))
            wrong += int(sigmoids[LAST - j]) != int(mpmath.nint(4096 / (1 + e)))
            wrong += int(powers[j]) != int(mpmath.nint(2**24 * e))
        return wrong


@pytest.mark.parametrize("every", [101, pytest.param(1, marks=pytest.mark.slow)])
def test_every_entry_is_the_nearest_integer(every: int) -> None:
    sigmoids, powers = integer_tables._sigmoids(), integer_tables._powers()
    assert len(sigmoids) == 2 * LAST + 1
    assert entries_that_differ(sigmoids, powers, every) == 0
    assert (sigmoids[0], sigmoids[LAST], sigmoids[-1], powers[0], powers[-1]) == (4096, 2048, 0, 2**24, 0)
    assert (sigmoids + sigmoids[::-1] == 4096).all()
    assert not sigmoids.flags.writeable
    assert not powers.flags.writeable


def test_looked_up_shares_are_as_close_as_stated() -> None:
    margins = np.random.default_rng(1).integers(-12 * ONE, 12 * ONE, 20_000)
    real = 4096 * scipy.special.expit(-margins / ONE)
    assert np.abs(signed_shares(margins, BITS) - real).max() < 1


@pytest.mark.parametrize("k", [2, 3, 6, 512])
def test_looked_up_class_shares_are_as_close_as_stated(k: int) -> None:
    rng = np.random.default_rng(k)
    margins = np.rint(rng.normal(size=(4000 // k + 50, k)) * rng.uniform(0, 6) * ONE).astype(np.int64)
    shares, real = class_shares(margins, BITS), 4096 * scipy.special.softmax(margins / ONE, axis=1)
    assert np.abs(shares - real).max() < 1.6
    assert (shares >= 0).all()


def test_margins_beyond_the_table_are_at_its_ends() -> None:
    huge = np.array([2**53, 2**40, 19 * ONE, 0, -19 * ONE, -(2**40), -(2**53)])
    assert signed_shares(huge, BITS).tolist() == [0, 0, 0, 2048, 4096, 4096, 4096]
    assert class_shares(np.array([[2**53, -(2**53), 2**53]]), BITS).tolist() == [[2048, 0, 2048]]
