"""Rows really end in the unit ball, decided in rational numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from smc_dp.core.arrays import Array, first_outside, into_ball, with_bias

ROWS = arrays(np.float64, (3, 4), elements=st.floats(-1e6, 1e6, allow_subnormal=False))


def norm_squared(row: Array) -> Fraction:
    return sum((Fraction(float(v)) ** 2 for v in row), Fraction(0))


@given(ROWS, st.floats(1e-3, 1e3), st.floats(0, 10) | st.sampled_from([1e5, 1e7]))
def test_every_row_is_inside_exactly(X: Array, radius: float, bias: float) -> None:
    rows = with_bias(into_ball(X, radius), bias)
    assert all(norm_squared(row) <= 1 for row in rows)
    assert first_outside(rows) is None


def test_without_the_last_step_some_row_is_outside() -> None:
    """The broken twin: dividing by the norm alone leaves rows a unit in the last place too long."""
    X = np.random.default_rng(0).normal(size=(500, 7))
    divided = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert any(norm_squared(row) > 1 for row in divided)
    assert first_outside(divided) == min(i for i, row in enumerate(divided) if norm_squared(row) > 1)
    assert first_outside(into_ball(X, 1e-3)) is None


def test_short_rows_are_only_scaled() -> None:
    X = np.array([[0.3, 0.4], [3.0, 4.0]])
    np.testing.assert_allclose(into_ball(X, 2.0), [[0.15, 0.2], [0.6, 0.8]], rtol=1e-11)


def test_a_row_whose_square_overflows_is_clipped_like_any_other() -> None:
    X = np.array([[3e200, 4e200], [0.3, 0.4]])
    np.testing.assert_allclose(into_ball(X, 1.0), [[0.6, 0.8], [0.3, 0.4]], rtol=1e-11)
    np.testing.assert_allclose(into_ball(X[:1], 1e-150), [[0.6, 0.8]], rtol=1e-11)


def test_the_bias_is_a_column_of_every_row() -> None:
    rows = with_bias(np.array([[1.0, 0.0], [0.0, 0.5]]), 0.5)
    np.testing.assert_allclose(rows[:, -1], 0.5 / math.hypot(1, 0.5), rtol=1e-11)
    assert with_bias(rows, 0) is rows


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.float16, np.float32])
def test_rows_of_short_numbers_are_measured_all_the_same(dtype: type) -> None:
    long = np.full((1, 2), 256 if dtype is np.int16 else 16, dtype)
    assert first_outside(long) == 0
    if np.issubdtype(dtype, np.integer):
        assert np.einsum("ij,ij->i", long, long) == 0  # the twin: their squares overflow to 0


@pytest.mark.parametrize(("row", "outside"), [([1.0, 0.0], None), ([1.0, 1e-9], 0), ([math.nextafter(1.0, 2), 0.0], 0)])
def test_the_boundary_belongs_to_the_ball(row: list[float], outside: int | None) -> None:
    assert first_outside(np.array([row])) == outside
