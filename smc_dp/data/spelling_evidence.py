"""Evidence of how a column is written: the settings of a format that read all of its cells.

A setting is proposed only where no other one reads the cells otherwise. Else all that read them are, and a person has
to choose: 1,234 may be a thousand, or a bit more than one.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations, islice

from smc_dp.data.file_format import DATES, FileFormat, FormatSetting, day_in_form

_MOST_CELLS = 10_000  # different ones of a column
_NUMBER = re.compile(r"[+-]?[\d.,][\d.,'\u2019 \u00a0\u202f]*", re.ASCII)
_DIGIT, _LONGEST_WORD = re.compile("[0-9]"), 30
_MARKS = (
    *((".", None), (",", None), (".", ","), (".", " "), (".", "'"), (",", "."), (",", " "), (",", "'")),
)  # of decimals and between thousands, the simplest first
NO_WORDS, YES_WORDS = frozenset({"false", "no", "f", "n"}), frozenset({"true", "yes", "t", "y"})
"""Words that may stand for a truth value."""
MISSING_WORDS = frozenset({"na", "n/a", "#n/a", "n.a.", "nan", "null", "nil", "none", "missing", "-", "--", "?", "."})
"""Words that often stand for an empty cell."""
Settings = Mapping[str, FormatSetting]


class SpellingEvidence:
    """Different cells of a column in a file of this format; each property is computed once."""

    def __init__(self, cells: Iterable[object], form: FileFormat) -> None:
        texts = (cell for cell in cells if isinstance(cell, str) and cell.strip())
        self._texts, self._form = list(islice(texts, _MOST_CELLS)), form

    @cached_property
    def numbers(self) -> list[Settings]:
        """Settings that read all cells which look like numbers; several where these read them differently."""
        cells = [text for text in self._texts if _NUMBER.fullmatch(text.strip())]
        found: list[tuple[Settings, list[float]]] = []
        for decimal, thousands in _MARKS if cells else ():
            form = replace(self._form, decimal=decimal, thousands=thousands)
            try:
                numbers = list(map(form.number, cells))
            except ValueError:
                continue
            if all(numbers != others for _, others in found):
                found.append((_changes(self._form, form), numbers))
        return [settings for settings, _ in found if settings]

    @cached_property
    def date_lists(self) -> list[tuple[str, ...]]:
        """Fewest formats of dates that together read all cells which look like dates, none in two ways."""
        cells = self._date_like
        days = {name: [day_in_form(cell, name) for cell in cells] for name in DATES}
        days = {name: found for name, found in days.items() if any(found)}
        for count in range(1, len(days) + 1):
            lists = [names for names in combinations(days, count) if _reads_once([days[name] for name in names])]
            if lists and cells:
                return lists
        return []

    @cached_property
    def _date_like(self) -> list[str]:
        cells = (text.strip() for text in self._texts)
        return [cell for cell in cells if any(pattern.fullmatch(cell) for pattern in DATES.values())]

    @cached_property
    def truths(self) -> Settings:
        """Words for false and true; none where another word stands in the column."""
        words = {text.strip() for text in self._texts} - {*self._form.true, *self._form.false}
        if not all(word.lower() in NO_WORDS | YES_WORDS or word in ("0", "1") for word in words):
            return {}
        found = {"false": NO_WORDS, "true": YES_WORDS}
        sides = {name: tuple(sorted(word for word in words if word.lower() in known)) for name, known in found.items()}
        return {name: side for name, side in sides.items() if side}

    @cached_property
    def missing(self) -> Settings:
        """Words that seem to stand for empty cells."""
        words = tuple(dict.fromkeys(text for text in self._texts if text.strip().lower() in MISSING_WORDS))
        return {"missing": words} if words else {}

    @cached_property
    def missing_among_numbers(self) -> Settings:
        """Words that seem to stand for empty cells of numbers or dates: known ones, or the only one without a digit."""
        words = [text for text in self._texts if not _DIGIT.search(text)]
        is_only = len(words) == 1 < len(self._texts) and len(words[0]) <= _LONGEST_WORD
        return {"missing": (words[0],)} if is_only else self.missing


def _reads_once(days: Sequence[Sequence[datetime.date | None]]) -> bool:
    """Return whether of the days that each format reads, each cell has exactly one."""
    return all(len({day for day in of_cell if day}) == 1 for of_cell in zip(*days, strict=True))


def is_day(cell: str, dates: str) -> bool:
    """Return whether a cell is a date of this format."""
    return day_in_form(cell, dates) is not None


def _changes(before: FileFormat, after: FileFormat) -> Settings:
    """Return the marks in numbers that differ; a mark between thousands is never taken away."""
    return {
        name: value
        for name in ("decimal", "thousands")
        if (value := getattr(after, name)) is not None and value != getattr(before, name)
    }
