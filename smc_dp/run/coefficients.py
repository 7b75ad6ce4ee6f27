"""Coefficients of a release by the names of its columns: what a cell adds to a score, in the units of its column.

They repeat the weights for readers who know the columns and not the encoding. Each follows from the weights and the
public bounds alone, by operations that end in the same digit on every machine, so that anybody can compute them again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from smc_dp.core.arrays import in_columns
from smc_dp.core.errors import Fault, InputFault
from smc_dp.core.kinds import LARGEST_FINITE_NUMBER
from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import BinnedColumn, CategoricalColumn, Column, DateColumn
from smc_dp.methods.model import Weights
from smc_dp.methods.statistics.describe_result import DescribeResult


def make_coefficients(weights: Weights, bounds: Bounds) -> dict[str, Any]:
    """Return the coefficients of each score for JSON: of the second class, of each class of three or more, or of the
    outcome that is predicted.

    The score of a row that is not shortened is `intercept` plus what each column adds: `slope` x the number, clipped to
    its range, or the number of days since the first date; the entry of the cell's level in `levels`, or of its bin in
    `bins`; `empty` for an empty cell that has a feature of its own. Private standard deviations are not known, so the
    standardised form is by the public range: a number counts from the middle of its range in halves of it, from -1 to
    1, uncentred from 0 in units of its largest absolute bound. `standardised_intercept`, `standardised_slope` and
    `standardised_empty` replace the others in it; levels and bins are the same. A number above 1e300 is None.
    """
    rows = np.atleast_2d(np.array(weights, dtype=np.float64))
    with np.errstate(over="ignore"):  # a tiny clip
        found, constants = in_columns(rows, bounds.clip, bounds.bias)
    return {
        name: _score(row, constant, bounds)
        for name, row, constant in zip(scored_classes(bounds), found.tolist(), constants.tolist(), strict=True)
    }


def scored_classes(bounds: Bounds) -> tuple[str, ...]:
    """Return the classes that have a score, the second of two, or each of more; or the label that is a number."""
    if bounds.outcome is not None:
        return (str(bounds.label),)
    return bounds.classes if len(bounds.classes) > 2 else bounds.classes[1:]


def coefficients_fault(
    stated: Mapping[str, Any] | None, result: Weights | DescribeResult, bounds: Bounds
) -> Fault | None:
    """Return the fault of coefficients that do not follow from the weights; some releases state none."""
    if stated is None or (not isinstance(result, DescribeResult) and stated == make_coefficients(result, bounds)):
        return None
    return InputFault("release.other_coefficients")


def _score(weights: Sequence[float], constant: float, bounds: Bounds) -> dict[str, Any]:
    at, shifts, columns = 0, [constant], {}
    for column in bounds.columns:
        columns[column.name], shift = _column(column, weights[at : at + column.width], center=bounds.center)
        shifts.append(shift)
        at += column.width
    whole = math.fsum(shifts) if all(map(math.isfinite, shifts)) else math.inf
    return {
        "intercept": _stated(whole),
        "standardised_intercept": _stated(constant),
        "columns": columns,
    }


def _column(column: Column, weights: Sequence[float], *, center: bool) -> tuple[dict[str, Any], float]:
    """Return the coefficients of a column, and what its slope adds to the intercept."""
    if isinstance(column, CategoricalColumn | BinnedColumn):
        is_level = isinstance(column, CategoricalColumn)
        texts = column.categories if isinstance(column, CategoricalColumn) else column.texts
        each = dict(zip(texts, map(_stated, weights), strict=False))
        empty = {"empty": _stated(weights[-1])} if column.width > len(texts) else {}
        return {"levels" if is_level else "bins": each, **empty}, 0.0
    number = column.days if isinstance(column, DateColumn) else column
    weight, (middle, half) = weights[0], number.scale(center=center)
    shift = weight * (middle / half)
    found = {"slope": _stated(weight / half), "standardised_slope": _stated(weight)}
    if column.width > 1:
        found |= {"empty": _stated(weights[1] + shift), "standardised_empty": _stated(weights[1])}
    return found, -shift


def _stated(number: float) -> float | None:
    return number if abs(number) <= LARGEST_FINITE_NUMBER else None
