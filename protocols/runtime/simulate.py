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
from protocols.errors import DecodeError, PeerError, StallError
from protocols.runtime import message as messages
from protocols.runtime.channel import Envelope, verify_signed
from protocols.runtime.claims import View
from protocols.runtime.message import Message
from protocols.runtime.network import LINKS, Meter
from protocols.runtime.process import Observer, Process
from protocols.runtime.session import PUBLIC_NAME, Session
from protocols.runtime.transcript import Transcript

Tamper = Callable[[int, Envelope], Iterable[tuple[str, Envelope]]]


@dataclass(frozen=True)
class Setting:
    """How a simulation runs; none of it changes a byte that an honest role sends on any link.

    `schedule` shuffles who runs and what arrives first. `tamper(n, envelope)` returns what arrives instead of
    envelope n, as pairs of addressee and envelope. `progress` is told each role's new stage. `marks` name what makes
    the run insecure. `views` keeps what each role could read: secret, so only on request.
    """

    topology: str = "mesh"
    link: str = "none"
    schedule: Stream | None = None
    tamper: Tamper | None = None
    progress: Callable[[str, str], None] | None = None
    marks: tuple[str, ...] = ()
    views: bool = False


@dataclass(frozen=True)
class Run:
    """What a run left behind: each role's result, the published messages, the wire record, the meter, the views."""

    results: dict[str, Any]
    published: dict[str, Any]
    transcript: Transcript
    meter: Meter
    views: dict[str, View]


def processes(
    session: Session,
    identities: Mapping[str, Identity],
    seeds: Mapping[str, Stream],
    inputs: Mapping[str, tuple[Any, ...]],
    observer: Observer | None = None,
) -> dict[str, Process]:
    """One process per participant."""
    return {
        name: Process(session, name, identities[name], seeds[name], inputs[name], observer=observer)
        for name in session.names
    }


def simulate(
    session: Session,
    identities: Mapping[str, Identity],
    seeds: Mapping[str, Stream],
    inputs: Mapping[str, tuple[Any, ...]],
    setting: Setting | None = None,
) -> Run:
    """Run every role to its end and publish; raises what any role raises, or `StallError`."""
    wire = _Wire(session, setting or Setting())
    roles = processes(session, identities, seeds, inputs, wire)
    try:
        while not all(role.done for role in roles.values()):
            before = (wire.moves, [role.done for role in roles.values()])
            for name in wire.order(list(roles)):
                wire.turn(roles[name])
            if before == (wire.moves, [role.done for role in roles.values()]):
                raise StallError({name: role.waiting for name, role in roles.items() if role.waiting})
        for role in roles.values():
            role.release()
    finally:
        for role in roles.values():
            role.close()
    results = {name: role.result for name, role in roles.items()}
    views = {name: View(name, inputs[name], tuple(role.progress.results), tuple(wire.read_by[name]))
             for name, role in roles.items()} if wire.setting.views else {}  # fmt: skip
    return Run(results, published(session, wire.public), wire.transcript, wire.meter, views)


def published(session: Session, envelopes: Iterable[tuple[int, Envelope]]) -> dict[str, Any]:
    """Each participant's published message; raises `PeerError` for a signature or a share that does not hold."""
    kinds = {kind.__name__: kind for kind in session.program.kinds}
    found: dict[str, Any] = {}
    for n, envelope in envelopes:
        try:
            payload = verify_signed(session, envelope)
            if envelope.kind in kinds:
                found[envelope.sender] = messages.decode(kinds[envelope.kind], payload, session.layout, {})
        except DecodeError as error:
            raise PeerError(envelope.sender, f"{envelope.kind} (public): {error}", [n]) from None
    return found


class _Wire:
    """Every link of the run: posts, records, meters, delivers."""

    def __init__(self, session: Session, setting: Setting) -> None:
        self.setting = setting
        self.transcript = Transcript(session, setting.marks, setting.topology)
        self.meter = Meter(session.names, LINKS[setting.link], setting.topology)
        self.public: list[tuple[int, Envelope]] = []
        self.moves = 0
        self.read_by: dict[str, list[tuple[str, Message]]] = {name: [] for name in session.names}
        self._links: dict[str, dict[str, deque[tuple[int, Envelope]]]] = {name: {} for name in session.names}

    def order(self, names: list[str]) -> list[str]:
        """The names as they come, or shuffled."""
        schedule = self.setting.schedule
        return Permutation.random(len(names), schedule)(names) if schedule else names

    def turn(self, role: Process) -> None:
        """Deliver what has arrived and let the role run."""
        self.meter.start(role.name)
        try:
            links = self._links[role.name]
            for sender in self.order(list(links)):
                while links[sender] and not self._late():
                    self.moves += 1
                    n, envelope = links[sender].popleft()
                    role.deliver(envelope, n)
            role.advance()
        finally:
            self.meter.stop()

    def _late(self) -> bool:
        schedule = self.setting.schedule
        return schedule is not None and schedule.below(4) == 0 and self._progressed()

    def _progressed(self) -> bool:
        self.moves += 1  # a shuffled delay is not a stall
        return True

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
                self.public.append((n, arrival))
            else:
                self._links[to].setdefault(arrival.sender, deque()).append((n, arrival))

    def consumed(self, receiver: str, reference: int) -> None:
        self.meter.consumed(receiver, reference)

    def read(self, receiver: str, sender: str, message: Message) -> None:
        if self.setting.views:
            self.read_by[receiver].append((sender, message))
