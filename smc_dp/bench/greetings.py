"""What it costs that many participants greet and open their links, on a star: processor seconds of all of them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Any

from protocols.arithmetic.rng import Stream
from protocols.curator import parties_and_curator
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import CURATOR, PARTY, Message, message, public
from protocols.runtime.session import Program
from protocols.runtime.simulate import simulate
from smc_dp.aggregation import participants

PARTIES = 1000


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


def star(parties: int) -> Star:
    """The parameters of so many parties."""
    return Star(tuple(f"P{j}" for j in range(1, parties + 1)))


def greeting_seconds(parties: int = PARTIES) -> float:
    """Processor seconds of one such session, making identities apart; raises RuntimeError when a byte is wrong."""
    rng, p = Stream.from_system(), star(parties)
    session = participants(STAR, p, rng)
    seeds = {name: rng.fork(f"seed {name}") for name in session.session.names}
    begun = time.process_time()
    run = simulate(session.session, session.identities, seeds, dict.fromkeys(session.session.names, (p,)))
    seconds = time.process_time() - begun
    if {run.results[name] for name in p.parties} != {sum(j % 256 for j in range(parties)) % 256}:
        raise RuntimeError("a party on the star heard another byte than the curator told it")
    return seconds
