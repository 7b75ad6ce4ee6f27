"""Blocks of the sum that describes rows: of each column its counts or moments, in all rows or in each group of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from typing_extensions import TypeIs

from smc_dp.core.errors import InputError, shown
from smc_dp.data.columns import BinnedColumn, CategoricalColumn, Column
from smc_dp.methods.statistics.figure_row import EMPTY
from smc_dp.privacy.distributed.moments import RecordReach

LevelColumn: TypeAlias = CategoricalColumn | BinnedColumn
_LISTED = 8  # columns in a message


@dataclass(frozen=True)
class SumBlock:
    """Numbers of the sum that describe one column, for each of the `groups` in turn where rows are grouped."""

    column: Column
    groups: LevelColumn | None = None

    @property
    def parts(self) -> int:
        """Number of groups; 1 without any."""
        return 1 if self.groups is None else self.groups.width

    @property
    def part_length(self) -> int:
        """Number of numbers that describe the column in one group: a count for each level, or sum, squares, empties."""
        return self.column.width if has_levels(self.column) else self.column.width + 1

    @property
    def length(self) -> int:
        """Number of numbers in the block."""
        return self.parts * self.part_length


def has_levels(column: Column) -> TypeIs[LevelColumn]:
    """Return whether a column has levels or bins, which are counted."""
    return isinstance(column, CategoricalColumn | BinnedColumn)


def level_texts(column: LevelColumn) -> tuple[str, ...]:
    """Return the levels or bins of a column; `EMPTY` where empty cells are counted apart."""
    texts = column.categories if isinstance(column, CategoricalColumn) else column.texts
    return (*texts, *([EMPTY] if column.width > len(texts) else ()))


def sum_blocks(columns: Sequence[Column], by: str | None = None) -> tuple[SumBlock, ...]:
    """Return a block for each column, within the groups of the column `by`, which itself is counted in all rows.

    Raises InputError where `by` is none of these columns, or one of numbers; and for a column of one level, whose count
    is known, and would add noise to every other figure.
    """
    if known := next((column for column in columns if has_levels(column) and column.width == 1), None):
        raise InputError("describe.one_level", name=shown(known.name))
    if by is None:
        return tuple(map(SumBlock, columns))
    groups = find_level_column(columns, by, "by")
    return tuple(SumBlock(column, None if column is groups else groups) for column in columns)


def find_level_column(columns: Sequence[Column], name: str, setting: str) -> LevelColumn:
    """Return the column of levels or bins of this name, which the setting has; InputError where there is none."""
    found = next((column for column in columns if column.name == name), None)
    if found is None:
        known = ", ".join(shown(column.name) for column in columns[:_LISTED])
        raise InputError("describe.no_such_column", setting=setting, name=shown(name), known=known)
    if not has_levels(found):
        raise InputError("describe.column_of_numbers", setting=setting, name=shown(name))
    return found


def record_reach(blocks: Sequence[SumBlock]) -> RecordReach:
    """Return how far one record reaches in a sum of these blocks."""
    numbers = [block for block in blocks if not has_levels(block.column)]
    grouped = sum(block.groups is not None for block in numbers)
    gaps = sum(block.groups is None and block.column.width > 1 for block in numbers)
    return RecordReach(len(blocks) - len(numbers), len(numbers) - grouped - gaps, gaps, grouped)
