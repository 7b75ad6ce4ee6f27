"""A table as columns of cells: looked at only when a column is asked for, and every message with its place.

Rows are numbered from 1, the first row below the header of a CSV file or the first row of a Parquet file.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from smc_dp.core.errors import InputError, shown
from smc_dp.data.file_form import PLAIN, FileForm
from smc_dp.data.file_hints import other_dates, other_separator
from smc_dp.data.format_hints import of_another_case, of_no_number, of_nothing

_SHOWN = 40  # characters of a column's name

Meant = TypeVar("Meant")


@dataclass(frozen=True, eq=False, repr=False)
class Coded:
    """A column in which equal cells are stored once, unless nearly all differ: cell i is `values[codes[i]]`.

    A column of half a million cells and three different texts is then looked at three times. Cells are what they are in
    any column: texts, numbers, truth values, dates, None where nothing stands.
    """

    codes: NDArray[np.signedinteger[Any]]
    values: tuple[object, ...]

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, indices: NDArray[np.int64]) -> Coded:
        """The cells at these positions."""
        return Coded(self.codes[indices], self.values)


Cells: TypeAlias = Sequence[object] | NDArray[np.float64] | Coded


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of equal length; messages call the table `source` and its rows by `row_numbers`.

    Cells are looked at only when a column is asked for: a column that nobody uses may hold anything. `form`: how texts
    among them write numbers.
    """

    source: str
    columns: Mapping[str, Cells]
    row_numbers: Sequence[int]
    form: FileForm = PLAIN

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.row_numbers)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Column `name` as finite numbers, shape (rows,); raises InputError naming source, column and row."""
        cells = self._cells(name)
        if not isinstance(cells, np.ndarray):
            found, codes = self._read(name, lambda cell: number_in(cell, self.form))
            numbers: NDArray[np.float64] = np.array(found, dtype=np.float64)[codes]
            return numbers
        if not np.isfinite(cells).all():
            i = int(np.flatnonzero(~np.isfinite(cells))[0])
            raise InputError(f"{self.where(name, i)}: wanted a finite number, got {cells[i]}")
        return cells

    def texts(self, name: str) -> list[str]:
        """Column `name` as texts, numbers written out; raises InputError naming source, column and row."""
        found, codes = self._read(name, text_in)
        return [text for code in codes.tolist() if (text := found[code]) is not None]

    def coded(self, name: str) -> Coded:
        """Column `name` as texts, as `texts`, with each different text stored once, in the order of appearance."""
        found, codes = self._read(name, text_in)
        places: dict[str | None, int] = {}
        return Coded(np.array([places.setdefault(text, len(places)) for text in found])[codes], tuple(places))

    def take(self, indices: NDArray[np.int64], source: str) -> Table:
        """The rows at these positions, under another name."""
        columns = {name: _taken(cells, indices) for name, cells in self.columns.items()}
        return Table(source, columns, [self.row_numbers[i] for i in indices], self.form)

    def different(self, name: str) -> tuple[Sequence[object], NDArray[np.int64]]:
        """The different cells of column `name`, and which of them each row has; some of them may be no row's."""
        cells = self._cells(name)
        if isinstance(cells, Coded):
            return cells.values, cells.codes
        if isinstance(cells, np.ndarray):
            values, codes = np.unique(cells, return_inverse=True)
            return values.tolist(), codes
        places: dict[tuple[type, object], int] = {}  # 1, 1.0 and True are different cells
        codes = np.array([places.setdefault((type(cell), cell), len(places)) for cell in cells], dtype=np.int64)
        return [cell for _, cell in places], codes

    def blank_rows(self) -> NDArray[np.bool_]:
        """Whether nothing stands in any cell of a row of several, shape (rows,)."""
        found = np.full(self.rows, len(self.columns) > 1)
        for name in self.columns:
            cells, codes = self.different(name)
            found &= np.array([is_empty(cell) for cell in cells], dtype=bool)[codes]
            if not found.any():
                break
        return found

    def _read(self, name: str, read: Callable[[object], Meant]) -> tuple[list[Meant | None], NDArray[Any]]:
        """Each different cell of column `name` as `read` reads it, and which of them each row has.

        Raises InputError naming source, column and the first row whose cell is not what was wanted.
        """
        cells, codes = self.different(name)
        found: list[Meant | None] = []
        wrong = np.zeros(len(cells), dtype=bool)
        for place, cell in enumerate(cells):
            try:
                found.append(read(cell))
            except CellError:
                found.append(None)
                wrong[place] = True
        if (rows := np.flatnonzero(wrong[codes])).size:
            i = int(rows[0])
            try:
                read(cells[codes[i]])
            except CellError as error:
                raise InputError(f"{self.where(name, i)}: {error}") from None
        return found, codes

    def _cells(self, name: str) -> Cells:
        if missing := self.lacking(name):
            raise InputError(f"{self.source}: {missing}")
        return self.columns[name]

    def lacking(self, name: str) -> str:
        """What is to be said of a column that the table does not have; nothing where it has it."""
        if name not in self.columns:
            have = ", ".join(column[:_SHOWN] for column in list(self.columns)[:8]) + (
                ", ..." if len(self.columns) > 8 else ""
            )
            alike = of_another_case(name, self.columns) or other_separator(list(self.columns), self.form)
            return f"column {shown(name)} is missing; the table has {have or 'no columns'}{alike}"
        return ""

    def where(self, name: str, i: int) -> str:
        """How messages call the i-th cell of a column, i from 0: source, column, row number in the file."""
        return f"{self.source}: column {shown(name)}, row {self.row_numbers[i]}"


class CellError(ValueError):
    """A cell is not what was wanted, in a clause; `kind`: cells of one kind are mended alike."""

    def __init__(self, clause: str, kind: str) -> None:
        self.kind = kind
        super().__init__(clause)


EMPTY = "empty"
"""The kind of a cell in which nothing stands."""


def is_empty(cell: object) -> bool:
    """Whether nothing stands in a cell; NaN that is no text stands for nothing too."""
    return cell is None or (isinstance(cell, str) and not cell.strip()) or (isinstance(cell, float) and cell != cell)


def number_in(cell: object, form: FileForm) -> float:
    """The finite number in a cell; CellError for anything else."""
    if isinstance(cell, str) and cell.strip():
        try:
            found = form.number(cell)
        except ValueError:
            guise = of_no_number(cell, form)
            raise CellError(f"wanted a number, got {shown(cell)}{guise}", f"number{guise}") from None
    elif isinstance(cell, bool | int | float | Decimal):
        found = float(cell)
    elif is_empty(cell):
        raise CellError("wanted a number, the cell is empty", EMPTY)
    else:
        guise = of_no_number(cell)
        raise CellError(f"wanted a number, got {shown(cell)}{guise}", f"number{guise}")
    if not math.isfinite(found):
        guise = of_nothing(cell, form)
        raise CellError(f"wanted a finite number, got {found}{guise}", EMPTY if is_empty(cell) else f"finite{guise}")
    return found


def day_of(cell: object, form: FileForm) -> datetime.date:
    """The date in a cell; CellError for anything else."""
    if is_empty(cell):
        raise CellError("wanted a date, the cell is empty", EMPTY)
    if isinstance(cell, datetime.date) and not isinstance(cell, datetime.datetime):
        return cell
    try:
        return form.day(cell if isinstance(cell, str) else "")
    except ValueError:
        looks = other_dates(cell, form) or of_nothing(cell, form) if isinstance(cell, str) else ""
        raise CellError(f"wanted a date as {form.dates}, got {shown(cell)}{looks}", f"date{looks}") from None


def text_in(cell: object) -> str:
    """The text in a cell, numbers, dates and truth values written out; CellError for anything else."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, datetime.date) and not isinstance(cell, datetime.datetime):
        return cell.isoformat()
    if isinstance(cell, int | float | Decimal):
        if not math.isfinite(cell):
            raise CellError(f"wanted a text, got {cell}", EMPTY if is_empty(cell) else "finite")
        return str(cell)
    if is_empty(cell):
        raise CellError("wanted a text, the cell is empty", EMPTY)
    if isinstance(cell, str):
        return cell
    raise CellError(f"wanted a text, got {shown(cell)}", "text")


def _taken(cells: Cells, indices: NDArray[np.int64]) -> Cells:
    if isinstance(cells, np.ndarray):
        return cells[indices]
    return cells.take(indices) if isinstance(cells, Coded) else [cells[i] for i in indices]
