"""Tables to rows in the unit ball and labels of +1 and -1, by public bounds alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smc_dp.data.bounds import Bounds, CategoricalColumn, NumericColumn, canonical
from smc_dp.data.tables import Table
from smc_dp.errors import InputError, shown
from smc_dp.unit_ball import into_ball, with_bias


@dataclass(frozen=True, eq=False, repr=False)
class Examples:
    """X: (n, d), each row's norm at most 1 exactly; y: (n,), each +1.0 or -1.0."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.y)


def examples(table: Table, bounds: Bounds, label: str, *, strict: bool = False) -> Examples:
    """The encoded rows and labels of a table with rows; raises InputError naming table, column and row."""
    if not table.rows:
        raise InputError(f"{table.source}: has no rows, wanted at least one")
    return Examples(encode(table, bounds, strict=strict), labels(table, bounds, label))


def training_examples(table: Table, bounds: Bounds, label: str, *, strict: bool = False) -> Examples:
    """As `examples`, and both classes must occur: a party with one class has nothing to learn from."""
    found = examples(table, bounds, label, strict=strict)
    if abs(found.y.sum()) == len(found):
        only = bounds.classes[int(found.y[0] > 0)]
        raise InputError(
            f"{table.source}: column {shown(label)}: all {len(found)} rows are {shown(only)}, "
            f"wanted both {shown(bounds.classes[0])} and {shown(bounds.classes[1])}"
        )
    return found


def encode(table: Table, bounds: Bounds, *, strict: bool = False) -> NDArray[np.float64]:
    """The rows as features, shape (n, bounds.dimension), each of norm at most 1.

    A number is mapped linearly, its range to [-1, 1], and clipped to it (with `strict` a number outside its
    range is an InputError instead); a category becomes a one among zeros. The row x is then clipped and
    scaled, x / max(1, |x| / clip) / clip, the bias b is appended, and (x, b) is divided by sqrt(1 + b^2).
    """
    parts = [_features(table, column, bounds, strict) for column in bounds.columns]
    X = np.concatenate(parts, axis=1)
    return with_bias(into_ball(X, bounds.clip), bounds.bias)


def labels(table: Table, bounds: Bounds, label: str) -> NDArray[np.float64]:
    """Column `label` as +1.0 (the second class) and -1.0, shape (n,); 1 and 1.0 are the same label."""
    signs = {canonical(bounds.classes[0]): -1.0, canonical(bounds.classes[1]): 1.0}
    return np.array([signs[key] for key in _known(table, label, signs)], dtype=np.float64)


def _features(
    table: Table, column: NumericColumn | CategoricalColumn, bounds: Bounds, strict: bool
) -> NDArray[np.float64]:
    if isinstance(column, CategoricalColumn):
        places = {canonical(category): i for i, category in enumerate(column.categories)}
        return np.eye(column.width)[[places[key] for key in _known(table, column.name, places)]]
    values = table.numbers(column.name)
    clipped = np.clip(values, column.low, column.high)
    if strict and (clipped != values).any():
        i = int(np.flatnonzero(clipped != values)[0])
        raise InputError(
            f"{table.where(column.name, i)}: {values[i]} is outside its bounds [{column.low}, {column.high}]"
        )
    if bounds.center:
        half = column.high / 2 - column.low / 2
        mapped = (clipped / 2 - column.low / 2) / half * 2 - 1
    else:
        mapped = clipped / max(abs(column.low), abs(column.high))
    return np.clip(mapped, -1.0, 1.0)[:, np.newaxis]


def _known(table: Table, name: str, wanted: dict[str, float] | dict[str, int]) -> list[str]:
    keys = [canonical(text) for text in table.texts(name)]
    for i, key in enumerate(keys):
        if key not in wanted:
            listed = ", ".join(list(wanted)[:8]) + (", ..." if len(wanted) > 8 else "")
            raise InputError(f"{table.where(name, i)}: unknown value {shown(key)}, wanted one of {listed}")
    return keys
