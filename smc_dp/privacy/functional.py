"""The functional mechanism: how far one record moves the coefficients of a polynomial objective.

The logistic loss of a record x~ = (x, 1) with label y in {0, 1} is, to second order at zero, ln 2 + (1/2 - y) x~.theta
+ (x~.theta)^2/8 (the coefficient is l''(0)/2! = (1/4)/2). A party's objective is the sum over its records. Its
coefficients stand on a grid exactly: entries of x~ are cut to multiples of 2^-19 towards zero, which never makes a row
longer, and sums of products of integers are integers. So sensitivities of real numbers hold for the integers as they
are, with nothing added for rounding, and floats prove nothing.

Rows are x~ = (x, 1) sqrt(r/2) with |x|_2 <= 1, so |x~|_2^2 <= r; r = 2 is the published case, r = 1 that of the unit
ball. The monomials are theta_j, then theta_j theta_k with j <= k: p = D + D(D+1)/2 of them for D = d + 1.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from smc_dp.core.arrays import Array
from smc_dp.privacy.grid import ceil_sqrt

_ROW_BITS = 19
UNIT_BITS = 2 * _ROW_BITS + 3
"""Coefficients are integers in units of 2^-UNIT_BITS: products of two entries, over 8."""

L2_SENSITIVITY = 1 << UNIT_BITS
"""Sensitivity of the coefficients, all degrees together, to replacing one record of the unit ball: exactly 1.

Proof. Let a, b be the norms of two rows and -t the cosine between them, each row signed by its label. The degrees
differ by at most F = (a^2 + b^2 + 2abt)/4 + (a^4 + b^4 - 2 a^2 b^2 t^2)/32 in squared norm: the second term is twice
the squared Frobenius distance of the matrices x~x~'/8, because a coefficient of theta_j theta_k, j < k, is the sum of
two entries. dF/da = (a + bt)(1/2 + (a/8)(a - bt)), whose second factor is positive, so that F is largest at a and b in
{0, 1}: 0, 9/32, or (1 + t)/2 + (1 - t^2)/16, which rises up to 1 at t = 1. Opposite labels of one unit row attain it.
"""

_BLOCK = 1 << (53 - 2 * _ROW_BITS)  # so many products of entries add up exactly in floats, in any order


def coefficient_count(D: int) -> int:
    """Return p, the number of coefficients for theta: (D,)."""
    return D + D * (D + 1) // 2


def coefficients(rows: Array, y: npt.NDArray[np.int64]) -> list[int]:
    """Sum over rows, (n, D) with entries in [-1, 1] and n <= 10^7, labels y in {0, 1}: p integers, exactly."""
    n, D = rows.shape
    linear, square = np.zeros(D, dtype=np.int64), np.zeros((D, D), dtype=np.int64)
    for start in range(0, n, _BLOCK):
        u = np.trunc(rows[start : start + _BLOCK] * 2.0**_ROW_BITS)
        linear += ((1.0 - 2 * y[start : start + _BLOCK]) @ u).astype(np.int64)
        square += (u.T @ u).astype(np.int64)
    first = [4 * value << _ROW_BITS for value in linear.tolist()]
    j, k = np.triu_indices(D)
    second = [value * (1 if same else 2) for value, same in zip(square[j, k].tolist(), (j == k).tolist(), strict=True)]
    return first + second


def quadratic(values: Array, D: int) -> tuple[Array, Array]:
    """Return b: (D,) and the symmetric M: (D, D) with b.theta + theta'M theta for these p coefficients, in reals."""
    M = np.zeros((D, D))
    M[np.triu_indices(D)] = values[D:]
    return values[:D], (M + M.T) / 2


def l1_sensitivities(d: int, r: int) -> tuple[int, int]:
    """Bound the L1 sensitivities of the coefficients of degrees 1 and 2, in their units, to replacing one record.

    With A = sqrt(d r/2) >= |x~|_1 but for the last entry B = sqrt(r/2): degree 1 moves by at most (A + B)/2 twice,
    because |1/2 - y| = 1/2. Degree 2 has the norm |x~|_1^2/8, and moves by at most (A^2 + 2AB)/8 twice, because the
    square of the last entry stays what it is.
    """
    if d < 1 or r not in (1, 2):
        raise ValueError(f"d is at least 1 and r is 1 or 2, got {d} and {r}")
    first = _root(Fraction(d * r, 2)) + _root(Fraction(r, 2))
    second = Fraction(r, 8) * (d + 2 * _root(Fraction(d)))
    return math.ceil(first * (1 << UNIT_BITS)), math.ceil(second * (1 << UNIT_BITS))


def scales_as_published(d: int, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Return the Laplace scales of degree 1, 9d/(2 epsilon), and of degree 2, 2 (J + 1) d^2/(8 epsilon), in units.

    J = 2; d is the number of attributes. The paper works the first out (equation 35) and says "the same approach" for
    the second. Its |lambda|_max must be the L1 norm of all coefficients of a degree, the largest over records, d^2/8
    for entries of at most 1: as the largest single coefficient, 1/4, it would be far too little noise.
    """
    unit = 1 << UNIT_BITS
    return Fraction(9 * d * unit, 2) / epsilon, Fraction(3 * d * d * unit, 4) / epsilon


def _root(value: Fraction) -> Fraction:
    """Return the square root, rounded up."""
    return Fraction(ceil_sqrt(math.ceil(value * (1 << 128))), 1 << 64)
