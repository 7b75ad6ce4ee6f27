"""What a cell that does not fit looks like, in a clause for its error: a date, a truth value, a comma for a point."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable

from smc_dp.core.errors import shown
from smc_dp.data.file_form import PLAIN, FileForm

_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})([T ].*)?", re.ASCII)
_TRUTH = frozenset({"true", "false", "yes", "no"})
_TYPES = ("date32", "date64", "timestamp", "time32", "time64", "duration")  # of columns in Parquet files
_COMMA = re.compile(r"[+-]?\d*,\d+", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d*(\.\d+)+(,\d*)?", re.ASCII)
_NOTHING = frozenset({"na", "n/a", "#n/a", "n.a.", "nan", "null", "nil", "none", "missing", "-", "--", "?", "."})
A_DATE, A_TRUTH = " (a date)", " (a truth value)"


def of_no_number(cell: object, form: FileForm = PLAIN) -> str:
    """What a cell looks like where a number was wanted; nothing where it looks like nothing that is known."""
    if isinstance(cell, datetime.date) and not isinstance(cell, datetime.datetime):
        return A_DATE
    if isinstance(cell, datetime.datetime | datetime.time | datetime.timedelta) or str(cell).startswith(_TYPES):
        return " (a date or time; make it a number, such as a year or days since a fixed day)"
    text = cell.strip() if isinstance(cell, str) else ""
    if _DATE.fullmatch(text):
        return A_DATE
    if text.lower() in _TRUTH:
        return A_TRUTH
    if form.decimal == "," and _THOUSANDS.fullmatch(text):
        return " (a point, where the form says a decimal comma; wanted no marks between thousands)"
    if form.decimal == "." and _COMMA.fullmatch(text):
        how = f", or {form.advice(decimal=',')}" if form.is_text else ""
        return f" (a decimal comma; wanted a point{how})"
    return of_nothing(cell, form)


def of_nothing(cell: object, form: FileForm) -> str:
    """A clause for a text that often stands where nothing is known."""
    if not isinstance(cell, str) or cell.strip().lower() not in _NOTHING:
        return ""
    return f" (where nothing is known? {form.advice(missing=(*form.missing, cell))})"


def of_no_category(text: str, wanted: Iterable[str]) -> str:
    """What a text looks like where one of a list was wanted."""
    if alike := of_another_case(text, wanted):
        return alike
    if text.lower() in _TRUTH:
        return " (a truth value, which the list does not have)"
    return A_DATE if _DATE.fullmatch(text) else ""


def of_another_case(text: str, wanted: Iterable[str]) -> str:
    """Which of a list a text would be, but for its letter case."""
    alike = next((known for known in wanted if known.casefold() == text.casefold()), None)
    return "" if alike is None else f" (it differs from {shown(alike)} in letter case only)"
