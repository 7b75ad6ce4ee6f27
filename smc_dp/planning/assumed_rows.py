"""Rows that a plan of intervals assumes, as it knows none: moments of the columns that public bounds describe.

Columns are independent. A number lies around the middle of its range, which is seven standard deviations wide unless
another deviation is stated; levels and bins are equally frequent; where empty cells are marked, one in ten is empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from smc_dp.core.arrays import Array
from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import Column, DateColumn, NumericColumn
from smc_dp.methods.statistics.describe import DescribeSum
from smc_dp.methods.statistics.sum_blocks import SumBlock, has_levels
from smc_dp.privacy.distributed.moments import SQUARE_WEIGHT

DEVIATIONS_IN_RANGE = 7.0
"""Standard deviations of a number in its range."""
EMPTY_PART = 0.1
"""Part of the cells that are empty in a column that marks them."""
SCORE_DEVIATION = 1.0
"""Standard deviation of the scores of `logistic`: columns tell a row of one class from one of the other in about three
of four pairs.
"""
_NODES = 40
_FARTHEST = 40.0  # score at which a class is certain


def assumed_moments(bounds: Bounds, stated: Mapping[str, float]) -> Array:
    """Return the mean of x x' over encoded rows, (d, d), the constant last; `stated`: as of `deviation`."""
    box = bounds.box
    if box is None:
        raise ValueError("wanted bounds with a constant")
    mean, covariance, at = np.zeros(bounds.dimension), np.zeros((bounds.dimension, bounds.dimension)), 0
    for column in bounds.columns:
        own = slice(at, at + column.width)
        mean[own], covariance[own, own] = _of_column(column, stated, center=bounds.center)
        at += column.width
    unit = np.full(bounds.dimension, box.reach)
    mean[-1], unit[-1] = 1.0, box.constant
    moments: Array = (covariance + np.outer(mean, mean)) * np.outer(unit, unit)
    return moments


def deviation(column: NumericColumn | DateColumn, stated: Mapping[str, float]) -> float:
    """Return the standard deviation of a number, or of a date in days: that `stated` for its name, or the assumed."""
    return stated.get(column.name, half_range(column) * 2 / DEVIATIONS_IN_RANGE)


def half_range(column: NumericColumn | DateColumn) -> float:
    """Return half of the range of a number, or of a date in days."""
    number = column.days if isinstance(column, DateColumn) else column
    return number.scale(center=True)[1]


def spread_of_rate(rate: float) -> float:
    """Return the mean of q (1 - q) where q is `rate` on average, and scores are normal."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    weights = weights / weights.sum()
    low, high = -_FARTHEST, _FARTHEST
    for _ in range(60):  # halves the interval of the middle of the scores
        middle = (low + high) / 2
        q = 1 / (1 + np.exp(-(middle + SCORE_DEVIATION * nodes)))
        low, high = (low, middle) if weights @ q > rate else (middle, high)
    return float(weights @ (q * (1 - q)))


def assumed_sums(spec: DescribeSum, rows: float, stated: Mapping[str, float]) -> tuple[float, ...]:
    """Return the sum of `describe` without its noise; `stated`: as of `deviation`."""
    return tuple(number for block in (*spec.blocks, *spec.tables) for number in _of_block(block, rows, stated))


def _of_column(column: Column, stated: Mapping[str, float], *, center: bool) -> tuple[Array, Array]:
    """Return mean and covariance of the features of a column, in parts of the reach."""
    k = column.width
    if has_levels(column):
        return np.full(k, 1 / k), np.eye(k) / k - np.full((k, k), 1 / k**2)
    number = column.days if isinstance(column, DateColumn) else column
    (shift, unit), middle = number.scale(center=center), number.scale(center=True)[0]
    mean, variance = (middle - shift) / unit, (deviation(column, stated) / unit) ** 2
    if k == 1:
        return np.array([mean]), np.array([[variance]])
    full = 1 - EMPTY_PART  # the feature of an empty cell is 0
    beside = -full * EMPTY_PART * mean
    own = full * variance + full * EMPTY_PART * mean**2
    return np.array([full * mean, EMPTY_PART]), np.array([[own, beside], [beside, full * EMPTY_PART]])


def _of_block(block: SumBlock, rows: float, stated: Mapping[str, float]) -> Sequence[float]:
    each = rows / block.parts
    if has_levels(block.column):
        return [each / block.part_length] * block.length
    filled = each * (1 - EMPTY_PART if block.column.width > 1 else 1)
    square = float(SQUARE_WEIGHT) * filled * (deviation(block.column, stated) / half_range(block.column)) ** 2
    return [0.0, square, *([each - filled] if block.column.width > 1 else [])] * block.parts
