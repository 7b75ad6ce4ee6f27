"""Each role as a long-lived actor over asyncio queues: the shape in which a role lives on a real network."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.errors import DecodeError, PeerError, StallError
from protocols.runtime.actor import NO_LOCAL_PROGRAMS, Actor, LocalProgram, actors
from protocols.runtime.bulletin_board import BulletinBoard
from protocols.runtime.envelope import HELLO, Envelope
from protocols.runtime.inbox import Absent
from protocols.runtime.role_stepper import End
from protocols.runtime.session import PUBLIC_NAME, Session
from protocols.runtime.simulate import check_announcements, overdue


@dataclass(frozen=True, repr=False)
class Acted:
    """What each published and how each ended, and every envelope that was sent, in the order of sending."""

    published: dict[str, Any]
    ends: dict[str, End]
    envelopes: list[Envelope]


async def run(
    session: Session,
    identities: Mapping[str, Identity],
    seeds: Mapping[str, Stream],
    inputs: Mapping[str, tuple[Any, ...]],
    *,
    vanish: Mapping[str, int] | None = None,
    marks: Mapping[str, Sequence[Absent]] | None = None,
    home: Mapping[str, LocalProgram] = NO_LOCAL_PROGRAMS,
) -> Acted:
    """All actors to their end, then publication, unless a role was stopped.

    `vanish` maps participants to the number of envelopes that they still send; `marks` are known beforehand, by reader;
    `home` answers what roles ask, by name.
    Raises an ExceptionGroup holding what any role raises, or a `StallError` when all that are left wait for mail that
    nobody has sent; the others are cancelled, and nothing is published.
    """
    everybody = _Actors(session)
    everybody.roles = actors(session, identities, seeds, inputs, everybody.board.greetings, local_programs=home)
    for name, left in (vanish or {}).items():
        everybody.roles[name].drop_out(left)
    for name, absent in (marks or {}).items():
        for mark in absent:
            everybody.roles[name].mark(mark)
    try:
        async with asyncio.TaskGroup() as group:
            for role in everybody.roles.values():
                group.create_task(everybody.live(role))
        everybody.finish()
    finally:
        for role in everybody.roles.values():
            role.close()
    ends = {name: role.end for name, role in everybody.roles.items() if role.end}
    return Acted(everybody.board.published, ends, everybody.sent)


class _Actors:
    """All actors of a session, their queues, and everything that was sent."""

    def __init__(self, session: Session) -> None:
        self.roles: dict[str, Actor] = {}
        self.board = BulletinBoard(session)
        self.queues = {name: asyncio.Queue[bytes]() for name in session.names}
        self.sent: list[Envelope] = []
        self._idle: set[str] = set()

    async def live(self, role: Actor) -> None:
        """One actor's life."""
        while True:
            self._post(role.advance())
            self._idle.add(role.name)
            self._refuse_stall()
            if role.end is not None:
                return
            data = await self.queues[role.name].get()
            self._idle.discard(role.name)
            if data:
                _deliver(role, data)

    def finish(self) -> None:
        """Whatever is left over, and publication."""
        for role in self.roles.values():
            while not self.queues[role.name].empty():
                data = self.queues[role.name].get_nowait()
                if role.done and data:
                    _deliver(role, data)  # raises: the role wanted nothing more
        if any(role.end == "stopped" for role in self.roles.values()):
            return
        for role in self.roles.values():
            if role.done:
                self._post(role.release())
        check_announcements(self.board.session, self.roles.values(), self.board.published)

    def _post(self, envelopes: list[Envelope]) -> None:
        for envelope in envelopes:
            self.sent.append(envelope)
            if envelope.to == PUBLIC_NAME:
                self._read(envelope)
            else:
                self.queues[envelope.to].put_nowait(envelope.encode())

    def _read(self, envelope: Envelope) -> None:
        """Whoever waits for a greeting looks at the board again."""
        waiting = [name for name, role in self.roles.items() if envelope.sender in role.awaited]
        self.board.post(envelope)
        if envelope.kind == HELLO:
            for name in waiting:
                self.queues[name].put_nowait(b"")

    def _refuse_stall(self) -> None:
        left = [role for role in self.roles.values() if role.end is None]
        if any(role.name not in self._idle or not self.queues[role.name].empty() for role in left):
            return
        absences = overdue(self.roles)
        if left and not absences:
            raise StallError({role.name: role.waiting or "" for role in left})
        for name, senders in absences.items():
            self.roles[name].miss(*senders)
            self.queues[name].put_nowait(b"")


def _deliver(role: Actor, data: bytes) -> None:
    try:
        envelope = Envelope.decode(data)
    except DecodeError as error:
        raise PeerError("somebody", "link.no_envelope", name=role.name, error=str(error)) from None
    role.deliver(envelope)
