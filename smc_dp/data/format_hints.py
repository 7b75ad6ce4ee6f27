"""Hints for refused input: its apparent format, and the setting with which it would be read.

Readers of files and cells return faults without a hint; `add_hint` adds it, once. Nothing is read by its appearance
alone: 1,234 may be a thousand, or a bit more than one.
"""

from __future__ import annotations

import csv
import datetime
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from types import MappingProxyType
from typing import NamedTuple

from smc_dp.core.errors import Fault, shown
from smc_dp.data.file_format import DATES, DEFAULT_FORMAT, RECOGNISED_SEPARATORS, FileFormat, separates_cells

_SAMPLE = 200  # lines
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})([T ].*)?", re.ASCII)
_MOMENT = re.compile(r"[\d./-]{8,10}[T ]\d\d?:\d\d.*", re.ASCII)
_TRUTH = frozenset({"true", "false", "yes", "no"})
_TYPES = ("date32", "date64", "timestamp", "time32", "time64", "duration")  # of columns in Parquet files
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)
_COMMA = re.compile(r"[+-]?\d*,\d+", re.ASCII)
_WITH_COMMA, _WITH_POINT = re.compile(r"[+-]?\d+,\d+", re.ASCII), re.compile(r"[+-]?\d+\.\d+", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d*(\.\d+)+(,\d*)?", re.ASCII)
_QUOTED_NAME = re.compile(r'"(?:[^"]|"")*+"(.)')
_NOTHING = frozenset({"na", "n/a", "#n/a", "n.a.", "nan", "null", "nil", "none", "missing", "-", "--", "?", "."})


class Hint(NamedTuple):
    """Apparent kind of the input, in a word, and a clause that says so with what to do; both empty for no hint."""

    recognised: str = ""
    clause: str = ""


@dataclass(frozen=True)
class RefusedInput:
    """Subject of a fault: a cell, its text and the levels of its column; a header and lines; or a file's start."""

    form: FileFormat = DEFAULT_FORMAT
    cell: object = None
    text: str = ""
    levels: Collection[str] = ()
    header: Sequence[str] = ()
    lines: Iterable[str] = ()
    start: bytes = b""


NO_HINT = Hint()
DATE, TRUTH = Hint("date", " (a date)"), Hint("truth", " (it looks like true or false)")


def add_hint(fault: Fault, refused: RefusedInput) -> Fault:
    """Return the fault with what the cell holds, and with its hint: a word, `recognised`, and a clause, `hint`."""
    fields = {name: _shown(fault, refused) if value is None else value for name, value in fault.fields.items()}
    if make := _MAKERS.get(fault.code):
        hint = make(fault, refused)
        fields |= {"recognised": hint.recognised, "hint": hint.clause}
    return replace(fault, fields=fields)


def _shown(fault: Fault, refused: RefusedInput) -> str:
    """Write a refused cell for a sentence; a number that is not finite as it was understood."""
    cell = refused.cell
    if fault.code == "cell.not_finite":
        return str(refused.form.number(cell) if isinstance(cell, str) else float(str(cell)))
    if isinstance(cell, Decimal):
        return str(cell)
    return shown(cell.strip() if isinstance(cell, str) else refused.text or cell)  # 01000 as it is written, not as 1000


def _of_number(fault: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a cell where a number was wanted."""
    cell, form = refused.cell, refused.form
    if isinstance(cell, datetime.date) and not isinstance(cell, datetime.datetime):
        return DATE
    if isinstance(cell, datetime.datetime | datetime.time | datetime.timedelta) or str(cell).startswith(_TYPES):
        return Hint("time", " (a date or time; make it a number, such as a year or days since a fixed day)")
    text = cell.strip() if isinstance(cell, str) else ""
    if _DATE.fullmatch(text):
        return DATE
    if text.lower() in _TRUTH:
        return TRUTH
    if form.decimal == "," and _THOUSANDS.fullmatch(text):
        return Hint("point", " (a point, where the form says a decimal comma; wanted no marks between thousands)")
    if form.decimal == "." and _COMMA.fullmatch(text):
        how = f", or {form.advice(decimal=',')}" if form.is_text else ""
        return Hint("decimal comma", f" (a decimal comma; wanted a point{how})")
    return _of_nothing(fault, refused)


def _of_nothing(_: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a text that often stands for a missing value."""
    cell, form = refused.cell, refused.form
    if not isinstance(cell, str) or cell.strip().lower() not in _NOTHING:
        return NO_HINT
    return Hint("nothing", f" (where nothing is known? {form.advice(missing=(*form.missing, cell))})")


def _of_blank_row(_: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a row of empty cells, as spreadsheets leave them below a table."""
    return Hint("blank row", f", or {refused.form.advice(skip_blank_rows=True)}")


def _of_date(fault: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a date in exactly one other form, or with a time of day."""
    cell, form = refused.cell, refused.form
    if not isinstance(cell, str):
        return NO_HINT
    if _MOMENT.fullmatch(cell.strip()):
        return Hint("time", " (it has a time of day, wanted the day alone)")
    found = [name for name in DATES if _is_day(cell, name)]
    if len(found) == 1:
        return Hint(found[0], f"; it looks like {found[0]}: {form.advice(dates=found[0])}")
    return _of_nothing(fault, refused)


def _of_level(fault: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a text that is not among the levels."""
    text = refused.text
    if (alike := _of_another_case(text, refused.levels)) != NO_HINT:
        return alike
    if text.lower() in _TRUTH:
        return Hint("truth", " (it looks like true or false)")
    if len(refused.levels) == 2 and all(map(_NUMBER.fullmatch, (text, *refused.levels))):
        return Hint("number", " (a number; bounds of numbers are written [low, high], without quotes)")
    return DATE if _DATE.fullmatch(text) else _of_nothing(fault, refused)


def _of_column(fault: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a missing column: a header in another letter case, or cut by another separator."""
    alike = _of_another_case(refused.text, refused.header)
    return _of_separator(fault, refused) if alike == NO_HINT else alike


def _of_another_case(text: str, wanted: Iterable[str]) -> Hint:
    alike = next((known for known in wanted if known.casefold() == text.casefold()), None)
    return NO_HINT if alike is None else Hint("case", f"; {shown(alike)} differs in letter case only")


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
    advice = form.advice(**{"separator": mark, **_settings(refused.lines, mark, form)})
    return Hint(mark, f"; it looks like one with {shown(mark)} between cells: {advice}")


def _of_quoted_names(_: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a header of names in quotes with another mark between them."""
    form, header = refused.form, "".join(refused.header)
    found = _QUOTED_NAME.match(header)
    if found is None or not separates_cells(mark := found[1]) or not _is_row(header, mark):
        return NO_HINT
    advice = form.advice(**{"separator": mark, **_settings(refused.lines, mark, form)})
    return Hint(mark, f"; it looks like one with {shown(mark)} between cells: {advice}")


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
    settings = {"encoding": encoding}
    mark = form.separator or max(RECOGNISED_SEPARATORS, key=header.count)
    if form.separator is None and mark not in {",", "\t"} and mark in header:
        settings["separator"] = mark
    advice = form.advice(**settings, **_settings(lines, mark, form))
    return Hint(encoding, f"; it looks like {encoding}: {advice}")


_MAKERS: Mapping[str, Callable[[Fault, RefusedInput], Hint]] = MappingProxyType(
    {
        "cell.not_a_number": _of_number,
        "cell.not_finite": _of_nothing,
        "row.empty": _of_blank_row,
        "cell.not_a_date": _of_date,
        "cell.unknown_level": _of_level,
        "table.no_column": _of_column,
        "csv.one_column": _of_separator,
        "csv.ragged_row": _of_separator,
        "csv.text_after_quote": _of_quoted_names,
        "text.marked_utf16": _of_encoding,
        "text.unreadable_byte": _of_encoding,
        "text.control_characters": _of_encoding,
        "text.all_utf8": _of_encoding,
    }
)


def _settings(lines: Iterable[str], separator: str, form: FileFormat) -> dict[str, str]:
    """Return the other settings that the cells show beyond doubt: a decimal comma, dates of one form."""
    cells = {cell.strip(' "') for line in [*lines][:_SAMPLE] for cell in line.split(separator)}
    found: dict[str, str] = {}
    if separator != "," and form.decimal != "," and _any(_WITH_COMMA, cells) and not _any(_WITH_POINT, cells):
        found["decimal"] = ","
    dates = [name for name in DATES if any(_is_day(cell, name) for cell in cells)]
    if form.dates not in dates and (sure := [name for name in dates if _is_sure(name, dates, cells)]):
        found["dates"] = sure[0]
    return found


def _is_sure(name: str, dates: Sequence[str], cells: Iterable[str]) -> bool:
    """Return whether no other form of those that occur reads all the dates that this one reads."""
    own = {cell for cell in cells if any(_is_day(cell, other) for other in dates)}
    readers = [other for other in dates if all(_is_day(cell, other) for cell in own)]
    return readers == [name]


def _is_day(cell: str, dates: str) -> bool:
    try:
        FileFormat(dates=dates).day(cell)
    except ValueError:
        return False
    return True


def _any(pattern: re.Pattern[str], cells: Iterable[str]) -> bool:
    return any(pattern.fullmatch(cell) for cell in cells)
