"""The coalition matrix of a protocol that is tried on every input and with every coin.

For each coalition the law of all that it sees is computed exactly, for every input of the others, from the role code.
Encryption is ideal: a box opens for whoever has the key. A secret is `nothing` to a coalition when the law is one and
the same for all its values, `all` when no view fits two of them, and `partly` in between; so nothing that the sizes
tried show is missed, and what shows at other sizes only is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from protocols.errors import LocalError
from protocols.programs import Protocol
from protocols.runtime.claims import Inputs
from smc_dp.leakage.matrix import LEVELS, Cell, Level
from support.exact.law import ViewLaw, are_apart, certain, law, mixture
from support.exact.many import AskedError
from support.exact.play import Branch, Player
from support.exact.seen import sight

MORE = "anything more"


@dataclass(frozen=True)
class ExactRow:
    """One coalition, and how much of each secret it gets."""

    members: tuple[str, ...]
    cells: Mapping[str, Cell]


@dataclass(frozen=True)
class ExactMatrix:
    """All coalitions; `sessions` are the parameters of the sizes tried, `inputs` how many there were in all."""

    protocol: str
    participants: tuple[str, ...]
    sessions: tuple[Mapping[str, Any], ...]
    inputs: int
    rows: tuple[ExactRow, ...]


@dataclass(frozen=True, repr=False)
class _Case:
    """One input of everybody, what the functionality gives, and the law of what each coalition sees."""

    inputs: Mapping[str, tuple[Any, ...]]
    given: Mapping[str, Any]
    laws: Mapping[tuple[str, ...], ViewLaw]


@dataclass(frozen=True)
class SmallCase:
    """A protocol at sizes at which every value of every coin can be tried.

    `samples`: parameters of that size. `inputs(p)`: everybody's inputs, one after the other. `gives(p, inputs)`: what
    the ideal functionality gives to each participant by name, None for nothing.
    """

    samples: tuple[Any, ...]
    inputs: Callable[[Any], Iterable[Inputs]]
    gives: Callable[[Any, Inputs], Mapping[str, Any]]


def matrix(protocol: Protocol, small: SmallCase) -> ExactMatrix:
    """Compute the matrix; raises `LocalError` where the code gives something else than it should."""
    count, found = 0, dict[tuple[str, ...], dict[str, Cell]]()
    names = tuple(protocol.program.participants(small.samples[0]))
    for p in small.samples:
        cases = [
            _case(player, small, p, inputs) for player in [Player(protocol.program, p)] for inputs in small.inputs(p)
        ]
        count += len(cases)
        for members in _coalitions(names):
            _worsen(found.setdefault(members, {}), _cells(cases, names, members))
    rows = tuple(ExactRow(members, cells) for members, cells in found.items())
    sessions = tuple(p.as_dict() for p in small.samples)
    return ExactMatrix(protocol.program.name, names, sessions, count, rows)


def _coalitions(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return (members for size in range(1, len(names) + 1) for members in combinations(names, size))


def _case(player: Player, small: SmallCase, p: Any, inputs: Inputs) -> _Case:
    given, branches = small.gives(p, inputs), list(player.branches(inputs))
    for branch in branches:
        _check(branch, given)
    names = tuple(inputs)
    laws = {
        members: law([(branch.ways, sight(branch, frozenset(members))) for branch in branches])
        for members in _coalitions(names)
        if len(members) < len(names)
    }
    return _Case({name: own[1:] for name, own in inputs.items()}, given, laws)


def _check(branch: Branch, given: Mapping[str, Any]) -> None:
    """Raises `LocalError` unless everybody gets what the functionality gives."""
    for name, wanted in given.items():
        try:
            right = branch.results[name] == wanted
        except AskedError:
            right = False
        if not right:
            raise LocalError("exact.wrong_result", name=name)


def _cells(cases: Sequence[_Case], names: Sequence[str], members: tuple[str, ...]) -> dict[str, Cell]:
    cells: dict[str, Cell] = {}
    others = [name for name in names if name not in members]
    for name in names:
        secret = f"numbers of {name}"
        own = name in members
        cells[secret] = OWN if own else _cell(cases, members, lambda case, name=name: case.inputs[name])  # type: ignore[misc]
    for name in names:
        if any(case.given[name] is not None for case in cases):
            cells[f"result of {name}"] = _cell(cases, members, lambda case, name=name: case.given[name])  # type: ignore[misc]
    if others:
        groups = _grouped(cases, lambda case: (_own(case, members), _result(case, members)))
        level = _worst(
            _told(group, lambda case: case.laws[members], lambda case: _own(case, others)) for group in groups
        )
        cells[MORE] = Cell(level, "nothing", f"{HOW[level]}, in {len(groups)} groups of one result")
    else:
        cells[MORE] = OWN
    return cells


OWN = Cell("own", "own", "a member's own")
HOW: Mapping[Level, str] = {
    "nothing": "one law of what is seen for all values",
    "partly": "what is seen has other laws for other values",
    "all": "nothing that is seen fits two values",
}


def _own(case: _Case, members: Sequence[str]) -> Hashable:
    return tuple(case.inputs[name] for name in members)


def _result(case: _Case, members: Sequence[str]) -> Hashable:
    return tuple(case.given[name] for name in members)


def _grouped(cases: Sequence[_Case], key: Callable[[_Case], Hashable]) -> list[list[_Case]]:
    groups: dict[Hashable, list[_Case]] = {}
    for case in cases:
        groups.setdefault(key(case), []).append(case)
    return list(groups.values())


def _cell(cases: Sequence[_Case], members: tuple[str, ...], value: Callable[[_Case], Hashable]) -> Cell:
    """One secret, for every input of the members; the level of the worst."""
    groups = _grouped(cases, lambda case: _own(case, members))
    open_ones = [group for group in groups if len({value(case) for case in group}) > 1]
    if not open_ones:
        return Cell("all", "all", "follows from the members' own inputs")
    level = _worst(_told(group, lambda case: case.laws[members], value) for group in open_ones)
    release = _worst(_told(group, lambda case: certain(_result(case, members)), value) for group in open_ones)
    return Cell(level, release, f"{HOW[level]}, in {len(open_ones)} groups of own inputs")


def _told(group: Sequence[_Case], seen: Callable[[_Case], ViewLaw], value: Callable[[_Case], Hashable]) -> Level:
    """How much of a value shows in something, all cases being equally likely; nothing, where there is one value."""
    laws = [mixture([seen(case) for case in same]) for same in _grouped(group, value)]
    if len({one.key for one in laws}) == 1:
        return "nothing"
    return "all" if are_apart(laws) else "partly"


def _worst(levels: Iterator[Level]) -> Level:
    return max(levels, key=LEVELS.index)


def _worsen(found: dict[str, Cell], more: Mapping[str, Cell]) -> None:
    """Keep the worse of two cells."""
    for secret, cell in more.items():
        before = found.get(secret, cell)
        found[secret] = max(before, cell, key=lambda c: (LEVELS.index(c.level), LEVELS.index(c.release)))
