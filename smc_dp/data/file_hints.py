"""What a file looks like that nobody has described, in a clause for its refusal, with the lines that would describe it.

A file is never read as what it only looks like: 1,234 may be a thousand, or a bit more than one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from smc_dp.core.errors import shown
from smc_dp.data.file_form import DATES, SEPARATORS, FileForm

_SAMPLE = 200  # lines
_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_MOMENT = re.compile(r"[\d./-]{8,10}[T ]\d\d?:\d\d.*", re.ASCII)
_POINT = re.compile(r"[+-]?\d+\.\d+", re.ASCII)


def other_separator(cells: Sequence[str], form: FileForm, lines: Iterable[str] = ()) -> str:
    """A clause for a header that another separator would have cut into more cells; nothing where none would.

    lines: rows below the header, for what else is to be said of them.
    """
    found = {mark: sum(cell.count(mark) for cell in cells) for mark in SEPARATORS if mark != (form.separator or ",")}
    mark = max(found, key=found.__getitem__)
    if found[mark] < len(cells):
        return ""
    advice = form.advice(**{"separator": mark, **_of_cells(lines, mark, form)})
    return f"; it looks like one with {shown(mark)} between cells: {advice}"


def other_encoding(encoding: str, start: bytes, form: FileForm) -> str:
    """A clause for a file that looks like text of this encoding, whose first bytes these are."""
    header, *lines = start.decode(encoding, "replace").splitlines() or [""]
    settings = {"encoding": encoding}
    mark = form.separator or max(SEPARATORS, key=header.count)
    if form.separator is None and mark not in {",", "\t"} and mark in header:
        settings["separator"] = mark
    return f"; it looks like {encoding}: {form.advice(**settings, **_of_cells(lines, mark, form))}"


def other_dates(cell: str, form: FileForm) -> str:
    """A clause for a cell that is a date in another form, and in one only, or more than a date; else nothing."""
    if _MOMENT.fullmatch(cell.strip()):
        return " (it has a time of day, wanted the day alone)"
    found = [name for name in DATES if _is_day(cell, name)]
    return f"; it looks like {found[0]}: {form.advice(dates=found[0])}" if len(found) == 1 else ""


def _of_cells(lines: Iterable[str], separator: str, form: FileForm) -> dict[str, str]:
    """What else the cells show beyond doubt: a decimal comma, dates of one form."""
    cells = {cell.strip(' "') for line in [*lines][:_SAMPLE] for cell in line.split(separator)}
    found: dict[str, str] = {}
    if separator != "," and form.decimal != "," and _any(_COMMA, cells) and not _any(_POINT, cells):
        found["decimal"] = ","
    dates = [name for name in DATES if any(_is_day(cell, name) for cell in cells)]
    if form.dates not in dates and (sure := [name for name in dates if _is_sure(name, dates, cells)]):
        found["dates"] = sure[0]
    return found


def _is_sure(name: str, dates: Sequence[str], cells: Iterable[str]) -> bool:
    """Whether no other form of those that occur reads all the dates that this one reads."""
    own = {cell for cell in cells if any(_is_day(cell, other) for other in dates)}
    readers = [other for other in dates if all(_is_day(cell, other) for cell in own)]
    return readers == [name]


def _is_day(cell: str, dates: str) -> bool:
    try:
        FileForm(dates=dates).day(cell)
    except ValueError:
        return False
    return True


def _any(pattern: re.Pattern[str], cells: Iterable[str]) -> bool:
    return any(pattern.fullmatch(cell) for cell in cells)
