"""Roles that break the rules of the runtime, each in one way."""

from __future__ import annotations

from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.pathak2010 import party as honest_party
from protocols.pathak2010.messages import Commitment, Opening, PublishedShare
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.session import Role


def drawing_from(coins: Stream) -> Role:
    """A party that draws outside its own stream."""

    async def tossing(me: Endpoint) -> None:
        me.broadcast(me.others, Commitment(coins.bytes(32)))
        await me.gather(me.others, Commitment)

    async def party(me: Endpoint, p: Any, mine: Any) -> Any:
        await me.stage(tossing)
        return await honest_party(me, p, mine)

    return party


def forgetting() -> Role:
    """A party that sends a message the first time only."""
    sent: set[str] = set()

    async def tossing(me: Endpoint) -> None:
        if me.name not in sent:
            sent.add(me.name)
            me.broadcast(me.others, Commitment(bytes(32)))
        await me.gather(me.others, Commitment)

    async def party(me: Endpoint, p: Any, mine: Any) -> Any:
        await me.stage(tossing)
        return await honest_party(me, p, mine)

    return party


def once_per_stage(action: Any) -> Role:
    """A party whose only stage does this."""

    async def doing(me: Endpoint) -> None:
        result = action(me)
        if result is not None:
            await result

    async def party(me: Endpoint, p: Any, mine: Any) -> None:
        await me.stage(doing)

    return party


async def publishes_early(me: Endpoint, p: Any, mine: Any) -> Any:
    """P_j publishes in its first breath, then goes on."""

    async def publishing(me: Endpoint) -> None:
        me.publish(PublishedShare(mine.w, bytes(32)))

    await me.stage(publishing)
    return await honest_party(me, p, mine)


async def waits_first(me: Endpoint, p: Any, mine: Any) -> None:
    """Each party waits for the next one's opening before it sends its own."""

    async def waiting(me: Endpoint) -> None:
        following = me.parties[(me.index + 1) % len(me.parties)]
        await me.receive(following, Opening)
        me.broadcast(me.others, Opening(bytes(32), bytes(32)))

    await me.stage(waiting)
