"""Hints for refused input: its apparent format, and the settings with which it would be read.

Readers of files and cells return faults without a hint; `add_hint` adds it, once. Nothing is read by its appearance
alone: 1,234 may be a thousand, or a bit more than one.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType

from smc_dp.core.errors import Fault, shown
from smc_dp.data.cell_hints import of_another_case, of_blank_row, of_date, of_level, of_nothing, of_number
from smc_dp.data.file_format import DATES, RECOGNISED_SEPARATORS, FileFormat, FormatSetting, separates_cells
from smc_dp.data.refused_input import LINE, NO_HINT, FormatFault, Hint, RefusedInput
from smc_dp.data.spelling_evidence import is_day

_SAMPLE, _FIRST = 200, 2  # lines; the first below the header
_WITH_COMMA, _WITH_POINT = re.compile(r"[+-]?\d+,\d+", re.ASCII), re.compile(r"[+-]?\d+\.\d+", re.ASCII)
_QUOTED_NAME = re.compile(r'"(?>(?:[^"]|"")*)"(.)')


def add_hint(fault: Fault, refused: RefusedInput) -> Fault:
    """Return the fault with what the cell holds, and with its hint: a word, `recognised`, and a clause, `hint`."""
    fields = {name: _shown(fault, refused) if value is None else value for name, value in fault.fields.items()}
    if make := _MAKERS.get(fault.code):
        hint = make(fault, refused)
        fields |= {"recognised": hint.recognised, "hint": hint.clause}
        if hint.settings or hint.to_complete or hint.choices:
            explained = FormatFault(fault.code, fields, fault.place, fault.behind, refused.form, hint.clause)
            to_complete, choices = hint.to_complete, hint.choices
            return replace(explained, settings=hint.settings, to_complete=to_complete, choices=choices).completed({})
    return replace(fault, fields=fields)


def _shown(fault: Fault, refused: RefusedInput) -> str:
    """Write a refused cell for a sentence."""
    cell = refused.cell
    if fault.code == "cell.not_finite" and not isinstance(cell, str):
        return str(float(str(cell)))
    if isinstance(cell, Decimal):
        return str(cell)
    return shown(cell.strip() if isinstance(cell, str) else refused.text or cell)  # 01000 as it is written, not as 1000


def _of_column(fault: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a missing column: a header in another letter case, or cut by another separator."""
    alike = of_another_case(refused.text, refused.header)
    return _of_separator(fault, refused) if alike == NO_HINT else alike


def _of_separator(_: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a header that another separator would cut into more cells."""
    form, header = refused.form, refused.header
    found = {
        mark: sum(cell.count(mark) for cell in header)
        for mark in RECOGNISED_SEPARATORS
        if mark != (form.separator or ",")
    }
    mark = max(found, key=found.__getitem__)
    if found[mark] < len(header):
        return NO_HINT
    settings = {"separator": mark, **_settings(refused.lines, mark, form)}
    return Hint(mark, f"; it looks like one with {shown(mark)} between cells: {LINE}", settings)


def _of_ragged_row(fault: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a row of another width: another separator, or names of rows as R's write.table has them."""
    said, found = fault.fields, _of_separator(fault, refused)
    if found == NO_HINT and said["line"] == _FIRST and len(refused.header) == 1:
        return Hint("title", "; or a title stands above the header: remove the lines above it")
    if found != NO_HINT or said["line"] != _FIRST or said["got"] != len(refused.header) + 1:
        return found
    return Hint("names of rows", "; for names of rows, as write.table of R writes them, state row.names = FALSE there")


def _of_quoted_names(_: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a header of names in quotes with another mark between them."""
    form, header = refused.form, "".join(refused.header)
    found = _QUOTED_NAME.match(header)
    if found is None or not separates_cells(mark := found[1]) or not _is_row(header, mark):
        return NO_HINT
    settings = {"separator": mark, **_settings(refused.lines, mark, form)}
    return Hint(mark, f"; it looks like one with {shown(mark)} between cells: {LINE}", settings)


def _is_row(line: str, separator: str) -> bool:
    try:
        return any(len(row) > 1 for row in csv.reader([line], delimiter=separator, strict=True))
    except csv.Error:
        return False


def _of_encoding(fault: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a file that looks like text of the encoding that the fault names, if any."""
    encoding, form = str(fault.fields["recognised"]), refused.form
    if not encoding:
        return NO_HINT
    header, *lines = refused.start.decode(encoding, "replace").splitlines() or [""]
    settings: dict[str, FormatSetting] = {"encoding": encoding}
    mark = form.separator or max(RECOGNISED_SEPARATORS, key=header.count)
    if form.separator is None and mark not in {",", "\t"} and mark in header:
        settings["separator"] = mark
    return Hint(encoding, f"; it looks like {encoding}: {LINE}", settings | _settings(lines, mark, form))


_MAKERS: Mapping[str, Callable[[Fault, RefusedInput], Hint]] = MappingProxyType(
    {
        "cell.not_a_number": of_number,
        "cell.not_finite": of_nothing,
        "row.empty": of_blank_row,
        "cell.not_a_date": of_date,
        "cell.ambiguous_date": of_date,
        "cell.unknown_level": of_level,
        "table.no_column": _of_column,
        "csv.one_column": _of_separator,
        "csv.ragged_row": _of_ragged_row,
        "csv.short_row": _of_separator,
        "csv.text_after_quote": _of_quoted_names,
        "text.marked_utf16": _of_encoding,
        "text.unreadable_byte": _of_encoding,
        "text.control_characters": _of_encoding,
        "text.all_utf8": _of_encoding,
    }
)


def _settings(lines: Iterable[str], separator: str, form: FileFormat) -> dict[str, FormatSetting]:
    """Return the other settings that the cells show beyond doubt: a decimal comma, dates of one form."""
    cells = {cell.strip(' "') for line in [*lines][:_SAMPLE] for cell in line.split(separator)}
    found: dict[str, FormatSetting] = {}
    if separator != "," and form.decimal != "," and _any(_WITH_COMMA, cells) and not _any(_WITH_POINT, cells):
        found["decimal"] = ","
    dates = [name for name in DATES if any(is_day(cell, name) for cell in cells)]
    if not {*form.date_forms} & {*dates} and (sure := [name for name in dates if _is_sure(name, dates, cells)]):
        found["dates"] = sure[0]
    return found


def _is_sure(name: str, dates: Sequence[str], cells: Iterable[str]) -> bool:
    """Return whether no other form of those that occur reads all the dates that this one reads."""
    own = {cell for cell in cells if any(is_day(cell, other) for other in dates)}
    readers = [other for other in dates if all(is_day(cell, other) for cell in own)]
    return readers == [name]


def _any(pattern: re.Pattern[str], cells: Iterable[str]) -> bool:
    return any(pattern.fullmatch(cell) for cell in cells)
