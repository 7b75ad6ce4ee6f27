"""What answers where linear forms cannot: the secret permutations, and the order of the compared numbers.

Everything else in a symbolic run stays unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations, product


@dataclass(frozen=True)
class World:
    """`permutations` in the order in which the model names them; `ranks` says how many compared numbers are smaller."""

    permutations: tuple[tuple[int, ...], ...]
    ranks: tuple[int, ...]


def every(K: int, count: int) -> list[World]:
    """All worlds with so many permutations of K places."""
    orders = list(permutations(range(K)))
    return [World(tuple(w[:-1]), w[-1]) for w in product(orders, repeat=count + 1)]


def base(K: int, count: int, smallest: int) -> World:
    """A world in which this party has the smallest number and every permutation leaves all in place."""
    return World((tuple(range(K)),) * count, tuple((i - smallest) % K for i in range(K)))


def turned(world: World) -> World:
    """The world with its first permutation turned by one place, the second by two, and so on."""
    K = len(world.ranks)
    turns = [tuple((i + step) % K for i in range(K)) for step in range(1, len(world.permutations) + 1)]
    return World(tuple(after(x, turn) for x, turn in zip(world.permutations, turns, strict=True)), world.ranks)


def nearby(world: World) -> list[World]:
    """The worlds in which one place is moved, in one permutation or the order, or in two of them together."""
    parts = [*world.permutations, world.ranks]
    found: dict[World, None] = {}
    for s in moves(len(world.ranks)):
        changes = [{i: after(x, s)} for i, x in enumerate(parts)] + [{len(parts) - 1: after(s, world.ranks)}]
        for (i, x), (k, y) in combinations(list(enumerate(parts)), 2):
            changes += [{i: after(x, s), k: after(y, t)} for t in (s, inverse(s))]
        for change in changes:
            new = [change.get(i, x) for i, x in enumerate(parts)]
            found[World(tuple(new[:-1]), new[-1])] = None
    found.pop(world, None)
    return list(found)


def moves(K: int) -> list[tuple[int, ...]]:
    """The permutations that take one place out and put it in elsewhere."""
    found: dict[tuple[int, ...], None] = {}
    for i, k in permutations(range(K), 2):
        rest = [x for x in range(K) if x != i]
        found[(*rest[:k], i, *rest[k:])] = None
    return list(found)


def after(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
    """x after y."""
    return tuple(x[k] for k in y)


def inverse(x: tuple[int, ...]) -> tuple[int, ...]:
    """The permutation that undoes x."""
    return tuple(x.index(k) for k in range(len(x)))
