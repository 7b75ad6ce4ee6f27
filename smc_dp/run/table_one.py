"""Description of rows as the first table of a medical paper: means with deviations, counts with percentages."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import DateColumn
from smc_dp.methods.statistics.description import ColumnDescription, DescribeResult
from smc_dp.methods.statistics.estimate import Estimate
from smc_dp.pages.blocks import PageTable, Section, rest_of
from smc_dp.pages.shortening import shorten

_MOST_ROWS = 200
_UNKNOWN = "not known"


def table_one(described: DescribeResult, bounds: Bounds) -> Section:
    """Return the table, without intervals: those stand in the table of all figures."""
    dates = {column.name: column.first for column in bounds.columns if isinstance(column, DateColumn)}
    rows = [row for column in described.columns for row in _rows(column, described.rows, dates.get(column.name))]
    headings = ("characteristic", f"all rows (n = {described.rows:,})")
    table = PageTable("Counts are rounded", headings, tuple(rows[:_MOST_ROWS]), numbers=(1,))
    return Section("Table 1", (table, *rest_of(len(rows), _MOST_ROWS, ", in release.json")), details=True)


def _rows(column: ColumnDescription, rows: int, first: datetime.date | None) -> Iterator[tuple[str, str]]:
    name = shorten(column.name)
    for level, count in column.levels:
        yield f"{name} {shorten(level)}, n (%)", _count(count, rows)
    if not column.has_levels:
        yield f"{name}, mean (SD)", _mean(column, first)
    if column.missing is not None:
        yield f"{name} empty, n (%)", _count(column.missing, rows)


def _count(count: Estimate, rows: int) -> str:
    return f"{round(count.estimate):,} ({100 * count.estimate / rows:.1f})"


def _mean(column: ColumnDescription, first: datetime.date | None) -> str:
    if column.mean is None or column.deviation is None:
        return _UNKNOWN
    deviation = f"{column.deviation.estimate:,.3g}"
    if first is None:
        return f"{column.mean.estimate:,.4g} ({deviation})"
    return f"{first + datetime.timedelta(days=round(column.mean.estimate))} ({deviation} days)"
