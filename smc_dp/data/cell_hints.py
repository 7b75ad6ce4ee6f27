"""Hints for refused cells: what a cell looks like, and the settings of a format with which its column would be read."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable

from smc_dp.core.errors import Fault, shown
from smc_dp.core.toml import toml_key
from smc_dp.data.file_format import DATES, FileFormat, FormatSetting, day_in_form
from smc_dp.data.refused_input import DATE, LINE, NO_HINT, Hint, RefusedInput
from smc_dp.data.spelling_evidence import NO_WORDS, YES_WORDS, Settings, is_day

_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})([T ].*)?", re.ASCII)
_MOMENT = re.compile(r"[\d./-]{8,10}[T ]\d\d?:\d\d.*", re.ASCII)
_TRUTH = frozenset({"true", "false", "yes", "no"})
_TYPES = ("date32", "date64", "timestamp", "time32", "time64", "duration")  # of columns in Parquet files
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d*(\.\d+)+(,\d*)?", re.ASCII)
_WITH_UNIT = re.compile(r"[+-]?\d+([.,]\d+)?\s*([^\W\d_]{1,8}|%)", re.ASCII)
_LONGEST_ALIAS, _MOST_NAMED = 1000, 4  # characters of a text that is advised as one; levels that a line names
_NO, _YES = NO_WORDS | {"0"}, YES_WORDS | {"1"}


def of_number(fault: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a cell where a number was wanted."""
    cell, form = refused.cell, refused.form
    if isinstance(cell, datetime.date) and not isinstance(cell, datetime.datetime):
        return DATE
    if isinstance(cell, datetime.datetime | datetime.time | datetime.timedelta) or str(cell).startswith(_TYPES):
        return Hint("time", " (a date or time; make it a number, such as a year or days since a fixed day)")
    text = cell.strip() if isinstance(cell, str) else ""
    if _DATE.fullmatch(text):
        return DATE
    if text.lower() in _TRUTH or (text.lower() in _NO | _YES and refused.column_evidence.truths):
        truths = refused.column_evidence.truths
        return Hint(
            "truth",
            f" (the value looks like true or false{'; to read it as 0 or 1, ' + LINE if truths else ''})",
            truths,
        )
    return _of_marks(text, fault, refused) if form.is_text and text else of_nothing(fault, refused)


def _of_marks(text: str, fault: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a number with other marks than the format states."""
    form = refused.form
    found = refused.column_evidence.numbers if text[:1] in "+-.,0123456789" else []
    if not found or not any(_reads(form.with_settings(settings), text) for settings in found):
        if form.decimal == "," and _THOUSANDS.fullmatch(text):
            return Hint("point", " (a point, where the form says a decimal comma)")
        is_measure = _WITH_UNIT.fullmatch(text)
        return Hint("unit", "; write the number alone, without a unit") if is_measure else of_nothing(fault, refused)
    settings = found[0]
    if len(found) > 1:
        choices = tuple((f"where {shown(text)} is {_read(form, each, text)},", each) for each in found)
        return Hint("ambiguous number", f"; {LINE}", choices=choices)
    if "thousands" in settings:
        return Hint("thousands", f" (marks between thousands; wanted none, or {LINE})", settings)
    if settings["decimal"] == ",":
        return Hint("decimal comma", f" (a decimal comma; wanted a point, or {LINE})", settings)
    return Hint("point", f" (a point, where the form says a decimal comma; {LINE})", settings)


def _reads(form: FileFormat, text: str) -> bool:
    try:
        form.number(text)
    except ValueError:
        return False
    return True


def _read(form: FileFormat, settings: Settings, text: str) -> str:
    return f"{form.with_settings(settings).number(text):.15g}"


def of_nothing(fault: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a text that often stands for a missing value.

    So does the only word in a column of numbers or dates in which cells may be empty.
    """
    cell, evidence = refused.cell, refused.column_evidence
    is_among_numbers = refused.may_be_empty and fault.code != "cell.unknown_level"
    words = evidence.missing_among_numbers if is_among_numbers else evidence.missing
    if not isinstance(cell, str) or cell not in words.get("missing", ()):  # type: ignore[operator]
        return NO_HINT
    return Hint("nothing", f" (if it stands for a missing value: {LINE})", words)


def of_blank_row(_: Fault, __: RefusedInput) -> Hint:
    """Return the hint for a row of empty cells, as spreadsheets leave them below a table."""
    return Hint("blank row", f", or {LINE}", {"skip_blank_rows": True})


def of_date(fault: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a date in other forms than are stated, or with a time of day."""
    cell = refused.cell
    if not isinstance(cell, str):
        return NO_HINT
    found = [names for names in refused.column_evidence.date_lists if any(is_day(cell, name) for name in names)]
    ways: list[Settings] = [{"dates": names[0] if len(names) == 1 else names} for names in found]
    if fault.code == "cell.ambiguous_date":  # the file has both forms: each column needs its own
        ways = [{"column_dates": ((refused.column, names),)} for names in found if refused.column]
    if len(ways) == 1:
        looks = " and ".join(found[0])
        return Hint(looks, f"; it looks like {looks}: {LINE}", ways[0])
    if ways:
        days = (next(day.isoformat() for name in names if (day := day_in_form(cell, name))) for names in found)
        said = [f"where {shown(cell.strip())} is {day}," for day in days]
        return Hint("ambiguous date", f"; {LINE}", choices=tuple(zip(said, ways, strict=True)))
    if _MOMENT.fullmatch(cell.strip()):
        return Hint("time", " (it has a time of day, wanted the day alone)")
    if any(is_day(cell, name) for name in DATES):
        return Hint("mixed dates", "; no list of forms fits all dates of the column: write them all in one form")
    return of_nothing(fault, refused)


def of_level(fault: Fault, refused: RefusedInput) -> Hint:
    """Return the hint for a text that is not among the levels: the level that it means, where there is but one."""
    text, levels = refused.text, refused.levels
    alike = of_another_case(text, levels)
    level = alike_level(text, levels)
    if level is not None and refused.column:
        why = alike.clause or f"; it probably means {shown(level)}"
        recognised = alike.recognised or ("truth" if text.lower() in _NO | _YES else "alike")
        return Hint(recognised, f"{why}: {LINE}", _meaning(refused, level))
    if alike != NO_HINT:
        return alike
    if text.lower() in _TRUTH:
        return Hint("truth", " (the value looks like true or false)")
    if len(levels) == 2 and all(map(_NUMBER.fullmatch, (text, *levels))):
        return Hint("number", " (a number; bounds of numbers are written [low, high], without quotes)")
    if _DATE.fullmatch(text):
        quoted = len(levels) == 2 and all(map(_DATE.fullmatch, levels))
        return Hint("date", " (a date; bounds of dates are written [first, last], without quotes)") if quoted else DATE
    nothing = of_nothing(fault, refused)
    if nothing != NO_HINT or not refused.column or len(text) > _LONGEST_ALIAS:
        return nothing
    known = " or ".join(map(toml_key, levels)) if len(levels) <= _MOST_NAMED else "one of the levels"
    said = f"write the level that {shown(text)} means ({known}) in place of LEVEL, and"
    return Hint("", f"; {LINE}", choices=((said, _meaning(refused, "LEVEL")),))


def _meaning(refused: RefusedInput, level: str) -> dict[str, FormatSetting]:
    """Return the settings by which a cell means this level."""
    text = refused.cell.strip() if isinstance(refused.cell, str) else refused.text
    if level in ("true", "false") and text.lower() in (level, level[0]):
        return {level: (text,)}
    return {"aliases": ((refused.column, ((level, (text,)),)),)}


def alike_level(text: str, levels: Iterable[str]) -> str | None:
    """Return the one level that equals a text but for letter case, or as a truth value; None otherwise."""
    if len(text) > _LONGEST_ALIAS:
        return None
    form = text.casefold()
    same = [level for level in levels if level.casefold() == form]
    for words in (_NO, _YES):
        if not same and form in words:
            same = [level for level in levels if level.casefold() in words]
    return same[0] if len(same) == 1 else None


def of_another_case(text: str, wanted: Iterable[str]) -> Hint:
    """Return the hint for a text that one of the wanted ones equals but for letter case."""
    alike = next((known for known in wanted if known.casefold() == text.casefold()), None)
    return NO_HINT if alike is None else Hint("case", f"; {shown(alike)} differs in letter case only")
