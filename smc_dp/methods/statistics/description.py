"""Description of the rows of all parties: counts, means and standard deviations, each with its interval.

An interval is for the table of these rows: it counts the noise of the sum, and no sampling of the rows. It is exact for
counts, proportions and means, but for the lattice of the noise; for standard deviations, and where cells are missing,
the delta method makes it. All follows from the released sum by operations that end in the same digit on every machine.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from smc_dp.data.columns import CATEGORY, BinnedColumn, Column, DateColumn, NumericColumn
from smc_dp.methods.statistics.estimate import FEWEST_ERRORS, QUANTILE, Estimate
from smc_dp.methods.statistics.figure_row import COUNT, DEVIATION, EMPTY, MEAN, FigureRow
from smc_dp.methods.statistics.quantiles import BinCounts
from smc_dp.methods.statistics.sum_blocks import LevelColumn, SumBlock, has_levels, level_texts
from smc_dp.privacy.distributed.moments import SQUARE_WEIGHT

_WEIGHT = float(SQUARE_WEIGHT)


@dataclass(frozen=True)
class ColumnDescription:
    """Description of one column: counts of its levels or bins, or the mean and standard deviation of its numbers.

    A date counts days since the first of its range. `missing`: the count of empty cells, where these have a place of
    their own. `quantiles`: of a column of bins the median and quartiles, by their names. `mean` and `deviation` are
    None where too few cells are left at this noise. `since`: the first of a range of dates.
    """

    name: str
    levels: tuple[tuple[str, Estimate], ...] = ()
    mean: Estimate | None = None
    deviation: Estimate | None = None
    missing: Estimate | None = None
    since: datetime.date | None = None
    quantiles: tuple[tuple[str, Estimate | None], ...] = ()

    @property
    def has_levels(self) -> bool:
        """True for a column of levels or bins."""
        return bool(self.levels)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        gap = {} if self.missing is None else {"missing": self.missing.as_dict()}
        if self.has_levels:
            inner = {"quantiles": _plain(dict(self.quantiles))} if self.quantiles else {}
            return {"levels": {level: count.as_dict() for level, count in self.levels}, **inner, **gap}
        return _plain({"mean": self.mean, "standard_deviation": self.deviation}) | gap


def _plain(found: Mapping[str, Estimate | None]) -> dict[str, Any]:
    return {name: None if one is None else one.as_dict() for name, one in found.items()}


def describe_columns(
    blocks: Sequence[SumBlock], sums: Sequence[float], rows: int, error: float
) -> Iterator[ColumnDescription]:
    """Yield the description of each column in all rows; `error`: standard deviation of one number of the sum.

    Groups are added up, and so is their noise.
    """
    at = 0
    for block in blocks:
        own, width = sums[at : at + block.length], block.part_length
        at += block.length
        whole = [math.fsum(own[i::width]) for i in range(width)]
        yield describe_column(block.column, whole, rows, error * math.sqrt(block.parts))


def describe_column(
    column: Column, own: Sequence[float], rows: float, error: float, rows_noise: int = 0
) -> ColumnDescription:
    """Return the description of a column by its own numbers; `rows_noise`: 1 if `rows` has the noise of a number."""
    if has_levels(column):
        return _counted(column, own, error, None if rows_noise else rows)
    return _measured(column, own, rows, error, rows_noise)


def column_rows(column: ColumnDescription, group: str = "") -> Iterator[FigureRow]:
    """Yield the figures of a column."""
    for level, count in column.levels:
        yield FigureRow(column.name, level, COUNT, count, group)
    for name, found in column.quantiles:
        yield FigureRow(column.name, "", name, found, group)
    if not column.has_levels:
        since, days = ("", "") if column.since is None else (f", days since {column.since}", ", days")
        yield FigureRow(column.name, "", f"{MEAN}{since}", column.mean, group)
        yield FigureRow(column.name, "", f"{DEVIATION}{days}", column.deviation, group)
    if column.missing is not None:
        yield FigureRow(column.name, EMPTY, COUNT, column.missing, group)


def _counted(column: LevelColumn, own: Sequence[float], error: float, rows: float | None) -> ColumnDescription:
    """Describe counts whose sum is `rows`, or None where that has noise, too."""
    counts = [Estimate.with_error(count, error) for count in own]
    levels = tuple(zip(level_texts(column), counts, strict=True))
    inner = BinCounts(column.edges, own, error, rows).quantiles() if isinstance(column, BinnedColumn) else ()
    if column.missing != CATEGORY:
        return ColumnDescription(column.name, levels, quantiles=tuple(inner))
    return ColumnDescription(column.name, levels[:-1], missing=counts[-1], quantiles=tuple(inner))


def _measured(
    column: NumericColumn | DateColumn, own: Sequence[float], rows: float, error: float, rows_noise: int
) -> ColumnDescription:
    """Describe numbers z: with n cells of mean m and mean square q, the variance is q - m^2.

    Of the noise in q - m^2 the square has the mean -error^2/n^2, which is taken off. n may have noise itself: of a
    count of rows, of a count of empty cells, or of both.
    """
    number = column.days if isinstance(column, DateColumn) else column
    missing = Estimate.with_error(own[2], error) if len(own) > 2 else None
    n = rows if missing is None else rows - missing.estimate
    since, noisy = column.first if isinstance(column, DateColumn) else None, rows_noise + (missing is not None)
    if n < max(2.0, FEWEST_ERRORS * error * math.sqrt(noisy)):
        return ColumnDescription(column.name, missing=missing, since=since)
    middle, half = number.scale(center=True)
    m, q, part = own[0] / n, own[1] / (_WEIGHT * n), error / n
    of_mean = part * math.sqrt(1 + noisy * m * m)
    slope = 2 * m * m - q
    of_variance = math.sqrt(
        part * part * (1 / (_WEIGHT * _WEIGHT) + 4 * m * m + noisy * slope * slope) + 2 * of_mean**2 * of_mean**2
    )
    free, variance = n / (n - 1), q - m * m + of_mean * of_mean
    # A square is not negative. Noise may make its estimate so: then 0 is the low end, and no estimate.
    shown, beside = max(0.0, variance), QUANTILE * of_variance
    ends = (shown, max(0.0, variance - beside), shown + beside)
    hidden = variance <= 0 < of_variance
    estimate, low, high = (half * math.sqrt(end * free) for end in ends)
    mean = Estimate.with_error(m, of_mean).scaled(half, middle)
    return ColumnDescription(column.name, (), mean, Estimate(estimate, low, high, hidden), missing, since)
