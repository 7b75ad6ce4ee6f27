"""Each role as a long-lived actor over asyncio queues: the shape in which a role lives on a real network."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.errors import DecodeError, PeerError
from protocols.runtime.board import Board
from protocols.runtime.channel import Envelope
from protocols.runtime.process import Process
from protocols.runtime.session import PUBLIC_NAME, Session
from protocols.runtime.simulate import processes

Queues = Mapping[str, "asyncio.Queue[bytes]"]


async def run(
    session: Session,
    identities: Mapping[str, Identity],
    seeds: Mapping[str, Stream],
    inputs: Mapping[str, tuple[Any, ...]],
) -> tuple[dict[str, Any], list[Envelope]]:
    """All actors to their end, then publication: what each published, and every envelope that was sent.

    Raises an ExceptionGroup holding what any role raises; the others are cancelled, and nothing is published.
    """
    roles = processes(session, identities, seeds, inputs)
    queues = {name: asyncio.Queue[bytes]() for name in roles}
    sent: list[Envelope] = []
    try:
        async with asyncio.TaskGroup() as group:
            for role in roles.values():
                group.create_task(_live(role, queues, sent))
        for role in roles.values():
            while not queues[role.name].empty():
                _deliver(role, queues[role.name].get_nowait())  # raises: the role wanted nothing more
        for envelope in [envelope for role in roles.values() for envelope in role.release()]:
            sent.append(envelope)
    finally:
        for role in roles.values():
            role.close()
    board = Board(session)
    for envelope in sent:
        if envelope.to == PUBLIC_NAME:
            board.post(envelope, envelope.number)
    return board.published, sent


async def _live(role: Process, queues: Queues, sent: list[Envelope]) -> None:
    while True:
        for envelope in role.advance():
            sent.append(envelope)
            if envelope.to in queues:
                await queues[envelope.to].put(envelope.encode())
        if role.done:
            return
        _deliver(role, await queues[role.name].get())


def _deliver(role: Process, data: bytes) -> None:
    try:
        envelope = Envelope.decode(data)
    except DecodeError as error:
        raise PeerError("somebody", f"sent {role.name} what is no envelope: {error}") from None
    role.deliver(envelope, envelope.number)
