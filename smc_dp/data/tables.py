"""CSV and Parquet files as columns of cells, read without guessing anything about them.

Rows are numbered from 1, the first row below the header of a CSV file or the first row of a Parquet file.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import IO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from smc_dp.data.csv_cells import read_csv
from smc_dp.data.file_form import PLAIN, FileForm, other_separator
from smc_dp.data.guises import of_another_case, of_no_number
from smc_dp.data.parquet_cells import read_parquet
from smc_dp.data.size import LIMITS, TableLimits
from smc_dp.errors import InputError, shown
from smc_dp.files import reading

_PARQUET_MAGIC = b"PAR1"
_SHOWN = 40  # characters of a column's name


@dataclass(frozen=True, eq=False, repr=False)
class Coded:
    """A column of texts in which each text is stored once: cell i is `values[codes[i]]`.

    A column of half a million cells and three different texts is then looked at three times.
    """

    codes: NDArray[np.int64]
    values: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, indices: NDArray[np.int64]) -> Coded:
        """The cells at these positions."""
        return Coded(self.codes[indices], self.values)

    def texts(self) -> list[str]:
        """The cells, written out."""
        return [self.values[code] for code in self.codes.tolist()]


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
        if isinstance(cells, Coded):
            cells = cells.texts()
        if not isinstance(cells, np.ndarray):
            cells = np.array([self._number(name, i, cell) for i, cell in enumerate(cells)], dtype=np.float64)
        if not np.isfinite(cells).all():
            i = int(np.flatnonzero(~np.isfinite(cells))[0])
            raise InputError(f"{self.where(name, i)}: wanted a finite number, got {cells[i]}")
        return cells

    def texts(self, name: str) -> list[str]:
        """Column `name` as texts, numbers written out; raises InputError naming source, column and row."""
        cells = self._cells(name)
        if isinstance(cells, Coded):
            return cells.texts()
        return [self._text(name, i, cell) for i, cell in enumerate(cells)]

    def coded(self, name: str) -> Coded:
        """Column `name` as texts, as `texts`, with each different text stored once, in the order of appearance."""
        cells = self._cells(name)
        if isinstance(cells, Coded):
            return cells
        places: dict[str, int] = {}
        codes = [places.setdefault(self._text(name, i, cell), len(places)) for i, cell in enumerate(cells)]
        return Coded(np.array(codes, dtype=np.int64), tuple(places))

    def take(self, indices: NDArray[np.int64], source: str) -> Table:
        """The rows at these positions, under another name."""
        columns = {name: _taken(cells, indices) for name, cells in self.columns.items()}
        return Table(source, columns, [self.row_numbers[i] for i in indices], self.form)

    def _cells(self, name: str) -> Cells:
        if name not in self.columns:
            have = ", ".join(column[:_SHOWN] for column in list(self.columns)[:8]) + (
                ", ..." if len(self.columns) > 8 else ""
            )
            alike = of_another_case(name, self.columns) or other_separator(list(self.columns), self.form)
            raise InputError(
                f"{self.source}: column {shown(name)} is missing; the table has {have or 'no columns'}{alike}"
            )
        return self.columns[name]

    def where(self, name: str, i: int) -> str:
        """How messages call the i-th cell of a column, i from 0: source, column, row number in the file."""
        return f"{self.source}: column {shown(name)}, row {self.row_numbers[i]}"

    def _number(self, name: str, i: int, cell: object) -> float:
        if isinstance(cell, str):
            if not cell.strip():
                raise InputError(f"{self.where(name, i)}: wanted a number, the cell is empty")
            try:
                return self.form.number(cell)
            except ValueError:
                came = f"{shown(cell)}{of_no_number(cell, self.form)}"
                raise InputError(f"{self.where(name, i)}: wanted a number, got {came}") from None
        if cell is None:
            raise InputError(f"{self.where(name, i)}: wanted a number, the cell is empty")
        if isinstance(cell, bool | int | float | Decimal):
            return float(cell)
        raise InputError(f"{self.where(name, i)}: wanted a number, got {shown(cell)}{of_no_number(cell)}")

    def _text(self, name: str, i: int, cell: object) -> str:
        if isinstance(cell, bool):
            return "true" if cell else "false"
        if isinstance(cell, int | float | Decimal):
            if not math.isfinite(cell):
                raise InputError(f"{self.where(name, i)}: wanted a text, got {cell}")
            return str(cell)
        if cell is None or (isinstance(cell, str) and not cell.strip()):
            raise InputError(f"{self.where(name, i)}: wanted a text, the cell is empty")
        if isinstance(cell, str):
            return cell
        raise InputError(f"{self.where(name, i)}: wanted a text, got {shown(cell)}")


def _taken(cells: Cells, indices: NDArray[np.int64]) -> Cells:
    if isinstance(cells, np.ndarray):
        return cells[indices]
    return cells.take(indices) if isinstance(cells, Coded) else [cells[i] for i in indices]


def read_table(path: Path, source: str, limits: TableLimits = LIMITS, form: FileForm = PLAIN) -> Table:
    """A Parquet file, by its ending or its first bytes, or else a CSV file of this form; raises InputError.

    It must be a plain file, or a link to one; what is too large is refused before its cells are made. A Parquet file
    says itself how it is written, so that another form than the usual one is refused.
    """
    with reading.plain_file(path, source, limits.bytes) as file:
        start = file.read(len(_PARQUET_MAGIC))
        file.seek(0)
        if path.suffix.lower() in {".parquet", ".pq"} or start == _PARQUET_MAGIC:
            if form != PLAIN:
                raise InputError(f"{source}: is a Parquet file, of which [file] has nothing to say, wanted no [file]")
            return _parquet(file, source, limits)
        return _csv(file, source, form, limits)


def parse_csv(content: bytes, source: str, *, delimiter: str = ",") -> Table:
    """A CSV file with a header: UTF-8, `delimiter` between cells, double quotes where needed."""
    return _csv(io.BytesIO(content), source, FileForm(delimiter), LIMITS)


def parse_parquet(content: bytes, source: str) -> Table:
    """The columns of a Parquet file; null cells are None."""
    return _parquet(io.BytesIO(content), source, LIMITS)


def _csv(file: IO[bytes], source: str, form: FileForm, limits: TableLimits) -> Table:
    header, columns = read_csv(file, source, form, limits)
    names = _header(header, source)
    return Table(source, dict(zip(names, columns, strict=True)), range(1, len(columns[0]) + 1), form)


def _parquet(file: IO[bytes], source: str, limits: TableLimits) -> Table:
    names, cells, rows = read_parquet(file, source, limits)
    return Table(source, dict(zip(_header(names, source), cells, strict=True)), range(1, rows + 1))


def _header(cells: Sequence[str], source: str) -> list[str]:
    names = [cell.strip() for cell in cells]
    if not names or "" in names:
        raise InputError(f"{source}: the header has an empty column name, wanted a name for each column")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"{source}: column {shown(name)} occurs twice in the header")
        seen.add(name)
    return names
