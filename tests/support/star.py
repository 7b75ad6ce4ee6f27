"""A star: each party tells the curator a byte, and hears one, which opens every link of a star."""

from __future__ import annotations

from typing import Annotated

from protocols.curator import parties_and_curator
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import CURATOR, PARTY, Message, message, public
from protocols.runtime.session import Program
from support.parties import Parties
from support.sessions import Setup, names, start


@message("1", PARTY >> CURATOR)
class Up(Message):
    """A byte for the curator."""

    x: Annotated[int, public("byte")]


@message("2", CURATOR >> PARTY)
class Down(Message):
    """A byte for a party."""

    x: Annotated[int, public("byte")]


async def _tell(me: Endpoint) -> int:
    me.send(me.curator, Up(me.index % 256))
    return (await me.receive(me.curator, Down)).x


async def _hear(me: Endpoint) -> None:
    total = sum(up.x for up in await me.gather(me.parties, Up))
    me.broadcast(me.parties, Down(total % 256))


async def _party(me: Endpoint, p: Parties) -> int:
    return await me.stage(_tell)


async def _curator(me: Endpoint, p: Parties) -> None:
    await me.stage(_hear)


STAR = Program("star", 1, {PARTY: _party, CURATOR: _curator}, (Up, Down), (), Parties, participants=parties_and_curator)


def star(K: int) -> Setup:
    """Return a session of K parties and the curator."""
    p = Parties(names(K), {"byte": 1})
    return start(STAR, p, dict.fromkeys(STAR.participants(p), (p,)))
