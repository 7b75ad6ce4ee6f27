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
from typing import IO, Any

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.errors import Fault, PeerError, StallError
from protocols.runtime.actor import NO_LOCAL_PROGRAMS, Actor, Greetings, LocalProgram, actors
from protocols.runtime.bulletin_board import BulletinBoard
from protocols.runtime.claims import View
from protocols.runtime.endpoint import Want
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
from protocols.runtime.worker import MakeActors, SpendingListener
from protocols.runtime.workers import DrivenRole, Workers, WorkersFailedError, can_fork, hired

Tamper = Callable[[int, Envelope], Iterable[tuple[str, Envelope]]]


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
    during the run; without it, it stays in memory. `make_actors` replaces the construction of actors. `workers`: number
    of processes in which roles may run, to save time; transcript and reports are the same, but a role may have come
    further when another aborts.
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
    workers: int = 1

    @property
    def can_be_shared_out(self) -> bool:
        """True where roles may run in several processes."""
        # Where envelopes are counted, shuffled or changed in flight, the order of sending matters.
        return self.workers > 1 and not (self.drop_outs or self.schedule or self.tamper)


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
    """Run all participants as actors, in this process or in workers, to their end; publish unless one was stopped.

    `local_programs` answer the queries of roles, by name. Raise what any role raises, `StallError` when all wait for
    each other, and `PeerError` when a participant publishes something else than it had announced.
    """
    everybody = _Everybody(session, identities, seeds, inputs, setting or Setting(), local_programs)
    if everybody.setting.can_be_shared_out and can_fork():
        try:
            return everybody.run_by_workers()
        except (WorkersFailedError, StallError):
            everybody.begin_again()
    return everybody.run_here()


@dataclass(frozen=True)
class _Everybody:
    """Inputs of a simulation, and the start of its transcript in the given file."""

    session: Session
    identities: Mapping[str, Identity]
    seeds: Mapping[str, Stream]
    inputs: Mapping[str, tuple[Any, ...]]
    setting: Setting
    local_programs: Mapping[str, LocalProgram]
    start: int = field(init=False)

    def __post_init__(self) -> None:
        record = self.setting.record
        object.__setattr__(self, "start", record.tell() if record else 0)

    def run_here(self) -> Run:
        """Run all actors in this process."""
        wire, setting = _Wire(self.session, self.setting), self.setting
        roles = self._made(wire.board.greetings, wire, setting.charge, setting.refund, self.session.names)
        for name, n in setting.drop_outs.items():
            left, counts_sealed = (n.number, True) if isinstance(n, DropOutAfter) else (n, False)
            roles[name].drop_out(left, counts_sealed=counts_sealed)
        try:
            with sharing_work(wire.clock.read, wire.clock.charge):
                _to_the_end(wire, roles)
        finally:
            for role in roles.values():
                role.close()
        read = {name: (wire.read_by[name], wire.entries_of[name]) for name in roles if setting.views}
        return _left(wire, roles, {name: self._views(roles[name], *both) for name, both in read.items()})

    def run_by_workers(self) -> Run:
        """Run the actors in worker processes; raise `WorkersFailedError` or `StallError` if one does not end."""
        setting = self.setting
        views = self._views if setting.views else None
        hiring = Workers(self.session, self._made, setting.workers, views, setting.charge, setting.refund)
        with hired(hiring) as workers:
            wire = _Wire(self.session, setting, workers.reported_time.read)
            roles = workers.roles(wire.board.greetings, wire)
            _to_the_end(wire, roles)
            return _left(wire, roles, workers.views() if views else {})

    def begin_again(self) -> None:
        """Truncate the transcript of a run that was abandoned."""
        if self.setting.record:
            self.setting.record.seek(self.start)
            self.setting.record.truncate()

    def _made(
        self,
        board: Greetings,
        observer: Observer,
        charge: SpendingListener,
        refund: SpendingListener,
        names: Iterable[str],
    ) -> Mapping[str, Actor]:
        if self.setting.make_actors is not None:
            return self.setting.make_actors(board, observer, charge, refund, names)
        session, identities, seeds, inputs = self.session, self.identities, self.seeds, self.inputs
        return actors(session, identities, seeds, inputs, board, observer, charge, refund, self.local_programs, names)

    def _views(
        self, role: Actor, read: list[tuple[str, Message]], entry: list[InboxEntry]
    ) -> tuple[View, RecordedView]:
        seen = View(role.name, role.inputs, tuple(role.progress.results), tuple(read), role.session.id)
        return seen, view_of(role, self.identities[role.name], self.seeds[role.name], entry)


def _to_the_end(wire: _Wire, roles: Mapping[str, DrivenRole]) -> None:
    _run(wire, roles)
    if all(role.end != "stopped" for role in roles.values()):
        _publish(wire, roles)
    wire.note_lost(roles)
    wire.events.over({name: role.end for name, role in roles.items() if role.end})


def _left(wire: _Wire, roles: Mapping[str, DrivenRole], views: Mapping[str, tuple[View, RecordedView]]) -> Run:
    return Run(
        {name: role.result for name, role in roles.items()},
        {name: role.end for name, role in roles.items() if role.end},
        {name: role.why for name, role in roles.items() if role.end == "stopped" and role.why},
        wire.board.published,
        {name: role.marks for name, role in roles.items()},
        {name: role.notes for name, role in roles.items() if role.notes},
        wire.transcript,
        wire.clock,
        {name: seen for name, (seen, _) in views.items()},
        {name: recorded for name, (_, recorded) in views.items()},
        wire.tally.stages,
    )


def _run(wire: _Wire, roles: Mapping[str, DrivenRole]) -> None:
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


def _publish(wire: _Wire, roles: Mapping[str, DrivenRole]) -> None:
    for name, role in roles.items():
        if role.done:
            if wire.setting.released and role.publishes:
                wire.setting.released(name)
            role.release()
            wire.note_dropped_out(role)
    wire.settle(roles)
    check_announcements(wire.session, roles.values(), wire.board.published)


def overdue(roles: Mapping[str, DrivenRole]) -> dict[str, list[str]]:
    """Return for each reader the senders that will send nothing more, which a driver marks when nobody can move."""
    over = {name for name, role in roles.items() if role.end in ("gone", "stopped")}
    found = {name: [sender for sender in role.awaited if sender in over] for name, role in roles.items()}
    return {name: senders for name, senders in found.items() if senders}


def check_announcements(session: Session, roles: Iterable[DrivenRole], published: Mapping[str, Any]) -> None:
    """Raise `PeerError` for a participant that published something else than it had announced to another.

    There is no evidence: the announcement came sealed, and convinces nobody else.
    """
    kept = session.program.broken_commitment
    for role in roles:
        broken = kept(session.id, session.names, role.result, published) if kept and role.done else None
        if broken is not None:
            raise PeerError(*broken)


class _Wire:
    """Simulated channel with every link of the run: it posts, records, measures and delivers."""

    def __init__(self, session: Session, setting: Setting, seconds: Callable[[], float] | None = None) -> None:
        check_topology(setting.topology, session)
        self.session, self.setting = session, setting
        self.clock = Clock(session, LINK_MODELS[setting.link], setting.topology, seconds)
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

    def turn(self, role: DrivenRole) -> None:
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

    def settle(self, roles: Mapping[str, DrivenRole]) -> None:
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

    def note_dropped_out(self, role: DrivenRole) -> None:
        """Keep the envelope with which a participant dropped out, in the order of the drop-outs."""
        if role.unsent is not None:
            self._unsent.setdefault(role.name, role.unsent)

    def note_lost(self, roles: Mapping[str, DrivenRole]) -> None:
        """Record the drop-outs for which nobody waited: their last signatures are missing all the same."""
        missed = {absent.sender for role in roles.values() for absent in role.marks}
        for name, unsent in self._unsent.items():
            if name not in missed:
                self.transcript.miss(PUBLIC_NAME, unsent)

    def _deliver(self, role: DrivenRole) -> None:
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

    def _unposted(self, role: DrivenRole) -> bool:
        return role.end != "gone" and role.signed_count > self.board.received.get(role.name, 0)

    def _late(self) -> bool:
        schedule = self.setting.schedule
        return schedule is not None and schedule.below(4) == 0

    # The observer of every actor.

    def stage(self, name: str, stage: str) -> None:
        self.clock.stage(name, stage)
        self.events.stage(name, stage)
        if self.setting.progress:
            self.setting.progress(name, stage)

    def posted(self, name: str, to: str, message: Message) -> None:
        pass

    def started(self, name: str) -> None:
        self.clock.started(name)

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

    def waits(self, name: str, want: Want) -> None:
        pass

    def consumed(self, receiver: str, entry: InboxEntry) -> None:
        self.clock.consumed(receiver, entry.sender, entry.number)

    def read(self, receiver: str, entry: InboxEntry, message: Message) -> None:
        if self.setting.views:
            self.read_by[receiver].append((entry.sender, message))
            self.entries_of[receiver].append(entry)
