"""The polynomial of OFAA: its coefficients, and how far one record moves them."""

from __future__ import annotations

from fractions import Fraction
from math import comb, sqrt

import numpy as np
import pytest
import scipy.optimize

from smc_dp.methods.collaborative.rounds import append_one, scale_into_ball
from smc_dp.privacy import functional
from smc_dp.privacy.functional import (
    L2_SENSITIVITY,
    UNIT_BITS,
    coefficient_count,
    coefficients,
    l1_sensitivities,
    quadratic,
)

UNIT = 2.0**UNIT_BITS


def unit_rows(n: int, d: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True) * rng.uniform(size=(n, 1)) ** (1 / d) * (1 - 1e-12)


def vector(row: np.ndarray, y: int) -> np.ndarray:
    """The coefficients of one row, in reals."""
    return np.array(coefficients(row[np.newaxis], np.array([y]))) / UNIT


def taylor(theta: np.ndarray, rows: np.ndarray, y: np.ndarray, curvature: float = 0.25) -> float:
    """The second-order expansion written out, without its constant: l''(0) = 1/4, over 2!."""
    z = rows @ theta
    return float(((0.5 - y) * z + curvature / 2 * z**2).sum())


def value(theta: np.ndarray, c: np.ndarray) -> float:
    b, M = quadratic(c, len(theta))
    return float(b @ theta + theta @ M @ theta)


def test_the_coefficients_are_the_taylor_polynomial_and_not_that_of_the_printed_second_derivative():
    rng = np.random.default_rng(1)
    rows, y = append_one(unit_rows(50, 4, 2)), rng.integers(0, 2, 50)
    c = np.array(coefficients(rows, y)) / UNIT
    assert len(c) == coefficient_count(5) == 5 + comb(6, 2)
    for theta in rng.normal(size=(20, 5)):
        assert value(theta, c) == pytest.approx(taylor(theta, rows, y), abs=50 * 5 * 2.0**-18)
        assert abs(value(theta, c) - taylor(theta, rows, y, curvature=0.5)) > 0.1  # 1/4 where 1/8 belongs


def test_sums_are_exact_integers_over_block_borders(monkeypatch):
    rows, y = scale_into_ball(unit_rows(70_000, 2, 4)), np.random.default_rng(4).integers(0, 2, 70_000)
    found = coefficients(rows, y)
    u = [[int(v * 2**19) for v in row] for row in rows.tolist()]
    signs = (1 - 2 * y).tolist()
    linear = [(sum(s * r[j] for s, r in zip(signs, u, strict=True)) * 4) << 19 for j in range(3)]
    pairs = [(j, k) for j in range(3) for k in range(j, 3)]
    assert found == linear + [sum(r[j] * r[k] for r in u) * (1 if j == k else 2) for j, k in pairs]
    assert sum(x * x for x in u[0]) <= 1 << 38
    # The twin: blocks so long that float sums round.
    large, y = np.full((70_001, 2), 1 - 2.0**-19), np.zeros(70_001, dtype=np.int64)
    exact = 70_001 * (2**19 - 1) ** 2  # odd, and above 2^53
    assert coefficients(large, y)[2] == exact
    monkeypatch.setattr(functional, "_BLOCK", 1 << 20)
    assert coefficients(large, y)[2] != exact


def furthest(distance, D: int, starts: int) -> float:
    """The largest distance over two rows of the unit ball and their labels that many local searches find."""

    def moved(z: np.ndarray) -> float:
        a, b = z[:D], z[D:]
        a, b = a / max(1, np.linalg.norm(a)), b / max(1, np.linalg.norm(b))
        return -max(distance(a, 0, b, other) for other in (0, 1))

    rng = np.random.default_rng(D)
    return max(
        -scipy.optimize.minimize(moved, rng.normal(size=2 * D), method="Powell", options={"maxfev": 1500}).fun
        for _ in range(starts)
    )


def plain(row: np.ndarray, y: int) -> np.ndarray:
    """The coefficients in real numbers, without the grid."""
    j, k = np.triu_indices(len(row))
    return np.concatenate([(0.5 - y) * row, row[j] / 8 * row[k] * np.where(j == k, 1, 2)])


def test_l2_sensitivity_is_one_and_is_attained():
    worst = furthest(lambda a, y, b, w: float(np.linalg.norm(plain(a, y) - plain(b, w))), 3, 4)
    assert 0.999 < worst <= 1 + 1e-9


def test_integers_of_the_unit_ball_keep_the_sensitivity_without_any_allowance_for_rounding():
    for seed in range(300):
        X, rng = unit_rows(2, 3, seed), np.random.default_rng(seed)
        X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9) * (1 + 1e-15)
        if seed % 2:
            X[1] = X[0]  # the worst pair: one row, both labels
        a, b = (
            coefficients(scale_into_ball(X[i : i + 1]), np.array([i if seed % 2 else rng.integers(2)])) for i in (0, 1)
        )
        assert sum((p - q) ** 2 for p, q in zip(a, b, strict=True)) <= L2_SENSITIVITY**2
    whole = np.array([[1.0, 0.0]])
    a, b = coefficients(whole, np.array([0])), coefficients(whole, np.array([1]))
    assert sum((p - q) ** 2 for p, q in zip(a, b, strict=True)) == L2_SENSITIVITY**2


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("r", [1, 2])
def test_l1_sensitivities_hold_by_degree_and_are_nearly_attained(d, r):
    first, second = (s / UNIT for s in l1_sensitivities(d, r))
    append = scale_into_ball if r == 1 else append_one
    corner = np.full(d, 1 / sqrt(d))
    rng = np.random.default_rng(d)
    rows = [corner, np.zeros(d), *unit_rows(200, d, d), *(rng.choice([-1, 1], (200, d)) * corner)]
    one, two = 0.0, 0.0
    for i in range(0, len(rows), 2):
        a, b = (append(np.clip(rows[i + k], -1, 1)[np.newaxis] * (1 - 1e-9))[0] for k in (0, 1))
        for y in (0, 1):
            moved = np.abs(vector(a, 0) - vector(b, y))
            one, two = max(one, moved[: d + 1].sum()), max(two, moved[d + 1 :].sum())
    both = append(corner[np.newaxis] * (1 - 1e-9))[0]
    one = max(one, np.abs(vector(both, 0) - vector(both, 1))[: d + 1].sum())
    assert 0.999 * first < one <= first
    assert two <= second
    assert two > second / 3
    exact = sqrt(d * r / 2) + sqrt(r / 2), r / 8 * (d + 2 * sqrt(d))
    assert (first, second) == pytest.approx(exact, rel=1e-9)


def test_the_largest_coefficient_is_no_scale_for_a_whole_degree():
    """The paper's |lambda|_max read as one coefficient, 1/4, gives an epsilon of its own that grows with d."""
    d, epsilon = 16, Fraction(1)
    _, second = l1_sensitivities(d, 2)
    _, scale = functional.scales_as_published(d, epsilon)
    assert second / scale < Fraction(1, 2)  # as the sum of all coefficients: enough
    as_one_coefficient = 6 * Fraction(1, 4) * (1 << UNIT_BITS) / epsilon
    assert second / as_one_coefficient > 3  # times the epsilon that was wanted, in degree 2 alone


@pytest.mark.parametrize(("d", "r"), [(0, 1), (3, 3)])
def test_a_domain_that_is_none_is_refused(d, r):
    with pytest.raises(ValueError, match="d is at least 1"):
        l1_sensitivities(d, r)


def test_quadratic_is_the_inverse_of_the_layout():
    c = np.arange(1.0, 10.0)
    b, M = quadratic(c, 3)
    assert b.tolist() == [1, 2, 3]
    assert M.tolist() == [[4, 2.5, 3], [2.5, 7, 4], [3, 4, 9]]
