"""Fourier features: tables against arithmetic of fifty digits, phases against integers of Python, exact lengths."""

from __future__ import annotations

from fractions import Fraction
from hashlib import sha256, shake_256
from math import isqrt

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from smc_dp.core.arrays import Array
from smc_dp.methods.training import fourier
from smc_dp.methods.training.fourier import FourierFeatures, cosine_table, normal_quantiles
from smc_dp.methods.training.integer_rows import rows_on_grid
from tests.support.refusals import refused

STEPS, QUARTER, ONE = 1 << 14, 1 << 12, 1 << 28
COUNTS = (16, 64, 256, 500, 512, 1000, 4096)


def entries_that_differ(table: list[int], count: int, every: int) -> int:
    """Of every so-manieth step: how many entries are not the real value, truncated toward zero."""
    with mpmath.workdps(50):
        scale = mpmath.sqrt(mpmath.mpf(1) / count) * 2**14
        wrong = 0
        for i in range(0, STEPS, every):
            real = scale * mpmath.cospi(mpmath.mpf(2 * i) / STEPS)
            nearest = mpmath.nint(real)
            exact = nearest if abs(real - nearest) < mpmath.mpf(10) ** -40 else real
            wrong += table[i] != int(exact)  # int truncates
        return wrong


def longest_pair(table: list[int]) -> int:
    """The squared length of the longest pair of an entry and the one a quarter of a turn before."""
    return max(c * c + table[i - QUARTER] ** 2 for i, c in enumerate(table))


def random_rows(n: int, d: int, seed: int = 1) -> Array:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True) * rng.uniform(0, 0.99, (n, 1)))


@pytest.mark.parametrize("count", COUNTS)
def test_every_entry_is_the_cosine_truncated_toward_zero(count: int) -> None:
    table = cosine_table(count)
    assert len(table) == STEPS
    assert not table.flags.writeable
    entries = table.tolist()
    assert entries_that_differ(entries, count, 32) == 0
    assert entries_that_differ(entries, count, 31) == 0
    assert entries_that_differ([entry + 1 for entry in entries], count, 31) > 500
    assert entries_that_differ([*entries[1:], entries[0]], count, 31) > 20


@pytest.mark.parametrize("count", [*COUNTS, *range(18, 200, 22)])
def test_no_pair_is_longer_than_its_place_in_the_ball(count: int) -> None:
    entries = cosine_table(count).tolist()
    assert longest_pair(entries) * count <= ONE
    with mpmath.workdps(30):
        scale = mpmath.sqrt(mpmath.mpf(1) / count) * 2**14
        nearest = [int(mpmath.nint(scale * mpmath.cospi(mpmath.mpf(2 * i) / STEPS))) for i in range(0, STEPS, 8)]
    pairs = (c * c + nearest[i - QUARTER // 8] ** 2 for i, c in enumerate(nearest))
    assert max(pairs) * count > ONE, "entries that are rounded to the nearest are too long"


def test_quantiles_are_the_nearest_integers_and_no_float_decides() -> None:
    quantiles = normal_quantiles()
    assert len(quantiles) == 1 << 16
    assert quantiles == tuple(-z for z in reversed(quantiles))
    parts, margin = 1 << 16, mpmath.mpf(2) ** -24
    with mpmath.workdps(30):
        for i in [*range(5), *range(5, parts // 2, 97)]:
            below, above = (mpmath.mpf(quantiles[i]) + sign * (mpmath.mpf(1) / 2 - margin) for sign in (-1, 1))
            middle = (mpmath.mpf(i) + mpmath.mpf(1) / 2) / parts
            assert mpmath.ncdf(below / parts) < middle < mpmath.ncdf(above / parts), i


def test_phases_and_frequencies_are_those_of_integers() -> None:
    setting, d, X = "fourier:32:1/3", 3, random_rows(20, 3)
    found = FourierFeatures.of(setting).integers(X)
    drawn = shake_256(f"smc-dp {setting} {d}".encode()).digest(2 * 16 * d)
    places = [int.from_bytes(drawn[2 * i : 2 * i + 2], "little") for i in range(16 * d)]
    with mpmath.workdps(30):
        turns = [int(mpmath.nint(3 * normal_quantiles()[place] / (2 * mpmath.pi))) for place in places]
    for x, row in zip(rows_on_grid(X).tolist(), found.tolist(), strict=True):
        assert row[:d] == [isqrt(a * a // 2) * (1 if a > 0 else -1) for a in x]
        for i in range(16):
            phase = sum(a * b for a, b in zip(turns[i * d : i * d + d], x, strict=True))
            place = (phase + (1 << 15) >> 16) % STEPS
            entries = cosine_table(32).tolist()
            assert (row[d + i], row[d + 16 + i]) == (entries[place], entries[(place - QUARTER) % STEPS])


def test_a_row_keeps_half_of_its_squared_length() -> None:
    x = np.arange(-(1 << 14), (1 << 14) + 1)
    found = FourierFeatures.of("fourier:16").integers(x[:, np.newaxis] / 2**14)[:, 0].tolist()
    assert found == [isqrt(a * a // 2) * (1 if a > 0 else -1) for a in x.tolist()]


def test_products_of_features_are_near_the_kernel() -> None:
    X = random_rows(40, 5)
    Z = np.sqrt(2) * FourierFeatures.of("fourier:4096:0.5").of_rows(X)[:, 5:]
    wanted = np.exp(-2 * ((X[:, np.newaxis] - X) ** 2).sum(axis=2))
    assert np.abs(Z @ Z.T - wanted).max() < 0.1
    wider = np.sqrt(2) * FourierFeatures.of("fourier:4096:1").of_rows(X)[:, 5:]
    assert np.abs(wider @ wider.T - wanted).max() > 0.1


@given(arrays(np.float64, (3, 4), elements=st.floats(allow_nan=True, allow_infinity=True)))
def test_every_row_becomes_one_of_the_ball_by_itself(X: Array) -> None:
    features = FourierFeatures.of("fourier:64:0.1")
    found = features.integers(X).astype(np.int64)
    assert ((found**2).sum(axis=1) <= ONE).all()
    assert ((found[:, 4:] ** 2).sum(axis=1) >= ONE * 49 // 100).all()
    for i in range(len(X)):
        assert (features.integers(X[i : i + 1]) == found[i]).all()


def test_the_map_is_the_same_on_every_machine() -> None:
    x = (np.arange(12, dtype=np.float64).reshape(4, 3) - 6) / 16
    found = FourierFeatures.of("fourier:64").integers(x).astype("<i2")
    assert sha256(found.tobytes()).hexdigest() == DIGEST
    for other in ("fourier:64:0.4", "fourier:66"):
        assert not np.array_equal(FourierFeatures.of(other).integers(x)[:, 3:35], found[:, 3:35])


def test_products_stay_exact_in_floats() -> None:
    largest = max(map(abs, normal_quantiles())) * fourier.LEAST_BANDWIDTH.denominator / 6
    assert largest < 2**26
    assert (1 << 14) * largest * isqrt(1 << 16) < 2**53


def test_rows_of_too_many_columns_are_refused_before_a_frequency_is_drawn() -> None:
    FourierFeatures.of("fourier:4096").check_columns(1024)
    FourierFeatures.of("fourier:16").check_columns(2**16 - 16)
    for setting, columns in (("fourier:4096", 1025), ("fourier:16", 2**16 - 15)):
        with refused("features.too_many"):
            FourierFeatures.of(setting).check_columns(columns)


def test_settings_are_read_and_others_refused() -> None:
    assert FourierFeatures.of("fourier:512") == FourierFeatures("fourier:512", 512, Fraction(3, 10))
    assert FourierFeatures.of("fourier:16:1/2").bandwidth == Fraction(1, 2)
    for setting in (
        "fourier",
        "fourier:",
        "relu:512",
        "fourier:512:",
        "fourier:0512",
        "fourier:512:-1",
        "fourier:512 ",
        *("fourier:17", "fourier:14", "fourier:4098", "fourier:99998"),
        *("fourier:16:0", "fourier:16:0.0001", "fourier:16:1001"),
    ):
        with refused("features.unknown"):
            FourierFeatures.of(setting)


DIGEST = "07b47741a6b96300f02f2b658ab936032ed49b5259835444ca1f6da6b9ba3e78"
