"""Simulation: all participants as in-process actors over a simulated channel that carries sealed envelopes.

The envelopes are those of a real network: each message is really sealed, encoded, counted and recorded. The channel
carries them between actors, relays them where the topology says so, and models the network's delays.

A simulation is deterministic for given seeds and drop-outs, whatever the schedule. It finds a deadlock and names each
role with what it waits for. A `tamper` hook may rewrite, drop, repeat or misdirect an envelope in flight. A participant
can drop out between any two envelopes; when nobody can move, its absence is marked for those who wait for it. Shares
are published when all remaining roles have finished.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Any, TypeAlias

from typing_extensions import override

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.errors import Fault, PeerError, StallError
from protocols.runtime.actor import NO_LOCAL_PROGRAMS, Actor, Greetings, LocalProgram, actors
from protocols.runtime.bulletin_board import BulletinBoard
from protocols.runtime.claims import View
from protocols.runtime.envelope import Envelope
from protocols.runtime.events import Events
from protocols.runtime.inbox import Absent, InboxEntry, Note
from protocols.runtime.message import Message
from protocols.runtime.network import LINK_MODELS, Clock, Tally, Traffic, check_topology, is_relayed
from protocols.runtime.observer import Observer
from protocols.runtime.role_stepper import End
from protocols.runtime.session import PUBLIC_NAME, Session
from protocols.runtime.shared_work import sharing_work
from protocols.runtime.transcript import Transcript
from protocols.runtime.view import RecordedView, view_of

Tamper = Callable[[int, Envelope], Iterable[tuple[str, Envelope]]]
SpendingListener: TypeAlias = Callable[[str, str], None] | None
"""Function told of a charge or a refund (name, label), or None."""
MakeActors: TypeAlias = Callable[[Greetings, Observer, SpendingListener, SpendingListener], Mapping[str, Actor]]
"""Function that returns the actors of all participants, from the posted greetings and the listeners."""


@dataclass(frozen=True)
class DropOutAfter:
    """Moment of a drop-out: after so many envelopes of the participant, of which only the greeting and sealed messages
    count.

    Ends of stages do not count, and none leaves after the last counted envelope.
    """

    number: int


@dataclass(frozen=True)
class Setting:
    """Options of a simulation; except for `drop_outs`, none changes a byte that an honest role sends on any link.

    `schedule` shuffles the order of turns and arrivals. `tamper(n, envelope)` returns what arrives instead of envelope
    n, as pairs of addressee and envelope. `drop_outs` maps participants to the number of envelopes that they still
    send, or a `DropOutAfter`. `progress` hears each role's new stage, `released` the participant that is about to
    publish, `charge` and `refund` (name, label) the charges and refunds of a role. `marks` name what makes the
    run insecure. `views` keeps what each role could read: secret, so only on request. `record` takes the transcript
    during the run; without it, it stays in memory. `make_actors` replaces the construction of actors.
    """

    topology: str = "mesh"
    link: str = "none"
    schedule: Stream | None = None
    tamper: Tamper | None = None
    drop_outs: Mapping[str, int | DropOutAfter] = field(default_factory=dict)
    progress: Callable[[str, str], None] | None = None
    released: Callable[[str], None] | None = None
    charge: Callable[[str, str], None] | None = None
    refund: Callable[[str, str], None] | None = None
    marks: tuple[str, ...] = ()
    views: bool = False
    record: IO[bytes] | None = None
    make_actors: MakeActors | None = None


@dataclass(frozen=True, repr=False)
class Run:
    """Result of a simulation: each role's end and result, published messages, transcript, clock, views.

    `absent` holds the marks of each reader, `notes` what each disregarded, `why` the fault of each role that was
    stopped. `views` and `recorded` are empty unless requested: the first for checks in this process, the second for
    files. `traffic`: that of the stages, as counted from the transcript.
    """

    results: dict[str, Any]
    ends: dict[str, End]
    why: dict[str, Fault]
    published: dict[str, Any]
    absent: dict[str, frozenset[Absent]]
    notes: dict[str, tuple[Note, ...]]
    transcript: Transcript
    clock: Clock
    views: dict[str, View]
    recorded: dict[str, RecordedView]
    traffic: dict[str, Traffic]


def simulate(
    session: Session,
    identities: Mapping[str, Identity],
    seeds: Mapping[str, Stream],
    inputs: Mapping[str, tuple[Any, ...]],
    setting: Setting | None = None,
    local_programs: Mapping[str, LocalProgram] = NO_LOCAL_PROGRAMS,
) -> Run:
    """Run all participants as actors to their end; publish unless one was stopped.

    `local_programs` answer the queries of roles, by name. Raise what any role raises, `StallError` when all wait for
    each other, and `PeerError` when a participant publishes something else than it had announced.
    """
    setting = setting or Setting()
    wire = _Wire(session, setting)
    make = setting.make_actors or partial(actors, session, identities, seeds, inputs, local_programs=local_programs)
    roles = make(wire.board.greetings, wire, setting.charge, setting.refund)
    for name, n in setting.drop_outs.items():
        left, counts_sealed = (n.number, True) if isinstance(n, DropOutAfter) else (n, False)
        roles[name].drop_out(left, counts_sealed=counts_sealed)
    try:
        with sharing_work(wire.clock.read, wire.clock.charge):
            _to_the_end(wire, roles)
    finally:
        for role in roles.values():
            role.close()
    kept = {name: role for name, role in roles.items() if setting.views}
    recorded = {
        name: view_of(role, identities[name], seeds[name], wire.entries_of[name]) for name, role in kept.items()
    }
    return Run(
        {name: role.result for name, role in roles.items()},
        {name: role.end for name, role in roles.items() if role.end},
        {name: role.why for name, role in roles.items() if role.end == "stopped" and role.why},
        wire.board.published,
        {name: role.marks for name, role in roles.items()},
        {name: role.notes for name, role in roles.items() if role.notes},
        wire.transcript,
        wire.clock,
        {name: _seen(role, wire.read_by[name]) for name, role in kept.items()},
        recorded,
        wire.tally.stages,
    )


def _seen(role: Actor, read: list[tuple[str, Message]]) -> View:
    return View(role.name, role.inputs, tuple(role.progress.results), tuple(read), role.session.id)


def _to_the_end(wire: _Wire, roles: Mapping[str, Actor]) -> None:
    _run(wire, roles)
    if all(role.end != "stopped" for role in roles.values()):
        _publish(wire, roles)
    wire.note_lost(roles)
    wire.events.over({name: role.end for name, role in roles.items() if role.end})


def _run(wire: _Wire, roles: Mapping[str, Actor]) -> None:
    while any(role.end is None for role in roles.values()):
        before = (wire.moves, [role.end for role in roles.values()])
        for name in wire.order(list(roles)):
            wire.turn(roles[name])
        wire.read_board()
        if before == (wire.moves, [role.end for role in roles.values()]):
            absences = overdue(roles)
            if not absences:
                raise StallError({name: role.waiting for name, role in roles.items() if role.waiting})
            for name, senders in absences.items():
                for absent in roles[name].miss(*senders):
                    wire.transcript.miss(name, absent)
                    wire.events.missed(name, absent)
    wire.settle(roles)


def _publish(wire: _Wire, roles: Mapping[str, Actor]) -> None:
    for name, role in roles.items():
        if role.done:
            if wire.setting.released and role.publishes:
                wire.setting.released(name)
            role.release()
            wire.note_dropped_out(role)
    wire.settle(roles)
    check_announcements(wire.session, roles.values(), wire.board.published)


def overdue(roles: Mapping[str, Actor]) -> dict[str, list[str]]:
    """Return for each reader the senders that will send nothing more, which a driver marks when nobody can move."""
    over = {name for name, role in roles.items() if role.end in ("gone", "stopped")}
    found = {name: [sender for sender in role.awaited if sender in over] for name, role in roles.items()}
    return {name: senders for name, senders in found.items() if senders}


def check_announcements(session: Session, roles: Iterable[Actor], published: Mapping[str, Any]) -> None:
    """Raise `PeerError` for a participant that published something else than it had announced to another.

    There is no evidence: the announcement came sealed, and convinces nobody else.
    """
    kept = session.program.broken_commitment
    for role in roles:
        broken = kept(session.id, session.names, role.result, published) if kept and role.done else None
        if broken is not None:
            raise PeerError(*broken)


class _Wire(Observer):
    """Simulated channel with every link of the run: it posts, records, measures and delivers."""

    def __init__(self, session: Session, setting: Setting) -> None:
        check_topology(setting.topology, session)
        self.session, self.setting = session, setting
        self.clock = Clock(session, LINK_MODELS[setting.link], setting.topology)
        self.tally = Tally(session, LINK_MODELS[setting.link], setting.topology)
        self.transcript = Transcript(session, setting.marks, setting.topology, setting.record)
        self.board = BulletinBoard(session)
        self.events = Events(session)
        self.moves = 0
        self._unsent: dict[str, Absent] = {}  # by participant, the public envelope that its drop-out left unsent
        self._public: deque[Envelope] = deque()
        self._in_the_middle: deque[tuple[str, Envelope]] = deque()
        self.read_by: dict[str, list[tuple[str, Message]]] = {name: [] for name in session.names}
        self.entries_of: dict[str, list[InboxEntry]] = {name: [] for name in session.names}
        self._links: dict[str, dict[str, deque[Envelope]]] = {name: {} for name in session.names}

    def order(self, names: list[str]) -> list[str]:
        """Return the names in their order, or shuffled."""
        schedule = self.setting.schedule
        return Permutation.random(len(names), schedule)(names) if schedule else names

    def turn(self, role: Actor) -> None:
        """Deliver what has arrived and let the role run."""
        if role.end == "gone":
            return
        self.clock.start(role.name)
        try:
            self._deliver(role)
            role.advance()
        finally:
            self.clock.stop()
        self.note_dropped_out(role)

    def read_board(self) -> None:
        """Check the envelopes posted for everybody."""
        while self._public:
            self.moves += 1
            self.board.post(self._public.popleft())

    def settle(self, roles: Mapping[str, Actor]) -> None:
        """Deliver the rest once every role has ended; raise `PeerError` or `StallError` for a remainder."""
        while self._in_the_middle:
            self._arrive(*self._in_the_middle.popleft())
        for role in roles.values():
            for link in self._links[role.name].values():
                while link:
                    envelope = link.popleft()
                    if role.done:
                        role.deliver(envelope)
        self.read_board()
        lost = [name for name, role in roles.items() if self._unposted(role)]
        if lost:
            raise StallError({PUBLIC_NAME: f"a signed message from {', '.join(lost)}"})

    def note_dropped_out(self, role: Actor) -> None:
        """Keep the envelope with which a participant dropped out, in the order of the drop-outs."""
        if role.unsent is not None:
            self._unsent.setdefault(role.name, role.unsent)

    def note_lost(self, roles: Mapping[str, Actor]) -> None:
        """Record the drop-outs for which nobody waited: their last signatures are missing all the same."""
        missed = {absent.sender for role in roles.values() for absent in role.marks}
        for name, unsent in self._unsent.items():
            if name not in missed:
                self.transcript.miss(PUBLIC_NAME, unsent)

    def _deliver(self, role: Actor) -> None:
        while role.name == self.session.curator and self._in_the_middle:  # he passes on what he cannot open
            self.moves += 1
            self._arrive(*self._in_the_middle.popleft())
        links = self._links[role.name]
        for sender in self.order(list(links)):
            while links[sender]:
                self.moves += 1  # a shuffled delay is one too: it is no stall
                if self._late():
                    break
                role.deliver(links[sender].popleft())

    def _unposted(self, role: Actor) -> bool:
        return role.end != "gone" and role.signed_count > self.board.received.get(role.name, 0)

    def _late(self) -> bool:
        schedule = self.setting.schedule
        return schedule is not None and schedule.below(4) == 0

    # The observer of every actor.

    @override
    def stage(self, name: str, stage: str) -> None:
        self.clock.stage(name, stage)
        self.events.stage(name, stage)
        if self.setting.progress:
            self.setting.progress(name, stage)

    @override
    def started(self, name: str) -> None:
        self.clock.started(name)

    @override
    def sent(self, envelope: Envelope) -> None:
        self.moves += 1
        n = self.transcript.post(envelope)
        self.tally.add(envelope)
        self.events.sent(envelope)
        self.clock.sent(envelope)
        arriving = self.setting.tamper(n, envelope) if self.setting.tamper else [(envelope.to, envelope)]
        for to, arrival in arriving:
            if to == PUBLIC_NAME:
                self._public.append(arrival)
            elif is_relayed(self.setting.topology, self.session, envelope):
                self._in_the_middle.append((to, arrival))
            else:
                self._arrive(to, arrival)

    def _arrive(self, to: str, envelope: Envelope) -> None:
        self._links[to].setdefault(envelope.sender, deque()).append(envelope)

    @override
    def consumed(self, receiver: str, entry: InboxEntry) -> None:
        self.clock.consumed(receiver, entry.sender, entry.number)

    @override
    def read(self, receiver: str, entry: InboxEntry, message: Message) -> None:
        if self.setting.views:
            self.read_by[receiver].append((entry.sender, message))
            self.entries_of[receiver].append(entry)
