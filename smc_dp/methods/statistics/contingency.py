"""Contingency tables: for named pairs of columns of levels or bins the count of each pair of their levels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from smc_dp.core.errors import InputError, shown
from smc_dp.data.columns import Column
from smc_dp.methods.statistics.estimate import Estimate
from smc_dp.methods.statistics.figure_row import COUNT, FigureRow
from smc_dp.methods.statistics.sum_blocks import SumBlock, find_level_column, has_levels, level_texts

BETWEEN_TABLES, BETWEEN_COLUMNS = ",", "*"


@dataclass(frozen=True)
class ContingencyTable:
    """Noisy counts of two columns: `cells[i][k]` is that of level i of the first and level k of the second."""

    names: tuple[str, str]
    levels: tuple[tuple[str, ...], tuple[str, ...]]
    cells: tuple[tuple[Estimate, ...], ...]

    def rows(self) -> Iterator[FigureRow]:
        """Yield the counts, with both columns and both levels in one text."""
        for level, counts in zip(self.levels[0], self.cells, strict=True):
            for other, count in zip(self.levels[1], counts, strict=True):
                yield FigureRow(_both(*self.names), _both(level, other), COUNT, count)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        cells = [[count.as_dict() for count in counts] for counts in self.cells]
        return {"columns": list(self.names), "levels": list(map(list, self.levels)), "cells": cells}


def table_blocks(columns: Sequence[Column], tables: str | None, by: str | None) -> tuple[SumBlock, ...]:
    """Return the blocks of tables that are named as in "sex*ward, ill*ward".

    Raises InputError for what is no pair of columns of levels, and for a pair that is there already: twice, or as one
    column within the groups `by` the other.
    """
    found: list[SumBlock] = []
    known = {frozenset((by, column.name)) for column in columns if by is not None}
    for text in () if tables is None else tables.split(BETWEEN_TABLES):
        names = [name.strip() for name in text.split(BETWEEN_COLUMNS)]
        if len(names) != 2 or len({*names}) != 2 or frozenset(names) in known:
            raise InputError("describe.no_pair", got=shown(text.strip()))
        first, second = (find_level_column(columns, name, "tables") for name in names)
        known.add(frozenset(names))
        found.append(SumBlock(second, first))
    return tuple(found)


def make_tables(blocks: Sequence[SumBlock], sums: Sequence[float], error: float) -> Iterator[ContingencyTable]:
    """Yield the tables of these blocks; `error`: standard deviation of the noise of one number of the sum."""
    at = 0
    for block in blocks:
        first, second = (column for column in (block.groups, block.column) if column is not None and has_levels(column))
        counts = [Estimate.with_error(count, error) for count in sums[at : at + block.length]]
        at, width = at + block.length, block.part_length
        cells = tuple(tuple(counts[k : k + width]) for k in range(0, block.length, width))
        yield ContingencyTable((first.name, second.name), (level_texts(first), level_texts(second)), cells)


def _both(first: str, second: str) -> str:
    return f"{first} {BETWEEN_COLUMNS} {second}"
