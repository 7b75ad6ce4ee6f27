"""Runs of a protocol in many worlds, and the secrets that a coalition may ask for in each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

from protocols.programs import Protocol
from smc_dp.leakage.symbolic.engine import run_symbolically
from smc_dp.leakage.symbolic.form import Form
from smc_dp.leakage.symbolic.patterns import EVERYBODY_STAYS, Pattern, dropout_patterns
from smc_dp.leakage.symbolic.trace import Trace
from smc_dp.leakage.symbolic.worlds import World, all_worlds, base_world, nearby_worlds, rotate_permutations

ENUMERATED = 3  # up to so many parties every world is looked at
FEW_PARTIES = 2  # and up to so many also those of variants, and those with other random bytes
SMALLEST = "who is smallest"


class WorldRuns:
    """Runs of a protocol with these parameters and this pattern, in all worlds asked for, each made once."""

    def __init__(self, protocol: Protocol, p: Any, pattern: Pattern = EVERYBODY_STAYS) -> None:
        self.protocol, self.model, self.p, self.pattern = protocol, protocol.model, p, pattern
        self.parties = len(p.parties)
        self.names = tuple(protocol.program.participants(self.p))
        self.traces: dict[World, Trace] = {}
        self._linear: dict[tuple[int, int], Mapping[str, Form]] = {}  # by run and smallest party

    def trace(self, world: World) -> Trace:
        """Return the run in this world; worlds with the same answers to all that was asked share theirs."""
        if world not in self.traces:
            shared = next((made for made in self.traces.values() if made.tape.fits(world)), None)
            self.traces[world] = shared or self._checked_run(world)
        return self.traces[world]

    def _checked_run(self, world: World) -> Trace:
        made = self._run(world)
        if self.parties <= FEW_PARTIES or not self.traces:
            made.check_bytes(self._run(world, "other bytes"))
        return made

    def _run(self, world: World, salt: str = "") -> Trace:
        return run_symbolically(self.protocol.program, self.model, self.p, world, salt, self.pattern)

    @property
    def has_one_world(self) -> bool:
        """True if nothing is permuted or compared: then forms answer everything."""
        return not self.model.permutations and not self.model.compared(self.p)

    def smallest(self, j: int) -> str:
        """Return the party whose number is smallest in worlds of index j; "" where none are compared."""
        return "" if self.has_one_world else str(self.p.parties[j])

    def under_patterns(self) -> Iterator[WorldRuns]:
        """Yield these runs, and then those under each drop-out pattern of the messages sent in them."""
        yield self
        leaving = self.model.drop_outs(self.p)
        if leaving:
            here = base_world(self.parties, len(self.model.permutations), 0)
            for pattern in dropout_patterns(self.trace(here).sent, leaving):
                yield WorldRuns(self.protocol, self.p, pattern)

    @cached_property
    def variants(self) -> tuple[WorldRuns, ...]:
        """Runs with other parameters, in which the code must not tell more."""
        return tuple(WorldRuns(self.protocol, q, self.pattern) for q in self.model.variants(self.p))

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """Parameters in which these runs and their variants differ."""
        return setting_labels([self.p, *(runs.p for runs in self.variants)])

    def linear(self, world: World, seen: Trace | None = None) -> Mapping[str, Form]:
        """Return the secrets that are sums of unknowns.

        These are every unknown, the outcomes in this world, what everybody is given, and of all of them the differences
        of neighbouring coordinates.
        """
        trace = seen or self.trace(world)
        run = id(trace), world.ranks.index(0)
        if run not in self._linear:
            unknowns = {name: Form.of(s) for name, s in trace.inputs.items()}
            outcomes = self._outcomes(world)
            sums = {name: Form.of(sum(unknowns[part] for part in parts)) for name, parts in outcomes.items()}
            single = unknowns | sums | trace.given(frozenset())
            apart = {_apart(x, y): Form.of(single[x] - single[y]) for x, y in _neighbours(single)}
            self._linear[run] = single | apart
        return self._linear[run]

    def shown(self, world: World) -> list[str]:
        """Return the names of the linear secrets, but for unknowns that are an outcome by themselves."""
        alone = {parts[0] for parts in self._outcomes(world).values() if len(parts) == 1}
        twice = alone | {_apart(x, y) for x, y in _neighbours(self.linear(world)) if x in alone}
        return [name for name in self.linear(world) if name not in twice]

    def _outcomes(self, world: World) -> Mapping[str, tuple[str, ...]]:
        return self.model.outcomes(self.p, world.ranks.index(0))

    def discrete(self) -> list[tuple[str, Callable[[World], Hashable]]]:
        """Return the secrets that a world fixes."""
        labels = self.model.permutations
        found = [(name, _image(i)) for i, name in enumerate(labels)]
        return [(SMALLEST, lambda w: w.ranks.index(0)), *found] if self.model.compared(self.p) else found

    def scenes(self, members: frozenset[str], few_worlds: bool = False) -> Iterator[tuple[list[World], int]]:
        """Yield worlds to compare, and for how many of the first to make cells; `few_worlds`: hardly any, unless few.

        A world alone is included because one in which nothing moves is special: there some party relays to itself.
        """
        count = len(self.model.permutations)
        if self.has_one_world:
            yield [base_world(self.parties, count, 0)], 1
            return
        if self.parties <= (FEW_PARTIES if few_worlds else ENUMERATED):
            worlds = all_worlds(self.parties, count)
            yield worlds, len(worlds)
            return
        first = {(party in members, j == 0): j for j, party in reversed(list(enumerate(self.p.parties)))}
        for j in sorted(first.values()):
            world = base_world(self.parties, count, j)
            yield [world] if few_worlds else [world, *nearby_worlds(world)], 1
            yield [rotate_permutations(world)], 1


def setting_labels(every: Sequence[Any]) -> tuple[str, ...]:
    """Return for each parameters the values in which they differ, lists apart."""
    stated = [{name: value for name, value in q.as_dict().items() if not isinstance(value, list)} for q in every]
    every_name = dict.fromkeys(name for q in stated for name in q)
    names = [name for name in every_name if any(q.get(name) != stated[0].get(name) for q in stated)]
    return tuple(", ".join(f"{name} {q[name]}" for name in names if name in q) for q in stated)


def _apart(x: str, y: str) -> str:
    return f"{x} - {y}"


def _neighbours(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield names that differ in the number of the coordinate only, each with the next."""
    vectors: dict[str, list[str]] = {}
    for name in names:
        vector, bracket, _ = name.partition("(")
        if bracket and " - " not in name:
            vectors.setdefault(vector, []).append(name)
    return (pair for found in vectors.values() for pair in pairwise(found))


def _image(i: int) -> Callable[[World], Hashable]:
    return lambda world: world.permutations[i]
