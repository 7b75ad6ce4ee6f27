"""Limits on the size of a table, checked before cells are made: a small file can expand to fill the memory."""

from __future__ import annotations

from dataclasses import dataclass

from smc_dp.core.errors import InputError


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
            raise InputError("table.too_many_cells", got=came, most=self.cells)

    def check_text(self, size: int) -> None:
        """Raise InputError for more text than a table may hold."""
        if size > self.text:
            raise InputError("table.too_large", most=self.text)


TABLE_LIMITS = TableLimits()
