"""Description of rows as the first table of a medical paper: means with deviations, counts with percentages."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping

from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import Column, DateColumn, NumericColumn
from smc_dp.methods.statistics.describe_result import DescribeResult
from smc_dp.methods.statistics.description import ColumnDescription
from smc_dp.methods.statistics.estimate import Estimate
from smc_dp.methods.statistics.figure_row import COUNT, DEVIATION, EMPTY, MEAN, PROPORTION
from smc_dp.methods.statistics.groups import GroupDescription
from smc_dp.methods.statistics.quantiles import QUANTILES
from smc_dp.pages.blocks import PageTable, Section, rest_of
from smc_dp.pages.shortening import shorten

_MOST_ROWS = 200
UNKNOWN, HIDDEN = "not known", "hidden by noise"
"""What stands in place of a figure: for too few cells, and for a standard deviation."""


def table_one(described: DescribeResult, bounds: Bounds) -> Section:
    """Return the table, with a column for each group, without intervals: those stand in the table of all figures.

    Noisy figures that no rows can have are cut to the nearest that some can.
    """
    numbers = {column.name: column for column in (*bounds.columns, bounds.label_column) if column is not None}
    rows = [row for column in described.columns for row in _rows(column, described, numbers[column.name])]
    by = shorten(described.by or "")
    of_groups = (f"{by} {shorten(one.group)} (n = {_whole(one.rows, described.rows)})" for one in described.groups)
    headings = ("characteristic", f"all rows (n = {described.rows:,})", *of_groups)
    caption = "Figures with noise, cut to possible values; counts rounded to whole numbers"
    table = PageTable(caption, headings, tuple(rows[:_MOST_ROWS]), numbers=tuple(range(1, len(headings))))
    return Section("Table 1", (table, *rest_of(len(rows), _MOST_ROWS, ", in release.json")), details=True)


def _rows(column: ColumnDescription, described: DescribeResult, known: Column) -> Iterator[tuple[str, ...]]:
    name, grouped, most = shorten(column.name), column.name != described.by, described.rows
    groups = [_figures(one, column.name) for one in described.groups] if grouped else []
    empty = () if grouped else ("",) * len(described.groups)
    gap = [] if column.missing is None else [(EMPTY, column.missing)]
    for level, count in (*column.levels, *gap):
        share = count.scaled(1 / most)
        others = (_count(one[level, COUNT], one[level, PROPORTION], most) for one in groups)
        said = "empty" if (level, count) in gap else shorten(level)
        yield f"{name} {said}, n (%)", _count(count, share, most), *others, *empty
    if column.quantiles:
        middle = _middle(dict(column.quantiles))
        others = (_middle({name: found for (_, name), found in one.items()}) for one in groups)
        yield f"{name}, median (quartiles)", middle, *others, *empty
    if isinstance(known, NumericColumn | DateColumn):
        others = (_mean(one["", MEAN], one["", DEVIATION], known) for one in groups)
        yield f"{name}, mean (SD)", _mean(column.mean, column.deviation, known), *others


def _figures(one: GroupDescription, column: str) -> dict[tuple[str, str], Estimate | None]:
    """Return the figures of a column in a group, by level and name; that of dates without its unit."""
    return {(row.level, row.figure.partition(",")[0]): row.found for row in one.figures if row.column == column}


def _count(count: Estimate | None, share: Estimate | None, most: int) -> str:
    if count is None or share is None:
        return UNKNOWN
    return f"{_whole(count, most)} ({percentage(share.estimate)})"


def percentage(share: float) -> str:
    """Return a noisy share in percent, from 0 to 100."""
    return f"{100 * min(max(share, 0.0), 1.0):.1f}"


def _whole(count: Estimate, most: int) -> str:
    """Return a count of at most so many rows as a paper prints it."""
    return f"{min(max(round(count.estimate), 0), most):,}"


def _middle(found: Mapping[str, Estimate | None]) -> str:
    low, middle, high = (found[name] for name, _ in QUANTILES)
    if low is None or middle is None or high is None:
        return UNKNOWN
    places = _decimals(high.estimate - low.estimate or middle.estimate)
    return f"{middle.estimate:,.{places}f} ({low.estimate:,.{places}f} to {high.estimate:,.{places}f})"


def _decimals(number: float) -> int:
    """Return the decimals that show three digits of a number, at most six."""
    return min(6, max(0, 2 - math.floor(math.log10(abs(number))))) if number else 0


def _mean(mean: Estimate | None, deviation: Estimate | None, known: NumericColumn | DateColumn) -> str:
    if mean is None or deviation is None:
        return UNKNOWN
    number = known.days if isinstance(known, DateColumn) else known
    middle, half = number.scale(center=True)
    shown, spread = min(max(mean.estimate, middle - half), middle + half), min(deviation.estimate, half)
    if isinstance(known, DateColumn):
        beside = HIDDEN if deviation.hidden else f"{spread:,.0f} days"
        return f"{known.first + datetime.timedelta(days=round(shown))} ({beside})"
    places = _decimals(spread or half)
    return f"{shown:,.{places}f} ({HIDDEN if deviation.hidden else f'{spread:,.{places}f}'})"
