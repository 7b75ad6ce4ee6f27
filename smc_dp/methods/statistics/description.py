"""Description of the rows of all parties: counts, means and standard deviations, each with its interval.

An interval is for the table of these rows: it counts the noise of the sum, and no sampling of the rows. It is exact for
counts, proportions and means, but for the lattice of the noise; for standard deviations, and where cells are missing,
the delta method makes it. All follows from the released sum by operations that end in the same digit on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from smc_dp.data.columns import BinnedColumn, CategoricalColumn, Column, DateColumn, NumericColumn
from smc_dp.methods.statistics.estimate import INTERVAL_LEVEL, QUANTILE, Estimate
from smc_dp.privacy.distributed.moments import SQUARE_WEIGHT

_WEIGHT = float(SQUARE_WEIGHT)
_FEWEST = 5.0  # standard errors that a noisy number of cells needs to be divided by


@dataclass(frozen=True)
class ColumnDescription:
    """Description of one column: counts of its levels or bins, or the mean and standard deviation of its numbers.

    A date counts days since the first of its range. `missing`: the count of empty cells, where these have a place of
    their own. `mean` and `deviation` are None where too few cells are left at this noise.
    """

    name: str
    levels: tuple[tuple[str, Estimate], ...] = ()
    mean: Estimate | None = None
    deviation: Estimate | None = None
    missing: Estimate | None = None

    @property
    def has_levels(self) -> bool:
        """True for a column of levels or bins."""
        return bool(self.levels)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        gap = {} if self.missing is None else {"missing": self.missing.as_dict()}
        if self.has_levels:
            return {"levels": {level: count.as_dict() for level, count in self.levels}, **gap}
        found = {"mean": self.mean, "standard_deviation": self.deviation}
        return {name: None if one is None else one.as_dict() for name, one in found.items()} | gap


@dataclass(frozen=True)
class DescribeResult:
    """Description of all rows.

    Attributes
    ----------
    rows, parties : int
        Number of rows, and of parties in the sum.
    sums : tuple of float
        The released sum with its noise, column by column: a count for each level, or for numbers in [-1, 1] their sum
        and the weighted sum of their squares; a count of empty cells comes last.
    columns : tuple of ColumnDescription
        What follows from it, in the units of the columns; the label is the last.

    """

    rows: int
    parties: int
    sums: tuple[float, ...]
    columns: tuple[ColumnDescription, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "rows": self.rows,
            "parties": self.parties,
            "level": INTERVAL_LEVEL,
            "sums": list(self.sums),
            "columns": {column.name: column.as_dict() for column in self.columns},
        }


def sum_length(column: Column) -> int:
    """Return how many numbers of the sum describe a column."""
    return column.width if isinstance(column, CategoricalColumn | BinnedColumn) else column.width + 1


def describe_columns(
    columns: Sequence[Column], sums: Sequence[float], rows: int, error: float
) -> Iterator[ColumnDescription]:
    """Yield the description of each column; `error`: standard deviation of the noise of one number of the sum."""
    at = 0
    for column in columns:
        own = sums[at : at + sum_length(column)]
        at += len(own)
        if isinstance(column, CategoricalColumn | BinnedColumn):
            yield _counted(column, own, error)
        else:
            yield _measured(column, own, rows, error)


def _counted(column: CategoricalColumn | BinnedColumn, own: Sequence[float], error: float) -> ColumnDescription:
    texts = column.categories if isinstance(column, CategoricalColumn) else column.texts
    counts = [Estimate.with_error(count, error) for count in own]
    missing = counts[-1] if len(counts) > len(texts) else None
    return ColumnDescription(column.name, tuple(zip(texts, counts, strict=False)), missing=missing)


def _measured(column: NumericColumn | DateColumn, own: Sequence[float], rows: int, error: float) -> ColumnDescription:
    """Describe numbers z: with n cells of mean m and mean square q, the variance is q - m^2.

    Of the noise in q - m^2 the square has the mean -error^2/n^2, which is taken off.
    """
    number = column.days if isinstance(column, DateColumn) else column
    missing = Estimate.with_error(own[2], error) if len(own) > 2 else None
    n = rows if missing is None else rows - missing.estimate
    if n < max(2.0, _FEWEST * error * (missing is not None)):
        return ColumnDescription(column.name, missing=missing)
    middle, half = number.scale(center=True)
    m, q, part = own[0] / n, own[1] / (_WEIGHT * n), error / n
    gap = 0.0 if missing is None else 1.0
    of_mean = part * math.sqrt(1 + gap * m * m)
    slope = 2 * m * m - q
    of_variance = math.sqrt(
        part * part * (1 / (_WEIGHT * _WEIGHT) + 4 * m * m + gap * slope * slope) + 2 * of_mean**2 * of_mean**2
    )
    free, variance = n / (n - 1), q - m * m + of_mean * of_mean
    ends = (variance, variance - QUANTILE * of_variance, variance + QUANTILE * of_variance)
    deviation = Estimate(*(half * math.sqrt(max(0.0, end * free)) for end in ends))
    mean = Estimate.with_error(m, of_mean).scaled(half, middle)
    return ColumnDescription(column.name, (), mean, deviation, missing)
