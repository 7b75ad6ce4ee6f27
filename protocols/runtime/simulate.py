"""All roles in one process, over channels that really seal, encode, count and record every message.

Deterministic for given seeds, whatever the schedule; finds a deadlock and names who waits for what; a `tamper` hook may
rewrite, drop, repeat or misdirect an envelope in flight. Shares are published only when every participant has finished.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.errors import PeerError, StallError
from protocols.runtime.board import Board
from protocols.runtime.channel import Envelope
from protocols.runtime.claims import View
from protocols.runtime.message import Message
from protocols.runtime.network import LINKS, Meter, is_relayed
from protocols.runtime.process import Mail, Process, processes
from protocols.runtime.session import CURATOR_NAME, PUBLIC_NAME, Session
from protocols.runtime.transcript import Transcript
from protocols.runtime.view import RecordedView

Tamper = Callable[[int, Envelope], Iterable[tuple[str, Envelope]]]


@dataclass(frozen=True)
class Setting:
    """How a simulation runs; none of it changes a byte that an honest role sends on any link.

    `schedule` shuffles who runs and what arrives first. `tamper(n, envelope)` returns what arrives instead of
    envelope n, as pairs of addressee and envelope. `progress` is told each role's new stage. `marks` name what makes
    the run insecure. `views` keeps what each role could read: secret, so only on request. `released` is told each
    participant immediately before what it published leaves.
    """

    topology: str = "mesh"
    link: str = "none"
    schedule: Stream | None = None
    tamper: Tamper | None = None
    progress: Callable[[str, str], None] | None = None
    marks: tuple[str, ...] = ()
    views: bool = False
    released: Callable[[str], None] | None = None


@dataclass(frozen=True, repr=False)
class Run:
    """What a run left behind: each role's result, the published messages, the wire record, the meter, the views.

    `views` and `recorded` are empty unless asked for: the first for checks in this process, the second for files.
    """

    results: dict[str, Any]
    published: dict[str, Any]
    transcript: Transcript
    meter: Meter
    views: dict[str, View]
    recorded: dict[str, RecordedView]


def simulate(
    session: Session,
    identities: Mapping[str, Identity],
    seeds: Mapping[str, Stream],
    inputs: Mapping[str, tuple[Any, ...]],
    setting: Setting | None = None,
) -> Run:
    """Run every role to its end and publish; raises what any role raises, `StallError`, or `PeerError`."""
    wire = _Wire(session, setting or Setting())
    roles = processes(session, identities, seeds, inputs, wire)
    try:
        while not all(role.done for role in roles.values()):
            before = (wire.moves, [role.done for role in roles.values()])
            for name in wire.order(list(roles)):
                wire.turn(roles[name])
            wire.read_board()
            if before == (wire.moves, [role.done for role in roles.values()]):
                raise StallError({name: role.waiting for name, role in roles.items() if role.waiting})
        wire.settle(roles)
        for role in roles.values():
            if wire.setting.released:
                wire.setting.released(role.name)
            role.release()
        wire.settle(roles)
        _hold_to_their_word(session, roles.values(), wire.board.published)
    finally:
        for role in roles.values():
            role.close()
    results = {name: role.result for name, role in roles.items()}
    views = {name: View(name, inputs[name], tuple(role.progress.results), tuple(wire.read_by[name]))
             for name, role in roles.items()} if wire.setting.views else {}  # fmt: skip
    recorded = {name: RecordedView(session.id, name, seeds[name].key, seeds[name].insecure, inputs[name],
                                   tuple(wire.opened_by[name]))
                for name in roles} if wire.setting.views else {}  # fmt: skip
    return Run(results, wire.board.published, wire.transcript, wire.meter, views, recorded)


def _hold_to_their_word(session: Session, roles: Iterable[Process], published: Mapping[str, Any]) -> None:
    """Raises `PeerError`, without evidence: what somebody was told came sealed, and convinces nobody else."""
    kept = session.program.kept
    if kept is None:
        return
    for role in roles:
        broken = kept(session.id, session.names, role.result, published)
        if broken is not None:
            raise PeerError(*broken)


class _Wire:
    """Every link of the run: posts, records, meters, delivers."""

    def __init__(self, session: Session, setting: Setting) -> None:
        self.setting = setting
        self.transcript = Transcript(session, setting.marks, setting.topology)
        self.meter = Meter(session.names, LINKS[setting.link], setting.topology)
        self.board = Board(session)
        self.moves = 0
        self._public: deque[tuple[int, Envelope]] = deque()
        self._at_charlie: deque[tuple[int, str, Envelope]] = deque()
        self.read_by: dict[str, list[tuple[str, Message]]] = {name: [] for name in session.names}
        self.opened_by: dict[str, list[tuple[int, str, bytes]]] = {name: [] for name in session.names}
        self._links: dict[str, dict[str, deque[tuple[int, Envelope]]]] = {name: {} for name in session.names}

    def order(self, names: list[str]) -> list[str]:
        """The names as they come, or shuffled."""
        schedule = self.setting.schedule
        return Permutation.random(len(names), schedule)(names) if schedule else names

    def turn(self, role: Process) -> None:
        """Deliver what has arrived and let the role run."""
        self.meter.start(role.name)
        try:
            while role.name == CURATOR_NAME and self._at_charlie:  # he passes on what he cannot open
                self.moves += 1
                self._arrive(*self._at_charlie.popleft())
            links = self._links[role.name]
            for sender in self.order(list(links)):
                while links[sender]:
                    self.moves += 1  # a shuffled delay is one too: it is no stall
                    if self._late():
                        break
                    n, envelope = links[sender].popleft()
                    role.deliver(envelope, n)
            role.advance()
        finally:
            self.meter.stop()

    def read_board(self) -> None:
        """Check what has been posted for everybody."""
        while self._public:
            n, envelope = self._public.popleft()
            self.board.post(envelope, n)

    def settle(self, roles: Mapping[str, Process]) -> None:
        """Nothing may be under way or missing once every role is done: raises `PeerError` or `StallError`."""
        while self._at_charlie:
            self._arrive(*self._at_charlie.popleft())
        for role in roles.values():
            for link in self._links[role.name].values():
                while link:
                    n, envelope = link.popleft()
                    role.deliver(envelope, n)
        self.read_board()
        lost = [name for name, role in roles.items() if self._unposted(role)]
        if lost:
            raise StallError({PUBLIC_NAME: f"a signed message from {', '.join(lost)}"})

    def _unposted(self, role: Process) -> bool:
        return role.channel.sent.get(PUBLIC_NAME, 0) > self.board.received.get(role.name, 0)

    def _late(self) -> bool:
        schedule = self.setting.schedule
        return schedule is not None and schedule.below(4) == 0

    # The observer of every process.

    def stage(self, name: str, stage: str) -> None:
        self.meter.stage(name, stage)
        if self.setting.progress:
            self.setting.progress(name, stage)

    def sent(self, envelope: Envelope) -> None:
        self.moves += 1
        n = self.transcript.post(envelope)
        self.meter.sent(n, envelope)
        arriving = self.setting.tamper(n, envelope) if self.setting.tamper else [(envelope.to, envelope)]
        for to, arrival in arriving:
            if to == PUBLIC_NAME:
                self._public.append((n, arrival))
            elif is_relayed(self.setting.topology, arrival.sender, to):
                self._at_charlie.append((n, to, arrival))
            else:
                self._arrive(n, to, arrival)

    def _arrive(self, n: int, to: str, envelope: Envelope) -> None:
        self._links[to].setdefault(envelope.sender, deque()).append((n, envelope))

    def consumed(self, receiver: str, reference: int) -> None:
        self.meter.consumed(receiver, reference)

    def read(self, receiver: str, sender: str, message: Message, mail: Mail) -> None:
        if self.setting.views:
            self.read_by[receiver].append((sender, message))
            self.opened_by[receiver].append((mail.reference, mail.kind, mail.payload))
