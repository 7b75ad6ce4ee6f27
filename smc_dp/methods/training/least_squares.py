"""Contributions of records to the sums of least squares: exact integers of rows and outcomes; see `integer_rows`.

A record that is left out is a row of 0, and enters nothing but its count. Why sums are exact: an outcome times an entry
of a row is at most 2^34, of a block 2^49; a residual is at most 2^12, and its multiple of a row at most 2^26; residuals
squared times x_i x_j are those of `integer_rows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from smc_dp.core.arrays import OUTCOME_BITS, Array, IntArray
from smc_dp.methods.training.integer_readings import reals, symmetric
from smc_dp.methods.training.integer_rows import (
    BLOCK_SPLIT_ROWS,
    COUNT_BITS,
    ROW_BITS,
    SHARE_BITS,
    WEIGHT_BITS,
    IntegerRows,
    add_squares,
    exact_product,
    slices_of_rows,
    triangle,
)

MARGIN_BITS = ROW_BITS + WEIGHT_BITS
"""Residuals and their clip stand in units of 2^-30 of half of the range of the outcome."""
LARGEST_CLIP = 1 << 40
_SQUARES = 2 * (SHARE_BITS + ROW_BITS)


def gram_numbers(rows: IntegerRows) -> list[int]:
    """Return the triangle of the sum of x x', the sums of y x and y^2, and 2^16 for each row that is left out."""
    d = rows.x.shape[1]
    matrix, products, squares = np.zeros((d, d), dtype=np.int64), np.zeros(d, dtype=np.int64), 0
    for some in slices_of_rows(len(rows.x), d, BLOCK_SPLIT_ROWS):
        x, y = rows.x[some].astype(np.float64), rows.y[some] * (rows.squares[some] > 0)
        matrix += (x.T @ x).astype(np.int64)
        products += exact_product(y[np.newaxis], x)[0]
        squares += int(y @ y)
    above = matrix[np.triu_indices(d, 1)]
    return [*np.diagonal(matrix).tolist(), *above.tolist(), *products.tolist(), squares, rows.left_out]


def residual_numbers(rows: IntegerRows, w_int: IntArray, clip: int) -> list[int]:
    """Return the sums of s x, of s^2 x x' as a triangle, and of s^2, and 2^16 for each residual that was clipped.

    s: the residual at a `round_query`, (1, d), in parts of 2^-12 of the clip, 1 <= clip <= 2^40 in units of 2^-30.
    """
    d = rows.x.shape[1]
    W, gradient = w_int.astype(np.float64), np.zeros(d, dtype=np.int64)
    digits, squares, clipped = np.zeros((3, d, d), dtype=np.int64), 0, 0
    for some in slices_of_rows(len(rows.x), d, BLOCK_SPLIT_ROWS):
        x = rows.x[some].astype(np.float64)
        margins = (x @ W.T).astype(np.int64)[:, 0]
        residuals = ((rows.y[some] << MARGIN_BITS - OUTCOME_BITS) - margins) * (rows.squares[some] > 0)
        inside = np.clip(residuals, -clip, clip)
        s = ((inside << SHARE_BITS + 1) + clip) // (2 * clip)
        gradient += exact_product(s[np.newaxis], x)[0]
        add_squares(digits, x, s * s)
        squares += int(s @ s)
        clipped += int((inside != residuals).sum())
    diagonal, above = triangle(digits)
    return [*gradient.tolist(), *diagonal, *above, squares, clipped << COUNT_BITS]


class GramReading(NamedTuple):
    """Gram matrix of rows, (p, p), their products with the outcome, (p,), its square, and the number left out."""

    gram: Array
    products: Array
    square: float
    left_out: float


class ResidualReading(NamedTuple):
    """Gradient, (p,), meat, (p, p), and square of residuals in parts of their clip, and the number of clipped ones."""

    gradient: Array
    meat: Array
    square: float
    clipped: float


def read_gram(values: Sequence[int], p: int) -> GramReading:
    """Return what a sum of `gram_numbers` says."""
    diagonal, above, products, square, left_out = _split(values, (p, p * (p - 1) // 2, p, 1, 1))
    return GramReading(
        symmetric(diagonal, above, 1 << 2 * ROW_BITS),
        reals(products, 1 << ROW_BITS + OUTCOME_BITS),
        float(reals(square, 1 << 2 * OUTCOME_BITS)[0]),
        float(reals(left_out, 1 << COUNT_BITS)[0]),
    )


def read_residuals(values: Sequence[int], p: int) -> ResidualReading:
    """Return what a sum of `residual_numbers` says."""
    gradient, diagonal, above, square, clipped = _split(values, (p, p, p * (p - 1) // 2, 1, 1))
    return ResidualReading(
        reals(gradient, 1 << SHARE_BITS + ROW_BITS),
        symmetric(diagonal, above, 1 << _SQUARES),
        float(reals(square, 1 << 2 * SHARE_BITS)[0]),
        float(reals(clipped, 1 << COUNT_BITS)[0]),
    )


def _split(values: Sequence[int], lengths: Sequence[int]) -> list[list[int]]:
    every = iter(values)
    return [list(islice(every, length)) for length in lengths]
