"""Tables to rows in the unit ball and class numbers, by public bounds alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from smc_dp.data.bounds import Bounds, CategoricalColumn, NumericColumn, canonical
from smc_dp.data.federation import Rows
from smc_dp.data.guises import of_no_category
from smc_dp.data.tables import Table
from smc_dp.errors import InputError, shown
from smc_dp.unit_ball import into_ball, with_bias

_BLOCK = 8192  # rows at a time
_SHOWN = 40  # characters of a category
_MOST_NUMBERS = 1 << 27  # a gigabyte of them: bounds with many categories make many features of few cells


def labelled_rows(table: Table, bounds: Bounds, label: str, *, strict: bool = False) -> Rows:
    """The encoded rows and classes of a table with rows; raises InputError naming table, column and row."""
    if not table.rows:
        raise InputError(f"{table.source}: has no rows, wanted at least one")
    return Rows(encode(table, bounds, strict=strict), class_numbers(table, bounds, label))


def check_two_classes(table: Table, rows: Rows, bounds: Bounds) -> None:
    """Raises InputError, naming table and column, where all of these labelled rows of the table are of one class."""
    if (rows.y == rows.y[0]).all():
        only, names = bounds.classes[int(rows.y[0])], bounds.classes
        both = f"both {shown(names[0])} and {shown(names[1])}"
        wanted = both if len(names) == 2 else f"two or more of the {len(names)} classes"
        raise InputError(
            f"{table.source}: column {shown(bounds.label)}: all {len(rows)} rows are {shown(only)}, wanted {wanted}"
        )


def encode(table: Table, bounds: Bounds, *, strict: bool = False) -> NDArray[np.float64]:
    """The rows as features, shape (n, bounds.dimension), each of norm at most 1.

    A number is mapped linearly, its range to [-1, 1], and clipped to it (with `strict` a number outside its
    range is an InputError instead); a category becomes a one among zeros. The row x is then clipped and
    scaled, x / max(1, |x| / clip) / clip, the bias b is appended, and (x, b) is divided by sqrt(1 + b^2).
    """
    if table.rows * bounds.dimension > _MOST_NUMBERS:
        came = f"{table.rows:,} rows of {bounds.dimension:,} features"
        raise InputError(f"{table.source}: wanted at most {_MOST_NUMBERS:,} features in all, got {came}")
    X = np.empty((table.rows, bounds.dimension))
    width = 0
    for column in bounds.columns:
        _fill(X[:, width : width + column.width], table, column, bounds, strict)
        width += column.width
    for start in range(0, len(X), _BLOCK):  # in place, so that a large table is held once
        block = X[start : start + _BLOCK]
        block[:] = with_bias(into_ball(np.ascontiguousarray(block[:, :width]), bounds.clip), bounds.bias)
    return X


def class_numbers(table: Table, bounds: Bounds, label: str) -> NDArray[np.int64]:
    """Column `label` as 0 (the first class), 1 (the second class), ..., shape (n,); 1 and 1.0 are the same label."""
    return _places(table, label, {canonical(name): i for i, name in enumerate(bounds.classes)})


def numbered(table: Table, bounds: Bounds) -> tuple[Table, Bounds]:
    """Each category as its number in sorted order, one numeric column known to lie in [0, categories - 1].

    As scikit-learn's LabelEncoder does, but from the public list: whole numbers in their own order, texts in that of
    the alphabet (the encoding of the experiments with OFPA and OFAA). A column of one category becomes a constant.
    """
    cells, columns = dict(table.columns), list(bounds.columns)
    for i, column in enumerate(columns):
        if isinstance(column, CategoricalColumn):
            places = {canonical(category): place for place, category in enumerate(_sorted(column.categories))}
            cells[column.name] = _places(table, column.name, places).astype(np.float64)
            columns[i] = NumericColumn(column.name, 0.0, float(max(len(places) - 1, 1)))
    return replace(table, columns=cells), replace(bounds, columns=tuple(columns))


def _sorted(categories: tuple[str, ...]) -> list[str]:
    try:
        return sorted(categories, key=int)
    except ValueError:
        return sorted(categories)


def _fill(
    X: NDArray[np.float64], table: Table, column: NumericColumn | CategoricalColumn, bounds: Bounds, strict: bool
) -> None:
    if isinstance(column, CategoricalColumn):
        places = {canonical(category): i for i, category in enumerate(column.categories)}
        X[:] = 0.0
        X[np.arange(len(X)), _places(table, column.name, places)] = 1.0
        return
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
    X[:, 0] = np.clip(mapped, -1.0, 1.0)


def _places(table: Table, name: str, wanted: dict[str, int]) -> NDArray[np.int64]:
    """The place of each cell among the wanted texts; each different text is looked up once."""
    column = table.coded(name)
    pointed = table.form.pointed
    found = [wanted.get(canonical(text), wanted.get(canonical(pointed(text)), -1)) for text in column.values]
    places = np.array(found, dtype=np.int64)[column.codes]
    unknown = np.flatnonzero(places < 0)
    if len(unknown):
        i = int(unknown[0])
        key = canonical(column.values[column.codes[i]])
        listed = ", ".join(text[:_SHOWN] for text in list(wanted)[:8]) + (", ..." if len(wanted) > 8 else "")
        came = f"{shown(key)}{of_no_category(key, wanted)}"
        raise InputError(f"{table.where(name, i)}: unknown value {came}, wanted one of {listed}")
    return places
