"""Data model of a data dictionary: descriptions of columns, whichever format they came in."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from smc_dp.core.errors import Fault, InputError, InputFault, shown

_MOST_COLUMNS = 1 << 16
"""Most columns of a data dictionary, with those that are left out."""
_MOST_CLASSES = 10  # whole numbers between two bounds that may be meant as classes


_NO_LEVELS = InputFault("entry.no_levels")


@dataclass(frozen=True)
class NumberEntry:
    """Number, with its range as far as the dictionary gives one; `whole`: it has no decimals."""

    low: float | None = None
    high: float | None = None
    whole: bool = False

    def as_levels(self) -> LevelsEntry | None:
        """Return the numbers as levels where they are whole and few, such as 0 and 1; else None."""
        if not self.whole or self.low is None or self.high is None or not 1 <= self.high - self.low < _MOST_CLASSES:
            return None
        first, last = math.ceil(self.low), math.floor(self.high)
        return LevelsEntry(tuple(LevelEntry(str(number)) for number in range(first, last + 1)))


@dataclass(frozen=True)
class DateEntry:
    """Date, with its first and last day as far as the dictionary gives them."""

    first: datetime.date | None = None
    last: datetime.date | None = None


@dataclass(frozen=True)
class LevelEntry:
    """Level of a column, with the other texts that stand for it in a file."""

    name: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class LevelsEntry:
    """One of several levels, in the dictionary's order; where it lists none, `lacks` says so."""

    levels: tuple[LevelEntry, ...] = ()
    lacks: Fault = _NO_LEVELS


@dataclass(frozen=True)
class ExcludedEntry:
    """Column that cannot be learned from, or should not be; `why` is a coded reason."""

    why: Fault


@dataclass(frozen=True)
class UnknownEntry:
    """Column of which the name alone is known."""


ColumnEntry: TypeAlias = NumberEntry | DateEntry | LevelsEntry | UnknownEntry | ExcludedEntry


@dataclass(frozen=True)
class DescribedColumn:
    """Column of the file as the dictionary describes it; `may_be_empty` unless it is required."""

    name: str
    said: ColumnEntry
    may_be_empty: bool = True


@dataclass(frozen=True)
class DataDictionary:
    """Descriptions of the columns, in order; `form`: settings that say how the data file is written.

    Raises InputError for columns that share a name.
    """

    source: str
    kind: str
    entries: tuple[DescribedColumn, ...]
    form: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.entries:
            raise InputError("codebook.no_columns").within(self.source)
        if len(self.entries) > _MOST_COLUMNS:
            raise InputError("codebook.too_many_columns", count=len(self.entries), most=_MOST_COLUMNS).within(
                self.source
            )
        seen: set[str] = set()
        for entry in self.entries:
            if not entry.name.strip():
                raise InputError("codebook.no_name").within(self.source)
            if entry.name in seen:
                raise InputError("codebook.same_name", name=shown(entry.name)).within(self.source)
            seen.add(entry.name)


def bound_number(text: str) -> float | None:
    """Return the finite number that a data dictionary states as a bound, or None for any other text."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def bound_date(text: str, *patterns: str) -> datetime.date | None:
    """Return the date that a data dictionary states as a bound, as 2010-01-31 or in one of these patterns, or None."""
    for pattern in ("%Y-%m-%d", *patterns):
        try:
            return datetime.datetime.strptime(text.strip(), pattern).date()
        except ValueError:
            continue
    return None
