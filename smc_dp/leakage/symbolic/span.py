"""Exact linear algebra over the rationals on sparse rows, one row after the other."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Set
from fractions import Fraction
from typing import Any, TypeAlias

SpanRow: TypeAlias = Mapping[Any, int]
Combination: TypeAlias = dict[int, Any]


class Span:
    """Span of rows. Row i is *new* if it is no combination of the rows before it.

    A row that is not new, and whatever lies in the span, is a combination of new rows in exactly one way. So which rows
    are new, and these combinations, depend on nothing but the linear relations among the rows. `last`: columns that are
    solved for where a row has no others left, so `last_rank` is the rank of what the span has in these columns alone.
    """

    def __init__(self, last: Set[Hashable] = frozenset()) -> None:
        self._last = last
        self._pivots: dict[Hashable, tuple[dict[Hashable, Any], Combination]] = {}
        self._count = 0

    @property
    def last_rank(self) -> int:
        """Rank of those members of the span that have nothing but columns that come last."""
        return sum(pivot in self._last for pivot in self._pivots)

    def add(self, row: SpanRow) -> Combination | None:
        """Append a row; return None if it is new, else its combination of the new rows before it."""
        number, self._count = self._count, self._count + 1
        rest, used = self._reduced(row)
        if not rest:
            return used
        pivot = min(rest, key=lambda k: (k in self._last, abs(rest[k]) != 1))
        scale = rest[pivot] if abs(rest[pivot]) == 1 else Fraction(1, rest[pivot])
        combination = {i: -c * scale for i, c in used.items()}
        combination[number] = scale
        known = {k: c * scale for k, c in rest.items()}
        for other, (row, made) in self._pivots.items():
            if pivot in row:  # no pivot is in another one's row
                self._pivots[other] = _without(row, known, row[pivot]), _without(made, combination, row[pivot])
        self._pivots[pivot] = known, combination
        return None

    def copy(self) -> Span:
        """Return an independent copy."""
        made = Span(self._last)
        made._pivots, made._count = dict(self._pivots), self._count
        return made

    def solve(self, row: SpanRow) -> Combination | None:
        """Return the combination of new rows that makes this row; None if it is not in the span."""
        rest, used = self._reduced(row)
        return None if rest else used

    def _reduced(self, row: SpanRow) -> tuple[dict[Hashable, Any], Combination]:
        rest: dict[Hashable, Any] = dict(row)
        used: Combination = {}
        for pivot in self._pivots.keys() & row.keys():
            known, combination = self._pivots[pivot]
            _subtract(rest, known, row[pivot])
            _subtract(used, combination, -row[pivot])
        return rest, used


def _without(row: Mapping[Any, Any], other: Mapping[Any, Any], factor: Any) -> dict[Any, Any]:
    rest = dict(row)
    _subtract(rest, other, factor)
    return rest


def _subtract(row: dict[Any, Any], other: Mapping[Any, Any], factor: Any) -> None:
    for k, c in other.items():
        value = row.get(k, 0) - factor * c
        if value:
            row[k] = value
        else:
            row.pop(k, None)
