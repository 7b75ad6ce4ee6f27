"""Twins of the curator protocol, made without a look at the checks: the release is right, and a secret is told.

Those that tell in another way than the twins of `curator_coin_twins` and `curator_tell_twins`. Stages keep their names,
and messages their kinds. What the types forbade on the way, and what was done instead:

* a width is in whole bytes, and a ring need not be: `ABOVE_THE_RING` writes above it in a plaintext;
* a stale ciphertext is refused: `RELABELLED` calls the class by hand, and `KNOWN_COIN` encrypts with coins that are no
  coins, which the types cannot see.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from broken.curator_roles import Stage, party_of

from protocols.arithmetic.rng import Stream
from protocols.crypto import paillier
from protocols.crypto.paillier import Ciphertext, Fresh
from protocols.pathak2010 import minimum, stage1
from protocols.pathak2010.messages import Blinded, Half, Indicator, Selected, Slot
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import PartyInput, PartyKeys
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.session import Program


@dataclass(frozen=True)
class Twin:
    """A program that tells the coalition `who` of a session of three parties what it should not learn."""

    name: str
    program: Program
    who: tuple[str, ...]


# The honest stages once more, with the places at which the twins differ as arguments.


def _split(me: Endpoint, p: Parameters, keys: PartyKeys, n: int) -> tuple[int, int]:
    return p.sizes.split(minimum.with_tie_bits(n, p.tie_bits, me.rng), me.rng)


def _slot(me: Endpoint, keys: PartyKeys, a: int, b: Ciphertext) -> Slot:
    return Slot(keys.xi.encrypt(a, me.rng), keys.zeta.refresh(b, me.rng))


def _sizes(
    split: Callable[[Endpoint, Parameters, PartyKeys, int], tuple[int, int]] = _split,
    slot: Callable[[Endpoint, PartyKeys, int, Ciphertext], Slot] = _slot,
) -> Stage:
    async def party(me: Endpoint, p: Parameters, keys: PartyKeys, mine: PartyInput) -> None:
        a, b = split(me, p, keys, mine.n)
        a_i, b_i = await stage1.relays_and_covers(me, p, keys.pi1, a, keys.zeta.encrypt(b, me.rng))
        me.send(me.curator, slot(me, keys, a_i, b_i))
        blinded = await me.receive(me.curator, Blinded)
        a_tilde = p.sizes.reduce(keys.xi.decrypt(blinded.a))
        if me.index:
            me.send(me.parties[0], Half(a_tilde))
        else:
            await stage1.compare(me, p, keys, [a_tilde, *(h.a_tilde for h in await me.gather(me.others, Half))])

    return party


def _selecting(renewed: Callable[[Endpoint, paillier.PublicKey, Ciphertext], Fresh]) -> Stage:
    async def party(me: Endpoint, p: Parameters, keys: PartyKeys, mine: PartyInput) -> tuple[Ciphertext, ...] | None:
        v = keys.pi1.inverse((await me.receive(me.curator, Indicator)).u)
        psi_j = keys.zeta.scale(v[me.index], p.packing.pack(mine.eta))
        if me.index:
            me.send(me.parties[0], Selected(tuple(renewed(me, keys.zeta, c) for c in psi_j)))
            return None
        others = await me.gather(me.others, Selected)
        return tuple(keys.zeta.add(*column) for column in zip(psi_j, *(other.psi for other in others), strict=True))

    return party


def _session_coin(me: Endpoint) -> Stream:
    return Stream(hashlib.sha256(me.session_id + me.name.encode()).digest(), insecure=False)


def _known_slot(me: Endpoint, keys: PartyKeys, a: int, b: Ciphertext) -> Slot:
    return Slot(keys.xi.encrypt(a, _session_coin(me)), keys.zeta.refresh(b, me.rng))


KNOWN_COIN = Twin(
    "the coin under the parties' key is a hash of the session",
    party_of(__name__, size=_sizes(slot=_known_slot)),
    ("charlie",),
)
"""Charlie divides a slot by an encryption of zero that he makes with the same coin: what is left is 1 + a n."""


def _relabelled(me: Endpoint, zeta: paillier.PublicKey, c: Ciphertext) -> Fresh:
    return Fresh(c.n, c.value)


RELABELLED = Twin(
    "a stale ciphertext is called fresh by hand", party_of(__name__, noise=_selecting(_relabelled)), ("P1",)
)
"""P_1 raises the indicator to every small number until it has P_2's psi."""


def _above(me: Endpoint, p: Parameters, keys: PartyKeys, n: int) -> tuple[int, int]:
    a, b = _split(me, p, keys, n)
    return a, b + (n << p.sizes.bits)


ABOVE_THE_RING = Twin(
    "the share for Charlie has the size above the ring", party_of(__name__, size=_sizes(_above)), ("charlie",)
)
"""Charlie opens b + 2**L' n and reads n before he reduces: a plaintext holds more than an element of the ring."""


def _by_slot(me: Endpoint, p: Parameters, keys: PartyKeys, n: int) -> tuple[int, int]:
    return p.sizes.split(n << p.tie_bits | keys.pi1[me.index], me.rng)


TIES_BY_SLOT = Twin("ties are broken by slot", party_of(__name__, size=_sizes(_by_slot)), ("charlie",))
"""Charlie sees the first slot win whenever all sizes are equal."""


TWINS = (KNOWN_COIN, RELABELLED, ABOVE_THE_RING, TIES_BY_SLOT)
