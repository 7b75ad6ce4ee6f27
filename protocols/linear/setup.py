"""Stage 0. Charlie's keys of this session: one box key for all, one point for P_1."""

from __future__ import annotations

from protocols.comparison.garbled import OtKey
from protocols.crypto import encapsulation, oblivious
from protocols.linear.messages import BoxKey
from protocols.linear.parameters import Parameters
from protocols.linear.values import CuratorKeys, PartyKeys
from protocols.runtime.endpoint import Endpoint


async def party(me: Endpoint, p: Parameters) -> PartyKeys:
    """Run P_j: return Charlie's keys. It learns nothing."""
    box = (await me.receive(me.curator, BoxKey)).box
    return PartyKeys(box, (await me.receive(me.curator, OtKey)).A if not me.index else None)


async def curator(me: Endpoint, p: Parameters) -> CuratorKeys:
    """Run Charlie: make his keys and announce them."""
    box = me.once("box", encapsulation.secret)
    offer = me.once("transfers", oblivious.offer)
    # 0.
    me.broadcast(p.parties, BoxKey(encapsulation.public_key(box)))
    me.send(me.parties[0], OtKey(offer.A))
    return CuratorKeys(box, offer)
