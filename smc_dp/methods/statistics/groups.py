"""Description of groups of rows: counts, proportions, means and deviations of each, and differences from the first.

The number of rows of a group is a noisy count. Numbers of the sum have independent noise of one deviation, so the delta
method gives an error of each quotient, and squared errors of two groups add up in a difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from smc_dp.methods.statistics.description import ColumnDescription, column_rows, describe_column
from smc_dp.methods.statistics.estimate import FEWEST_ERRORS, Estimate
from smc_dp.methods.statistics.figure_row import (
    COUNT,
    DIFFERENCE_OF_MEANS,
    DIFFERENCE_OF_PROPORTIONS,
    MEAN,
    PROPORTION,
    FigureRow,
)
from smc_dp.methods.statistics.sum_blocks import SumBlock, level_texts


@dataclass(frozen=True)
class GroupDescription:
    """Description of the rows of one group: their noisy number, and figures of the other columns."""

    group: str
    rows: Estimate
    figures: tuple[FigureRow, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"group": self.group, "rows": self.rows.as_dict(), "figures": [row.as_dict() for row in self.figures]}


def describe_groups(blocks: Sequence[SumBlock], sums: Sequence[float], error: float) -> tuple[GroupDescription, ...]:
    """Return the description of each group; `error`: standard deviation of the noise of one number of the sum."""
    groups = next((block.groups for block in blocks if block.groups is not None), None)
    if groups is None:
        return ()
    starts, at = [], 0
    for block in blocks:
        starts.append(at)
        at += block.length
    (counted,) = (at for at, block in zip(starts, blocks, strict=True) if block.column == groups)
    found: list[GroupDescription] = []
    first: list[FigureRow] = []
    for k, name in enumerate(level_texts(groups)):
        rows = sums[counted + k]
        columns = [
            describe_column(block.column, sums[at + k * block.part_length :][: block.part_length], rows, error, 1)
            for at, block in zip(starts, blocks, strict=True)
            if block.groups is not None
        ]
        own = [row for one in columns for row in _rows(one, rows, error, name)]
        first = first or own
        differences = (_difference(*pair) for pair in zip(own, first, strict=True) if own is not first)
        figures = (*own, *(row for row in differences if row is not None))
        found.append(GroupDescription(name, Estimate.with_error(rows, error), figures))
    return tuple(found)


def _rows(column: ColumnDescription, rows: float, error: float, group: str) -> Iterator[FigureRow]:
    """Yield the figures of a column in a group of so many rows, and beside each count its proportion of them."""
    for row in column_rows(column, group):
        yield row
        if row.figure == COUNT and row.found is not None:
            yield FigureRow(row.column, row.level, PROPORTION, _proportion(row.found.estimate, rows, error), group)


def _proportion(count: float, rows: float, error: float) -> Estimate | None:
    if rows < max(2.0, FEWEST_ERRORS * error):
        return None
    share = count / rows
    return Estimate.with_error(share, error / rows * math.sqrt(1 + share * share))


def _difference(own: FigureRow, first: FigureRow) -> FigureRow | None:
    """Return a mean or proportion less that of the first group; None for other figures."""
    if own.figure == PROPORTION:
        name = DIFFERENCE_OF_PROPORTIONS
    elif own.figure.startswith(MEAN):
        name = DIFFERENCE_OF_MEANS + ("" if own.figure == MEAN else ", days")
    else:
        return None
    found = None if own.found is None or first.found is None else own.found.minus(first.found)
    return FigureRow(own.column, own.level, name, found, own.group)
