"""Limits on the size of a table, checked before cells are made: a small file can expand to fill the memory.

The number of cells is the owner's decision: what a command is given (`allow_cells`), or else `most_cells` in [file] of
own.toml or FILE.toml, or else what the free memory of the machine allows. No study and no bounds have a say in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from smc_dp.core.errors import InputError
from smc_dp.core.memory import free_memory

MOST_CELLS = 10**10
"""Number of cells that an owner may let a table have."""
BYTES_OF_CELL = 32
"""Memory of a cell until it has been learnt from: its text, its number in a row, and the integer of it."""
_MOST_FEATURES = 1 << 27
"""Features of all encoded rows, a gigabyte, unless the owner lets the table have more cells."""
_LEAST_CELLS = 1_000_000
_SHARE = 2  # of the free memory, one in so many parts is for one table: a run may read several
_stated: ContextVar[int | None] = ContextVar("most_cells", default=None)


@dataclass(frozen=True)
class TableLimits:
    """Limits on a table: `cells`, rows times columns; `bytes` of a file; `text`, bytes in memory or unpacked.

    `line`: characters of one line of a CSV file.
    """

    cells: int = 20_000_000
    columns: int = 1_000_000
    bytes: int = 1 << 29
    text: int = 1 << 30
    line: int = 1 << 25

    def check_cells(self, rows: int, columns: int, more: bool = False) -> None:
        """Raise InputError for more columns or cells than a table may have; `more`: further rows may follow."""
        if columns > self.columns:
            raise InputError("table.too_many_columns", columns=columns, most=self.columns)
        if rows * columns > self.cells:
            least = "at least " if more else ""
            came = f"{least}{rows * columns:,} cells ({rows:,} rows of {columns:,} columns)"
            raise InputError("table.too_many_cells", got=came, most=self.cells, hint="")

    def for_cells(self, cells: int | None) -> TableLimits:
        """Return the limits for so many cells, as the owner of a table states them; these limits for None."""
        if cells is None:
            return self
        size = BYTES_OF_CELL * cells
        return replace(self, cells=cells, bytes=max(self.bytes, size), text=max(self.text, size))

    def check_text(self, size: int) -> None:
        """Raise InputError for more text than a table may hold."""
        if size > self.text:
            raise InputError("table.too_large", most=self.text)


TABLE_LIMITS = TableLimits()
"""Limits on a system that does not say how much memory is free."""


@contextmanager
def allow_cells(most: int | None) -> Iterator[None]:
    """Let each table that is read inside the block have so many cells, whatever its file states; None changes nothing.

    Raises InputError for a number that no owner may state.
    """
    check_most_cells(most, "most_cells")
    token = _stated.set(_stated.get() if most is None else most)
    try:
        yield
    finally:
        _stated.reset(token)


def are_cells_given() -> bool:
    """Return whether a command was given a number of cells, which goes before that of a file."""
    return _stated.get() is not None


def check_most_cells(most: int | None, where: str) -> None:
    """Raise InputError, which says where, for a number of cells that no owner may state."""
    if most is not None and not 1 <= most <= MOST_CELLS:
        raise InputError("form.wrong_number", most=MOST_CELLS, got=most).within(where)


def owners_limits(in_file: int | None = None, usual: TableLimits | None = None) -> TableLimits:
    """Return the limits as the owner has them. in_file: the number of cells that [file] states.

    usual: limits where nothing is stated; None is what the free memory allows.
    """
    if (stated := _stated.get()) is not None:
        in_file = stated
    if usual is not None or in_file is not None:
        return (usual or TABLE_LIMITS).for_cells(in_file)
    free = free_memory()
    return TABLE_LIMITS if free is None else TABLE_LIMITS.for_cells(cells_in(free))


def check_feature_count(rows: int, features: int, in_file: int | None = None) -> None:
    """Raise InputError for rows with more features than an owner's memory has room for; in_file: as in `owners_limits`.

    Few cells can make many features: a column of many categories does, and so do Fourier features beside a row.
    """
    most = max(_MOST_FEATURES, owners_limits(in_file).cells)
    if rows * features > most:
        raise InputError("rows.too_many_features", most=most, got=f"{rows:,} rows of {features:,} features")


def cells_in(free: int) -> int:
    """Return the number of cells of a table where so many bytes are free and nobody states one."""
    return min(MOST_CELLS, max(_LEAST_CELLS, free // (_SHARE * BYTES_OF_CELL)))
