"""Format of a data file as its owner states it: nothing that the file does not mark is guessed."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TypeAlias, cast

from smc_dp.core.errors import InputError, shown
from smc_dp.core.toml import on_one_line
from smc_dp.data.limits import check_most_cells

ENCODINGS = ("utf-8", "utf-16", "latin-1", "cp1252")
"""utf-8 may begin with a byte order mark, and utf-16 has to."""
DECIMALS = (".", ",")
THOUSANDS = MappingProxyType({".": ".", ",": ",", " ": " \u00a0\u202f", "'": "'\u2019"})
"""Marks between thousands, each with the characters that are written for it: a space may be one that breaks no line."""
RECOGNISED_SEPARATORS = (",", ";", "\t", "|")
"""Separators that a message recognises; any other single character may be stated as well."""
_MIDNIGHT = r"(?:[T ]00?:00(?::00(?:\.0+)?)?| 12:00(?::00)? AM)"
_DAYS = {
    "yyyy-mm-dd": r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)",
    "yyyy/mm/dd": r"(?P<y>\d{4})/(?P<m>\d\d?)/(?P<d>\d\d?)",
    "dd.mm.yyyy": r"(?P<d>\d\d?)\.(?P<m>\d\d?)\.(?P<y>\d{4})",
    "mm/dd/yyyy": r"(?P<m>\d\d?)/(?P<d>\d\d?)/(?P<y>\d{4})",
    "dd/mm/yyyy": r"(?P<d>\d\d?)/(?P<m>\d\d?)/(?P<y>\d{4})",
    "dd-mmm-yyyy": r"(?P<d>\d\d?)(?P<mark>[- ]?)(?P<m>[A-Za-z]{3})(?P=mark)(?P<y>\d{4})",
}
DATES = MappingProxyType(
    {name: re.compile(day, re.ASCII) for name, day in _DAYS.items()}
    | {f"{name} 00:00:00": re.compile(day + _MIDNIGHT, re.ASCII) for name, day in _DAYS.items()}
)
"""Patterns of dates, by the name of each format; a date has no time of day but midnight.

mmm: the first three letters of an English month in any case. The mark beside it may be a space, or none.
"""
OWN_SETTINGS_FILE = "own.toml"
"""Name of a party's own settings file, not FILE.toml."""
ColumnAliases: TypeAlias = tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...]
"""Columns, each with its levels, each with the texts that this file has for it."""
ColumnDates: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Columns, each with the forms of its dates."""
FormatSetting: TypeAlias = str | bool | int | tuple[str, ...] | ColumnAliases | ColumnDates | None
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NO_SEPARATOR = re.compile(r'["\'\r\n\0+\-.\w]')  # of quotes, lines and numbers
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_MOST_WORDS, _LONGEST_WORD = 100, 100
"""Number of words that stand for an empty cell, and of characters in one."""
_LISTS, _OF_COLUMNS = ("missing", "true", "false"), frozenset({"aliases", "column_dates"})
_SETTINGS = (
    "separator",
    "decimal",
    "thousands",
    "encoding",
    "missing",
    "dates",
    "true",
    "false",
    "skip_blank_rows",
    "most_cells",
)


class AmbiguousDateError(ValueError):
    """Refusal of a text that two forms of a file read as different dates; `days`: both."""

    def __init__(self, days: Sequence[datetime.date]) -> None:
        self.days = tuple(days)
        super().__init__(f"read as {' and as '.join(day.isoformat() for day in self.days)}")


def separates_cells(mark: str) -> bool:
    """Return whether a text may stand between cells: one character of no quote, line or number."""
    return len(mark) == 1 and not _NO_SEPARATOR.fullmatch(mark)


def day_in_form(cell: str, name: str) -> datetime.date | None:
    """Return the date that a cell has in the form of this name, None where it has none."""
    found = DATES[name].fullmatch(cell.strip())
    if found is None:
        return None
    month = found["m"].lower()
    try:
        return datetime.date(
            int(found["y"]), int(month) if month.isdigit() else _MONTHS.index(month) + 1, int(found["d"])
        )
    except ValueError:
        return None


def list_date_forms(dates: str | Sequence[str]) -> tuple[str, ...]:
    """Return one form of dates, or several, as a tuple."""
    return (dates,) if isinstance(dates, str) else tuple(dates)


def _one_or_several(dates: str | Sequence[str]) -> str | tuple[str, ...]:
    """Return the different forms of dates, one of them as a text."""
    forms = tuple(dict.fromkeys(list_date_forms(dates)))
    return forms[0] if len(forms) == 1 else forms


@dataclass(frozen=True)
class FileFormat:
    """Format of a data file: separator, decimal mark, encoding, words for empty cells, and forms of dates.

    separator, encoding: None where not stated; then tabs in the header and a byte order mark are recognised, else a
    comma and UTF-8 are meant. missing: a cell that is exactly one of these words is empty. dates: one form or several;
    a date fits one of them, and no two as different dates. column_dates: forms of single columns, in their place.
    skip_blank_rows: whether rows of empty cells alone, as spreadsheets leave them, are no rows. thousands: mark between
    groups of three digits, None for none. true, false: words for truth values. aliases: texts that mean a level of a
    column in this file; those of columns and levels that the bounds do not have say nothing. most_cells: the most cells
    that the owner lets a table have, None for the default. For messages, place: the file that states this, or would;
    is_text: whether the table's own file is text. Raises InputError for an invalid format.
    """

    separator: str | None = None
    decimal: str = "."
    encoding: str | None = None
    missing: tuple[str, ...] = ()
    dates: str | tuple[str, ...] = "yyyy-mm-dd"
    skip_blank_rows: bool = False
    thousands: str | None = None
    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()
    aliases: ColumnAliases = ()
    most_cells: int | None = None
    column_dates: ColumnDates = ()
    place: str = field(default=OWN_SETTINGS_FILE, compare=False)
    is_text: bool = field(default=True, compare=False)

    def __post_init__(self) -> None:
        if self.separator is not None and not separates_cells(self.separator):
            raise InputError("form.wrong_separator", got=shown(self.separator)).within("[file] separator")
        if self.decimal not in DECIMALS:
            fault = InputError("form.wrong_decimal", got=shown(self.decimal))
            raise fault.within("[file] decimal")
        object.__setattr__(self, "dates", _one_or_several(self.dates))
        for where, forms in (
            ("[file] dates", self.date_forms),
            *((f"[dates] {name}", own) for name, own in self.column_dates),
        ):
            if wrong := [form for form in forms if form not in DATES]:
                raise InputError("form.unknown", known=tuple(DATES), got=shown(wrong[0])).within(where)
            if not forms:
                raise InputError("form.no_dates").within(where)
        known = (("encoding", ENCODINGS), ("thousands", tuple(THOUSANDS)))
        for name, allowed in known:
            value = getattr(self, name)
            if value is not None and value not in allowed:
                raise InputError("form.unknown", known=allowed, got=shown(value)).within(f"[file] {name}")
        check_most_cells(self.most_cells, "[file] most_cells")
        if self.thousands == self.decimal:
            raise InputError("form.one_mark", mark=shown(self.decimal)).within("[file] thousands")
        for name in _LISTS:
            self._check_words(name)
        if twice := {word.strip() for word in self.true} & {word.strip() for word in self.false}:
            raise InputError("form.true_and_false", word=shown(min(twice))).within("[file] true")

    def _check_words(self, name: str) -> None:
        words = getattr(self, name)
        if len(words) > _MOST_WORDS:
            raise InputError("form.too_many_words", most=_MOST_WORDS, got=len(words)).within(f"[file] {name}")
        for word in words:
            if not 0 < len(word) <= _LONGEST_WORD:
                raise InputError("form.wrong_word", longest=_LONGEST_WORD, got=shown(word)).within(f"[file] {name}")

    @cached_property
    def _grouped(self) -> tuple[re.Pattern[str], dict[int, None]] | None:
        """Pattern of a number with marks between thousands, and what takes these away."""
        if self.thousands is None:
            return None
        marks = THOUSANDS[self.thousands]
        pattern = rf"[+-]?\d{{1,3}}(?:[{re.escape(marks)}]\d{{3}})+(?:[{re.escape(self.decimal)}]\d*)?"
        return re.compile(pattern, re.ASCII), dict.fromkeys(map(ord, marks))

    def pointed(self, cell: str) -> str:
        """Return the cell with a decimal point and without marks between thousands; empty for marks that do not fit."""
        if self._grouped is not None:
            pattern, marks = self._grouped
            text = cell.strip()
            if pattern.fullmatch(text):
                cell = text.translate(marks)
            elif any(ord(character) in marks for character in text):
                return ""
        if self.decimal == ".":
            return cell
        return "" if "." in cell else cell.replace(self.decimal, ".")

    def number(self, cell: str) -> float:
        """Return the number in a cell; raise ValueError where there is none, or one whose marks are not stated."""
        # Python would also read the 1_000 of its own source code.
        return float("" if "_" in cell else self.pointed(cell))

    def truth(self, cell: str) -> bool | None:
        """Return the truth value that a cell is a stated word for, None for any other cell."""
        word = cell.strip()
        return True if word in self.true else False if word in self.false else None

    @property
    def date_forms(self) -> tuple[str, ...]:
        """Forms of dates, one or several."""
        return list_date_forms(self.dates)

    def of_column(self, name: str) -> FileFormat:
        """Return the format with the forms of dates of this column."""
        own = dict(self.column_dates).get(name)
        return self if own is None else replace(self, dates=own)

    def day(self, cell: str) -> datetime.date:
        """Return the date in a cell.

        Raises ValueError where there is none, or one in another form, and AmbiguousDateError where there are two.
        """
        days = {day: None for name in self.date_forms if (day := day_in_form(cell, name))}
        if len(days) > 1:
            raise AmbiguousDateError([*days])
        if not days:
            raise ValueError(f"not {self.dates}")
        return next(iter(days))

    def said(self) -> dict[str, FormatSetting]:
        """Return the settings that differ from the defaults, by their names in [file]."""
        usual = FileFormat()
        return {name: value for name in _SETTINGS if (value := getattr(self, name)) != getattr(usual, name)}

    def with_settings(self, settings: Mapping[str, FormatSetting]) -> FileFormat:
        """Return the format with these settings; words and aliases join those that are there."""
        return replace(self, **joined({name: getattr(self, name) for name in settings}, settings, is_newer=True))  # type: ignore[arg-type]

    def advice(self, **settings: FormatSetting) -> str:
        """Return one text that tells which settings to write into which sections, ready to be copied."""
        whole = self.with_settings(settings)
        stated: dict[str, FormatSetting] = {name: getattr(whole, name) for name in settings}
        for name in _OF_COLUMNS & {*settings}:
            changed = dict(cast("ColumnAliases", settings[name]))
            stated[name] = tuple(said for said in getattr(whole, name) if said[0] in changed)
        parts = [f"{' and '.join(lines)} into {header}" for header, lines in toml_sections(stated).items()]
        return f"write {', and '.join(parts)} of {'' if self.place == OWN_SETTINGS_FILE else 'the file '}{self.place}"

    def sections(self, comments: Iterable[tuple[str, str]] = ()) -> list[str]:
        """Return the sections that state this format, line by line, with comments, each after its section's header."""
        stated = toml_sections({**self.said(), "aliases": self.aliases, "column_dates": self.column_dates})
        found = {"[file]": list[str](), **stated}
        for header, line in comments:
            found.setdefault(header, []).append(line)
        return [line for header, lines in found.items() if lines for line in (header, *lines)]


DEFAULT_FORMAT = FileFormat()


def toml_sections(settings: Mapping[str, FormatSetting]) -> dict[str, list[str]]:
    """Return the lines that state these settings, by the headers of their sections."""
    found = {"[file]": [_line(name, settings[name]) for name in _SETTINGS if name in settings]}
    for column, levels in cast("ColumnAliases", settings.get("aliases", ())):
        found[f"[aliases.{_key(column)}]"] = [_line(_key(level), texts) for level, texts in levels]
    dates = cast("ColumnDates", settings.get("column_dates", ()))
    found["[dates]"] = [_line(_key(column), _one_or_several(forms)) for column, forms in dates]
    return {header: lines for header, lines in found.items() if lines}


def joined(
    settings: Mapping[str, FormatSetting], more: Mapping[str, FormatSetting], *, is_newer: bool = False
) -> dict[str, FormatSetting]:
    """Return settings together: words, aliases and forms of dates of both; else the first, or with `is_newer` the last.

    With `is_newer` the newer forms of dates stand in place of the others.
    """
    found = dict(settings)
    for name, value in more.items():
        before = found.get(name)
        if name in _LISTS:
            found[name] = tuple(dict.fromkeys((*(before or ()), *(value or ()))))  # type: ignore[misc]
        elif name == "aliases":
            found[name] = _joined_aliases(before or (), value or ())  # type: ignore[arg-type]
        elif name == "column_dates":
            some, others = (before or (), value or ()) if is_newer else (value or (), before or ())
            found[name] = _joined_dates(some, others)  # type: ignore[arg-type]
        elif name == "dates" and before is not None and not is_newer:
            found[name] = _one_or_several((*list_date_forms(before), *list_date_forms(value)))  # type: ignore[arg-type]
        elif is_newer or before is None:
            found[name] = value
    return found


def _joined_dates(some: ColumnDates, others: ColumnDates) -> ColumnDates:
    """Return the forms of all columns, of a column in both those of `others`, by name."""
    return tuple(sorted({**dict(some), **dict(others)}.items()))


def _joined_aliases(some: ColumnAliases, others: ColumnAliases) -> ColumnAliases:
    found: dict[str, dict[str, dict[str, None]]] = {}
    for column, levels in (*some, *others):
        for level, texts in levels:
            found.setdefault(column, {}).setdefault(level, {}).update(dict.fromkeys(texts))
    return tuple((column, tuple((level, (*texts,)) for level, texts in said.items())) for column, said in found.items())


def _line(name: str, value: object) -> str:
    """Return one setting in TOML."""
    if isinstance(value, bool | int):
        return f"{name} = {str(value).lower()}"
    values = value if isinstance(value, tuple) else (value,)
    written = ", ".join(_quoted(str(each)) for each in values)
    return f"{name} = [{written}]" if isinstance(value, tuple) else f"{name} = {written}"


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    escaped = "".join({"\t": "\\t", '"': '\\"', "\\": "\\\\"}.get(c, c) for c in text)
    return f'"{on_one_line(escaped)}"'
