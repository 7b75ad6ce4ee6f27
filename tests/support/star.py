"""A star: each party tells the curator a byte, and hears one, which opens every link of a star."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from protocols.curator import parties_and_curator
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import CURATOR, PARTY, Message, message, public
from protocols.runtime.session import Program
from support.sessions import Setup, start


@message("1", PARTY >> CURATOR)
class Up(Message):
    """A byte for the curator."""

    x: Annotated[int, public("byte")]


@message("2", CURATOR >> PARTY)
class Down(Message):
    """A byte for a party."""

    x: Annotated[int, public("byte")]


@dataclass(frozen=True)
class Star:
    """Parties by name."""

    parties: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The parameters as plain values."""
        return {"parties": list(self.parties)}

    def layout(self) -> dict[str, int]:
        """Bytes of the one field."""
        return {"byte": 1}


async def _tell(me: Endpoint) -> int:
    me.send(me.curator, Up(me.index % 256))
    return (await me.receive(me.curator, Down)).x


async def _hear(me: Endpoint) -> None:
    total = sum(up.x for up in await me.gather(me.parties, Up))
    me.broadcast(me.parties, Down(total % 256))


async def _party(me: Endpoint, p: Star) -> int:
    return await me.stage(_tell)


async def _curator(me: Endpoint, p: Star) -> None:
    await me.stage(_hear)


STAR = Program("star", 1, {PARTY: _party, CURATOR: _curator}, (Up, Down), (), Star, participants=parties_and_curator)
"""Each party tells the curator a byte, and hears one: the least that opens every link of a star."""


def star(K: int) -> Setup:
    """Return a session of K parties and the curator."""
    p = Star(tuple(f"P{j}" for j in range(1, K + 1)))
    return start(STAR, p, dict.fromkeys(STAR.participants(p), (p,)))
