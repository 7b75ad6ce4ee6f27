"""Tables that a plan of intervals assumes, drawn cell by cell: nothing here is shared with what computes the plan."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from smc_dp.core.arrays import Array
from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import BinnedColumn, CategoricalColumn, Column, DateColumn
from smc_dp.data.federation import Rows
from smc_dp.data.preprocess import encode_rows, label_numbers
from smc_dp.data.table import Table


def drawn_rows(
    bounds: Bounds,
    n: int,
    seed: int,
    *,
    rate: float = 0.5,
    residual: float = 1.0,
    deviations: Mapping[str, float] = MappingProxyType({}),
) -> Rows:
    """Rows of independent columns; scores of classes have the deviation 1, residuals of an outcome this one.

    Of an outcome the columns tell nothing.
    """
    rng = np.random.default_rng(seed)
    X = encode_rows(drawn_table(bounds, n, rng, deviations), bounds)
    if bounds.outcome is not None:
        label: Any = bounds.label_column
        values = np.clip(label.scale(center=True)[0] + residual * rng.normal(size=n), *bounds.outcome)
        return Rows(X, label_numbers(values, label))
    features = X[:, :-1] - X[:, :-1].mean(axis=0)
    scores = (features / np.where(features.std(axis=0) > 0, features.std(axis=0), 1)) @ np.resize(
        [1, -1], features.shape[1]
    )
    scores /= scores.std()
    middle = next(m for m in np.arange(-8, 8, 0.005) if (1 / (1 + np.exp(-m - scores))).mean() > rate)
    return Rows(X, (rng.random(n) < 1 / (1 + np.exp(-middle - scores))).astype(np.int64))


def drawn_table(
    bounds: Bounds, n: int, rng: np.random.Generator, deviations: Mapping[str, float] = MappingProxyType({})
) -> Table:
    return Table(
        "drawn",
        {column.name: _cells(column, n, rng, deviations.get(column.name)) for column in bounds.columns},
        range(1, n + 1),
    )


def _cells(column: Column, n: int, rng: np.random.Generator, deviation: float | None) -> list[object]:
    """Levels and bins, equally frequent, or numbers about the middle; one cell in ten is empty where that is marked."""
    if isinstance(column, CategoricalColumn):
        texts = [*column.categories, *([""] if column.missing == "category" else [])]
        return [texts[i] for i in rng.integers(0, len(texts), n)]
    if isinstance(column, BinnedColumn):
        middles = (np.array(column.edges[1:]) + np.array(column.edges[:-1])) / 2
        return [*map(str, middles[rng.integers(0, len(middles), n)])]
    if isinstance(column, DateColumn):
        range_in_days = (column.last - column.first).days
        days = np.clip(range_in_days / 2 + rng.normal(size=n) * (deviation or range_in_days / 7), 0, range_in_days)
        return [str(column.first + datetime.timedelta(days=int(day))) for day in days]
    middle, reach = (column.low + column.high) / 2, column.high - column.low
    numbers: Array = np.clip(middle + rng.normal(size=n) * (deviation or reach / 7), column.low, column.high)
    empty = rng.random(n) < (0.1 if column.missing == "indicator" else 0)
    return ["" if none else repr(float(number)) for number, none in zip(numbers, empty, strict=True)]
