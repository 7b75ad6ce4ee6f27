"""Released sums of integers in reals.

A sum with noise, or one that somebody spoilt, is any integers at all: each is cut at 2^200 before it becomes a float,
so that what is computed of them, squares too, stays finite. No honest sum comes near that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, Self

import numpy as np

from smc_dp.core.arrays import Array
from smc_dp.methods.training.integer_rows import COUNT_BITS, RECORD_WEIGHT_BITS, ROW_BITS, SHARE_BITS

_LARGEST = 1 << 200
_EXACT = 1 << 53


class Units(NamedTuple):
    """Units of a sum that are 1 in reals."""

    start_gradient: int
    gradient: int
    curvature: int

    @classmethod
    def of(cls, classes: int, *, weighted: bool = False) -> Self:
        """Return k 2^14, as a gradient at W = 0 is 1/k of the sum that is sent; 2^26; and the unit of the curvature.

        The last is 2^30 for two classes, where X'X/4 bounds the Hessian; 2^28 for X'X, which more classes share. Where
        records have weights, all are multiplied by 2^11.
        """
        bits = 2 * ROW_BITS + (2 if classes == 2 else 0)
        more = RECORD_WEIGHT_BITS if weighted else 0
        return cls(classes << ROW_BITS + more, 1 << SHARE_BITS + ROW_BITS + more, 1 << bits + more)


def read_start_gradient(values: Sequence[int], classes: int, *, weighted: bool = False) -> Array:
    """Return the direction of descent at W = 0, summed over records: (p, d)."""
    return _by_class(reals(values, Units.of(classes, weighted=weighted).start_gradient), classes)


def read_gradient(values: Sequence[int], classes: int, *, weighted: bool = False) -> Array:
    """Return the direction of descent of a later sum, summed over records: (p, d)."""
    return _by_class(reals(values, Units.of(classes, weighted=weighted).gradient), classes)


def read_curvature(
    diagonal: Sequence[int], off_diagonal: Sequence[int], classes: int, *, weighted: bool = False
) -> Array:
    """Return X'X/4 for two classes, X'X for more: (d, d), symmetric to the last bit."""
    return symmetric(diagonal, off_diagonal, Units.of(classes, weighted=weighted).curvature)


@dataclass(frozen=True, eq=False)
class InferenceReading:
    """Sums at the point of an inference: gradient (p,), Hessian and meat (p, p), and the number of rows left out."""

    gradient: Array
    hessian: Array
    meat: Array
    left_out: float


def read_inference(values: Sequence[int], p: int) -> InferenceReading:
    """Return what a sum of `IntegerRows.inference` says, its count in units of 2^-16."""
    beside = p * (p - 1) // 2
    every = iter(values)
    gradient, *blocks = (list(islice(every, length)) for length in (p, p, beside, p, beside))
    hessian, meat = (symmetric(blocks[i], blocks[i + 1], 1 << 2 * (SHARE_BITS + ROW_BITS)) for i in (0, 2))
    (left_out,) = reals(list(every), 1 << COUNT_BITS)
    return InferenceReading(reals(gradient, 1 << SHARE_BITS + ROW_BITS), hessian, meat, float(left_out))


def symmetric(diagonal: Sequence[int], off_diagonal: Sequence[int], unit: int) -> Array:
    """Return the matrix with this triangle, (d, d), in reals."""
    d = len(diagonal)
    matrix = np.zeros((d, d))
    matrix[np.triu_indices(d, 1)] = reals(off_diagonal, unit)
    matrix += matrix.T
    matrix[np.diag_indices(d)] = reals(diagonal, unit)
    return matrix


def _by_class(numbers: Array, classes: int) -> Array:
    """Return one row of weights for two classes; k rows for more, projected to those that sum to zero.

    The sum of exact contributions is there already but for their rounding; the noise is not, and loses 1/k by it.
    """
    if classes == 2:
        return numbers[np.newaxis]
    rows = numbers.reshape(classes, -1)
    centred: Array = rows - rows.mean(axis=0)
    return centred


def reals(values: Sequence[int], unit: int) -> Array:
    """Return integers in units of 1/unit, cut at 2^200."""
    if max(unit, max(values, default=0), -min(values, default=0)) <= _EXACT:
        return np.array(values, dtype=np.float64) / unit  # all are floats exactly, so it is rounded once, as below
    return np.array([min(max(v, -_LARGEST), _LARGEST) / unit for v in values], dtype=np.float64)
