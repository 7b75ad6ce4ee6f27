"""Tables to rows in the unit ball and class numbers, by public bounds alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from smc_dp.core.arrays import into_ball, longer_than, with_bias
from smc_dp.core.errors import InputError, clipped_too_often, shown, warn_clipped
from smc_dp.data.bounds import Bounds
from smc_dp.data.cells import outside_bounds, read_classes, read_column, without_left_out
from smc_dp.data.columns import (
    CATEGORY,
    INDICATOR,
    LEAVE_OUT,
    BinnedColumn,
    CategoricalColumn,
    Column,
    DateColumn,
    NumericColumn,
)
from smc_dp.data.federation import Rows
from smc_dp.data.table import EMPTY, Table
from smc_dp.data.validation_errors import TableFault, UnfitTableError

_BLOCK = 8192  # rows at a time
_LISTED = 8  # columns in a message
_MOST_SAID = 5  # things in a warning
_MOST_NUMBERS = 1 << 27  # a gigabyte of them: bounds with many categories make many features of few cells


@dataclass(frozen=True, eq=False, repr=False)
class Encoded:
    """The rows of a table as features, shape (n, d), and which rows these are, counted from 0: those not left out.

    `clipped`: how many rows were shortened; `outside`: numbers and dates outside their bounds, column by column. Both
    are private, as the rows are.
    """

    X: NDArray[np.float64]
    kept: NDArray[np.int64]
    clipped: int = 0
    outside: tuple[TableFault, ...] = ()


def labelled_rows(table: Table, bounds: Bounds, label: str, *, strict: bool = False, warn: bool = False) -> Rows:
    """The encoded rows and classes of a table with rows; raises InputError naming table, column and row.

    Rows that are left out are not looked at. warn: tell whoever has the rows, by a RowsClippedWarning, where many rows
    or numbers are clipped.
    """
    if not table.rows:
        raise InputError(f"{table.source}: has no rows, wanted at least one")
    kept, _ = without_left_out(table, bounds, label)
    if not kept.rows:
        raise InputError(f"{table.source}: {_none_left(bounds)}")
    made, y = encoded(kept, bounds, strict=strict), class_numbers(kept, bounds, label)
    if warn:
        _warn_of_clipping(table.source, made, bounds)
    return Rows(made.X, y)


def faults(table: Table, bounds: Bounds, label: str | None, *, strict: bool = False) -> tuple[TableFault, ...]:
    """Everything in a table that these bounds refuse, column by column; with `strict` numbers outside theirs too.

    For the people of the party that has the rows: it says what single cells hold. Rows that are left out are not looked
    at. label: the column of classes, None where there are none.
    """
    lacking = [name for name in (*(c.name for c in bounds.columns), label) if name is not None and table.lacking(name)]
    found = [TableFault(name, table.lacking(name), kind="column") for name in lacking]
    kept, _ = without_left_out(table, bounds, label)
    for column in bounds.columns:
        if column.name not in lacking:
            found += read_column(kept, column, strict=strict)[1]
    if label is not None and label not in lacking:
        found += read_classes(kept, bounds, label)[1]
    if table.rows and not kept.rows:
        found.append(TableFault(bounds.leaving[0], _none_left(bounds), kind=EMPTY, count=table.rows))
    return tuple(found)


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
    """As `encoded`, the rows alone."""
    return encoded(table, bounds, strict=strict).X


def encoded(table: Table, bounds: Bounds, *, strict: bool = False) -> Encoded:
    """The rows that are not left out as features, shape (n, bounds.dimension), each of norm at most 1.

    A number is mapped linearly, its range to [-1, 1], and clipped to it (with `strict` a number outside its range is an
    InputError instead); a date is the number of days since the first. A category or a bin becomes a one among zeros.
    An empty cell is what the column's rule says: a value of its own, one more category, or for "indicator" 0 and a one
    in a feature that is 0 for all other cells. Of a centred range that 0 is the middle; uncentred it is the number 0,
    which the weight of the other feature makes any number. The row x is then clipped and scaled,
    x / max(1, |x| / clip) / clip, the bias b is appended, and (x, b) is divided by sqrt(1 + b^2).

    What a row becomes, and whether it is left out, depends on that row and the bounds alone.
    """
    table, kept = without_left_out(table, bounds)
    if table.rows * bounds.dimension > _MOST_NUMBERS:
        came = f"{table.rows:,} rows of {bounds.dimension:,} features"
        raise InputError(f"{table.source}: wanted at most {_MOST_NUMBERS:,} features in all, got {came}")
    X = np.empty((table.rows, bounds.dimension))
    width, clipped, outside = 0, 0, []
    for column in bounds.columns:
        values, wrong = read_column(table, column, strict=strict)
        if wrong:
            raise UnfitTableError(table.source, wrong[0])
        outside += [] if isinstance(column, CategoricalColumn) else outside_bounds(table, column, values)
        _fill(X[:, width : width + column.width], values, column, bounds.center)
        width += column.width
    for start in range(0, len(X), _BLOCK):  # in place, so that a large table is held once
        block = X[start : start + _BLOCK]
        features = np.ascontiguousarray(block[:, :width])
        clipped += longer_than(features, bounds.clip)
        block[:] = with_bias(into_ball(features, bounds.clip), bounds.bias)
    return Encoded(X, kept, clipped, tuple(outside))


def class_numbers(table: Table, bounds: Bounds, label: str, *, some: bool = False) -> NDArray[np.int64]:
    """Column `label` as 0 (the first class), 1 (the second class), ..., shape (n,); 1 and 1.0 are the same label.

    some: whether rows may have none, which are then -1.
    """
    places, wrong = read_classes(table, bounds, label, LEAVE_OUT if some else None)
    if wrong:
        raise UnfitTableError(table.source, wrong[0])
    return np.nan_to_num(places, nan=-1.0).astype(np.int64)


def _warn_of_clipping(source: str, made: Encoded, bounds: Bounds) -> None:
    n, said = len(made.X), []
    if clipped_too_often(made.clipped, n):
        said.append(f"{made.clipped:,} of {n:,} rows are longer than clip {bounds.clip:g} of [rows] and are shortened")
    for fault in made.outside:
        if clipped_too_often(fault.count, n):
            said.append(f"column {shown(fault.column)}: {fault.count:,} of {n:,} cells are moved into the bounds")
    if said:
        longest = f"sqrt({len(bounds.columns)}) = {math.sqrt(len(bounds.columns)):.3g}"
        more = f"; and {len(said) - _MOST_SAID} more" if len(said) > _MOST_SAID else ""
        what = f"{source}: {'; '.join(said[:_MOST_SAID])}{more}."
        warn_clipped(
            what, f"Bounds and clip are public and come from public knowledge; no row is longer than {longest}."
        )


def numbered(table: Table, bounds: Bounds) -> tuple[Table, Bounds]:
    """Each category as its number in sorted order, one numeric column known to lie in [0, categories - 1].

    As scikit-learn's LabelEncoder does, but from the public list: whole numbers in their own order, texts in that of
    the alphabet (the encoding of the experiments with OFPA and OFAA). A column of one category becomes a constant.
    """
    cells, columns = dict(table.columns), list(bounds.columns)
    for i, column in enumerate(columns):
        if isinstance(column, CategoricalColumn):
            if column.missing is not None:
                raise InputError(f"column {shown(column.name)}: missing: wanted no rule where categories are numbered")
            ordered = replace(column, categories=tuple(_sorted(column.categories)))
            cells[column.name], wrong = read_column(table, ordered, strict=False)
            if wrong:
                raise UnfitTableError(table.source, wrong[0])
            columns[i] = NumericColumn(column.name, 0.0, float(max(len(column.categories) - 1, 1)))
    return replace(table, columns=cells), replace(bounds, columns=tuple(columns))


def _sorted(categories: tuple[str, ...]) -> list[str]:
    try:
        return sorted(categories, key=int)
    except ValueError:
        return sorted(categories)


def _none_left(bounds: Bounds) -> str:
    by = [shown(name) for name in bounds.leaving[:_LISTED]]
    return f"each row has an empty cell in {' or '.join(by)} and is left out, wanted at least one that has none"


def _fill(X: NDArray[np.float64], values: NDArray[np.float64], column: Column, center: bool) -> None:
    """The features of a column, where its cells hold these; NaN for those that are empty."""
    empty = np.isnan(values)
    if isinstance(column, CategoricalColumn | BinnedColumn):
        places = values if isinstance(column, CategoricalColumn) else _bins(values, column)
        if empty.any():
            places = np.where(empty, _place_of_empty(column), places)
        X[:] = 0.0
        X[np.arange(len(X)), places.astype(np.int64)] = 1.0
        return
    number = column.days if isinstance(column, DateColumn) else column
    if number.missing == INDICATOR:
        X[:, 0] = np.where(empty, 0.0, _mapped(values, number, center))
        X[:, 1] = empty
        return
    if empty.any():
        values = np.where(empty, np.float64(number.missing or 0.0), values)
    X[:, 0] = _mapped(values, number, center)


def _mapped(values: NDArray[np.float64], column: NumericColumn, center: bool) -> NDArray[np.float64]:
    clipped = np.clip(values, column.low, column.high)
    if center:
        half = column.high / 2 - column.low / 2
        mapped = (clipped / 2 - column.low / 2) / half * 2 - 1
    else:
        mapped = clipped / max(abs(column.low), abs(column.high))
    return np.clip(mapped, -1.0, 1.0)


def _bins(values: NDArray[np.float64], column: BinnedColumn) -> NDArray[np.int64]:
    """The bin of each number, [edge, next edge); those outside all bins in the first or the last."""
    return np.clip(np.searchsorted(column.edges, values, side="right") - 1, 0, column.bins - 1)


def _place_of_empty(column: CategoricalColumn | BinnedColumn) -> int:
    if column.missing == CATEGORY:
        return column.width - 1
    if isinstance(column, CategoricalColumn):
        return column.categories.index(str(column.missing))
    return int(_bins(np.array([column.missing], dtype=np.float64), column)[0])
