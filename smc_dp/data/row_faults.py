"""Encoding of the rows that fit public bounds, with the reasons why each of the others does not.

A training refuses a whole table for one cell. A prediction does not: a question about a thousand rows gets an answer
for every row that has one. Reasons quote single cells: they are for the owner of the rows, on their machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smc_dp.core.errors import Fault, InputError, InputFault, shown
from smc_dp.data.bounds import Bounds
from smc_dp.data.cell_values import parse_text
from smc_dp.data.columns import LEAVE_OUT
from smc_dp.data.preprocess import EncodedTable, examine_table, label_column
from smc_dp.data.table import ParsedColumn, Table, parse_column
from smc_dp.data.validation_errors import (
    TableFault,
    blank_rows_fault,
    column_faults,
    explain_fault,
    refused_column,
)
from smc_dp.data.whole_advice import complete_advice


@dataclass(frozen=True, eq=False, repr=False)
class FittingRows:
    """Rows of a table that fit the bounds, encoded, and the others.

    encoded: X: (n, d) and the positions `kept` of its rows, from 0. reasons: of every other row, by position, what its
    bounds refuse or why they leave it out. refused: positions of the rows that are refused, without those left out.
    kinds: the refused cells, one fault for each kind.
    """

    encoded: EncodedTable
    reasons: Mapping[int, tuple[Fault, ...]]
    refused: frozenset[int]
    kinds: tuple[TableFault, ...] = ()


def encode_fitting_rows(table: Table, bounds: Bounds) -> FittingRows:
    """Encode each row that fits the bounds of a release; raise InputError only for what is wrong with all rows.

    That is a missing column, or too many features for the memory.
    """
    made = examine_table(table, bounds)
    reasons = _left_out(table, bounds)
    if not made.faults:
        return FittingRows(made, reasons, frozenset())
    for fault in made.faults:
        if not fault.rows:
            raise InputError(fault.placed(table.source, released=True))
    looked_at = np.array([i for i in range(table.rows) if i not in reasons], dtype=np.int64)
    refused = {int(looked_at[i]): faults for i, faults in _refused(table.take(looked_at, table.source), bounds).items()}
    good = np.array([i for i in looked_at.tolist() if i not in refused], dtype=np.int64)
    encoded = examine_table(table.take(good, table.source), bounds).checked(table.source)
    placed = EncodedTable(encoded.X, good[encoded.kept], encoded.clipped, encoded.outside)
    return FittingRows(placed, {**reasons, **refused}, frozenset(refused), made.faults)


def known_labels(table: Table, bounds: Bounds, label: str) -> tuple[NDArray[np.float64], tuple[TableFault, ...]]:
    """Return the class number or the outcome of each row, NaN where its cell has none, and the faults of such cells."""
    column = label_column(bounds, label, LEAVE_OUT)
    read = parse_column(table, column)

    def examine(other: Table) -> tuple[TableFault, ...]:
        return column_faults(other, column, parse_column(other, column), is_label=True)

    return read.values, complete_advice(table, column_faults(table, column, read, is_label=True), examine)


def texts_or_nothing(table: Table, name: str) -> tuple[str, ...]:
    """Return a column as texts, "" for an empty cell and for one without a text; raise InputError where it is missing.

    A row that nobody named has a class all the same.
    """
    if (lacking := table.lacking(name)) is not None:
        raise InputError(lacking).within(table.source)
    cells, codes = table.different(name)
    found = [parse_text(cell) for cell in cells]
    texts = ["" if isinstance(text, Fault) else text for text in found]
    return tuple(texts[code] for code in codes.tolist())


def _left_out(table: Table, bounds: Bounds) -> dict[int, tuple[Fault, ...]]:
    """Return why the bounds leave out rows, by position: cells that are empty in columns with this rule."""
    found: dict[int, tuple[Fault, ...]] = {}
    for column in bounds.columns:
        if column.missing == LEAVE_OUT and column.name in table.columns:
            _, kept = table.without_empty([column.name])
            fault = InputFault("row.left_out").within(f"column {shown(column.name)}")
            for i in np.setdiff1d(np.arange(table.rows), kept).tolist():
                found[i] = (*found.get(i, ()), fault)
    return found


def _refused(table: Table, bounds: Bounds) -> dict[int, tuple[Fault, ...]]:
    """Return the faults of the rows that do not fit, by position, those of a row in the order of the columns."""
    blank = table.blank_rows()
    found: dict[int, tuple[Fault, ...]] = {}
    for column in bounds.columns:
        read = parse_column(table, column)
        subject = refused_column(table, column, read)
        said: dict[int, Fault] = {}
        wrong = _wrong(read)
        found |= {i: (blank_rows_fault(table).fault,) for i in np.flatnonzero(wrong & blank).tolist()}
        for i in np.flatnonzero(wrong & ~blank).tolist():
            cell = int(read.codes[i])
            if cell not in said:
                explained = explain_fault(read.faults[cell], read.cells[cell], subject)
                said[cell] = explained.within(f"column {shown(column.name)}")
            found[i] = (*found.get(i, ()), said[cell])
    return found


def _wrong(read: ParsedColumn) -> NDArray[np.bool_]:
    """Return which rows have a cell in this column that is refused; one for all where every cell is a number."""
    if not read.faults:
        return np.zeros(1, dtype=bool)
    wrong = np.zeros(len(read.cells), dtype=bool)
    wrong[list(read.faults)] = True
    return np.asarray(wrong[read.codes], dtype=bool)
