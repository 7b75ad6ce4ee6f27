"""Comparisons that find the smallest of K hidden values: all pairs, as in the paper, or a tournament."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from protocols.arithmetic.rng import Stream

Pair = tuple[int, int]


def with_tie_bits(n: int, tie_bits: int, rng: Stream) -> int:
    """Return n followed by random low bits: different sizes keep their order, coins order equal ones."""
    return (n << tie_bits) | rng.bits(tie_bits)


def comparisons(kind: str, size: int) -> int:
    """Return the number of comparisons of the search."""
    return size - 1 if kind == "tournament" else size * (size - 1) // 2


def levels(kind: str, size: int) -> Iterator[int]:
    """Yield the number of comparisons of each level, which are under way at once."""
    if kind != "tournament":
        yield comparisons(kind, size)
        return
    while size > 1:
        yield size // 2
        size -= size // 2


def is_match(left: int, right: int, size: int) -> bool:
    """Tell whether these are two different places among `size`."""
    return left < size and right < size and left != right


@dataclass(frozen=True)
class Tournament:
    """Tournament of the `places` still in the game; in each level neighbours meet, and an odd one passes through."""

    places: tuple[int, ...]

    @property
    def pairs(self) -> list[Pair]:
        """Pairs of this level."""
        return list(zip(self.places[::2], self.places[1::2], strict=False))

    def after(self, left_smaller: Sequence[int]) -> Tournament:
        """Return the next level, given for each pair whether its left value is the smaller one."""
        winners = [i if left else j for (i, j), left in zip(self.pairs, left_smaller, strict=True)]
        return Tournament((*winners, *self.places[2 * len(winners) :]))

    @property
    def found(self) -> bool:
        """True when one place is left."""
        return len(self.places) == 1

    @property
    def winner(self) -> int:
        """Place of the smallest value."""
        return self.places[0]


@dataclass(frozen=True)
class AllPairs:
    """Search by every pair in one level; `wins` counts, for each place, the comparisons in which it was smaller."""

    size: int
    wins: tuple[int, ...] = ()

    @property
    def pairs(self) -> list[Pair]:
        """Pairs of all places."""
        return list(combinations(range(self.size), 2))

    def after(self, left_smaller: Sequence[int]) -> AllPairs:
        """Return the counts, given for each pair whether its left value is the smaller one."""
        wins = [0] * self.size
        for (i, j), left in zip(self.pairs, left_smaller, strict=True):
            wins[i if left else j] += 1
        return AllPairs(self.size, tuple(wins))

    @property
    def found(self) -> bool:
        """True when the comparisons have been made."""
        return bool(self.wins)

    @property
    def winner(self) -> int:
        """Place of the smallest value, which won all its comparisons; raises ValueError when no place did."""
        if self.size - 1 not in self.wins:
            raise ValueError("no place has won all its comparisons")
        return self.wins.index(self.size - 1)


def search(kind: str, size: int) -> Tournament | AllPairs:
    """Return the search before its first level."""
    return Tournament(tuple(range(size))) if kind == "tournament" else AllPairs(size)
