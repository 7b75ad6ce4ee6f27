"""The curator protocol with one thing left out, as role functions: what some coalition learns must change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from protocols.arithmetic.permutation import Permutation
from protocols.crypto import commitment
from protocols.pathak2010 import PROGRAM, setup, stage1, stage2, stage3
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
from protocols.runtime.message import CURATOR, PARTY
from protocols.runtime.session import Program


async def _party(me: Any, p: Any, mine: Any, first: Any, second: Any, third: Any) -> Any:
    keys = await me.stage(setup.party, p)
    await me.stage(first, p, keys, mine.n)
    psi = await me.stage(second, p, keys, mine.eta)
    return await me.stage(third, p, keys, mine.w, psi)


async def _curator(me: Any, p: Any, first: Any) -> Any:
    keys = await me.stage(setup.curator, p)
    halves = await me.stage(first, p, keys)
    smallest = await me.stage(stage1.smallest, p, keys, halves)
    await me.stage(stage2.curator, p, keys, halves, smallest)
    return await me.stage(stage3.curator, p, keys)


# Charlie's step 1.4.


def _sent_back(me: Any, p: Any, keys: Any, slots: Any, r: Any, pi2: Any, a: Any) -> Halves:
    b = keys.zeta.decrypt_all([slot.b for slot in slots])
    for name, c in zip(me.parties, pi2(a), strict=True):
        me.send(name, Blinded(c))
    return Halves(tuple(pi2([p.sizes.subtract(b_i, r_i) for b_i, r_i in zip(b, r, strict=True)])), pi2)


def _blinded(me: Any, keys: Any, slots: Any, r: Any) -> list[Any]:
    return [keys.xi.blind(slot.a, r_i, me.rng) for slot, r_i in zip(slots, r, strict=True)]


async def in_place(me: Any, p: Any, keys: Any) -> Halves:
    """pi_2 is not applied."""
    slots = await me.gather(me.parties, Slot)
    r = [me.rng.bits(p.blind_bits) for _ in slots]
    return _sent_back(me, p, keys, slots, r, Permutation(tuple(range(p.K))), _blinded(me, keys, slots, r))


async def unblinded(me: Any, p: Any, keys: Any) -> Halves:
    """r is missing."""
    slots = await me.gather(me.parties, Slot)
    r = [0 for _ in slots]
    return _sent_back(me, p, keys, slots, r, Permutation.random(p.K, me.rng), _blinded(me, keys, slots, r))


async def hardly_blinded(me: Any, p: Any, keys: Any) -> Halves:
    """r is as long as what it hides."""
    slots = await me.gather(me.parties, Slot)
    r = [me.rng.bits(p.sizes.bits) for _ in slots]
    return _sent_back(me, p, keys, slots, r, Permutation.random(p.K, me.rng), _blinded(me, keys, slots, r))


async def plainly_blinded(me: Any, p: Any, keys: Any) -> Halves:
    """r comes without new randomness."""
    slots = await me.gather(me.parties, Slot)
    r = [me.rng.bits(p.blind_bits) for _ in slots]
    a = [plain_product(keys.xi, slot.a, r_i) for slot, r_i in zip(slots, r, strict=True)]
    return _sent_back(me, p, keys, slots, r, Permutation.random(p.K, me.rng), a)


async def curator_in_place(me: Any, p: Any) -> Any:
    return await _curator(me, p, in_place)


async def curator_unblinded(me: Any, p: Any) -> Any:
    return await _curator(me, p, unblinded)


async def curator_hardly_blinded(me: Any, p: Any) -> Any:
    return await _curator(me, p, hardly_blinded)


async def curator_plainly_blinded(me: Any, p: Any) -> Any:
    return await _curator(me, p, plainly_blinded)


# A party's steps.


async def without_covers(me: Any, p: Any, keys: Any, n: int) -> None:
    """P_j writes to P_pi1(j) and to nobody else."""
    a, b = p.sizes.split(with_tie_bits(n, p.tie_bits, me.rng), me.rng)
    relay = Relay(a, keys.zeta.encrypt(b, me.rng))
    target, source = me.parties[keys.pi1[me.index]], me.parties[keys.pi1.inverse[me.index]]
    if target != me.name:
        me.send(target, relay)
    got = relay if source == me.name else await me.receive(source, Relay)
    await _slot(me, p, keys, got, keys.zeta.refresh(got.b, me.rng))


async def without_choice(me: Any, p: Any, keys: Any, n: int) -> None:
    """What is for P_pi1(j) goes to everybody."""
    a, b = p.sizes.split(with_tie_bits(n, p.tie_bits, me.rng), me.rng)
    relay = Relay(a, keys.zeta.encrypt(b, me.rng))
    me.broadcast(me.others, relay)
    source = me.parties[keys.pi1.inverse[me.index]]
    relays = dict(zip(me.others, await me.gather(me.others, Relay), strict=True))
    got = relays.get(source, relay)
    await _slot(me, p, keys, got, keys.zeta.refresh(got.b, me.rng))


async def passing_on(me: Any, p: Any, keys: Any, n: int) -> None:
    """P_pi1(j) passes zeta(b_j) on as it came."""
    a, b = p.sizes.split(with_tie_bits(n, p.tie_bits, me.rng), me.rng)
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


async def stale(me: Any, p: Any, keys: Any, eta: Any) -> Any:
    """psi_j goes to P_1 as the product came out."""
    v = keys.pi1.inverse((await me.receive(me.curator, Indicator)).u)
    psi_j = keys.zeta.scale(v[me.index], p.packing.pack(eta))
    if me.index:
        me.send(me.parties[0], Selected(tuple(psi_j)))
        return None
    others = await me.gather(me.others, Selected)
    return tuple(keys.zeta.add(*column) for column in zip(psi_j, *(o.psi for o in others), strict=True))


async def unmasked(me: Any, p: Any, keys: Any, w: Any, psi: Any) -> Any:
    """s is missing."""
    if psi is not None:
        me.send(me.curator, Masked(tuple(keys.zeta.refresh(c, me.rng) for c in psi)))
    return await stage3.reshare(me, p, w)


async def hardly_masked(me: Any, p: Any, keys: Any, w: Any, psi: Any) -> Any:
    """s is as long as what it hides."""
    if psi is not None:
        s = p.weights.random_vector(p.dimension, me.rng)
        packed = p.packing.pack(s)
        me.send(me.curator, Masked(tuple(keys.zeta.blind(c, x, me.rng) for c, x in zip(psi, packed, strict=True))))
        w = p.weights.subtract_vectors(w, s)
    return await stage3.reshare(me, p, w)


async def unshared(me: Any, p: Any, keys: Any, w: Any, psi: Any) -> Any:
    """Charlie gets the last summand of everybody in the clear."""
    y = await stage3.party(me, p, keys, w, psi)
    me.send(me.curator, Half(w[-1]))
    return y


async def telling(me: Any, p: Any, keys: Any, w: Any, psi: Any) -> Any:
    """What is announced and opened is the weights, whatever share is published."""
    if psi is not None:
        return await stage3.party(me, p, keys, w, psi)
    own, *shares = p.weights.split_vector(w, len(me.everyone), me.rng)
    others = [name for name in me.everyone if name != me.name]
    for other, share in zip(others, shares, strict=True):
        me.send(other, Reshare(share))
    got = await me.gather(others, Reshare)
    committed, opening = commitment.commit(me.session_id, commitment.canonical(w), me.rng)
    me.broadcast(others, Ready(committed))
    await me.gather(others, Ready)
    me.publish(PublishedShare(p.weights.add_vectors(own, *(message.x for message in got)), opening))


async def party_without_covers(me: Any, p: Any, mine: Any) -> Any:
    return await _party(me, p, mine, without_covers, stage2.party, stage3.party)


async def party_without_choice(me: Any, p: Any, mine: Any) -> Any:
    return await _party(me, p, mine, without_choice, stage2.party, stage3.party)


async def party_passing_on(me: Any, p: Any, mine: Any) -> Any:
    return await _party(me, p, mine, passing_on, stage2.party, stage3.party)


async def party_stale(me: Any, p: Any, mine: Any) -> Any:
    return await _party(me, p, mine, stage1.party, stale, stage3.party)


async def party_unmasked(me: Any, p: Any, mine: Any) -> Any:
    return await _party(me, p, mine, stage1.party, stage2.party, unmasked)


async def party_hardly_masked(me: Any, p: Any, mine: Any) -> Any:
    return await _party(me, p, mine, stage1.party, stage2.party, hardly_masked)


async def party_unshared(me: Any, p: Any, mine: Any) -> Any:
    return await _party(me, p, mine, stage1.party, stage2.party, unshared)


async def party_telling(me: Any, p: Any, mine: Any) -> Any:
    return await _party(me, p, mine, stage1.party, stage2.party, telling)


class Loud:
    """An endpoint that lets Charlie read what the parties open to each other."""

    def __init__(self, me: Any) -> None:
        self._me = me

    def __getattr__(self, name: str) -> Any:
        return getattr(self._me, name)

    def broadcast(self, to: Any, message: Any) -> None:
        self._me.broadcast((*to, self._me.curator) if isinstance(message, Opening) else to, message)


async def loud_setup(me: Any, p: Any) -> Any:
    """The coins for pi_1 go to Charlie as well."""
    return await setup.party(Loud(me), p)


async def party_loud(me: Any, p: Any, mine: Any) -> Any:
    keys = await me.stage(loud_setup, p)
    await me.stage(stage1.party, p, keys, mine.n)
    psi = await me.stage(stage2.party, p, keys, mine.eta)
    return await me.stage(stage3.party, p, keys, mine.w, psi)


async def curator_listening(me: Any, p: Any) -> Any:
    keys = await me.stage(setup.curator, p)
    await me.gather(me.parties, Opening)
    halves = await me.stage(stage1.curator, p, keys)
    smallest = await me.stage(stage1.smallest, p, keys, halves)
    await me.stage(stage2.curator, p, keys, halves, smallest)
    return await me.stage(stage3.curator, p, keys)


def _program(party: Any = None, curator: Any = None) -> Program:
    return replace(PROGRAM, roles={PARTY: party or PROGRAM.roles[PARTY], CURATOR: curator or PROGRAM.roles[CURATOR]})


IN_PLACE = _program(curator=curator_in_place)
UNBLINDED = _program(curator=curator_unblinded)
HARDLY_BLINDED = _program(curator=curator_hardly_blinded)
PLAINLY_BLINDED = _program(curator=curator_plainly_blinded)
WITHOUT_COVERS = _program(party_without_covers)
WITHOUT_CHOICE = _program(party_without_choice)
PASSING_ON = _program(party_passing_on)
STALE = _program(party_stale)
UNMASKED = _program(party_unmasked)
HARDLY_MASKED = _program(party_hardly_masked)
UNSHARED = _program(party_unshared)
TELLING = _program(party_telling)
LOUD = _program(party_loud, curator_listening)
