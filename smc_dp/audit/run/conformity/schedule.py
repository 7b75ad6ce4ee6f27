"""The conversation that a protocol holds, learnt from its own code: who sends what to whom after reading what.

The roles run at toy size on drawn inputs, several times; whatever is the same each time is the protocol's schedule. A
kind of message whose headers differ between these runs is *free*: its headers follow something secret, which is a
finding of its own, and the schedule then says only where such a message may stand.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from math import factorial
from typing import Any, NamedTuple

from protocols import programs
from protocols.crypto.identity import SIGNATURE_BYTES
from protocols.crypto.sealing import KEY_BYTES, OVERHEAD_BYTES
from protocols.errors import LocalError
from protocols.programs import Protocol
from protocols.runtime import message as messages
from protocols.runtime.channel import HELLO, STAGE_END, Envelope
from protocols.runtime.message import PUBLIC, Kind
from protocols.runtime.session import PUBLIC_NAME, Session
from smc_dp.audit.run.conformity.toy_run import Move, Script, Scripts, ToyRun

_UNLIKELY = 1000  # one over the probability that a secret permutation is drawn alike in all toy runs


class Place(NamedTuple):
    """Where a free message may stand: its sender's kind, its stage, and how much else that sender sent in it before."""

    sender: Kind
    kind: str
    stage: str
    before: int


@dataclass(frozen=True)
class Schedule:
    """`scripts`: what each role sends and reads, in its order, without the free kinds. `rounds`: its causal depth.

    `free` maps the kinds whose headers differ between runs to the most that one sender sent of them; `places` are
    where they stood. `runs`: from how many toy runs all this was learnt.
    """

    scripts: Scripts
    rounds: int
    free: Mapping[str, int]
    places: frozenset[Place]
    runs: int

    def sends(self, name: str) -> list[Move]:
        """What this role sends, in its order."""
        return [move for move in self.scripts[name] if move.sends]


class Walk(NamedTuple):
    """How far a record keeps to cause and effect: its rounds, and the first line sent before what it follows from."""

    rounds: int
    line: int | None = None
    awaited: str | None = None


def body_bytes(session: Session) -> dict[str, int]:
    """The length of the body of every kind of message in this session: a function of public parameters alone."""
    lengths = {HELLO: KEY_BYTES + SIGNATURE_BYTES, STAGE_END: SIGNATURE_BYTES}
    for kind in session.program.kinds:
        published = any(to == PUBLIC for _, to in kind.route.ends)
        around = SIGNATURE_BYTES if published else OVERHEAD_BYTES
        lengths[kind.__name__] = messages.size(kind, session.layout) + around
    return lengths


def learn(protocol: Protocol, parameters: Any, recorded: int) -> Schedule | None:
    """The schedule under these parameters; None when the protocol sends far more messages than were `recorded`, more
    than twice to four times as many, so that the work is bounded by the size of the record.

    Raises `LocalError` when the toy runs have no order in common.
    """
    return _learn(protocol.program.name, protocol.program.version, parameters, 1 << (2 * recorded).bit_length())


def walk(scripts: Scripts, free: Mapping[str, int], envelopes: Mapping[int, Envelope]) -> Walk:
    """Follow the envelopes in the order of their lines, each sender reading first what its script says.

    A round is a causal step: a message's depth is one more than the deepest that its sender had read before.
    """
    left = {name: deque(script) for name, script in scripts.items()}
    depth = dict.fromkeys(scripts, 0)
    posted: dict[tuple[str, str], deque[int]] = defaultdict(deque)
    rounds = 0
    for line, e in envelopes.items():
        if e.kind in free or e.sender not in left:
            continue
        script = left[e.sender]
        while script and not script[0].sends:
            peer = script[0].peer
            if not posted[peer, e.sender]:
                return Walk(rounds, line, peer)
            depth[e.sender] = max(depth[e.sender], posted[peer, e.sender].popleft())
            script.popleft()
        if script:
            script.popleft()
        posted[e.sender, e.to].append(depth[e.sender] + 1)
        rounds = rounds if e.to == PUBLIC_NAME else max(rounds, depth[e.sender] + 1)
    return Walk(rounds)


def places(sender: Kind, sent: Sequence[tuple[str, str]], free: Mapping[str, int]) -> Iterator[Place | None]:
    """For each (kind, stage) that one sender sent: its place if the kind is free, else None."""
    before: Counter[str] = Counter()
    for kind, stage in sent:
        yield Place(sender, kind, stage, before[stage]) if kind in free else None
        before[stage] += kind not in free


@lru_cache(maxsize=4)  # several checks ask, and they ask about one record after the other
def _learn(name: str, version: int, parameters: Any, most: int) -> Schedule | None:
    return from_toy_runs(programs.find(name, version), parameters, most)


def from_toy_runs(protocol: Protocol, parameters: Any, most: int) -> Schedule | None:
    """The same without memory; None when the protocol sends more than `most` messages."""
    toy = protocol.model.toy(parameters)
    wanted = next(r for r in count(2) if factorial(len(toy.parties)) ** (r - 1) >= _UNLIKELY)
    if len(toy.parties) * (len(toy.parties) + 1) > most:  # the greetings alone
        return None
    runs: list[ToyRun] = []
    for number in range(wanted):
        runs.append(ToyRun(protocol, toy, number))
        if not runs[-1].finish(most):
            return None
    free = _free([run.scripts for run in runs])
    common = [_without(run.scripts, free) for run in runs]
    if any(scripts != common[0] for scripts in common):
        raise LocalError(f"{protocol.program.name}: its messages have no order that all toy runs have in common")
    seen = frozenset(place for run in runs for place in _stood(run, free))
    posted = dict(enumerate(runs[0].posted))
    return Schedule(common[0], walk(common[0], free, posted).rounds, free, seen, wanted)


def _free(runs: Sequence[Scripts]) -> dict[str, int]:
    """The kinds that not every run sends to the same peers, in the same stages and sizes; with the most per sender."""
    by_kind = [_sent_by_kind(scripts) for scripts in runs]
    kinds = {kind for run in by_kind for _, kind in run}
    names = runs[0].keys()
    moved = {k for k in kinds if any(run.get((n, k)) != by_kind[0].get((n, k)) for run in by_kind for n in names)}
    return {k: max(len(run.get((n, k), ())) for run in by_kind for n in names) for k in sorted(moved)}


def _sent_by_kind(scripts: Scripts) -> dict[tuple[str, str], list[Move]]:
    found: dict[tuple[str, str], list[Move]] = defaultdict(list)
    for name, script in scripts.items():
        for move in script:
            if move.sends:
                found[name, move.kind].append(move)
    return dict(found)


def _without(scripts: Scripts, free: Mapping[str, int]) -> dict[str, Script]:
    return {name: tuple(move for move in script if move.kind not in free) for name, script in scripts.items()}


def _stood(run: ToyRun, free: Mapping[str, int]) -> Iterator[Place]:
    """Where the free messages of a toy run stood."""
    for name, moves in run.scripts.items():
        sent = [(move.kind, move.stage) for move in moves if move.sends]
        yield from (place for place in places(run.session.kind(name), sent, free) if place)
