"""Comparison as a protocol of its own: two roles share differences, and the holder learns their signs."""

from __future__ import annotations

from dataclasses import dataclass

from protocols.arithmetic.ring import Vector
from protocols.comparison import roles, steps
from protocols.comparison.messages import DGK, ComparisonKey
from protocols.comparison.parameters import Comparisons
from protocols.crypto import dgk
from protocols.runtime.endpoint import Endpoint

CHOOSER, HOLDER = "chooser", "holder"


@dataclass(frozen=True, repr=False)
class ChooserKey:
    """Key of the holder as the chooser has it."""

    dgk: dgk.DgkPublicKey


@dataclass(frozen=True, repr=False)
class HolderKey:
    """Key with its secrets."""

    dgk: dgk.DgkPrivateKey


async def give_key(me: Endpoint, p: Comparisons) -> HolderKey:
    """Make the holder's key and send its public part."""
    key = me.once("dgk", lambda rng: dgk.generate(p.key_bits, p.u, rng))
    me.send(CHOOSER, ComparisonKey(key.public.n, key.public.g, key.public.h))
    me.admit(DGK, key.public)
    return HolderKey(key)


async def take_key(me: Endpoint, p: Comparisons) -> ChooserKey:
    """Check what the chooser can see of the key."""
    return ChooserKey(roles.admit_key(me, HOLDER, await me.receive(HOLDER, ComparisonKey), p.key_bits, p.u))


async def choose(me: Endpoint, p: Comparisons, key: ChooserKey, shares: Vector) -> None:
    """Run the chooser's side of all comparisons, one after the other; it learns nothing."""
    for share in shares:
        x, flip = steps.chooser_half(p.ring, share)
        await roles.answer_offer(me, HOLDER, key.dgk, x, flip)


async def hold(me: Endpoint, p: Comparisons, key: HolderKey, shares: Vector) -> Vector:
    """Run the holder's side: all offers at once, then 1 for each negative difference, else 0."""
    halves = [steps.holder_half(p.ring, share) for share in shares]
    for y, _ in halves:
        roles.send_offer(me, CHOOSER, key.dgk, y, p.compared_bits)
    return tuple([steps.is_negative(await roles.read_answer(me, CHOOSER, key.dgk), top) for _, top in halves])


async def chooser(me: Endpoint, p: Comparisons, shares: Vector) -> None:
    """Run the chooser: its shares of the differences in, nothing out."""
    key = await me.stage(take_key, p, name="key of chooser")
    await me.stage(choose, p, key, shares)


async def holder(me: Endpoint, p: Comparisons, shares: Vector) -> Vector:
    """Run the holder: its shares of the differences in, their signs out."""
    key = await me.stage(give_key, p, name="key of holder")
    return await me.stage(hold, p, key, shares)
