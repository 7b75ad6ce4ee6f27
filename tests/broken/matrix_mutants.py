"""The curator protocol with one thing left out, as role functions: what some coalition learns must change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from broken.curator_roles import Bent, Stage, curator_of, party_of

from protocols.arithmetic.permutation import Permutation
from protocols.crypto import commitment
from protocols.pathak2010 import setup, stage1, stage3
from protocols.pathak2010.as_published import plain_product
from protocols.pathak2010.messages import (
    Blinded,
    Half,
    Indicator,
    Masked,
    Opening,
    PublishedShare,
    Ready,
    Relay,
    Reshare,
    Selected,
    Slot,
)
from protocols.pathak2010.minimum import with_tie_bits
from protocols.pathak2010.values import Halves
from protocols.runtime.message import PARTY

# Charlie's step 1.4.


def sending_back(bits: Callable[[Any], int], *, in_place: bool = False, plainly: bool = False) -> Stage:
    """With r of so many bits; `in_place` without pi_2, `plainly` without new randomness."""

    async def blinding(me: Any, p: Any, keys: Any) -> Halves:
        slots = await me.gather(me.parties, Slot)
        r = [me.rng.bits(bits(p)) for _ in slots]
        pi2 = Permutation(tuple(range(p.K))) if in_place else Permutation.random(p.K, me.rng)
        a = [
            plain_product(keys.xi, slot.a, r_i) if plainly else keys.xi.blind(slot.a, r_i, me.rng)
            for slot, r_i in zip(slots, r, strict=True)
        ]
        b = keys.zeta.decrypt_all([slot.b for slot in slots])
        for name, c in zip(me.parties, pi2(a), strict=True):
            me.send(name, Blinded(c))
        return Halves(tuple(pi2([p.sizes.subtract(b_i, r_i) for b_i, r_i in zip(b, r, strict=True)])), pi2)

    return blinding


async def listening(me: Any, p: Any, keys: Any) -> Halves:
    """Charlie reads what the parties open to each other."""
    await me.gather(me.parties, Opening)
    return await stage1.curator(me, p, keys)


# A party's steps.


async def without_covers(me: Any, p: Any, keys: Any, mine: Any) -> None:
    """P_j writes to P_pi1(j) and to nobody else."""
    a, b = p.sizes.split(with_tie_bits(mine.n, p.tie_bits, me.rng), me.rng)
    relay = Relay(a, keys.zeta.encrypt(b, me.rng))
    target, source = me.parties[keys.pi1[me.index]], me.parties[keys.pi1.inverse[me.index]]
    if target != me.name:
        me.send(target, relay)
    got = relay if source == me.name else await me.receive(source, Relay)
    await _slot(me, p, keys, got, keys.zeta.refresh(got.b, me.rng))


async def without_choice(me: Any, p: Any, keys: Any, mine: Any) -> None:
    """What is for P_pi1(j) goes to everybody."""
    a, b = p.sizes.split(with_tie_bits(mine.n, p.tie_bits, me.rng), me.rng)
    relay = Relay(a, keys.zeta.encrypt(b, me.rng))
    me.broadcast(me.others, relay)
    source = me.parties[keys.pi1.inverse[me.index]]
    relays = dict(zip(me.others, await me.gather(me.others, Relay), strict=True))
    got = relays.get(source, relay)
    await _slot(me, p, keys, got, keys.zeta.refresh(got.b, me.rng))


async def passing_on(me: Any, p: Any, keys: Any, mine: Any) -> None:
    """P_pi1(j) passes zeta(b_j) on as it came."""
    a, b = p.sizes.split(with_tie_bits(mine.n, p.tie_bits, me.rng), me.rng)
    a_i, b_i = await stage1.relays_and_covers(me, p, keys.pi1, a, keys.zeta.encrypt(b, me.rng))
    await _slot(me, p, keys, Relay(a_i, b_i), b_i)


async def _slot(me: Any, p: Any, keys: Any, got: Relay, b: Any) -> None:
    me.send(me.curator, Slot(keys.xi.encrypt(got.a, me.rng), b))
    a_tilde = p.sizes.reduce(keys.xi.decrypt((await me.receive(me.curator, Blinded)).a))
    if me.index:
        me.send(me.parties[0], Half(a_tilde))
    else:
        halves = [a_tilde, *(half.a_tilde for half in await me.gather(me.others, Half))]
        await stage1.compare(me, p, keys, halves)


async def stale(me: Any, p: Any, keys: Any, mine: Any) -> Any:
    """psi_j goes to P_1 as the product came out."""
    v = keys.pi1.inverse((await me.receive(me.curator, Indicator)).u)
    psi_j = keys.zeta.scale(v[me.index], p.packing.pack(mine.eta))
    if me.index:
        me.send(me.parties[0], Selected(tuple(psi_j)))
        return None
    others = await me.gather(me.others, Selected)
    return tuple(keys.zeta.add(*column) for column in zip(psi_j, *(o.psi for o in others), strict=True))


async def unmasked(me: Any, p: Any, keys: Any, mine: Any, psi: Any, left: Any) -> Any:
    """s is missing."""
    if psi is not None:
        me.send(me.curator, Masked(tuple(keys.zeta.refresh(c, me.rng) for c in psi)))
    return await stage3.reshare(me, p, mine.w)


async def hardly_masked(me: Any, p: Any, keys: Any, mine: Any, psi: Any, left: Any) -> Any:
    """s is as long as what it hides."""
    w = mine.w
    if psi is not None:
        s = p.weights.random_vector(p.dimension, me.rng)
        packed = p.packing.pack(s)
        me.send(me.curator, Masked(tuple(keys.zeta.blind(c, x, me.rng) for c, x in zip(psi, packed, strict=True))))
        w = p.weights.subtract_vectors(w, s)
    return await stage3.reshare(me, p, w)


async def telling(me: Any, p: Any, keys: Any, mine: Any, psi: Any, left: Any) -> Any:
    """What is announced and opened is the weights, whatever share is published."""
    if psi is not None:
        return await stage3.party(me, p, keys, mine.w, psi)
    own, *shares = p.weights.split_vector(mine.w, len(me.everyone), me.rng)
    others = [name for name in me.everyone if name != me.name]
    for other, share in zip(others, shares, strict=True):
        me.send(other, Reshare(share))
    got = await me.gather(others, Reshare)
    committed, opening = commitment.commit(me.session_id, commitment.canonical(mine.w), me.rng)
    me.broadcast(others, Ready(committed))
    await me.gather(others, Ready)
    me.publish(PublishedShare(p.weights.add_vectors(own, *(message.x for message in got)), opening))


async def loud_setup(me: Any, p: Any, mine: Any) -> Any:
    """The coins for pi_1 go to Charlie as well."""

    def broadcast(to: Any, message: Any) -> None:
        me.broadcast((*to, me.curator) if isinstance(message, Opening) else to, message)

    return await setup.party(Bent(me, broadcast=broadcast), p)


IN_PLACE = curator_of(__name__, sending_back(lambda p: p.blind_bits, in_place=True))
UNBLINDED = curator_of(__name__, sending_back(lambda p: 0))
HARDLY_BLINDED = curator_of(__name__, sending_back(lambda p: p.sizes.bits))
PLAINLY_BLINDED = curator_of(__name__, sending_back(lambda p: p.blind_bits, plainly=True))
WITHOUT_COVERS = party_of(__name__, size=without_covers)
WITHOUT_CHOICE = party_of(__name__, size=without_choice)
PASSING_ON = party_of(__name__, size=passing_on)
STALE = party_of(__name__, noise=stale)
UNMASKED = party_of(__name__, weights=unmasked)
HARDLY_MASKED = party_of(__name__, weights=hardly_masked)
TELLING = party_of(__name__, weights=telling)
_LISTENING = curator_of(__name__, listening)
LOUD = replace(_LISTENING, roles={**_LISTENING.roles, PARTY: party_of(__name__, toss=loud_setup).roles[PARTY]})
