"""Description of rows as the first table of a medical paper: means with deviations, counts with percentages."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping

from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import DateColumn
from smc_dp.methods.statistics.describe_result import DescribeResult
from smc_dp.methods.statistics.description import ColumnDescription
from smc_dp.methods.statistics.estimate import Estimate
from smc_dp.methods.statistics.figure_row import COUNT, DEVIATION, EMPTY, MEAN, PROPORTION
from smc_dp.methods.statistics.groups import GroupDescription
from smc_dp.methods.statistics.quantiles import QUANTILES
from smc_dp.pages.blocks import PageTable, Section, rest_of
from smc_dp.pages.shortening import shorten

_MOST_ROWS = 200
_UNKNOWN = "not known"


def table_one(described: DescribeResult, bounds: Bounds) -> Section:
    """Return the table, with a column for each group, without intervals: those stand in the table of all figures."""
    dates = {column.name: column.first for column in bounds.columns if isinstance(column, DateColumn)}
    rows = [row for column in described.columns for row in _rows(column, described, dates.get(column.name))]
    by = shorten(described.by or "")
    of_groups = (f"{by} {shorten(one.group)} (n = {_whole(one.rows)})" for one in described.groups)
    headings = ("characteristic", f"all rows (n = {described.rows:,})", *of_groups)
    numbers = tuple(range(1, len(headings)))
    table = PageTable(
        "Noisy counts, to whole numbers of at least 0", headings, tuple(rows[:_MOST_ROWS]), numbers=numbers
    )
    return Section("Table 1", (table, *rest_of(len(rows), _MOST_ROWS, ", in release.json")), details=True)


def _rows(
    column: ColumnDescription, described: DescribeResult, first: datetime.date | None
) -> Iterator[tuple[str, ...]]:
    name, grouped = shorten(column.name), column.name != described.by
    groups = [_figures(one, column.name) for one in described.groups] if grouped else []
    empty = () if grouped else ("",) * len(described.groups)
    gap = [] if column.missing is None else [(EMPTY, column.missing)]
    for level, count in (*column.levels, *gap):
        share = count.scaled(1 / described.rows)
        others = (_count(one[level, COUNT], one[level, PROPORTION]) for one in groups)
        said = "empty" if (level, count) in gap else shorten(level)
        yield f"{name} {said}, n (%)", _count(count, share), *others, *empty
    if column.quantiles:
        middle = _middle(dict(column.quantiles))
        others = (_middle({name: found for (_, name), found in one.items()}) for one in groups)
        yield f"{name}, median (quartiles)", middle, *others, *empty
    if not column.has_levels:
        others = (_mean(one["", MEAN], one["", DEVIATION], first) for one in groups)
        yield f"{name}, mean (SD)", _mean(column.mean, column.deviation, first), *others


def _figures(one: GroupDescription, column: str) -> dict[tuple[str, str], Estimate | None]:
    """Return the figures of a column in a group, by level and name; that of dates without its unit."""
    return {(row.level, row.figure.partition(",")[0]): row.found for row in one.figures if row.column == column}


def _count(count: Estimate | None, share: Estimate | None) -> str:
    if count is None or share is None:
        return _UNKNOWN
    return f"{_whole(count)} ({100 * max(share.estimate, 0.0):.1f})"


def _whole(count: Estimate) -> str:
    """Return a count as a paper prints it; the table of all figures has it as it is, with its interval."""
    return f"{max(round(count.estimate), 0):,}"


def _middle(found: Mapping[str, Estimate | None]) -> str:
    low, middle, high = (found[name] for name, _ in QUANTILES)
    if low is None or middle is None or high is None:
        return _UNKNOWN
    places = _decimals(high.estimate - low.estimate or middle.estimate)
    return f"{middle.estimate:,.{places}f} ({low.estimate:,.{places}f} to {high.estimate:,.{places}f})"


def _decimals(number: float) -> int:
    """Return the decimals that show three digits of a number, at most six."""
    return min(6, max(0, 2 - math.floor(math.log10(abs(number))))) if number else 0


def _mean(mean: Estimate | None, deviation: Estimate | None, first: datetime.date | None) -> str:
    if mean is None or deviation is None:
        return _UNKNOWN
    if first is None:
        places = _decimals(deviation.estimate or mean.estimate)
        return f"{mean.estimate:,.{places}f} ({deviation.estimate:,.{places}f})"
    days = datetime.timedelta(days=round(mean.estimate))
    return f"{first + days} ({deviation.estimate:,.0f} days)"
