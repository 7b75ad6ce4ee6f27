"""The joint law of what somebody sees, exactly: every value with the number of ways to get it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd, lcm, prod

import numpy as np
from numpy.typing import NDArray

from support.exact.many import ManyOrOne, array
from support.exact.seen import Sight

WaysByRow = tuple[NDArray[np.int64], NDArray[np.int64]]  # rows, all different and in order, and the ways to get each


@dataclass(frozen=True, eq=False, repr=False)
class ViewLaw:
    """By facts, the rows of numbers; `total` is the number of all ways."""

    counts: Mapping[Hashable, WaysByRow] = field(repr=False)
    total: int

    @property
    def key(self) -> Hashable:
        """Equal for two laws exactly when they are the same."""
        step = self.total
        for _, ways in self.counts.values():
            step = gcd(step, int(np.gcd.reduce(ways)))
        return frozenset(
            (facts, rows.shape, rows.tobytes(), (ways // step).tobytes()) for facts, (rows, ways) in self.counts.items()
        )


def certain(value: Hashable) -> ViewLaw:
    """The law of something that has one value."""
    return ViewLaw({value: (np.zeros((1, 0), dtype=np.int64), np.ones(1, dtype=np.int64))}, 1)


def law(sights: Sequence[tuple[int, Sight]]) -> ViewLaw:
    """The law of a view from the branches of a run: (one over its probability, what is seen) of each."""
    found = [(ways, tuple(seen.facts), _rows(seen)) for ways, seen in sights]
    total = lcm(*(ways * len(rows) for ways, _, rows in found))
    parts: dict[Hashable, list[WaysByRow]] = {}
    for ways, facts, rows in found:
        each = np.full(len(rows), total // (ways * len(rows)), dtype=np.int64)
        parts.setdefault(facts, []).append((rows, each))
    return ViewLaw({facts: _merged(several) for facts, several in parts.items()}, total)


def mixture(laws: Sequence[ViewLaw]) -> ViewLaw:
    """Each of the laws with equal probability."""
    if len(laws) == 1:
        return laws[0]
    total = lcm(*(one.total for one in laws))
    parts: dict[Hashable, list[WaysByRow]] = {}
    for one in laws:
        for facts, (rows, ways) in one.counts.items():
            parts.setdefault(facts, []).append((rows, ways * (total // one.total)))
    return ViewLaw({facts: _merged(several) for facts, several in parts.items()}, total * len(laws))


def are_apart(laws: Iterable[ViewLaw]) -> bool:
    """Whether nothing can come out under two of the laws."""
    rows: dict[Hashable, list[NDArray[np.int64]]] = {}
    for one in laws:
        for facts, (several, _) in one.counts.items():
            rows.setdefault(facts, []).append(several)
    return all(sum(map(len, parts)) == len(_different(np.concatenate(parts))[0]) for parts in rows.values())


def _rows(seen: Sight) -> NDArray[np.int64]:
    """A row for each value of the coins that something seen depends on; another own coin tells nothing."""
    read = [array(x) for x in seen.numbers]
    shape = np.broadcast_shapes(*(x.shape for x in read))
    own = [array(x) for x in seen.own if _depends(x, shape)]
    columns = [np.broadcast_to(x, shape).reshape(-1) for x in (*read, *own)]
    return np.stack(columns, axis=1) if columns else np.zeros((1, 0), dtype=np.int64)


def _depends(x: ManyOrOne, shape: tuple[int, ...]) -> bool:
    return all(size == 1 or size == other for size, other in _pairs(array(x).shape, shape))


def _pairs(x: tuple[int, ...], shape: tuple[int, ...]) -> list[tuple[int, int]]:
    padded = (1,) * (len(x) - len(shape)) + shape
    return list(zip(reversed(x), reversed(padded), strict=False))


def _merged(parts: Sequence[WaysByRow]) -> WaysByRow:
    rows = np.concatenate([rows for rows, _ in parts])
    ways = np.concatenate([ways for _, ways in parts])
    first, place = _different(rows)
    counted = np.zeros(len(first), dtype=np.int64)
    np.add.at(counted, place, ways)
    return rows[first], counted


def _different(rows: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where each different row stands first, in the order of rows, and for each row which of them it is."""
    low = rows.min(axis=0, initial=0)
    spans = [int(s) for s in rows.max(axis=0, initial=0) - low + 1]
    if prod(spans) < 1 << 62:  # the digits of one number, which are sorted much faster
        rows = (rows - low) @ np.array([prod(spans[i + 1 :]) for i in range(len(spans))], dtype=np.int64)
    _, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, place.reshape(-1)
