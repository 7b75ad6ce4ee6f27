"""Encoding of tables as rows in the unit ball and class numbers, by public bounds alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from smc_dp.core.arrays import OUTCOME_BITS, count_longer, into_ball, with_bias
from smc_dp.core.errors import InputError, InputFault, clipped_too_often, refuse_all, shown, warn_clipped
from smc_dp.data.bounds import Bounds
from smc_dp.data.cell_values import EMPTY_CODE
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
from smc_dp.data.federation import NO_ROWS, Rows
from smc_dp.data.limits import check_feature_count
from smc_dp.data.refused_input import FormatFault, with_lines
from smc_dp.data.table import Table, parse_column
from smc_dp.data.usual_clip import no_row_shortened
from smc_dp.data.validation_errors import TableFault, blank_rows_fault, column_faults, outside_bounds
from smc_dp.data.whole_advice import complete_advice

_BLOCK = 8192  # rows at a time
_LISTED = 8  # columns in a message
_MOST_SAID = 5  # things in a warning
_TOO_MANY = "rows.too_many_features"
_LISTED_AT = MappingProxyType({"table.no_column": 0, "rows.all_left_out": 2})  # 1 is that of all other faults


@dataclass(frozen=True, eq=False, repr=False)
class EncodedTable:
    """Encoded rows of a table, X: (n, d), and their numbers `kept` in the table, from 0, without those left out.

    y and weights: of the rows; without a named column of classes all are of class 0, and have no weights. faults: all
    that the bounds refuse, whole columns first, then column by column. With faults X and y hold no rows.
    clipped: number of shortened rows; outside: numbers and dates outside their bounds, by column. All of it is private,
    as the rows are.
    """

    X: NDArray[np.float64]
    kept: NDArray[np.int64]
    clipped: int = 0
    outside: tuple[TableFault, ...] = ()
    y: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    weights: NDArray[np.float64] | None = None
    faults: tuple[TableFault, ...] = ()

    def checked(self, source: str, *, released: bool = False) -> EncodedTable:
        """Return the rows of the table `source`; raise InputError with all of its faults.

        released: whether the bounds are those of a release, which nobody can change any more.
        """
        refuse_all(with_lines((fault.placed(source, released=released) for fault in self.faults), source))
        return self

    @property
    def labelled(self) -> Rows:
        """Rows with their classes, and their weights where the bounds give them any."""
        return Rows(self.X, self.y, self.weights)


def encode_labelled_rows(
    table: Table, bounds: Bounds, label: str | None, *, strict: bool = False, warn: bool = False, released: bool = False
) -> Rows:
    """Encode the rows of a table, with the classes of its label, if any; raise InputError naming table, column and row.

    Rows that are left out are not looked at. warn: issue a RowsClippedWarning where many rows or numbers are clipped.
    released: whether the bounds are those of a release.
    """
    if not table.rows:
        raise InputError(NO_ROWS).within(table.source)
    made = examine_table(table, bounds, label, strict=strict).checked(table.source, released=released)
    if warn:
        warn_of_clipping(table.source, made, bounds)
    return made.labelled


def check_two_classes(table: Table, rows: Rows, bounds: Bounds) -> None:
    """Raise InputError, naming table and column, where all of these rows of the table are of one class."""
    if (rows.y == rows.y[0]).all():
        only, names = bounds.classes[int(rows.y[0])], bounds.classes
        both = f"both {shown(names[0])} and {shown(names[1])}"
        wanted = both if len(names) == 2 else f"two or more of the {len(names)} classes"
        raise InputError(
            "rows.one_class", label=shown(bounds.label), count=len(rows), only=shown(only), wanted=wanted
        ).within(table.source)


def encode_rows(table: Table, bounds: Bounds, *, strict: bool = False) -> NDArray[np.float64]:
    """Return the rows that are not left out as features, shape (n, bounds.dimension), each of norm at most 1.

    A number is mapped linearly, its range to [-1, 1], and clipped to it (with `strict` a number outside its range
    raises InputError instead); a date is the number of days since the first. A category or a bin becomes a one among
    zeros. An empty cell follows the column's rule: a value of its own, one more category, or for "indicator" 0 and a
    one in a feature that is 0 for all other cells. In a centred range that 0 is the middle; uncentred it is the number
    0, which the weight of the other feature makes any number. The row x is then clipped and scaled, x / max(1, |x| /
    clip) / clip, the bias b is appended, and (x, b) is divided by sqrt(1 + b^2).

    The encoding of a row, and whether it is left out, depend on that row and the bounds alone.
    """
    return examine_table(table, bounds, strict=strict).checked(table.source).X


def examine_table(table: Table, bounds: Bounds, label: str | None = None, *, strict: bool = False) -> EncodedTable:
    """Encode a table as `encode_rows` does, with its classes, or find everything in it that these bounds refuse.

    The faults quote single cells: they are for the party that has the rows. Rows that are left out are not looked at.
    label: the column of classes, None where there are none.
    """
    found = _examined_rows(table, bounds, label, strict)
    if not any(isinstance(fault.fault, FormatFault) for fault in found.faults):
        return found
    faults = complete_advice(table, found.faults, lambda other: _examined_rows(other, bounds, label, strict).faults)
    return replace(found, faults=faults)


def _examined_rows(table: Table, bounds: Bounds, label: str | None, strict: bool) -> EncodedTable:
    """Examine the rows, and those of empty cells alone as one fault."""
    found = _examined(table, bounds, label, strict)
    if not any(fault.code == EMPTY_CODE for fault in found.faults) or not table.blank_rows().any():
        return found
    blank = blank_rows_fault(table)  # one fault, and not one of each column
    others = _examined(table.without_blank_rows(), bounds, label, strict)
    return replace(found, faults=(blank, *others.faults))


def _examined(table: Table, bounds: Bounds, label: str | None, strict: bool) -> EncodedTable:
    rows = table.rows
    leaving = [column.name for column in bounds.columns if column.missing == LEAVE_OUT]
    if label is not None and bounds.missing == LEAVE_OUT:
        leaving.append(label)
    table, kept = table.without_empty(leaving)
    found = list(_faults_of_rows(rows, table, bounds, label))
    X = np.empty((0 if found else table.rows, bounds.dimension))
    width, y = 0, np.zeros(len(X), dtype=np.int64)
    outside: list[TableFault] = []
    for column in bounds.columns:
        values, wrong = _read(table, column)
        beyond = outside_bounds(table, column, values)
        found += [*wrong, *(beyond if strict else ())]
        outside += beyond
        if not found:
            fill_features(X[:, width : width + column.width], values, column, center=bounds.center)
        width += column.width
    if label is not None:
        named = label_column(bounds, label)
        of_label, wrong = _read(table, named, is_label=True)
        found += [*wrong, *outside_bounds(table, named, of_label)]  # an outcome that is moved would have another model
        y = y if found else label_numbers(of_label, named)
    numbers = None
    if label is not None and bounds.weights is not None and (of_weights := bounds.weights.numbers) is not None:
        numbers, wrong = _read(table, of_weights)
        beyond = outside_bounds(table, of_weights, numbers)
        # No rule of [missing] stands for a weight: the cell needs a number.
        found += [*(replace(fault, section=None, line=None, note=None) for fault in wrong), *(beyond if strict else ())]
        outside += beyond
    if found:
        listed = [fault for fault in found if fault.code != _TOO_MANY or len(found) == 1]
        listed.sort(key=lambda fault: _LISTED_AT.get(fault.code, 1))
        return EncodedTable(X[:0], kept, 0, tuple(outside), y[:0], None, tuple(listed))
    clipped = 0
    for start in range(0, len(X), _BLOCK):  # in place, so that a large table is held once
        block = X[start : start + _BLOCK]
        features = np.ascontiguousarray(block[:, :width])
        clipped += count_longer(features, bounds.clip)
        block[:] = with_bias(into_ball(features, bounds.clip), bounds.bias)
    weights = None if label is None or bounds.weights is None else bounds.weights.of_rows(y, numbers)
    return EncodedTable(X, kept, clipped, tuple(outside), y, weights)


def _faults_of_rows(rows: int, kept: Table, bounds: Bounds, label: str | None) -> Iterator[TableFault]:
    """Yield the faults of the number of rows that are left."""
    if label is not None and rows and not kept.rows:
        columns = " or ".join(shown(name) for name in bounds.leaving[:_LISTED])
        yield TableFault(bounds.leaving[0], InputFault("rows.all_left_out", {"columns": columns}), rows)
    try:
        check_feature_count(kept.rows, bounds.dimension, kept.form.most_cells)
    except InputError as error:
        yield TableFault("", error.fault)


def encode_classes(table: Table, bounds: Bounds, label: str) -> NDArray[np.int64]:
    """Return column `label` as class numbers, shape (n,); 1 and 1.0 are the same label."""
    return _fitting(table, label_column(bounds, label), is_label=True).astype(np.int64)


def label_column(bounds: Bounds, label: str, missing: str | None = None) -> CategoricalColumn | NumericColumn:
    """Return the label's column; missing: "leave out" where empty cells fit, and are NaN in `values`."""
    if (column := bounds.label_column) is None:
        raise InputError("classes.of_no_label", label=shown(label))
    return replace(column, name=label, missing=missing)


def label_numbers(values: NDArray[np.float64], column: CategoricalColumn | NumericColumn) -> NDArray[np.int64]:
    """Return the class numbers of the values of a label, or outcomes in the units of `Rows`."""
    if isinstance(column, CategoricalColumn):
        return values.astype(np.int64)
    return np.rint(np.ldexp(_mapped(values, column, center=True), OUTCOME_BITS)).astype(np.int64)


def _read(
    table: Table, column: Column, *, is_label: bool = False
) -> tuple[NDArray[np.float64], tuple[TableFault, ...]]:
    """Return the values of a column, NaN for cells that are empty or do not fit, and its faults."""
    if (lacking := table.lacking(column.name)) is not None:
        return np.full(table.rows, np.nan), (TableFault(column.name, lacking),)
    read = parse_column(table, column)
    return read.values, column_faults(table, column, read, is_label=is_label)


def _fitting(table: Table, column: Column, *, is_label: bool = False) -> NDArray[np.float64]:
    """Return the values of a column; raise InputError where a cell does not fit."""
    values, wrong = _read(table, column, is_label=is_label)
    if wrong:
        raise InputError(wrong[0].placed(table.source))
    return values


def warn_of_clipping(source: str, made: EncodedTable, bounds: Bounds) -> None:
    """Issue a RowsClippedWarning where many rows or numbers are clipped."""
    n, said, to_write = len(made.X), [], ""
    if clipped_too_often(made.clipped, n):
        said.append(f"{made.clipped:,} of {n:,} rows are longer than clip {bounds.clip:g} of [rows] and are shortened")
        to_write = f" {no_row_shortened(len(bounds.columns))}."
    for beyond in made.outside:
        if clipped_too_often(beyond.count, n):
            said.append(f"column {shown(beyond.column)}: {beyond.count:,} of {n:,} cells are moved into the bounds")
    if said:
        more = f"; and {len(said) - _MOST_SAID} more" if len(said) > _MOST_SAID else ""
        fault = InputFault(
            "rows.clipped_by_bounds",
            {
                "said": "; ".join(said[:_MOST_SAID]) + more,
                "clipped": made.clipped,
                "rows": n,
                "columns": len(bounds.columns),
                "longest": math.sqrt(len(bounds.columns)),
                "to_write": to_write,
            },
        )
        warn_clipped(fault.within(source))


def number_categories(table: Table, bounds: Bounds) -> tuple[Table, Bounds]:
    """Replace each category by its number in sorted order, a numeric column in [0, categories - 1].

    As scikit-learn's LabelEncoder does, but from the public list: whole numbers in numeric order, texts in that of the
    alphabet (the encoding of the experiments with OFPA and OFAA). A column of one category becomes a constant.
    """
    cells, columns = dict(table.columns), list(bounds.columns)
    for i, column in enumerate(columns):
        if isinstance(column, CategoricalColumn):
            if column.missing is not None:
                raise InputError("missing.numbered_categories").within(f"column {shown(column.name)}")
            ordered = replace(column, categories=tuple(_sorted(column.categories)))
            cells[column.name] = _fitting(table, ordered)
            columns[i] = NumericColumn(column.name, 0.0, float(max(len(column.categories) - 1, 1)))
    return replace(table, columns=cells), replace(bounds, columns=tuple(columns))


def _sorted(categories: tuple[str, ...]) -> list[str]:
    try:
        return sorted(categories, key=int)
    except ValueError:
        return sorted(categories)


def fill_features(X: NDArray[np.float64], values: NDArray[np.float64], column: Column, *, center: bool) -> None:
    """Write the features of a column into X: (n, width), before the row is shortened; NaN marks empty cells."""
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
        X[:, 0] = np.where(empty, 0.0, _mapped(values, number, center=center))
        X[:, 1] = empty
        return
    if empty.any():
        values = np.where(empty, np.float64(number.missing or 0.0), values)
    X[:, 0] = _mapped(values, number, center=center)


def _mapped(values: NDArray[np.float64], column: NumericColumn, *, center: bool) -> NDArray[np.float64]:
    clipped = np.clip(values, column.low, column.high)
    if center:
        half = column.high / 2 - column.low / 2
        mapped = (clipped / 2 - column.low / 2) / half * 2 - 1
    else:
        mapped = clipped / max(abs(column.low), abs(column.high))
    return np.clip(mapped, -1.0, 1.0)


def _bins(values: NDArray[np.float64], column: BinnedColumn) -> NDArray[np.int64]:
    """Return the bin of each number, [edge, next edge); those outside all bins fall into the first or the last."""
    return np.clip(np.searchsorted(column.edges, values, side="right") - 1, 0, column.bins - 1)


def _place_of_empty(column: CategoricalColumn | BinnedColumn) -> int:
    if column.missing == CATEGORY:
        return column.width - 1
    if isinstance(column, CategoricalColumn):
        return column.categories.index(str(column.missing))
    return int(_bins(np.array([column.missing], dtype=np.float64), column)[0])
