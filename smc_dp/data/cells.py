"""What stands in the cells of a column, as its bounds read it: numbers, days, places of levels, and what is none."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from smc_dp.core.errors import shown
from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import LEAVE_OUT, BinnedColumn, CategoricalColumn, Column, DateColumn, NumericColumn, canonical
from smc_dp.data.file_form import FileForm
from smc_dp.data.format_hints import of_no_category, of_nothing
from smc_dp.data.table import EMPTY, CellError, Table, day_of, is_empty, number_in, text_in
from smc_dp.data.validation_errors import (
    TableFault,
    as_numbers,
    fault_in,
    faults_of_cells,
    with_aliases,
    with_lines,
    with_rule,
)

_SHOWN, _LISTED = 40, 8  # characters of a category, how many of a list


def without_left_out(table: Table, bounds: Bounds, label: str | None = None) -> tuple[Table, NDArray[np.int64]]:
    """The rows without an empty cell in a column whose rule is to leave them out, and which these are, from 0.

    label: the column of classes, None where rows need none.
    """
    left_out = np.zeros(table.rows, dtype=bool)
    leaving = [column.name for column in bounds.columns if column.missing == LEAVE_OUT]
    for name in (*leaving, *([label] if label is not None and bounds.missing == LEAVE_OUT else [])):
        if not table.lacking(name):
            cells, codes = table.different(name)
            left_out |= np.array([is_empty(cell) for cell in cells], dtype=bool)[codes]
    kept = np.flatnonzero(~left_out)
    return (table.take(kept, table.source) if left_out.any() else table), kept


def read_column(table: Table, column: Column, *, strict: bool) -> tuple[NDArray[np.float64], tuple[TableFault, ...]]:
    """What stands in each cell, a number, days since the first date or the place of a level, and what does not fit.

    NaN where a cell is empty and the column says what that means.
    """
    if isinstance(column, CategoricalColumn):
        values, found = _places(table, column)
    elif (plain := _plain_numbers(table, column)) is not None:
        values, found = plain, outside_bounds(table, column, plain) if strict else []
    else:
        values, found = _cells_of(table, column.name, _reader(column, table.form), empty=column.missing is not None)
        if strict:
            found += outside_bounds(table, column, values)
    return values, with_lines(found, column)


def _plain_numbers(table: Table, column: NumericColumn | BinnedColumn | DateColumn) -> NDArray[np.float64] | None:
    """The cells of a column of finite numbers that came as such, of which none need be looked at by itself."""
    cells = table.columns.get(column.name)
    is_plain = isinstance(cells, np.ndarray) and not isinstance(column, DateColumn) and np.isfinite(cells).all()
    return cells if isinstance(cells, np.ndarray) and is_plain else None


def read_classes(
    table: Table, bounds: Bounds, label: str, missing: str | None = None
) -> tuple[NDArray[np.float64], tuple[TableFault, ...]]:
    """The place of each cell of the label's column among the classes, and what does not fit.

    missing: "leave out" where empty cells fit, and are NaN.
    """
    values, found = _places(table, CategoricalColumn(label, bounds.classes, missing, bounds.aliases))
    found = [with_rule(fault, LEAVE_OUT) if fault.kind == EMPTY else fault for fault in as_numbers(found)]
    return values, tuple(with_aliases(found, bounds.classes, bounds.aliases))


def _reader(column: NumericColumn | BinnedColumn | DateColumn, form: FileForm) -> Callable[[object], float]:
    if isinstance(column, DateColumn):
        first = column.first.toordinal()
        return lambda cell: float(day_of(cell, form).toordinal() - first)
    return lambda cell: number_in(cell, form)


def _places(table: Table, column: CategoricalColumn) -> tuple[NDArray[np.float64], list[TableFault]]:
    """The place of each cell among the categories."""
    wanted = {canonical(level): i for i, level in enumerate(column.categories)}
    listed = ", ".join(text[:_SHOWN] for text in list(wanted)[:_LISTED]) + (", ..." if len(wanted) > _LISTED else "")
    known = wanted | {canonical(text): wanted[canonical(level)] for level, texts in column.aliases for text in texts}
    pointed = table.form.pointed

    def place(cell: object) -> float:
        text = text_in(cell)
        key = canonical(text)
        found = known.get(key, known.get(canonical(pointed(text))))
        if found is None:
            came = f"{shown(key)}{of_no_category(key, wanted) or of_nothing(cell, table.form)}"
            raise CellError(f"unknown value {came}, wanted one of {listed}", f"level {key}")
        return float(found)

    return _cells_of(table, column.name, place, empty=column.missing is not None)


def _cells_of(
    table: Table, name: str, read: Callable[[object], float], *, empty: bool
) -> tuple[NDArray[np.float64], list[TableFault]]:
    """The cells of a column as `read` reads them, what is stored once once; NaN for empty ones where they may be."""
    cells, codes = table.different(name)
    found, kinds = np.full(len(cells), np.nan), np.full(len(cells), -1, dtype=np.int64)
    numbers = {EMPTY: 0}
    for i, cell in enumerate(cells):
        if empty and is_empty(cell):
            continue
        meant = _tried(read, cell)
        if isinstance(meant, CellError):  # said again of the first row of its kind: there may be as many as rows
            kinds[i] = numbers.setdefault(meant.kind, len(numbers))
        else:
            found[i] = meant
    if (kinds < 0).all():
        return found[codes], []

    def at(row: int) -> tuple[object, object]:
        return _tried(read, cells[codes[row]]), cells[codes[row]]

    return found[codes], faults_of_cells(table, name, kinds[codes], at)


def _tried(read: Callable[[object], float], cell: object) -> float | CellError:
    try:
        return read(cell)
    except CellError as error:
        return error


def outside_bounds(
    table: Table, column: NumericColumn | BinnedColumn | DateColumn, values: NDArray[np.float64]
) -> list[TableFault]:
    """The numbers or dates of a column outside its bounds, as a fault of strict bounds; none where all are inside."""
    low, high = _range(column)
    rows = np.flatnonzero((values < low) | (values > high))
    if not len(rows):
        return []
    came, said = str(values[rows[0]]), f"[{low}, {high}]"
    if isinstance(column, DateColumn):
        came, said = str(column.first + timedelta(values[rows[0]])), f"[{column.first}, {column.last}]"
    return [fault_in(table, column.name, CellError(f"{came} is outside its bounds {said}", "outside"), rows, came)]


def _range(column: NumericColumn | BinnedColumn | DateColumn) -> tuple[float, float]:
    if isinstance(column, DateColumn):
        return column.days.low, column.days.high
    return (column.edges[0], column.edges[-1]) if isinstance(column, BinnedColumn) else (column.low, column.high)
