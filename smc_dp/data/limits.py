"""How large a table may be, asked before its cells are made: a small file can stand for a table that fills a memory."""

from __future__ import annotations

from dataclasses import dataclass

from smc_dp.core.errors import InputError


@dataclass(frozen=True)
class TableLimits:
    """`cells`: rows times columns. `bytes`: of a file, and `text` of all its text in memory, or of what it unpacks to.

    `line`: characters of one line of a CSV file.
    """

    cells: int = 20_000_000
    columns: int = 1_000_000
    bytes: int = 1 << 29
    text: int = 1 << 30
    line: int = 1 << 25

    def check_cells(self, rows: int, columns: int, more: bool = False) -> None:
        """Raises InputError for more columns or cells than a table may have; `more`: there may be further rows."""
        if columns > self.columns:
            raise InputError("table.too_many_columns", columns=columns, most=self.columns)
        if rows * columns > self.cells:
            least = "at least " if more else ""
            came = f"{least}{rows * columns:,} cells ({rows:,} rows of {columns:,} columns)"
            raise InputError("table.too_many_cells", got=came, most=self.cells)

    def check_text(self, size: int) -> None:
        """Raises InputError for more text than a table may hold."""
        if size > self.text:
            raise InputError("table.too_large", most=self.text)


LIMITS = TableLimits()
