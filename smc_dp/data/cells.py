"""What stands in the cells of a column, as its bounds read it: numbers, days, places of levels, and what is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smc_dp.core.errors import Fault, InputFault
from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import LEAVE_OUT, BinnedColumn, CategoricalColumn, Column, DateColumn, NumericColumn, canonical
from smc_dp.data.file_form import FileForm
from smc_dp.data.table import Table, day_of, is_empty, number_in, text_in

_SHOWN, _LISTED = 40, 8  # characters of a category, how many of a list


@dataclass(frozen=True, eq=False, repr=False)
class ReadCells:
    """A column as its bounds read it: `values` of its rows, NaN for empty cells and for those that do not fit.

    cells, codes: the different cells, and which of them each row has. faults: those of cells, by their place among the
    different ones, with nothing filled in; `validation_errors.column_faults` explains them.
    """

    values: NDArray[np.float64]
    cells: Sequence[object]
    codes: NDArray[Any]
    faults: Mapping[int, Fault]


def without_left_out(table: Table, bounds: Bounds, label: str | None = None) -> tuple[Table, NDArray[np.int64]]:
    """The rows without an empty cell in a column whose rule is to leave them out, and which these are, from 0.

    label: the column of classes, None where rows need none.
    """
    left_out = np.zeros(table.rows, dtype=bool)
    leaving = [column.name for column in bounds.columns if column.missing == LEAVE_OUT]
    for name in (*leaving, *([label] if label is not None and bounds.missing == LEAVE_OUT else [])):
        if name in table.columns:
            cells, codes = table.different(name)
            left_out |= np.array([is_empty(cell) for cell in cells], dtype=bool)[codes]
    kept = np.flatnonzero(~left_out)
    return (table.take(kept, table.source) if left_out.any() else table), kept


def read_column(table: Table, column: Column) -> ReadCells:
    """Read each cell of a column: a number, days since the first date, or the place of a level."""
    cells = table.columns.get(column.name)
    if isinstance(cells, np.ndarray) and isinstance(column, NumericColumn | BinnedColumn) and np.isfinite(cells).all():
        return ReadCells(cells, (), np.zeros(0, dtype=np.int64), {})  # numbers that need not be looked at one by one
    read = _place(table, column) if isinstance(column, CategoricalColumn) else _number(column, table.form)
    cells, codes = table.different(column.name)
    found, faults = np.full(len(cells), np.nan), {}
    for i, cell in enumerate(cells):
        if column.missing is not None and is_empty(cell):
            continue
        meant = read(cell)
        if isinstance(meant, Fault):
            faults[i] = meant
        else:
            found[i] = meant
    return ReadCells(found[codes], cells, codes, faults)


def class_column(bounds: Bounds, label: str, missing: str | None = None) -> CategoricalColumn:
    """Return the column of classes; missing: "leave out" where empty cells fit, and are NaN."""
    return CategoricalColumn(label, bounds.classes, missing, bounds.aliases)


def _number(column: NumericColumn | BinnedColumn | DateColumn, form: FileForm) -> Callable[[object], float | Fault]:
    if not isinstance(column, DateColumn):
        return lambda cell: number_in(cell, form)
    first = column.first.toordinal()

    def days(cell: object) -> float | Fault:
        day = day_of(cell, form)
        return float(day.toordinal() - first) if isinstance(day, date) else day

    return days


def _place(table: Table, column: CategoricalColumn) -> Callable[[object], float | Fault]:
    """Return what finds the place of a cell among the categories."""
    wanted = {canonical(level): i for i, level in enumerate(column.categories)}
    listed = [text[:_SHOWN] for text in list(wanted)[:_LISTED]] + (["..."] if len(wanted) > _LISTED else [])
    known = wanted | {canonical(text): wanted[canonical(level)] for level, texts in column.aliases for text in texts}
    unknown = InputFault("cell.unknown_level", {"got": None, "hint": "", "levels": listed})

    def place(cell: object) -> float | Fault:
        text = text_in(cell)
        if isinstance(text, Fault):
            return text
        found = known.get(canonical(text), known.get(canonical(table.form.pointed(text))))
        return unknown if found is None else float(found)

    return place
