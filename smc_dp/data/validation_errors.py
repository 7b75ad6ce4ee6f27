"""What does not fit in a table, as data: what it is, in how many rows, and the line of the bounds that would mend it.

A fault tells a party's own people what their cells hold: it is for them alone, on their machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from smc_dp.core.errors import InputError, shown
from smc_dp.core.toml import on_one_line
from smc_dp.data.columns import (
    CATEGORY,
    INDICATOR,
    LEAVE_OUT,
    NO_REGRESSION,
    RULES,
    Aliases,
    BinnedColumn,
    CategoricalColumn,
    Column,
    NumericColumn,
    canonical,
)
from smc_dp.data.format_hints import A_DATE, A_TRUTH
from smc_dp.data.table import EMPTY, CellError, Table

FIRST_ROWS = 5
"""How many rows a fault names."""
_MOST_KINDS, _MORE = 20, "more"  # of a column that are named one by one, and what the others are called
_LONGEST_ALIAS = 1000  # characters of a text that is advised as one
_OF_ANOTHER_NUMBER = "where the guarantee is for one record more or less (`adjacency` addremove) or for whole parties"
_MANY_NUMBERS = 10  # different ones, in a column of classes
_BLANK = "the whole row is empty, wanted none that is"
_POSSIBLE = "with the first and the last day that are possible"
_DATES, _TRUTHS = "[2000-01-01, 2029-12-31]", "[false, true]"
_NO = ("0", "false", "no", "f", "n")
_YES = ("1", "true", "yes", "t", "y")


@dataclass(frozen=True)
class TableFault:
    """Cells of a column that are mended alike.

    what: what came and what was wanted, of the first of them. kind: what tells them from other faults. rows: the first
    of their numbers, of `count` in all; none where the whole column is missing. line: what to write into `section` of
    the bounds, None where nothing there would help. note: what to know before it is written.
    """

    column: str
    what: str
    kind: str = ""
    count: int = 0
    rows: tuple[int, ...] = ()
    example: str = ""
    section: str | None = None
    line: str | None = None
    note: str | None = None

    @property
    def advice(self) -> str:
        """Which line mends it, in a clause; nothing where none does."""
        if self.line is None:
            return ""
        rest = "" if self.note is None else f", {self.note},"
        return f"; write {self.line}{rest} into [{self.section}] of the bounds"

    def said(self, source: str, *, released: bool = False) -> str:
        """One line about the first of these cells, of a table that messages call so; of bounds that are `released`
        nobody writes a line any more.
        """
        place = f"column {shown(self.column)}, row {self.rows[0]}: " if self.rows else ""
        advice = self.advice
        if released and self.line is not None:
            advice = f"; the bounds of the release have no such line as {self.line} in [{self.section}]"
        return f"{source}: {place}{self.what}{advice}"


class UnfitTableError(InputError):
    """Something in a table does not fit the bounds; `table_fault` is the first of it."""

    def __init__(self, source: str, fault: TableFault) -> None:
        self.table_fault = fault
        super().__init__(fault.said(source))


def faults_of_cells(
    table: Table, name: str, kinds: NDArray[np.int64], at: Callable[[int], tuple[object, object]]
) -> list[TableFault]:
    """A fault for each kind of cells that do not fit, in the order of their first rows; of very many kinds the last as
    one, but for empty cells.

    kinds: of each row, below 0 for a cell that fits, 0 for an empty one. at: what is wrong in a row, and the cell.
    """
    rows = np.flatnonzero(kinds >= 0)
    each, first, counts = np.unique(kinds[rows], return_index=True, return_counts=True)
    order = np.argsort(first).tolist()
    late = [k for k in order[_MOST_KINDS:] if each[k]]
    found = []
    for k in [*order[:_MOST_KINDS], *(k for k in order[_MOST_KINDS:] if not each[k]), *late[:1]]:
        error, cell = at(int(rows[first[k]]))
        found.append(fault_in(table, name, error, rows[kinds[rows] == each[k]], cell))
    if len(late) > 1:
        what = f"{found[-1].what}, and {len(late) - 1:,} more such values"
        found[-1] = replace(found[-1], what=what, kind=_MORE, count=int(counts[late].sum()))
    return found


def fault_in(table: Table, name: str, error: object, rows: NDArray[np.int64], example: object) -> TableFault:
    """The fault of these rows, counted from 0."""
    first = tuple(int(table.row_numbers[i]) for i in rows[:FIRST_ROWS].tolist())
    kind = error.kind if isinstance(error, CellError) else ""
    if kind == EMPTY and table.blank_rows()[rows].all():
        return TableFault(name, _BLANK, _BLANK, len(rows), first)
    return TableFault(name, str(error), kind, len(rows), first, "" if example is None else str(example))


def with_lines(faults: Iterable[TableFault], column: Column) -> tuple[TableFault, ...]:
    """The faults of a column, with the lines of the bounds that would mend them: all may be written down together."""
    found = list(faults)
    if isinstance(column, CategoricalColumn):
        found = with_aliases(found, column.categories, column.aliases)
    bounds = next((other for fault in found if (other := _other_bounds(fault, column))), None)
    return tuple(fault if fault.line else _with_line(fault, column, bounds) for fault in found)


def with_aliases(faults: Sequence[TableFault], levels: Sequence[str], aliases: Aliases) -> list[TableFault]:
    """The faults of a column of levels: those of unknown texts that are levels in other words with the line for them.

    The line of a level has all of its texts, for a key stands only once in TOML.
    """
    said, found = dict(aliases), []
    named = [fault.example for fault in faults if fault.kind != _MORE]
    meant = {text: level for text in named if (level := _alike(text, levels)) is not None}
    for fault in faults:
        level = meant.get(fault.example)
        if level is not None:
            texts = [*said.get(level, ()), *(text.strip() for text, other in meant.items() if other == level)]
            fault = replace(fault, section=f"aliases.{key(fault.column)}", line=f"{key(level)} = {_quoted(texts)}")
        found.append(fault)
    return found


def as_numbers(faults: Sequence[TableFault]) -> Sequence[TableFault]:
    """The faults of a column of classes; those of unknown texts as one where they are many different numbers."""
    unknown = [fault for fault in faults if fault.kind != EMPTY]
    if len(unknown) < _MANY_NUMBERS or not all(_is_number(fault.example) for fault in unknown):
        return faults
    what = f"{NO_REGRESSION}, got numbers of many values, for one {shown(unknown[0].example)}"
    numbers = replace(unknown[0], what=what, kind=_MORE, count=sum(fault.count for fault in unknown))
    return [numbers, *(fault for fault in faults if fault.kind == EMPTY)]


def key(name: str) -> str:
    """A name as TOML writes a key."""
    import tomlkit  # a party whose files fit need not wait for it

    return on_one_line(tomlkit.key(name).as_string())


def with_rule(fault: TableFault, rule: str) -> TableFault:
    """The fault of empty cells, with the line of the bounds that makes this rule for them."""
    note = _OF_ANOTHER_NUMBER if rule == LEAVE_OUT else None
    return replace(fault, section="missing", line=f'{key(fault.column)} = "{rule}"', note=note)


def naming(column: str) -> TableFault:
    """That lines about the column of classes want its name in the bounds, with the line that says it."""
    what = f"the bounds do not name {shown(column)} as the column of classes, which lines about it want"
    return TableFault(column, what, section="label", line=f"column = {_quoted([column])[1:-1]}")


def _other_bounds(fault: TableFault, column: Column) -> str | None:
    """What the bounds of a number would have to be for such cells."""
    if not isinstance(column, NumericColumn | BinnedColumn):
        return None
    return _DATES if A_DATE in fault.what else _TRUTHS if A_TRUTH in fault.what else None


def _with_line(fault: TableFault, column: Column, bounds: str | None) -> TableFault:
    """The fault with the line that mends it; `bounds`: what the column's are to become, where they are to."""
    if fault.kind == EMPTY:
        if isinstance(column, CategoricalColumn) and _is_ambiguous(column):
            return fault
        is_levels = bounds == _TRUTHS if bounds else isinstance(column, CategoricalColumn | BinnedColumn)
        return with_rule(fault, CATEGORY if is_levels else INDICATOR)
    if bounds is not None and _other_bounds(fault, column) == bounds:
        note = _POSSIBLE if bounds == _DATES else None
        return replace(fault, section="columns", line=f"{key(column.name)} = {bounds}", note=note)
    return fault


def _is_ambiguous(column: CategoricalColumn) -> bool:
    """Whether a level is called as a rule for empty cells is: then no rule may stand there."""
    texts = (text for _, others in column.aliases for text in others)
    return any(canonical(text) in RULES for text in (*column.categories, *texts))


def _alike(text: str, levels: Sequence[str]) -> str | None:
    """The one level that a text is but for letter case, or as a truth value; None where there is no such one."""
    if len(text) > _LONGEST_ALIAS:
        return None
    form = canonical(text).casefold()
    same = [level for level in levels if level.casefold() == form]
    for words in (_NO, _YES):
        if not same and form in words:
            same = [level for level in levels if canonical(level).casefold() in words]
    return same[0] if len(same) == 1 else None


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _quoted(texts: Iterable[str]) -> str:
    import tomlkit

    return on_one_line(tomlkit.item(list(texts)).as_string())
