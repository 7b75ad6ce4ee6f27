"""Sums read back: the reals they stand for, and integers that nobody could have summed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smc_dp.methods.training import integer_readings
from smc_dp.methods.training.integer_readings import read_curvature, reals
from smc_dp.methods.training.integer_rows import IntegerRows


@pytest.mark.parametrize("k", [2, 3, 6])
def test_a_start_reads_as_the_gradient_and_the_curvature_at_zero(k: int) -> None:
    rng = np.random.default_rng(k)
    X = np.rint(rng.uniform(-0.4, 0.4, (50, 4)) * 2**14) / 2**14  # on the grid: nothing is cut
    y = rng.integers(0, k, 50)
    start = IntegerRows.of(X, y, k).start()
    labels = (y[:, np.newaxis] - 0.5) if k == 2 else np.eye(k)[y] - 1 / k
    assert np.allclose(integer_readings.read_start_gradient(start.gradient, k), labels.T @ X, atol=1e-12)
    H = read_curvature(start.diagonal, start.off_diagonal, k)
    assert (X.T @ X / (4 if k == 2 else 1) == H).all()


def test_what_is_released_for_classes_sums_to_zero_whatever_the_noise() -> None:
    noisy = np.random.default_rng(1).integers(-(2**40), 2**40, 3 * 5).tolist()
    read = integer_readings.read_gradient(noisy, 3)
    plain = np.array(noisy, dtype=float).reshape(3, 5) / 2**26
    assert np.abs(read.sum(axis=0)).max() < 1e-9 * np.abs(plain).max()
    assert np.abs(plain.sum(axis=0)).max() > np.abs(plain).max() / 100  # twin: not projected
    assert np.allclose(read - plain, (read - plain)[0])  # by the same amount for every class
    assert integer_readings.read_gradient([1 << 26, -(1 << 25)], 2).tolist() == [[1.0, -0.5]]


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("value", [0, -1, 2**63, -(2**5000), 10**4000])
def test_integers_of_any_size_are_finite_reals_and_so_are_their_squares(value: int, k: int) -> None:
    read = integer_readings.read_gradient([value, -value, 7] * k, k)
    start = integer_readings.read_start_gradient([value, -value, 7] * k, k)
    H = read_curvature([value, 1, value], [value, -value, 0], k)
    assert np.isfinite(np.vdot(read, read))
    assert np.isfinite(np.vdot(start, start))
    assert np.isfinite(np.linalg.eigvalsh(H)).all()
    assert (H.T == H).all()


@given(st.lists(st.integers(-(2**60), 2**60) | st.sampled_from([2**53, -(2**53), 2**53 + 1]), max_size=5))
@example([2**53 + 1])
def test_integers_are_divided_with_one_rounding(values: list[int]) -> None:
    """By exact quotients. The last integer is rounded twice if it becomes a float first."""
    for unit in (3 << 14, 1 << 26, 1 << 52, 3 << 60):
        assert reals(values, unit).tolist() == [float(Fraction(value, unit)) for value in values]
