"""Limits on the size of a table, checked before cells are made: a small file can expand to fill the memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

from smc_dp.core.errors import InputError

_CELL = 32  # bytes of a cell that the owner lets a table have


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
        return replace(self, cells=cells, bytes=max(self.bytes, _CELL * cells), text=max(self.text, _CELL * cells))

    def check_text(self, size: int) -> None:
        """Raise InputError for more text than a table may hold."""
        if size > self.text:
            raise InputError("table.too_large", most=self.text)


TABLE_LIMITS = TableLimits()
