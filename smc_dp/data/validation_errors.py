"""Faults of a table against its bounds, as data: the fault, its rows, and the line of the bounds that corrects it.

A fault quotes cells: it is for the party's own people alone, on their machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smc_dp.core.errors import Fault, InputFault, shown
from smc_dp.core.toml import on_one_line, toml_key
from smc_dp.data.cell_values import EMPTY_CODE, parse_text
from smc_dp.data.columns import (
    CATEGORY,
    EMPTY_CELL_RULES,
    INDICATOR,
    LEAVE_OUT,
    NUMERIC_OUTCOME,
    BinnedColumn,
    CategoricalColumn,
    Column,
    DateColumn,
    NumericColumn,
    canonical_level,
)
from smc_dp.data.format_hints import add_hint
from smc_dp.data.refused_input import FormatFault, RefusedInput, settings_of
from smc_dp.data.spelling_evidence import Settings, SpellingEvidence
from smc_dp.data.table import ParsedColumn, Table

FIRST_ROWS = 5
"""Number of rows that a fault names."""
_MOST_KINDS = 20  # of a column that are named one by one
_NOTES = MappingProxyType(
    {
        LEAVE_OUT: "if the run has `adjacency` addremove, or a method that protects whole parties (soft_ss, avg_clip)",
        CATEGORY: "makes empty cells one more level",
        INDICATOR: "adds a feature that marks empty cells",
    }
)
_MANY_NUMBERS = 10  # different ones, in a column of classes
_POSSIBLE = "with the first and the last day that are possible"
SITE, AUTHOR = "site", "author"
"""Who can fix a fault: the site that has the file, and the author of the bounds or of the study."""
_FIXED_BY = MappingProxyType(
    {
        **dict.fromkeys(("table.no_column", "cell.unknown_level", "cell.more_values"), (SITE, AUTHOR)),
        **dict.fromkeys(("cell.empty", "cell.outside_bounds"), (AUTHOR, SITE)),
        **dict.fromkeys(("label.not_named", "classes.many_numbers", "rows.too_many_features"), (AUTHOR,)),
        "rows.all_left_out": (AUTHOR, SITE),
    }
)
_DATES, _TRUTHS = "[2000-01-01, 2029-12-31]", "[false, true]"


@dataclass(frozen=True)
class TableFault:
    """Cells of a column with one correction.

    fault: that of the first of them. rows: the numbers of the first of `count` lines or rows, as `counted` says; none
    for a missing column.
    line: the text for `section` of the bounds, None where nothing there would help. note: a caution about that line.
    What the site that has the file can write is in the fault itself.
    """

    column: str
    fault: Fault
    count: int = 0
    rows: tuple[int, ...] = ()
    counted: str = "row"
    example: str = ""
    section: str | None = None
    line: str | None = None
    note: str | None = None

    @property
    def what(self) -> str:
        """Sentence of the fault, without its place in the table."""
        return str(self.fault)

    @property
    def code(self) -> str:
        """Stable code of the fault."""
        return self.fault.code

    @property
    def settings(self) -> Settings:
        """Settings of the file format with which these cells would be read; none for most."""
        return settings_of(self.fault)

    @property
    def fixed_by(self) -> tuple[str, ...]:
        """People who can fix it, the nearest first: the "site" that has the file, the "author" of the bounds."""
        if self.settings:
            return (SITE,)
        if self.line is not None:
            return (AUTHOR, SITE) if self.section == "missing" else (AUTHOR,)
        return _FIXED_BY.get(self.code, (SITE,))

    def completed(self, settings: Settings) -> TableFault:
        """Return the fault with a line that states these settings, too, where its own line states any."""
        if not isinstance(self.fault, FormatFault):
            return self
        return replace(self, fault=self.fault.completed(settings))

    def placed(self, source: str, *, released: bool = False) -> Fault:
        """Return the fault of the first of these cells in the table `source`, with the line that fixes it.

        Nobody writes a line into bounds that are `released` any more.
        """
        fault = replace(self.fault, fields={**self.fault.fields, "fixed_by": self.fixed_by})
        if self.line is not None:
            note = "" if self.note is None else f" ({self.note})"
            advice = f"; write {self.line} into [{self.section}] of the bounds{note}"
            if released:
                advice = (
                    f"; the bounds of the release do not have {self.line} in [{self.section}], and cannot be changed. "
                    "Correct the cell, or leave the row out"
                )
            fault = replace(fault.followed_by(advice), fields={**fault.fields, "advice": advice})
        if self.rows:
            column = f"column {shown(self.column)}, " if self.column else ""
            fault = fault.within(f"{column}{self.counted} {self.rows[0]}")
        return fault.within(source)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        said = {"column": self.column, "what": self.what, "code": self.code, "fields": self.fault.as_dict()["fields"]}
        said["fixed_by"] = list(self.fixed_by)
        names = ("count", "rows", "counted", "example", "section", "line", "note")
        return said | {name: getattr(self, name) for name in names}


def column_faults(
    table: Table, column: Column, read: ParsedColumn, *, is_label: bool = False
) -> tuple[TableFault, ...]:
    """Return a fault for each kind of cells that do not fit, explained, with the lines of the bounds that correct them.

    All lines may be written down together.
    """
    if not read.faults:
        return ()
    found = _kinds(table, column, read)
    if is_label:
        found = _as_numbers(found)
    bounds = None
    if not is_label and sum(fault.count for fault in found) == len(read.codes):  # else it has numbers, too
        bounds = next((other for fault in found if (other := _other_bounds(fault, column))), None)
    return tuple(fault if fault.line else _with_line(fault, column, bounds, is_label) for fault in found)


def outside_bounds(table: Table, column: Column, values: NDArray[np.float64]) -> tuple[TableFault, ...]:
    """Return the numbers or dates of a column outside its bounds as a fault; none where all are inside."""
    if isinstance(column, CategoricalColumn):
        return ()
    number = column.days if isinstance(column, DateColumn) else column
    low, high = (number.edges[0], number.edges[-1]) if isinstance(number, BinnedColumn) else (number.low, number.high)
    rows = np.flatnonzero((values < low) | (values > high))
    if not len(rows):
        return ()
    got = float(values[rows[0]])
    fields: dict[str, float | str] = {"got": got, "low": low, "high": high}
    if isinstance(column, DateColumn):
        days = {"got": column.first + timedelta(got), "low": column.first, "high": column.last}
        fields = {name: day.isoformat() for name, day in days.items()}
    fault = InputFault("cell.outside_bounds", fields)
    return (_table_fault(table, column.name, fault, rows, fields["got"]),)


def blank_rows_fault(table: Table) -> TableFault:
    """Return the rows of empty cells alone, as one fault."""
    rows = np.flatnonzero(table.blank_rows())
    fault = add_hint(InputFault("row.empty", {"hint": ""}), RefusedInput(table.form))
    return _table_fault(table, "", fault, rows, None)


def _kinds(table: Table, column: Column, read: ParsedColumn) -> list[TableFault]:
    """Return a fault for each kind of cells, in the order of their first rows; of very many kinds the last as one.

    Empty cells are of one kind, and never among the last.
    """
    subject = refused_column(table, column, read)
    kinds, numbers = np.full(len(read.cells), -1, dtype=np.int64), {"": 0}
    for i, fault in read.faults.items():  # explained again for the first row of its kind: all would fill the memory
        kinds[i] = numbers.setdefault(_kind(fault, read.cells[i], subject), len(numbers))
    of_rows = kinds[read.codes]
    rows = np.flatnonzero(of_rows >= 0)
    each, first, counts = np.unique(of_rows[rows], return_index=True, return_counts=True)
    order = np.argsort(first).tolist()
    late = [k for k in order[_MOST_KINDS:] if each[k]]
    found = []
    for k in [*order[:_MOST_KINDS], *(k for k in order[_MOST_KINDS:] if not each[k]), *late[:1]]:
        place = int(read.codes[rows[first[k]]])
        fault = explain_fault(read.faults[place], read.cells[place], subject)
        found.append(_table_fault(table, column.name, fault, rows[of_rows[rows] == each[k]], read.cells[place]))
    if len(late) > 1:
        more = InputFault("cell.more_values", {"first": found[-1].what, "more": len(late) - 1})
        found[-1] = replace(found[-1], fault=more, count=int(counts[late].sum()))
    return found


def refused_column(table: Table, column: Column, read: ParsedColumn) -> RefusedInput:
    """Return a column as the subject of the faults of its cells."""
    levels = column.forms if isinstance(column, CategoricalColumn) else ()
    evidence = SpellingEvidence(read.cells, table.form)
    return RefusedInput(
        table.form, levels=levels, column=column.name, evidence=evidence, may_be_empty=column.missing is not None
    )


def _kind(fault: Fault, cell: object, subject: RefusedInput) -> str:
    """Return the kind of a cell, equal for cells with one correction, empty for empty ones."""
    if fault.code == EMPTY_CODE:
        return ""
    if fault.code == "cell.unknown_level":
        return f"level {canonical_level(str(parse_text(cell)))}"
    explained = explain_fault(fault, cell, subject)
    if isinstance(explained, FormatFault) and explained.choices:  # whose hint says how this very cell would be read
        return f"{fault.code}{[settings for _, settings in explained.choices]}"
    return f"{fault.code}{explained.fields.get('hint', '')}"


def explain_fault(fault: Fault, cell: object, subject: RefusedInput) -> Fault:
    """Return the fault of a cell with what the cell holds, and with its hint; `subject`: its column."""
    text = canonical_level(str(parse_text(cell))) if fault.code == "cell.unknown_level" else ""
    return add_hint(fault, replace(subject, cell=cell, text=text))


def _table_fault(table: Table, name: str, fault: Fault, rows: NDArray[np.int64], example: object) -> TableFault:
    """Return the fault of these rows, counted from 0."""
    first = tuple(map(table.number, rows[:FIRST_ROWS].tolist()))
    return TableFault(name, fault, len(rows), first, table.counted, "" if example is None else str(example))


def _as_numbers(faults: list[TableFault]) -> list[TableFault]:
    """Return the faults of a column of classes; many different numbers are one fault."""
    unknown = [fault for fault in faults if fault.code != EMPTY_CODE]
    if len(unknown) < _MANY_NUMBERS or not all(_is_number(fault.example) for fault in unknown):
        return faults
    numbers = InputFault("classes.many_numbers", {"why": NUMERIC_OUTCOME, "got": unknown[0].fault.fields["got"]})
    together = replace(unknown[0], fault=numbers, count=sum(fault.count for fault in unknown))
    return [together, *(fault for fault in faults if fault.code == EMPTY_CODE)]


def unnamed_label_fault(column: str) -> TableFault:
    """Return the fault that the bounds do not name the column of classes, with the line that does."""
    fault = InputFault("label.not_named", {"column": shown(column)})
    return TableFault(column, fault, section="label", line=f"column = {_quoted([column])[1:-1]}")


def _other_bounds(fault: TableFault, column: Column) -> str | None:
    """Return the bounds that a column of numbers would need for such cells; None for any other column."""
    if not isinstance(column, NumericColumn | BinnedColumn) or fault.settings:
        return None
    return {"date": _DATES, "truth": _TRUTHS}.get(str(fault.fault.fields.get("recognised")))


def _with_line(fault: TableFault, column: Column, bounds: str | None, is_label: bool) -> TableFault:
    """Return the fault with the line that corrects it; `bounds`: new bounds of the column, where it needs some."""
    if fault.code == EMPTY_CODE:
        if isinstance(column, CategoricalColumn) and _is_ambiguous(column) and not is_label:
            return fault
        is_levels = bounds == _TRUTHS if bounds else isinstance(column, CategoricalColumn | BinnedColumn)
        rule = LEAVE_OUT if is_label else CATEGORY if is_levels else INDICATOR
        return replace(fault, section="missing", line=f'{toml_key(fault.column)} = "{rule}"', note=_NOTES[rule])
    if bounds is not None and _other_bounds(fault, column) == bounds:
        note = _POSSIBLE if bounds == _DATES else None
        return replace(fault, section="columns", line=f"{toml_key(column.name)} = {bounds}", note=note)
    return fault


def _is_ambiguous(column: CategoricalColumn) -> bool:
    """Return whether a level has the name of a rule for empty cells: then no rule may stand there."""
    texts = (text for _, others in column.aliases for text in others)
    return any(canonical_level(text) in EMPTY_CELL_RULES for text in (*column.categories, *texts))


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _quoted(texts: Iterable[str]) -> str:
    import tomlkit

    return on_one_line(tomlkit.item(list(texts)).as_string())
