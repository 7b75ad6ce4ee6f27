"""The curator protocol with coins that are used again: across coordinates, packs, stages, parties, and in public.

Every twin gives the right sum, and each of its messages by itself looks as it should; what is lost is in what several
of them say together.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from broken.curator_roles import Bent, curator_of, party_of

from protocols.arithmetic.ring import Ring, Vector
from protocols.arithmetic.rng import Stream
from protocols.crypto import commitment
from protocols.pathak2010 import setup, stage1, stage3
from protocols.pathak2010.messages import Blinded, Indicator, Masked, Opening, PublishedShare, Ready, Reshare, Slot
from protocols.pathak2010.minimum import with_tie_bits
from protocols.pathak2010.values import Announced, Halves, PartyKeys


class OneCoin(Ring):
    """Draws one number for all places of a vector."""

    def random_vector(self, length: int, rng: Stream) -> Vector:
        """The same number everywhere."""
        return (self.random(rng),) * length


class AllAlike(Ring):
    """All shares but one are the same."""

    def split_vector(self, x: Vector, count: int, rng: Stream) -> list[Vector]:
        """One's own share is that of the others as well."""
        share = self.random_vector(len(x), rng)
        return [*[share] * (count - 1), self.subtract_vectors(x, self.vector([(count - 1) * s for s in share]))]


async def _masked(me: Any, p: Any, keys: Any, w: Any, psi: Any, s: Any) -> Any:
    """Step 3.1 with this mask."""
    packed = p.packing.pack(s)
    me.send(me.curator, Masked(tuple(keys.zeta.blind(c, m, me.rng) for c, m in zip(psi, packed, strict=True))))
    return p.weights.subtract_vectors(w, p.weights.vector(s))


async def _reshared(me: Any, p: Any, own: Any, shares: Any, rng: Any) -> Any:
    """Step 3.3 with these shares; the opening of the commitment comes from `rng`."""
    others = [name for name in me.everyone if name != me.name]
    for other, share in zip(others, shares, strict=True):
        me.send(other, Reshare(share))
    y = p.weights.add_vectors(own, *(got.x for got in await me.gather(others, Reshare)))
    context = b"smc-dp share" + me.session_id + me.name.encode()
    committed, opening = commitment.commit(context, commitment.canonical(y), rng)
    me.broadcast(others, Ready(committed))
    announced = [ready.commitment for ready in await me.gather(others, Ready)]
    me.publish(PublishedShare(y, opening))
    announced.insert(me.everyone.index(me.name), committed)
    return Announced(y, tuple(announced))


# Across coordinates.


async def shares_for_all(me: Any, p: Any, keys: Any, mine: Any, psi: Any, left: Any) -> Any:
    """A share has the same coin in every coordinate: who gets the last one reads differences of weights."""
    return await stage3.party(me, Bent(p, weights=OneCoin(p.weights.bits)), keys, mine.w, psi)


async def mask_for_all(me: Any, p: Any, keys: Any, mine: Any, psi: Any, left: Any) -> Any:
    """s is one number: Charlie reads differences of the selected noise."""
    w = mine.w
    if psi is not None:
        s = [me.rng.bits(p.mask_bits)] * p.dimension
        w = await _masked(me, p, keys, w, psi, s)
    return await stage3.reshare(me, p, w)


# Across packs.


async def mask_of_one_pack(me: Any, p: Any, keys: Any, mine: Any, psi: Any, left: Any) -> Any:
    """Only the first pack is masked."""
    w = mine.w
    if psi is not None:
        s = [me.rng.bits(p.mask_bits) if i < p.packing.slots else 0 for i in range(p.dimension)]
        w = await _masked(me, p, keys, w, psi, s)
    return await stage3.reshare(me, p, w)


# In one stage, and for several readers.


async def mask_is_a_share(me: Any, p: Any, keys: Any, mine: Any, psi: Any, left: Any) -> Any:
    """P_1's share for Charlie is what masked the noise from him."""
    if psi is None:
        return await stage3.party(me, p, keys, mine.w, psi)
    s = [me.rng.bits(p.mask_bits) for _ in mine.w]
    w = await _masked(me, p, keys, mine.w, psi, s)
    own, *shares = p.weights.split_vector(w, len(me.everyone), me.rng)
    told = p.weights.vector(s)
    rest = p.weights.add_vectors(own, p.weights.subtract_vectors(shares[-1], told))
    return await _reshared(me, p, rest, [*shares[:-1], told], me.rng)


async def shares_alike(me: Any, p: Any, keys: Any, mine: Any, psi: Any, left: Any) -> Any:
    """All shares are the same but Charlie's: any other reader and he read everything."""
    return await stage3.party(me, Bent(p, weights=AllAlike(p.weights.bits)), keys, mine.w, psi)


# Across stages.


async def size_leaving_its_share(me: Any, p: Any, keys: Any, mine: Any) -> Any:
    """Stage 1, which leaves a_j behind."""
    a, b = p.sizes.split(with_tie_bits(mine.n, p.tie_bits, me.rng), me.rng)
    a_i, b_i = await stage1.relays_and_covers(me, p, keys.pi1, a, keys.zeta.encrypt(b, me.rng))
    me.send(me.curator, Slot(keys.xi.encrypt(a_i, me.rng), keys.zeta.refresh(b_i, me.rng)))
    a_tilde = p.sizes.reduce(keys.xi.decrypt((await me.receive(me.curator, Blinded)).a))
    if me.index:
        me.send(me.parties[0], stage1.Half(a_tilde))
    else:
        halves = [a_tilde, *(half.a_tilde for half in await me.gather(me.others, stage1.Half))]
        await stage1.compare(me, p, keys, halves)
    return Halves((a,), keys.pi1)


async def share_of_the_size_again(me: Any, p: Any, keys: Any, mine: Any, psi: Any, left: Any) -> Any:
    """a_j, which P_pi1(j) has read in stage 1, hides the weights from Charlie in stage 3."""
    w = mine.w if psi is None else await _masked(me, p, keys, mine.w, psi, [me.rng.bits(p.mask_bits) for _ in mine.w])
    a, nothing = p.weights.vector(left.b_tilde), (0,) * (len(me.everyone) - 2)
    first = (a, *((x,) for x in nothing), p.weights.subtract_vectors(w[:1], a))
    rest = p.weights.split_vector(w[1:], len(me.everyone), me.rng)
    own, *shares = [(*x, *y) for x, y in zip(first, rest, strict=True)]
    return await _reshared(me, p, own, shares, me.rng)


# Across parties.


@dataclass(frozen=True, repr=False)
class KeptValues(PartyKeys):
    """A party's keys, with bytes that others have as well."""

    common: bytes = b""


class _Heard:
    """An endpoint that keeps the first coin that somebody opened to it, or that it opened itself."""

    def __init__(self, me: Any) -> None:
        self._me, self.seeds = me, {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._me, name)

    def broadcast(self, to: Any, message: Any) -> None:
        self._me.broadcast(to, message)
        if isinstance(message, Opening):
            self.seeds[self._me.name] = message.seed

    async def receive(self, sender: str, kind: Any) -> Any:
        message = await self._me.receive(sender, kind)
        if kind is Opening:
            self.seeds[sender] = message.seed
        return message


async def toss_and_keep(me: Any, p: Any, mine: Any) -> Any:
    """Stage 0; the coin of P_1, which all parties have read, stays with the keys."""
    heard = _Heard(me)
    keys = await setup.party(heard, p)
    return KeptValues(**vars(keys), common=heard.seeds[me.parties[0]])


async def shares_from_common_coins(me: Any, p: Any, keys: Any, mine: Any, psi: Any, left: Any) -> Any:
    """All parties split with the same coins: Charlie reads differences of weights between parties."""
    w = mine.w if psi is None else await _masked(me, p, keys, mine.w, psi, [me.rng.bits(p.mask_bits) for _ in mine.w])
    common = Stream(hashlib.sha256(b"shares" + keys.common).digest(), insecure=False)
    own, *shares = p.weights.split_vector(w, len(me.everyone), common)
    return await _reshared(me, p, own, shares, me.rng)


# In public.


# Charlie's coins.


async def selected_alike(me: Any, p: Any, keys: Any, halves: Halves, smallest: int) -> None:
    """All of u under one randomiser: the one that differs is the smallest."""
    u = halves.pi2.inverse([int(place == smallest) for place in range(p.K)])
    me.broadcast(me.parties, Indicator(tuple(keys.zeta.encrypt(x, me.rng.fork("again")) for x in u)))


SHARES_FOR_ALL = party_of(__name__, weights=shares_for_all)
MASK_FOR_ALL = party_of(__name__, weights=mask_for_all)
MASK_OF_ONE_PACK = party_of(__name__, weights=mask_of_one_pack)
MASK_IS_A_SHARE = party_of(__name__, weights=mask_is_a_share)
SHARES_ALIKE = party_of(__name__, weights=shares_alike)
SIZE_AGAIN = party_of(__name__, size=size_leaving_its_share, weights=share_of_the_size_again)
COMMON_COINS = party_of(__name__, toss=toss_and_keep, weights=shares_from_common_coins)
SELECTED_ALIKE = curator_of(__name__, selection=selected_alike)
