"""Public description of one column: numbers, levels, dates or bins, and the rule for its empty cells.

Without a rule an empty cell is refused.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, TypeAlias

from smc_dp.core.errors import InputError, shown
from smc_dp.data.file_format import FileFormat

CATEGORY, INDICATOR, LEAVE_OUT = "category", "indicator", "leave out"
NUMERIC_OUTCOME = (
    "to predict numbers, write `range = [low, high]` under [label] in place of classes, and take the method linear. "
    "To predict classes, name another column. You can make one: in every party's file, add a column with a text for "
    "each range of this number, such as 'under 65'"
)
EMPTY_CELL_RULES = (CATEGORY, INDICATOR, LEAVE_OUT)
"""Rules for an empty cell, besides a value: a level of its own; the middle, and a feature that marks it; no row."""
Aliases: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Levels, each with the other texts that mean it."""
_NO_ALIASES = ("aliases", ())
_FLOAT_BITS = 1024  # of whole numbers that are floats


@dataclass(frozen=True)
class NumericColumn:
    """Number known to lie in [low, high]; values outside are clipped.

    missing: a number of the range, "indicator" or "leave out"; None where an empty cell is refused.
    """

    name: str
    low: float
    high: float
    missing: float | str | None = None

    def __post_init__(self) -> None:
        set_floats(self, "low", "high", "missing")

    @property
    def width(self) -> int:
        """Number of features this column becomes."""
        return 2 if self.missing == INDICATOR else 1

    def scale(self, *, center: bool) -> tuple[float, float]:
        """Return the number that becomes the feature 0, and how much more becomes 1; see `Bounds.center`."""
        if center:
            return self.high / 2 + self.low / 2, self.high / 2 - self.low / 2
        return 0.0, max(abs(self.low), abs(self.high))

    def check(self) -> None:
        """Raise InputError unless the range and the rule for empty cells are valid."""
        where = f"column {shown(self.name)}"
        if not 0 < self.high / 2 - self.low / 2 < math.inf:  # the halves cannot overflow
            raise InputError("columns.no_order", low=self.low, high=self.high).within(where)
        _check_number(self, self.low, self.high, (INDICATOR, LEAVE_OUT))


@dataclass(frozen=True)
class CategoricalColumn:
    """One of several texts; each is a feature, in the listed order.

    missing: one of the texts, "category" or "leave out"; None where an empty cell is refused. aliases: other texts that
    mean one of these.
    """

    name: str
    categories: tuple[str, ...]
    missing: str | None = None
    aliases: Aliases = ()

    @property
    def width(self) -> int:
        """Number of features this column becomes."""
        return len(self.categories) + (self.missing == CATEGORY)

    @cached_property
    def forms(self) -> tuple[str, ...]:
        """Categories in the canonical form in which they are compared."""
        return tuple(map(canonical_level, self.categories))

    @cached_property
    def _places(self) -> dict[str, int]:
        own = {form: i for i, form in enumerate(self.forms)}
        return own | {
            canonical_level(text): own[canonical_level(level)] for level, texts in self.aliases for text in texts
        }

    def places_in(self, form: FileFormat) -> dict[str, int]:
        """Return the index of the category of each text, by canonical form, that means one in a file of this format.

        The file's own aliases come first, then categories and aliases of the bounds, then words for truth values.
        Raises InputError for a text that the file has for two categories.
        """
        found: dict[str, int] = {}
        for level, words in (("true", form.true), ("false", form.false)):
            if level in self._places:
                found |= {canonical_level(word): self._places[level] for word in words}
        own: dict[str, int] = {}
        for level, texts in dict(form.aliases).get(self.name, ()):
            place = self._places.get(canonical_level(level))
            if place is None:
                continue
            for text in texts:
                if own.setdefault(canonical_level(text), place) != place:
                    fields = {"level": shown(level), "text": shown(text), "other": self._name(own, text)}
                    raise InputError("aliases.two_levels", **fields).within(f"[aliases.{self.name}] of {form.place}")
        return found | self._places | own

    def _name(self, places: dict[str, int], text: str) -> str:
        return shown(self.categories[places[canonical_level(text)]])

    def check(self) -> None:
        """Raise InputError unless the categories, aliases and the rule for empty cells are valid."""
        where = f"column {shown(self.name)}"
        different = {*self.forms} - {""}
        if not different or len(different) != len(self.forms):
            raise InputError("columns.wrong_categories").within(where)
        places = check_aliases(where, self.categories, self.aliases)
        if self.missing is None:
            return
        if twofold := [rule for rule in EMPTY_CELL_RULES if rule in places]:
            raise InputError("missing.rule_and_category", rule=shown(twofold[0])).within(where)
        if self.missing not in (CATEGORY, LEAVE_OUT) and self.missing not in self.categories:
            raise _wrong_rule(self, f'one of its categories, "{CATEGORY}" or "{LEAVE_OUT}"')


@dataclass(frozen=True)
class DateColumn:
    """Date known to lie from `first` to `last`, as a number of days; dates outside are clipped.

    missing: a date as yyyy-mm-dd, "indicator" or "leave out"; None where an empty cell is refused.
    """

    name: str
    first: datetime.date
    last: datetime.date
    missing: str | None = None

    @property
    def width(self) -> int:
        """Number of features this column becomes."""
        return 2 if self.missing == INDICATOR else 1

    @property
    def days(self) -> NumericColumn:
        """Numeric column of the days since the first date."""
        rule: float | str | None = self.missing
        if self.missing not in (None, *EMPTY_CELL_RULES):
            rule = float((parse_iso_date(self.missing) - self.first).days)
        return NumericColumn(self.name, 0.0, float((self.last - self.first).days), rule)

    def check(self) -> None:
        """Raise InputError unless the dates and the rule for empty cells are valid."""
        where = f"column {shown(self.name)}"
        if not self.first < self.last:
            raise InputError("columns.no_order_of_dates", first=str(self.first), last=str(self.last)).within(where)
        if self.missing is None or self.missing in (INDICATOR, LEAVE_OUT):
            return
        try:
            inside = self.first <= parse_iso_date(self.missing) <= self.last
        except ValueError:
            inside = False
        if not inside:
            raise _wrong_rule(self, f'a date from {self.first} to {self.last}, "{INDICATOR}" or "{LEAVE_OUT}"')


@dataclass(frozen=True)
class BinnedColumn:
    """Number of which only the bin counts: one feature for each [edge, next edge), the last bin with its end.

    A number outside all bins is clipped into the first or the last. missing: a number within the bins, "category" or
    "leave out"; None where an empty cell is refused.
    """

    name: str
    edges: tuple[float, ...]
    missing: float | str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", tuple(float(edge) if type(edge) is int else edge for edge in self.edges))
        set_floats(self, "missing")

    @property
    def bins(self) -> int:
        """Number of bins."""
        return len(self.edges) - 1

    @property
    def texts(self) -> tuple[str, ...]:
        """Bins as texts, such as `[0, 18)`; the last has its end."""
        edges = [repr(edge).removesuffix(".0") for edge in self.edges]
        ends = [")"] * (self.bins - 1) + ["]"]
        return tuple(f"[{low}, {high}{end}" for low, high, end in zip(edges, edges[1:], ends, strict=False))

    @property
    def width(self) -> int:
        """Number of features this column becomes."""
        return self.bins + (self.missing == CATEGORY)

    def check(self) -> None:
        """Raise InputError unless the edges rise and the rule for empty cells is valid."""
        where = f"column {shown(self.name)}"
        rising = all(low < high for low, high in zip(self.edges, self.edges[1:], strict=False))
        if len(self.edges) < 2 or not rising or not all(map(math.isfinite, self.edges)):
            raise InputError("columns.bins_not_rising", got=shown(list(self.edges))).within(where)
        _check_number(self, self.edges[0], self.edges[-1], (CATEGORY, LEAVE_OUT))


Column: TypeAlias = NumericColumn | CategoricalColumn | DateColumn | BinnedColumn


def parse_iso_date(text: str) -> datetime.date:
    """Return the date in a text as yyyy-mm-dd; raise ValueError for any other text, also in ISO 8601."""
    found = datetime.date.fromisoformat(str(text))
    if found.isoformat() != text:
        raise ValueError(f"wanted a date as yyyy-mm-dd, got {shown(text)}")
    return found


def column_as_dict(column: Column) -> dict[str, Any]:
    """Return plain values for JSON, without an empty rule for empty cells and empty aliases."""
    plain = {
        name: value for name, value in asdict(column).items() if value is not None and (name, value) != _NO_ALIASES
    }
    return {name: str(value) if isinstance(value, datetime.date) else value for name, value in plain.items()}


def check_aliases(where: str, levels: Iterable[str], aliases: Aliases) -> dict[str, str]:
    """Return the level of each text that means one, by canonical form; raise InputError for a text of two levels."""
    found = {canonical_level(level): level for level in levels}
    known = tuple(found.values())
    if len({level for level, _ in aliases}) != len(aliases):
        raise InputError("aliases.same_level").within(where)
    for level, texts in aliases:
        if level not in known:
            listed = ", ".join(map(shown, known[:8])) + (", ..." if len(known) > 8 else "")
            raise InputError("aliases.unknown_level", listed=listed, level=shown(level)).within(where)
        for text in texts:
            if not canonical_level(text):
                raise InputError("aliases.empty_text", level=shown(level)).within(where)
            if canonical_level(text) in found:
                other = found[canonical_level(text)]
                raise InputError("aliases.two_levels", level=shown(level), text=shown(text), other=shown(other)).within(
                    where
                )
            found[canonical_level(text)] = level
    return found


def set_floats(frozen: object, *names: str) -> None:
    """Replace whole numbers by floats, so that 0 and 0.0 are one bound, in a digest too; too large ones stay."""
    for name in names:
        value = getattr(frozen, name)
        if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < _FLOAT_BITS:
            object.__setattr__(frozen, name, float(value))


def canonical_level(text: str) -> str:
    """Return the form in which labels and categories are compared: stripped, plain numbers in shortest form.

    So 1, +1, 01 and 1.0 are alike, and so are -0 and 0; any other text is compared as it is.
    """
    text = text.strip()
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text.removeprefix("+"))
    whole, point, fraction = digits.partition(".")
    if not (whole + fraction).isdecimal() or not digits.isascii() or not whole or (point and not fraction):
        return text
    fraction = fraction.rstrip("0")
    number = (whole.lstrip("0") or "0") + ("." + fraction if fraction else "")
    return number if number == "0" else sign + number


def _check_number(column: NumericColumn | BinnedColumn, low: float, high: float, rules: tuple[str, ...]) -> None:
    """Raise InputError unless the rule for empty cells is None, a number from low to high, or one of `rules`."""
    rule = column.missing
    if rule is None or rule in rules or (isinstance(rule, float) and low <= rule <= high):
        return
    raise _wrong_rule(column, f"a number from {low:g} to {high:g}, " + " or ".join(f'"{known}"' for known in rules))


def _wrong_rule(column: Column, wanted: str) -> InputError:
    fault = InputError("missing.wrong_rule", wanted=wanted, got=shown(column.missing))
    return fault.within(f"column {shown(column.name)}")
