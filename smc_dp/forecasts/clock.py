"""Seconds of a conversation: what each group computes, and when it is over on the clock of the link model.

The clock is that of a simulation (`runtime.network.Clock`): all compute at the same time, a sender's line carries one
letter after the other, and nobody goes on before what it waits for has arrived. Members of a group differ in when
that is, so there is a time for each of them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import cbor2
import numpy as np

from protocols.runtime.channel import GREETING
from protocols.runtime.conversation import Foreseen, Labour, Mailing, Operations, Posted, Taken
from protocols.runtime.desk import KEYS
from protocols.runtime.envelope import HELLO
from protocols.runtime.message import Slot
from protocols.runtime.network import Link
from protocols.runtime.session import SESSION_BYTES, Session
from smc_dp.arrays import Array
from smc_dp.forecasts.asked import Asked
from smc_dp.forecasts.prices import Prices


@dataclass(frozen=True)
class Course:
    """Seconds from start to end, and the seconds of each member of a group by stage and group."""

    wall: float
    seconds: dict[str, dict[str, float]]


def course(foreseen: Foreseen, asked: Asked, link: Link, prices: Prices) -> Course:
    """How this conversation goes at these prices."""
    program, p = asked.protocol.program, asked.parameters
    nobody = dict.fromkeys(program.participants(p), b"")  # who signs what changes nothing here
    return _Clock(foreseen, Session(program, p, nobody, bytes(SESSION_BYTES)), link, prices).run()


class _Clock:
    """`now` and `line` of every participant, by group: how far its clock is, and until when its line is busy."""

    def __init__(self, foreseen: Foreseen, session: Session, link: Link, prices: Prices) -> None:
        self._found, self._session, self._link, self._prices = foreseen, session, link, prices
        groups = foreseen.groups.items()
        self._names = {g: np.array([len(cbor2.dumps(name)) for name in names], float) for g, names in groups}
        self._now: dict[str, Array] = {g: np.zeros(len(names)) for g, names in groups}
        self._line: dict[str, Array] = {g: np.zeros(len(names)) for g, names in groups}
        self._seconds: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        self._arrivals: dict[int, Array] = {}  # of letters: with each reader, or of each where there is one reader
        self._pending: dict[str, tuple[Array, float]] = {}  # letters read one by one: arrivals, seconds for each
        self._linked: set[tuple[str, str, bool]] = set()
        self._stage = dict.fromkeys(foreseen.groups, GREETING)

    def run(self) -> Course:
        """All that happens, in its order."""
        happenings = self._found.happenings
        for greeting in (h for h in happenings if isinstance(h, Posted) and h.kind == HELLO):
            self._posted(greeting)
        self._greet()
        for happening in happenings:
            if isinstance(happening, Labour):
                self._compute(happening)
            elif isinstance(happening, Taken):
                self._read(happening.letters)
            elif isinstance(happening, Mailing):
                self._send(happening)
            elif happening.kind != HELLO:
                self._posted(happening)
        for group in self._found.groups:
            self._settle(group)
        wall = max(float(now.max()) for now in self._now.values() if now.size)
        return Course(wall, {stage: dict(by) for stage, by in self._seconds.items()})

    def _spend(self, group: str, stage: str, seconds: float) -> None:
        self._seconds[stage][group] += seconds

    def _price(self, operations: Operations) -> float:
        return sum(self._prices.of(name) * count for name, count in operations.items())

    def _compute(self, labour: Labour) -> None:
        self._settle(labour.group)
        self._stage[labour.group] = labour.stage
        seconds = self._price(labour.operations)
        self._spend(labour.group, KEYS if labour.keys else labour.stage, seconds)
        self._now[labour.group] += seconds

    def _posted(self, posted: Posted) -> None:
        group = posted.sender
        self._settle(group)
        letter = self._prices.letter
        signed = letter.greeting if posted.kind == HELLO else letter.posted
        seconds = signed + posted.size * letter.out_byte
        self._spend(group, self._stage[group], seconds)
        self._now[group] += seconds
        busy = self._busy(posted.size + self._names[group])
        self._line[group] = np.maximum(self._line[group], self._now[group]) + busy

    def _greet(self) -> None:
        """Nobody starts before those have greeted with whom it shares a link; one of a group stands for all of it."""
        arrived = {g: line + self._link.latency for g, line in self._line.items()}
        for group, names in self._found.groups.items():
            peers = set(self._session.peers(names[-1])) if names else set()
            met = [arrived[g] for g, others in self._found.groups.items() if not peers.isdisjoint(others)]
            self._now[group] = np.maximum(self._now[group], max((float(times.max()) for times in met), default=0.0))

    def _linking(self, group: str, other: str, one_way: bool) -> float:
        """Seconds of this end of a link, when it is first used; along arcs those who write do not get anything back."""
        end = group, other, one_way
        known = end in self._linked
        self._linked.add(end)
        return 0.0 if known else self._prices.letter.link

    def _busy(self, size: Array) -> Array:
        return size / self._link.bandwidth if self._link.bandwidth else size * 0.0

    def _send(self, letters: Mailing) -> None:
        flow, sender = letters.flow, letters.sender
        self._stage[sender] = flow.stage
        once = self._prices.letter.out(letters.size / letters.times, values(letters)) + self._price(flow.each)
        linking = self._linking(sender, letters.to, False)
        self._spend(sender, flow.stage, (once * letters.times + linking) * letters.pairs / len(self._names[sender]))
        if self._are_two(letters):
            self._arrivals[id(letters)] = self._one_by_one(letters, once, linking)
        else:
            self._settle(sender)
            self._arrivals[id(letters)] = self._to_all(letters, once * letters.times + linking)

    def _are_two(self, letters: Mailing) -> bool:
        """Whether they go from one participant to another, so that they can be looked at one by one."""
        return len(self._names[letters.sender]) == len(self._names[letters.to]) == 1

    def _one_by_one(self, letters: Mailing, once: float, linking: float) -> Array:
        """Letters of one to one, maybe as answers: when each arrives."""
        sender, count = letters.sender, letters.times
        if not letters.flow.answers:
            self._settle(sender)
        asked, before = self._pending.pop(sender, (np.zeros(count), 0.0))
        done = queued(self._now[sender][0] + linking, asked, np.full(count, before + once))
        names = self._names[sender][0] + self._names[letters.to][0]
        gone = queued(self._line[sender][0], done, self._busy(np.full(count, letters.size / count + names)))
        self._now[sender], self._line[sender] = done[-1:], gone[-1:]
        return gone + self._link.latency

    def _to_all(self, letters: Mailing, each: float) -> Array:
        """Letters of each sender to one reader after the other: when the last of them is with each of these."""
        sender, to, times = letters.sender, letters.to, letters.times
        mine, theirs = self._names[sender], self._names[to]
        others = len(theirs) - (sender == to)
        share = letters.pairs / (len(mine) * others)  # of the others, on average, where letters go along arcs
        arrivals = np.zeros(len(theirs))
        for s, name in enumerate(mine):
            written = np.ones(len(theirs))
            if sender == to:
                written[s] = 0.0
            done = self._now[sender][s] + np.cumsum(written * (share * each))
            busy = self._busy(letters.size + times * (name + theirs)) * written * share
            gone = queued(self._line[sender][s], done, busy)
            self._now[sender][s], self._line[sender][s] = done[-1], gone[-1]
            arrivals = np.maximum(arrivals, (gone + self._link.latency) * written)
        return arrivals

    def _read(self, letters: Mailing) -> None:
        flow, reader = letters.flow, letters.to
        opened = self._prices.letter.opened(letters.size / letters.times)
        read = self._prices.letter.read(values(letters)) + self._price(flow.then) + self._admitted(letters)
        each = letters.times * letters.pairs / len(self._names[reader])
        stage = self._stage[reader] = flow.read or flow.stage
        linking = (
            self._linking(reader, letters.sender, flow.arcs is not None) * letters.pairs / len(self._names[reader])
        )
        self._spend(reader, stage, each * (opened + read) + linking)
        self._now[reader] += linking
        arrivals = self._arrivals.pop(id(letters))
        if self._are_two(letters):
            before, seconds = self._pending.get(reader, (np.zeros(letters.times), 0.0))
            if len(before) == letters.times:
                self._pending[reader] = np.maximum(before, arrivals), seconds + opened + read
                return
            self._settle(reader)
            self._pending[reader] = arrivals, opened + read
        else:
            self._now[reader] = np.maximum(self._now[reader] + each * opened, arrivals) + each * read

    def _admitted(self, letters: Mailing) -> float:
        """A ciphertext is looked at when it is read."""
        locked = (slot for slot in letters.flow.kind.slots if slot.protection.locks)
        return sum(
            self._prices.of(f"admission under {slot.protection.width}") * _count(slot, letters) for slot in locked
        )

    def _settle(self, group: str) -> None:
        """What was read one by one has been read."""
        if group in self._pending:
            arrivals, seconds = self._pending.pop(group)
            self._now[group] = queued(self._now[group][0], arrivals, np.full(len(arrivals), seconds))[-1:]


def queued(start: float, ready: Array, busy: Array) -> Array:
    """When each of these is done, one after the other: each starts when the one before is done and it is ready."""
    until = np.cumsum(busy)
    return np.asarray(until + np.maximum(start, np.maximum.accumulate(ready - until + busy)))


def values(letters: Mailing) -> int:
    """How many numbers, texts and ciphertexts are in one of these letters."""
    return sum(_count(slot, letters) for slot in letters.flow.kind.slots)


def _count(slot: Slot, letters: Mailing) -> int:
    return 1 if slot.count is None else letters.layout[slot.count]
