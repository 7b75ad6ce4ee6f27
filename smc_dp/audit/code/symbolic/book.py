"""The runs of a protocol in many worlds, and the secrets that a coalition may ask for in each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from protocols.programs import Protocol
from smc_dp.audit.code.symbolic.engine import Trace, run
from smc_dp.audit.code.symbolic.form import Form
from smc_dp.audit.code.symbolic.worlds import World, base, every, nearby, turned

ENUMERATED = 3  # up to so many parties every world is looked at
FEW = 2  # and up to so many also those of variants, and those with other random bytes
SMALLEST = "who is smallest"


class Book:
    """The runs of a protocol with these parameters in all worlds asked for, each made once."""

    def __init__(self, protocol: Protocol, p: Any) -> None:
        self.protocol, self.model, self.p = protocol, protocol.model, p
        self.parties = len(p.parties)
        self.names = tuple(protocol.program.participants(self.p))
        self.traces: dict[World, Trace] = {}
        self._linear: dict[World, Mapping[str, Form]] = {}

    def trace(self, world: World) -> Trace:
        """The run in this world."""
        if world not in self.traces:
            made = run(self.protocol.program, self.model, self.p, world)
            if self.parties <= FEW or not self.traces:
                made.check_bytes(run(self.protocol.program, self.model, self.p, world, salt="other bytes"))
            self.traces[world] = made
        return self.traces[world]

    def linear(self, world: World) -> Mapping[str, Form]:
        """The secrets that are sums of unknowns: every unknown, the outcomes in this world, and of all of them the
        differences of neighbouring coordinates.
        """
        if world not in self._linear:
            unknowns = {name: Form.of(s) for name, s in self.trace(world).inputs.items()}
            outcomes = self._outcomes(world)
            sums = {name: Form.of(sum(unknowns[part] for part in parts)) for name, parts in outcomes.items()}
            single = unknowns | sums
            apart = {_apart(x, y): Form.of(single[x] - single[y]) for x, y in _neighbours(single)}
            self._linear[world] = single | apart
        return self._linear[world]

    def shown(self, world: World) -> list[str]:
        """The same by name, but for unknowns that are an outcome by themselves."""
        alone = {parts[0] for parts in self._outcomes(world).values() if len(parts) == 1}
        twice = alone | {_apart(x, y) for x, y in _neighbours(self.linear(world)) if x in alone}
        return [name for name in self.linear(world) if name not in twice]

    def _outcomes(self, world: World) -> Mapping[str, tuple[str, ...]]:
        return self.model.outcomes(self.p, world.ranks.index(0))

    def discrete(self) -> list[tuple[str, Callable[[World], Hashable]]]:
        """The secrets that a world fixes."""
        labels = self.model.permutations
        found = [(name, _image(i)) for i, name in enumerate(labels)]
        return [(SMALLEST, lambda w: w.ranks.index(0)), *found] if self.model.compared(self.p) else found

    def scenes(self, members: frozenset[str], briefly: bool = False) -> Iterator[tuple[list[World], int]]:
        """Worlds to hold against each other, and how many of the first to make cells for; `briefly`: hardly any, unless
        there are few.

        A world alone is there because one in which nothing moves is special: there some party relays to itself.
        """
        count = len(self.model.permutations)
        if self.parties <= (FEW if briefly else ENUMERATED):
            worlds = every(self.parties, count)
            yield worlds, len(worlds)
            return
        first = {(party in members, j == 0): j for j, party in reversed(list(enumerate(self.p.parties)))}
        for j in sorted(first.values()):
            world = base(self.parties, count, j)
            yield [world] if briefly else [world, *nearby(world)], 1
            yield [turned(world)], 1


def _apart(x: str, y: str) -> str:
    return f"{x} - {y}"


def _neighbours(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Those of one name but for the number of the coordinate, each with the next."""
    vectors: dict[str, list[str]] = {}
    for name in names:
        vector, bracket, _ = name.partition("(")
        if bracket and " - " not in name:
            vectors.setdefault(vector, []).append(name)
    return (pair for found in vectors.values() for pair in pairwise(found))


def _image(i: int) -> Callable[[World], Hashable]:
    return lambda world: world.permutations[i]
