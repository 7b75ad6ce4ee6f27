"""Twins of the curator protocol, made without a look at the checks: the release is right, and a secret is told.

Those that tell in another way than the twins of `curator_coin_twins` and `curator_tell_twins`. `SAYS_WHY` ends without
a release instead. Stages keep their names, and messages their kinds. What the types forbade on the way, and what was
done instead:

* byte strings have one length, and integers one width: nothing can be told by a length;
* a width is in whole bytes, though, and a ring need not be: `SPARE_BITS` writes above it, `ABOVE_THE_RING` above it in
  a plaintext;
* a stale ciphertext is refused: `RELABELLED` calls the class by hand, `ONE_COIN_FOR_PACKS` and `KNOWN_COIN` encrypt
  with coins that are no coins, and the types cannot see it;
* a match has two different places below K, so Charlie tells by their order (`MATCHES_BY_SLOT`) or by how many there are
  (`CONFIRMATIONS`, where P_1 has to play along), and not in spare bytes of the numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.comparison import roles as comparison
from protocols.comparison import steps
from protocols.crypto import paillier
from protocols.crypto.paillier import Ciphertext, Fresh
from protocols.pathak2010 import PROGRAM, minimum, setup, stage1, stage2, stage3
from protocols.pathak2010.messages import Blinded, Half, Indicator, Match, Relay, Selected, Slot
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import Announced, CuratorKeys, Halves, PartyInput, PartyKeys
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import CURATOR, PARTY
from protocols.runtime.session import Program

Part = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class Twin:
    """A program that tells the coalition `who` of a session of three parties what it should not learn."""

    name: str
    program: Program
    who: tuple[str, ...]


@dataclass(frozen=True)
class Parts:
    """The stages of the honest program; a twin has others in some places."""

    sizes: Part = stage1.party
    noise: Part = stage2.party
    search: Part = stage1.smallest


def program(**twins: Part) -> Program:
    """The program with these stages in the place of the honest ones, under the names of the honest ones."""
    parts = Parts(**twins)

    async def party(me: Endpoint, p: Parameters, mine: PartyInput) -> Announced:
        p.check_length(mine.w, mine.eta)
        keys = await me.stage(setup.party, p)
        await me.stage(_called("party", parts.sizes), p, keys, mine.n, name="stage1")
        psi = await me.stage(_called("party", parts.noise), p, keys, mine.eta, name="stage2")
        return await me.stage(stage3.party, p, keys, mine.w, psi)

    async def curator(me: Endpoint, p: Parameters) -> Announced:
        keys = await me.stage(setup.curator, p)
        halves = await me.stage(stage1.curator, p, keys)
        smallest = await me.stage(_called("smallest", parts.search), p, keys, halves, name="stage1")
        await me.stage(stage2.curator, p, keys, halves, smallest)
        return await me.stage(stage3.curator, p, keys)

    return replace(PROGRAM, roles={PARTY: party, CURATOR: curator})


def _called(name: str, role: Part) -> Any:
    async def part(*args: Any) -> Any:
        return await role(*args)

    part.__name__ = name
    return part


# The honest stages once more, with the places at which the twins differ as arguments.


def _split(me: Endpoint, p: Parameters, keys: PartyKeys, n: int) -> tuple[int, int]:
    return p.sizes.split(minimum.with_tie_bits(n, p.tie_bits, me.rng), me.rng)


def _slot(me: Endpoint, keys: PartyKeys, a: int, b: Ciphertext) -> Slot:
    return Slot(keys.xi.encrypt(a, me.rng), keys.zeta.refresh(b, me.rng))


def _sizes(
    split: Callable[[Endpoint, Parameters, PartyKeys, int], tuple[int, int]] = _split,
    slot: Callable[[Endpoint, PartyKeys, int, Ciphertext], Slot] = _slot,
    half: Callable[[Parameters, int, int], int] = lambda p, n, a_tilde: a_tilde,
    compare: Part = stage1.compare,
) -> Part:
    async def party(me: Endpoint, p: Parameters, keys: PartyKeys, n: int) -> None:
        a, b = split(me, p, keys, n)
        target, source = me.parties[keys.pi1[me.index]], me.parties[keys.pi1.inverse[me.index]]
        locked: Ciphertext = keys.zeta.encrypt(b, me.rng)
        for other in me.others:
            me.send(other, Relay(a, locked) if other == target else Relay(p.sizes.random(me.rng), None))
        relays = dict(zip(me.others, await me.gather(me.others, Relay), strict=True))
        a_i, b_i = (a, locked) if source == me.name else (relays[source].a, relays[source].b)
        assert b_i is not None
        me.send(me.curator, slot(me, keys, a_i, b_i))
        blinded = await me.receive(me.curator, Blinded)
        a_tilde = p.sizes.reduce(keys.xi.decrypt(blinded.a))
        if me.index:
            me.send(me.parties[0], Half(half(p, n, a_tilde)))
        else:
            await compare(me, p, keys, [a_tilde, *(h.a_tilde for h in await me.gather(me.others, Half))])

    return party


def _selecting(renewed: Callable[[Endpoint, paillier.PublicKey, Ciphertext], Fresh]) -> Part:
    async def party(me: Endpoint, p: Parameters, keys: PartyKeys, eta: Vector) -> tuple[Ciphertext, ...] | None:
        v = keys.pi1.inverse((await me.receive(me.curator, Indicator)).u)
        psi_j = keys.zeta.scale(v[me.index], p.packing.pack(eta))
        if me.index:
            me.send(me.parties[0], Selected(tuple(renewed(me, keys.zeta, c) for c in psi_j)))
            return None
        others = await me.gather(me.others, Selected)
        return tuple(keys.zeta.add(*column) for column in zip(psi_j, *(other.psi for other in others), strict=True))

    return party


def _one_coin(me: Endpoint, zeta: paillier.PublicKey, c: Ciphertext) -> Fresh:
    return zeta.refresh(c, me.rng.fork("psi"))


ONE_COIN_FOR_PACKS = Twin("one coin for all packs", program(noise=_selecting(_one_coin)), ("P1",))
"""P_1 divides one pack of P_2's noise by the next: the coin falls out, and v_j**(eta_0 - eta_1) is found by trying."""


def _session_coin(me: Endpoint) -> Stream:
    return Stream(hashlib.sha256(me.session_id + me.name.encode()).digest(), insecure=False)


def _known_slot(me: Endpoint, keys: PartyKeys, a: int, b: Ciphertext) -> Slot:
    return Slot(keys.xi.encrypt(a, _session_coin(me)), keys.zeta.refresh(b, me.rng))


KNOWN_COIN = Twin(
    "the coin under the parties' key is a hash of the session", program(sizes=_sizes(slot=_known_slot)), ("charlie",)
)
"""Charlie divides a slot by an encryption of zero that he makes with the same coin: what is left is 1 + a n."""


def _relabelled(me: Endpoint, zeta: paillier.PublicKey, c: Ciphertext) -> Fresh:
    return Fresh(c.n, c.value)


RELABELLED = Twin("a stale ciphertext is called fresh by hand", program(noise=_selecting(_relabelled)), ("P1",))
"""P_1 raises the indicator to every small number until it has P_2's psi."""


def _spare(p: Parameters, n: int, a_tilde: int) -> int:
    return a_tilde | n % 8 << p.sizes.bits


SPARE_BITS = Twin("a half has its size in the spare bits", program(sizes=_sizes(half=_spare)), ("P1",))
"""P_1 reads three bits of each size above the 77 bits of a half: the field is 80 bits wide, and P_1 reduces anyway."""


def _above(me: Endpoint, p: Parameters, keys: PartyKeys, n: int) -> tuple[int, int]:
    a, b = _split(me, p, keys, n)
    return a, b + (n << p.sizes.bits)


ABOVE_THE_RING = Twin("the share for Charlie has the size above the ring", program(sizes=_sizes(_above)), ("charlie",))
"""Charlie opens b + 2**L' n and reads n before he reduces: a plaintext holds more than an element of the ring."""


def _third(me: Endpoint, p: Parameters, keys: PartyKeys, n: int) -> tuple[int, int]:
    a, b = _split(me, p, keys, n)
    return (0, p.sizes.add(a, b)) if me.index >= 2 else (a, b)


THIRD_PARTY = Twin("from the third party on nothing is shared", program(sizes=_sizes(_third)), ("charlie",))
"""Charlie opens b = n for P_3, whose a is zero; two parties alone would never see it."""


def _by_slot(me: Endpoint, p: Parameters, keys: PartyKeys, n: int) -> tuple[int, int]:
    return p.sizes.split(n << p.tie_bits | keys.pi1[me.index], me.rng)


TIES_BY_SLOT = Twin("ties are broken by slot", program(sizes=_sizes(_by_slot)), ("charlie",))
"""Charlie sees the first slot win whenever all sizes are equal."""


async def _matches_by_slot(me: Endpoint, p: Parameters, keys: CuratorKeys, halves: Halves) -> int:
    return await _played(me, p, keys, halves, minimum.Tournament(halves.pi2.images))


async def _played(
    me: Endpoint, p: Parameters, keys: CuratorKeys, halves: Halves, search: minimum.Tournament | minimum.AllPairs
) -> int:
    while not search.found:
        wins = [await _match(me, p, keys, halves, i, j) for i, j in search.pairs]
        search = search.after(wins)
    return search.winner


async def _match(me: Endpoint, p: Parameters, keys: CuratorKeys, halves: Halves, i: int, j: int) -> int:
    first, b = me.parties[0], halves.b_tilde
    y, top = steps.holder_half(p.sizes, p.sizes.subtract(b[i], b[j]))
    me.send(first, Match(i, j))
    comparison.send_offer(me, first, keys.dgk, y, p.compared_bits)
    return steps.is_negative(await comparison.read_answer(me, first, keys.dgk), top)


MATCHES_BY_SLOT = Twin("matches are played in the order of the slots", program(search=_matches_by_slot), ("P1",))
"""P_1 knows that slots 0 and 1 meet first, and sees which of them goes on: pi_2 hides nothing."""


async def _confirmed(me: Endpoint, p: Parameters, keys: CuratorKeys, halves: Halves) -> int:
    winner = await _played(me, p, keys, halves, minimum.search(p.comparison, p.K))
    for _ in range(halves.pi2.inverse[winner]):
        await _match(me, p, keys, halves, 0, 1)
    me.send(me.parties[0], Match(0, 0))
    return winner


async def _until_told(me: Endpoint, p: Parameters, keys: PartyKeys, a: list[int]) -> None:
    assert keys.dgk is not None
    while (match := await me.receive(me.curator, Match)).left != match.right:
        x, flip = steps.chooser_half(p.sizes, p.sizes.subtract(a[match.left], a[match.right]))
        await comparison.answer_offer(me, me.curator, keys.dgk, x, flip)


CONFIRMATIONS = Twin(
    "as many matches more as the slot of the smallest says",
    program(sizes=_sizes(compare=_until_told), search=_confirmed),
    ("P1",),
)
"""P_1 counts matches: Charlie repeats the first one as often as the slot of the smallest says, and P_1 knows pi_1."""


async def _says_why(me: Endpoint, p: Parameters, keys: PartyKeys, n: int) -> None:
    if n < 10:
        me.stop("records.too_few", n=n)
    await stage1.party(me, p, keys, n)


SAYS_WHY = Twin("whoever has few records says how many and stops", program(sizes=_says_why), ("P1",))
"""P_1 is left waiting for P_2, which nobody is who has ten records; and whoever reads P_2's log has the size itself."""

TWINS = (
    *(ONE_COIN_FOR_PACKS, KNOWN_COIN, RELABELLED, SPARE_BITS, ABOVE_THE_RING, THIRD_PARTY),
    *(TIES_BY_SLOT, MATCHES_BY_SLOT, CONFIRMATIONS, SAYS_WHY),
)
