"""Table of columns of cells, and the values of cells by the bounds of their column.

Rows are numbered from 1. Messages count the lines of a CSV file instead, as a spreadsheet does: the header is line 1.
"""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from smc_dp.core.errors import ColumnIgnoredWarning, Fault, InputError, InputFault, shown
from smc_dp.data.cell_values import is_empty_cell, parse_date, parse_number, parse_text
from smc_dp.data.columns import BinnedColumn, CategoricalColumn, Column, DateColumn, NumericColumn, canonical_level
from smc_dp.data.file_format import DEFAULT_FORMAT, FileFormat
from smc_dp.data.format_hints import add_hint
from smc_dp.data.refused_input import RefusedInput

_LISTED = 8  # names of columns or levels in one message


def line_of_row(row: int) -> int:
    """Return the line of a CSV file that has this row, as a spreadsheet counts: its header is line 1."""
    return row + 1


@dataclass(frozen=True, eq=False, repr=False)
class DictionaryColumn:
    """Dictionary-encoded column: cell i is `values[codes[i]]`, and most different cells are stored once.

    A column of half a million cells and three different texts is then looked at three times. Cells are texts, numbers,
    truth values, dates, or None.
    """

    codes: NDArray[np.signedinteger[Any]]
    values: tuple[object, ...]

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, indices: NDArray[np.int64]) -> DictionaryColumn:
        """Return the cells at these positions."""
        return DictionaryColumn(self.codes[indices], self.values)

    def plain_numbers(self) -> NDArray[np.float64] | None:
        """Return the numbers in cells of digits and decimal points, NaN for empty ones; None if any other is there."""
        return None


Cells: TypeAlias = Sequence[object] | NDArray[np.float64] | DictionaryColumn


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of equal length; messages call the table `source` and its rows by `row_numbers`.

    Only the columns that are read are looked at: an unused column may hold anything. `form`: the format of texts
    among the cells. `partition_column`: in a party's part of a larger table, the column by which that was partitioned.
    `ignored`: a note for each column of the file that is not there, because it has no name.
    """

    source: str
    columns: Mapping[str, Cells]
    row_numbers: Sequence[int]
    form: FileFormat = DEFAULT_FORMAT
    partition_column: str | None = None
    ignored: tuple[Fault, ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.row_numbers)

    def texts(self, name: str) -> list[str]:
        """Return column `name` as texts, numbers written out; raise InputError naming source, column and row."""
        cells, codes = self.different(name)
        found, texts = [parse_text(cell) for cell in cells], list[str]()
        for i, code in enumerate(codes.tolist()):
            text = found[code]
            if isinstance(text, Fault):
                raise InputError(add_hint(text, RefusedInput(self.form, cells[code]))).within(self._where(name, i))
            texts.append(text)
        return texts

    def take(self, indices: NDArray[np.int64], source: str) -> Table:
        """Return the rows at these positions, under another name."""
        columns = {name: _taken(cells, indices) for name, cells in self.columns.items()}
        return Table(source, columns, [self.row_numbers[i] for i in indices], self.form, self.partition_column)

    def different(self, name: str) -> tuple[Sequence[object], NDArray[np.int64]]:
        """Return the different cells of column `name`, and the index of each row's cell; some may be in no row."""
        cells = self._cells(name)
        if isinstance(cells, DictionaryColumn):
            return cells.values, cells.codes
        if isinstance(cells, np.ndarray):
            values, codes = np.unique(cells, return_inverse=True)
            return values.tolist(), codes
        places: dict[tuple[type, object], int] = {}  # 1, 1.0 and True are different cells
        codes = np.array([places.setdefault((type(cell), cell), len(places)) for cell in cells], dtype=np.int64)
        return [cell for _, cell in places], codes

    def without_empty(self, names: Iterable[str]) -> tuple[Table, NDArray[np.int64]]:
        """Return the rows without an empty cell in columns of these names, and which rows these are, from 0."""
        left_out = np.zeros(self.rows, dtype=bool)
        for name in names:
            if name in self.columns:
                cells, codes = self.different(name)
                left_out |= np.array([is_empty_cell(cell) for cell in cells], dtype=bool)[codes]
        kept = np.flatnonzero(~left_out)
        return (self.take(kept, self.source) if left_out.any() else self), kept

    def blank_rows(self) -> NDArray[np.bool_]:
        """Return which rows of several cells are empty, shape (rows,)."""
        found = np.full(self.rows, len(self.columns) > 1)
        for name in self.columns:
            cells, codes = self.different(name)
            found &= np.array([is_empty_cell(cell) for cell in cells], dtype=bool)[codes]
            if not found.any():
                break
        return found

    def without_blank_rows(self) -> Table:
        """Return the rows in which some cell is not empty, with the numbers that they have in the file."""
        blank = self.blank_rows()
        if not blank.any():
            return self
        return replace(self.take(np.flatnonzero(~blank), self.source), ignored=self.ignored)

    def in_format(self, form: FileFormat) -> Table:
        """Return the table as it is when its file has this format, except for what decides where cells end."""
        words = {*form.missing} - {*self.form.missing}
        columns = {name: _emptied(cells, words) for name, cells in self.columns.items()} if words else self.columns
        table = replace(self, columns=columns, form=form)
        return table.without_blank_rows() if form.skip_blank_rows else table

    def warn_of_ignored(self) -> None:
        """Issue a ColumnIgnoredWarning for each column of the file that was ignored."""
        for fault in self.ignored:
            warnings.warn(ColumnIgnoredWarning(fault.within(self.source)), stacklevel=2)

    def _cells(self, name: str) -> Cells:
        if fault := self.lacking(name):
            raise InputError(fault).within(self.source)
        return self.columns[name]

    def lacking(self, name: str) -> Fault | None:
        """Return the fault of a column that the table does not have, None where it has it."""
        if name in self.columns:
            return None
        have = [shown(column) for column in list(self.columns)[:_LISTED]] or ["no columns"]
        fault = InputFault(
            "table.no_column",
            {"column": None, "have": [*have, *(["..."] if len(self.columns) > _LISTED else [])], "hint": ""},
        )
        return add_hint(fault, RefusedInput(self.form, text=name, header=list(self.columns)))

    @property
    def counted(self) -> str:
        """Unit in which messages count rows: "line" of a CSV file, "row" of any other table."""
        return "line" if self.form.is_text else "row"

    def number(self, i: int) -> int:
        """Return the number of the row at position i in messages."""
        row = self.row_numbers[i]
        return line_of_row(row) if self.form.is_text else row

    def _where(self, name: str, i: int) -> str:
        """Return the place of the i-th cell of a column for messages: source, column, line or row of the file."""
        return f"{self.source}: column {shown(name)}, {self.counted} {self.number(i)}"


@dataclass(frozen=True, eq=False, repr=False)
class ParsedColumn:
    """Column as its bounds read it: `values` of its rows, NaN for empty and for refused cells.

    cells, codes: the different cells, and the index of each row's cell. faults: faults of different cells by index, not
    yet explained (see `validation_errors.column_faults`).
    """

    values: NDArray[np.float64]
    cells: Sequence[object]
    codes: NDArray[Any]
    faults: Mapping[int, Fault]


def parse_column(table: Table, column: Column) -> ParsedColumn:
    """Read each cell of a column: a number, days since the first date, or the place of a level."""
    cells = table.columns.get(column.name)
    if isinstance(cells, np.ndarray) and isinstance(column, NumericColumn | BinnedColumn) and np.isfinite(cells).all():
        return ParsedColumn(cells, (), np.zeros(0, dtype=np.int64), {})  # numbers that need not be looked at one by one
    if (numbers := _plain_numbers(cells, column, table.form)) is not None:
        return ParsedColumn(numbers, (), np.zeros(0, dtype=np.int64), {})
    read = _place(column, table.form) if isinstance(column, CategoricalColumn) else _number(column, table.form)
    cells, codes = table.different(column.name)
    found, faults = np.full(len(cells), np.nan), {}
    for i, cell in enumerate(cells):
        if column.missing is not None and is_empty_cell(cell):
            continue
        meant = read(cell)
        if isinstance(meant, Fault):
            faults[i] = meant
        else:
            found[i] = meant
    return ParsedColumn(found[codes], cells, codes, faults)


def _plain_numbers(cells: Cells | None, column: Column, form: FileFormat) -> NDArray[np.float64] | None:
    """Return the numbers of a column that need not be looked at one by one; None where a cell has to be."""
    is_plain = isinstance(column, NumericColumn | BinnedColumn) and (form.decimal, form.thousands) == (".", None)
    numbers = cells.plain_numbers() if is_plain and isinstance(cells, DictionaryColumn) else None
    return None if numbers is None or (column.missing is None and np.isnan(numbers).any()) else numbers


def is_blank_column(cells: Cells) -> bool:
    """Return whether nothing stands in any cell of a column."""
    if isinstance(cells, np.ndarray):
        return bool(np.isnan(cells).all())
    return all(map(is_empty_cell, cells.values if isinstance(cells, DictionaryColumn) else cells))


def _taken(cells: Cells, indices: NDArray[np.int64]) -> Cells:
    if isinstance(cells, np.ndarray):
        return cells[indices]
    return cells.take(indices) if isinstance(cells, DictionaryColumn) else [cells[i] for i in indices]


def _emptied(cells: Cells, words: set[str]) -> Cells:
    """Return a column in which these texts are empty cells."""
    if isinstance(cells, np.ndarray):
        return cells
    held = cells.values if isinstance(cells, DictionaryColumn) else cells
    found = ["" if isinstance(cell, str) and cell in words else cell for cell in held]
    return DictionaryColumn(cells.codes, tuple(found)) if isinstance(cells, DictionaryColumn) else found


def _number(column: NumericColumn | BinnedColumn | DateColumn, form: FileFormat) -> Callable[[object], float | Fault]:
    if not isinstance(column, DateColumn):
        return lambda cell: parse_number(cell, form)
    first, form = column.first.toordinal(), form.of_column(column.name)

    def days(cell: object) -> float | Fault:
        day = parse_date(cell, form)
        return float(day.toordinal() - first) if isinstance(day, datetime.date) else day

    return days


def _place(column: CategoricalColumn, form: FileFormat) -> Callable[[object], float | Fault]:
    """Return a function that finds the index of a cell among the categories."""
    listed = [shown(text) for text in column.categories[:_LISTED]] + (["..."] if len(column.forms) > _LISTED else [])
    unknown = InputFault("cell.unknown_level", {"got": None, "hint": "", "levels": listed})

    places = column.places_in(form)

    def place(cell: object) -> float | Fault:
        text = parse_text(cell)
        if isinstance(text, Fault):
            return text
        found = places.get(canonical_level(text), places.get(canonical_level(form.pointed(text))))
        return unknown if found is None else float(found)

    return place
