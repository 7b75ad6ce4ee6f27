"""Worlds: the secret permutations and the order of the compared numbers, on which linear forms depend.

Everything else in a symbolic run stays unknown.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import combinations, permutations, product
from typing import TypeAlias

Question: TypeAlias = tuple[int] | tuple[int, int]


@dataclass(frozen=True)
class World:
    """World: `permutations` in the order of their names in the model, and the `ranks` of the compared numbers."""

    permutations: tuple[tuple[int, ...], ...]
    ranks: tuple[int, ...]

    def answer(self, question: Question) -> Hashable:
        """Return a permutation, by its place, or whether one number is smaller than another, by their places."""
        if len(question) == 1:
            return self.permutations[question[0]]
        return self.ranks[question[0]] < self.ranks[question[1]]


def all_worlds(K: int, count: int) -> list[World]:
    """Return all worlds with `count` permutations of K places."""
    orders = list(permutations(range(K)))
    return [World(tuple(w[:-1]), w[-1]) for w in product(orders, repeat=count + 1)]


def base_world(K: int, count: int, smallest: int) -> World:
    """Return the world with identity permutations in which this party has the smallest number."""
    return World((tuple(range(K)),) * count, tuple((i - smallest) % K for i in range(K)))


def rotate_permutations(world: World) -> World:
    """Return the world with its first permutation rotated by one place, the second by two, and so on."""
    K = len(world.ranks)
    turns = [tuple((i + step) % K for i in range(K)) for step in range(1, len(world.permutations) + 1)]
    return World(tuple(compose(x, turn) for x, turn in zip(world.permutations, turns, strict=True)), world.ranks)


def nearby_worlds(world: World) -> list[World]:
    """Return the worlds in which one place is moved, in one permutation or the order, or in two of them together."""
    parts = [*world.permutations, world.ranks]
    found: dict[World, None] = {}
    for s in single_moves(len(world.ranks)):
        changes = [{i: compose(x, s)} for i, x in enumerate(parts)] + [{len(parts) - 1: compose(s, world.ranks)}]
        for (i, x), (k, y) in combinations(list(enumerate(parts)), 2):
            changes += [{i: compose(x, s), k: compose(y, t)} for t in (s, invert_permutation(s))]
        for change in changes:
            new = [change.get(i, x) for i, x in enumerate(parts)]
            found[World(tuple(new[:-1]), new[-1])] = None
    found.pop(world, None)
    return list(found)


def single_moves(K: int) -> list[tuple[int, ...]]:
    """Return the permutations that take one place out and put it in elsewhere."""
    found: dict[tuple[int, ...], None] = {}
    for i, k in permutations(range(K), 2):
        rest = [x for x in range(K) if x != i]
        found[(*rest[:k], i, *rest[k:])] = None
    return list(found)


def compose(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
    """Return the composition x after y."""
    return tuple(x[k] for k in y)


def invert_permutation(x: tuple[int, ...]) -> tuple[int, ...]:
    """Return the permutation that undoes x."""
    return tuple(x.index(k) for k in range(len(x)))
