"""Table of a description, in the units of its columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import DateColumn
from smc_dp.methods.statistics.description import DescribeResult
from smc_dp.methods.statistics.estimate import INTERVAL_LEVEL, Estimate
from smc_dp.pages.blocks import FactList, PageBlock, PageTable, Prose, rest_of
from smc_dp.pages.shortening import shorten
from smc_dp.run.table_one import table_one

COUNT, EMPTY = "count", "(empty)"
_MOST_ROWS = 400
_PERCENT = f"{100 * INTERVAL_LEVEL:g} %"
COVERS_ROWS = (
    f"If all parties followed the protocol, an interval contains the figure of the rows of these parties with a "
    f"probability of about {_PERCENT}, each interval by itself. It covers the noise of the sum alone. It covers no "
    "sampling: for conclusions about other people it is too narrow."
)


@dataclass(frozen=True)
class FigureRow:
    """One figure of a column: a count of the `level`, a mean or a standard deviation, of dates in days.

    `found` is None where too few cells are left at this noise.
    """

    column: str
    level: str
    figure: str
    found: Estimate | None


def figure_rows(described: DescribeResult, bounds: Bounds) -> Iterator[FigureRow]:
    """Yield the figures of all columns, in their order; the label is the last column."""
    first = {column.name: column.first for column in bounds.columns if isinstance(column, DateColumn)}
    for column in described.columns:
        for level, count in column.levels:
            yield FigureRow(column.name, level, COUNT, count)
        if not column.has_levels:
            since, days = (f", days since {first[column.name]}", ", days") if column.name in first else ("", "")
            yield FigureRow(column.name, "", f"mean{since}", column.mean)
            yield FigureRow(column.name, "", f"standard deviation{days}", column.deviation)
        if column.missing is not None:
            yield FigureRow(column.name, EMPTY, COUNT, column.missing)


def description_blocks(described: DescribeResult, bounds: Bounds) -> Iterator[PageBlock]:
    """Yield the numbers of rows and parties, the table, and what its intervals cover."""
    yield FactList((("Rows", f"{described.rows:,}, exact"), ("Parties in the sum", f"{described.parties:,}")))
    rows = [_cells(row, described.rows) for row in figure_rows(described, bounds)]
    headings = ("column", "level", "figure", "estimate", f"{_PERCENT} interval", "% of rows")
    yield PageTable("Description of the rows", headings, tuple(rows[:_MOST_ROWS]), numbers=(3, 4, 5))
    yield from rest_of(len(rows), _MOST_ROWS, ", in release.json")
    yield Prose(
        f"{COVERS_ROWS} Counts have noise: few are whole numbers, and some may be below 0. Figures are of numbers as "
        "the bounds clip them, and an empty cell that a rule fills counts as what fills it. Where too few cells are "
        'left at this noise, "not known" stands in place of a figure.'
    )
    yield table_one(described, bounds)


def _cells(row: FigureRow, rows: int) -> tuple[str, ...]:
    said = (shorten(row.column), shorten(row.level), row.figure)
    if row.found is None:
        return (*said, "not known", "", "")
    form = ",.1f" if row.figure == COUNT else ",.4g"
    share = f"{100 * row.found.estimate / rows:.1f}" if row.figure == COUNT else ""
    return (*said, f"{row.found.estimate:{form}}", f"{row.found.low:{form}} to {row.found.high:{form}}", share)
