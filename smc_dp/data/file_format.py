"""Format of a data file as its owner states it: nothing that the file does not mark is guessed."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TypeAlias

from pydantic import Field, model_validator

from smc_dp.core.documents import Document
from smc_dp.core.errors import InputError, shown
from smc_dp.core.toml import on_one_line

ENCODINGS = ("utf-8", "utf-16", "latin-1", "cp1252")
"""utf-8 may begin with a byte order mark, and utf-16 has to."""
DECIMALS = (".", ",")
RECOGNISED_SEPARATORS = (",", ";", "\t", "|")
"""Separators that a message recognises; any other single character may be stated as well."""
DATES = MappingProxyType(
    {
        "yyyy-mm-dd": re.compile(r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)", re.ASCII),
        "yyyy/mm/dd": re.compile(r"(?P<y>\d{4})/(?P<m>\d\d?)/(?P<d>\d\d?)", re.ASCII),
        "dd.mm.yyyy": re.compile(r"(?P<d>\d\d?)\.(?P<m>\d\d?)\.(?P<y>\d{4})", re.ASCII),
        "mm/dd/yyyy": re.compile(r"(?P<m>\d\d?)/(?P<d>\d\d?)/(?P<y>\d{4})", re.ASCII),
        "dd/mm/yyyy": re.compile(r"(?P<d>\d\d?)/(?P<m>\d\d?)/(?P<y>\d{4})", re.ASCII),
    }
)
"""Patterns of dates, by the name of each format; a date has no time of day."""
OWN_SETTINGS_FILE = "own.toml"
"""Name of a party's own settings file, not FILE.toml."""
FormatSetting: TypeAlias = str | bool | tuple[str, ...]
_NO_SEPARATOR = re.compile(r'["\'\r\n\0+\-.\w]')  # of quotes, lines and numbers
_MOST_WORDS, _LONGEST_WORD = 100, 100
"""Number of words that stand for an empty cell, and of characters in one."""


def separates_cells(mark: str) -> bool:
    """Return whether a text may stand between cells: one character of no quote, line or number."""
    return len(mark) == 1 and not _NO_SEPARATOR.fullmatch(mark)


@dataclass(frozen=True)
class FileFormat:
    """Format of a data file: separator, decimal mark, encoding, words for empty cells, and form of dates.

    separator, encoding: None where not stated; then tabs in the header and a byte order mark are recognised, else a
    comma and UTF-8 are meant. missing: a cell that is exactly one of these words is empty. skip_blank_rows: whether
    rows of empty cells alone, as spreadsheets leave them, are no rows. For messages, place: the file that states this,
    or would; is_text: whether the table's own file is text. Raises InputError for an invalid format.
    """

    separator: str | None = None
    decimal: str = "."
    encoding: str | None = None
    missing: tuple[str, ...] = ()
    dates: str = "yyyy-mm-dd"
    skip_blank_rows: bool = False
    place: str = field(default=OWN_SETTINGS_FILE, compare=False)
    is_text: bool = field(default=True, compare=False)

    def __post_init__(self) -> None:
        if self.separator is not None and not separates_cells(self.separator):
            raise InputError("form.wrong_separator", got=shown(self.separator)).within("[file] separator")
        if self.decimal not in DECIMALS:
            fault = InputError("form.wrong_decimal", got=shown(self.decimal))
            raise fault.within("[file] decimal")
        for name, value, known in (("encoding", self.encoding, ENCODINGS), ("dates", self.dates, tuple(DATES))):
            if value is not None and value not in known:
                fault = InputError("form.unknown", known=known, got=shown(value))
                raise fault.within(f"[file] {name}")
        if len(self.missing) > _MOST_WORDS:
            raise InputError("form.too_many_words", most=_MOST_WORDS, got=len(self.missing)).within("[file] missing")
        for word in self.missing:
            if not 0 < len(word) <= _LONGEST_WORD:
                raise InputError("form.wrong_word", longest=_LONGEST_WORD, got=shown(word)).within("[file] missing")

    def pointed(self, cell: str) -> str:
        """Return the cell with a decimal point; empty where points would separate thousands."""
        if self.decimal == ".":
            return cell
        return "" if "." in cell else cell.replace(self.decimal, ".")

    def number(self, cell: str) -> float:
        """Return the number in a cell; raise ValueError where there is none, or one with marks between thousands."""
        # Python would also read the 1_000 of its own source code.
        return float("" if "_" in cell else self.pointed(cell))

    def day(self, cell: str) -> datetime.date:
        """Return the date in a cell; raise ValueError where there is none, or one in another form."""
        found = DATES[self.dates].fullmatch(cell.strip())
        if found is None:
            raise ValueError(f"not {self.dates}")
        return datetime.date(*(int(found[part]) for part in "ymd"))

    def said(self) -> dict[str, object]:
        """Return the settings that differ from the defaults, by their names in [file]."""
        usual = FileFormat()
        names = ("separator", "decimal", "encoding", "missing", "dates", "skip_blank_rows")
        return {name: value for name in names if (value := getattr(self, name)) != getattr(usual, name)}

    def advice(self, **settings: FormatSetting) -> str:
        """Return one line that tells where to write which settings, ready to be copied."""
        if self.place == OWN_SETTINGS_FILE:
            lines = " and ".join(_line(name, value) for name, value in settings.items())
            return f"write {lines} into [file] of {OWN_SETTINGS_FILE}"
        lines = ", ".join(_line(name, value) for name, value in {**self.said(), **settings}.items())
        return f"write this line into {self.place}: file = {{{lines}}}"


DEFAULT_FORMAT = FileFormat()


class FileSection(Document):
    """The section [file]: how a table is written, as far as its file does not say so itself."""

    separator: str | None = None
    decimal: str = "."
    encoding: str | None = None
    missing: list[str] = Field(default_factory=list)
    dates: str = "yyyy-mm-dd"
    skip_blank_rows: bool = False

    @model_validator(mode="after")
    def _is_one(self) -> FileSection:
        try:
            self.form  # noqa: B018  which says what is no form
        except InputError as error:
            place = error.fault.place.removeprefix("[file] ")  # where it stands is said in any case
            raise InputError(replace(error.fault, place=place)) from None
        return self

    @cached_property
    def form(self) -> FileFormat:
        """File format for the readers of tables."""
        words = tuple(self.missing)
        return FileFormat(self.separator, self.decimal, self.encoding, words, self.dates, self.skip_blank_rows)


class FileFormatDocument(Document):
    """FILE.toml, beside a data file: its only section."""

    file: FileSection


def _line(name: str, value: object) -> str:
    """Return one setting in TOML."""
    if isinstance(value, bool):
        return f"{name} = {str(value).lower()}"
    values = value if isinstance(value, tuple) else (value,)
    written = ", ".join(f'"{_escaped(str(each))}"' for each in values)
    return f"{name} = [{written}]" if isinstance(value, tuple) else f"{name} = {written}"


def _escaped(text: str) -> str:
    return on_one_line("".join({"\t": "\\t", '"': '\\"', "\\": "\\\\"}.get(c, c) for c in text))
