"""Each role as a long-lived actor over asyncio queues: the shape in which a role lives on a real network."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.errors import DecodeError, PeerError, StallError
from protocols.runtime.board import Board
from protocols.runtime.channel import Envelope
from protocols.runtime.process import Process, processes
from protocols.runtime.session import PUBLIC_NAME, Session


async def run(
    session: Session,
    identities: Mapping[str, Identity],
    seeds: Mapping[str, Stream],
    inputs: Mapping[str, tuple[Any, ...]],
) -> tuple[dict[str, Any], list[Envelope]]:
    """All actors to their end, then publication: what each published, and every envelope that was sent.

    Raises an ExceptionGroup holding what any role raises, or a `StallError` when all that are left wait for mail that
    nobody has sent; the others are cancelled, and nothing is published.
    """
    actors = _Actors(processes(session, identities, seeds, inputs))
    try:
        async with asyncio.TaskGroup() as group:
            for role in actors.roles.values():
                group.create_task(actors.live(role))
        for role in actors.roles.values():
            while not actors.queues[role.name].empty():
                _deliver(role, actors.queues[role.name].get_nowait())  # raises: the role wanted nothing more
        for role in actors.roles.values():
            actors.sent.extend(role.release())
    finally:
        for role in actors.roles.values():
            role.close()
    board = Board(session)
    for envelope in actors.sent:
        if envelope.to == PUBLIC_NAME:
            board.post(envelope, envelope.number)
    return board.published, actors.sent


class _Actors:
    """All actors of a session, their queues, and everything that was sent."""

    def __init__(self, roles: dict[str, Process]) -> None:
        self.roles = roles
        self.queues = {name: asyncio.Queue[bytes]() for name in roles}
        self.sent: list[Envelope] = []
        self._idle: set[str] = set()

    async def live(self, role: Process) -> None:
        """One actor's life."""
        while True:
            for envelope in role.advance():
                self.sent.append(envelope)
                if envelope.to in self.queues:
                    await self.queues[envelope.to].put(envelope.encode())
            self._idle.add(role.name)
            self._refuse_stall()
            if role.done:
                return
            data = await self.queues[role.name].get()
            self._idle.discard(role.name)
            _deliver(role, data)

    def _refuse_stall(self) -> None:
        left = [role for role in self.roles.values() if not role.done]
        if left and self._idle == self.roles.keys() and all(self.queues[role.name].empty() for role in left):
            raise StallError({role.name: role.waiting or "" for role in left})


def _deliver(role: Process, data: bytes) -> None:
    try:
        envelope = Envelope.decode(data)
    except DecodeError as error:
        raise PeerError("somebody", f"sent {role.name} what is no envelope: {error}") from None
    role.deliver(envelope, envelope.number)
