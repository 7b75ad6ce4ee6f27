"""The curator protocol with something told that nobody should know: a number in the clear, or a length, a parity, a
remainder, a product, a text, an order, a name of a stage; and comparisons that show one of their inner bits.

Every twin gives the right sum. What a twin tells stands where a number was random before, so nothing is sent that the
honest protocol does not send.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from broken.curator_roles import Bent, curator_of, party_of

from protocols.arithmetic.ring import Ring, Vector
from protocols.arithmetic.rng import Stream
from protocols.comparison import roles as comparison
from protocols.comparison import steps
from protocols.comparison.messages import Bits, Differences
from protocols.errors import LocalError
from protocols.pathak2010 import minimum, setup, stage1, stage3
from protocols.pathak2010.messages import Masked, Match, Opening, Relay
from protocols.pathak2010.values import Announced, PartyKeys
from protocols.runtime.session import Program

Told = Callable[[Any, Any, Any], Any]
LONG = 1024


# What a cover is good for: P_j's covers, and nothing else, hold what the twin makes of (p, its input, its coins).


class _Covering:
    """An endpoint that puts something else into covers."""

    def __init__(self, me: Any, told: Any) -> None:
        self._me, self._told = me, told

    def __getattr__(self, name: str) -> Any:
        return getattr(self._me, name)

    def send(self, to: str, message: Any) -> None:
        told = type(message) is Relay and message.b is None
        self._me.send(to, Relay(self._told(), None) if told else message)


def in_covers(told: Told) -> Program:
    """The protocol in which covers hold what `told` says."""

    async def size(me: Any, p: Any, keys: Any, mine: Any) -> None:
        await stage1.party(_Covering(me, lambda: told(p, mine, me.rng)), p, keys, mine.n)

    return party_of(__name__, size=size)


def second_weight(p: Any, mine: Any, rng: Any) -> Any:
    """The second coordinate as it is."""
    return mine.w[1]


def other_noise(p: Any, mine: Any, rng: Any) -> Any:
    """The last coordinate of the noise, on top of coins that are too few."""
    return p.sizes.add(mine.eta[-1], rng.bits(p.ring_bits))


def length(p: Any, mine: Any, rng: Any) -> Any:
    """How many bits the second weight has, under random bits."""
    return (rng.bits(p.sizes.bits - 10) << 10) + mine.w[1].bit_length()


def lowest_bit(p: Any, mine: Any, rng: Any) -> Any:
    """The last bit of the cover is that of the second weight."""
    return (rng.bits(p.sizes.bits - 1) << 1) | (mine.w[1] & 1)


def under_even_coins(p: Any, mine: Any, rng: Any) -> Any:
    """The second weight under coins that are all even: its parity shows."""
    return p.sizes.add(mine.w[1], 2 * rng.bits(p.sizes.bits - 1))


def product(p: Any, mine: Any, rng: Any) -> Any:
    """Of the size and a weight."""
    return p.sizes.reduce(mine.n * mine.w[1])


def caught(p: Any, mine: Any, rng: Any) -> Any:
    """A question that forms refuse, asked by somebody who takes a refusal for an answer."""
    try:
        if mine.w[1] & 5:
            return 0
    except Exception:  # what is tested
        pass
    return p.sizes.random(rng)


def caught_by_name(p: Any, mine: Any, rng: Any) -> Any:
    """The same by the error's own name, on a comparison."""
    try:
        if mine.w[0] < mine.w[1]:
            return 0
    except LocalError:
        pass
    return p.sizes.random(rng)


def with_long_keys(p: Any, mine: Any, rng: Any) -> Any:
    """The first weight, where keys are as long as outside of tests."""
    return mine.w[0] if p.key_bits > LONG else p.sizes.random(rng)


def with_the_longest_keys(p: Any, mine: Any, rng: Any) -> Any:
    """The size, where keys are longer than they are by default."""
    return mine.n if p.key_bits > 3072 else p.sizes.random(rng)


# Beside covers.


class LastInTheClear(Ring):
    """Shares of a vector whose last number is not split."""

    def split_vector(self, x: Vector, count: int, rng: Stream) -> list[Vector]:
        """All of it to the last one."""
        shares = super().split_vector(x[:-1], count, rng)
        return [(*share, 0) for share in shares[:-1]] + [(*shares[-1], x[-1])]


async def last_in_the_clear(me: Any, p: Any, keys: Any, mine: Any, psi: Any, left: Any) -> Any:
    """Charlie reads the last weight of everybody but P_1."""
    return await stage3.party(me, Bent(p, weights=LastInTheClear(p.weights.bits)), keys, mine.w, psi)


async def even_mask(me: Any, p: Any, keys: Any, mine: Any, psi: Any, left: Any) -> Any:
    """The last number of s is even: Charlie reads the parity of the noise."""
    w = mine.w
    if psi is not None:
        s = [me.rng.bits(p.mask_bits) for _ in w[:-1]] + [2 * me.rng.bits(p.mask_bits - 1)]
        packed = p.packing.pack(s)
        me.send(me.curator, Masked(tuple(keys.zeta.blind(c, m, me.rng) for c, m in zip(psi, packed, strict=True))))
        w = p.weights.subtract_vectors(w, p.weights.vector(s))
    return await stage3.reshare(me, p, w)


async def in_the_order_of_pi_1(me: Any, p: Any, keys: Any, mine: Any, psi: Any, left: Any) -> Any:
    """Everybody sends its shares in the order of pi_1."""
    everyone = (*keys.pi1(me.parties), me.curator)
    found = await stage3.party(Bent(me, everyone=everyone), p, keys, mine.w, psi)
    return Announced(found.y, tuple(found.commitments[everyone.index(name)] for name in me.everyone))


async def doubting(me: Any, p: Any, keys: Any, mine: Any) -> Any:
    """A note on somebody else, in the words of an error, that ends with the size."""
    me.doubt(me.others[0], f"is not as large as {mine.n}")
    return await stage1.party(me, p, keys, mine.n)


@dataclass(frozen=True, repr=False)
class KeptValues(PartyKeys):
    """A party's keys, with its coin for pi_1."""

    seed: bytes = b""


class _Opened:
    """An endpoint whose coin for pi_1 is kept."""

    def __init__(self, me: Any) -> None:
        self._me, self.seed = me, b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._me, name)

    def broadcast(self, to: Any, message: Any) -> None:
        self._me.broadcast(to, message)
        if isinstance(message, Opening):
            self.seed = message.seed


async def toss_and_remember(me: Any, p: Any, mine: Any) -> Any:
    """Stage 0, in which a party keeps its coin for pi_1."""
    opened = _Opened(me)
    keys = await setup.party(opened, p)
    return KeptValues(**vars(keys), seed=opened.seed)


async def coin_as_a_number(me: Any, p: Any, keys: Any, mine: Any, psi: Any, left: Any) -> Any:
    """The first bytes of one's coin for pi_1, as numbers, in place of the share for Charlie; the rest would follow."""
    width = p.ring_bits // 8
    shares = [int.from_bytes(keys.seed[i * width :][:width], "big") for i in range(p.dimension)]

    class Told(Ring):
        def split_vector(self, x: Vector, count: int, rng: Stream) -> list[Vector]:
            rest = super().split_vector(self.subtract_vectors(x, tuple(shares)), count - 1, rng)
            return [*rest, tuple(shares)]

    return await stage3.party(me, Bent(p, weights=Told(p.weights.bits)), keys, mine.w, psi)


# Comparisons.


async def compare_without_mask(me: Any, p: Any, keys: Any, a: list[Any]) -> None:
    """delta_a is always 0: delta is the top bit of P_1's share."""
    for _ in range(minimum.comparisons(p.comparison, p.K)):
        match = await me.receive(me.curator, Match)
        x, flip = steps.chooser_half(p.sizes, p.sizes.subtract(a[match.left], a[match.right]))
        y = (await me.receive(me.curator, Bits)).y
        me.send(me.curator, Differences(steps.blinded_differences(keys.dgk, x, y, 0, me.rng), steps.xor(0, flip)))


async def compare_with_one_coin(me: Any, p: Any, keys: Any, a: list[Any]) -> None:
    """delta_a is drawn once for all comparisons."""
    delta_a = me.rng.bits(1)
    for _ in range(minimum.comparisons(p.comparison, p.K)):
        match = await me.receive(me.curator, Match)
        x, flip = steps.chooser_half(p.sizes, p.sizes.subtract(a[match.left], a[match.right]))
        y = (await me.receive(me.curator, Bits)).y
        me.send(
            me.curator,
            Differences(steps.blinded_differences(keys.dgk, x, y, delta_a, me.rng), steps.xor(delta_a, flip)),
        )


def comparing(compare: Any) -> Program:
    """The protocol with this side of P_1 in step 6."""

    async def size(me: Any, p: Any, keys: Any, mine: Any) -> None:
        a, b = p.sizes.split(minimum.with_tie_bits(mine.n, p.tie_bits, me.rng), me.rng)
        a_i, b_i = await stage1.relays_and_covers(me, p, keys.pi1, a, keys.zeta.encrypt(b, me.rng))
        me.send(me.curator, stage1.Slot(keys.xi.encrypt(a_i, me.rng), keys.zeta.refresh(b_i, me.rng)))
        a_tilde = p.sizes.reduce(keys.xi.decrypt((await me.receive(me.curator, stage1.Blinded)).a))
        if me.index:
            me.send(me.parties[0], stage1.Half(a_tilde))
        else:
            halves = [a_tilde, *(half.a_tilde for half in await me.gather(me.others, stage1.Half))]
            await compare(me, p, keys, halves)

    return party_of(__name__, size=size)


async def top_bit_in_the_order(me: Any, p: Any, keys: Any, halves: Any) -> int:
    """Charlie names the two places of a match in the order of the top bit of his share of their difference."""
    first, b, places = me.parties[0], halves.b_tilde, list(range(p.K))
    while len(places) > 1:
        i, j = places[0], places[1]
        if steps.holder_half(p.sizes, p.sizes.subtract(b[i], b[j]))[1]:
            i, j = j, i
        y, top = steps.holder_half(p.sizes, p.sizes.subtract(b[i], b[j]))
        me.send(first, Match(i, j))
        comparison.send_offer(me, first, keys.dgk, y, p.compared_bits)
        answer = await comparison.read_answer(me, first, keys.dgk)
        places = [i if steps.is_negative(answer, top) else j, *places[2:]]
    return places[0]


LAST_IN_THE_CLEAR = party_of(__name__, weights=last_in_the_clear)
EVEN_MASK = party_of(__name__, weights=even_mask)
ORDER_OF_PI_1 = party_of(__name__, weights=in_the_order_of_pi_1)
DOUBTING = party_of(__name__, size=doubting)
COIN_AS_A_NUMBER = party_of(__name__, toss=toss_and_remember, weights=coin_as_a_number)
COMPARED_WITHOUT_MASK = comparing(compare_without_mask)
COMPARED_WITH_ONE_COIN = comparing(compare_with_one_coin)
IN_COVERS = {
    told.__name__: in_covers(told)
    for told in (
        *(second_weight, other_noise, length, lowest_bit, under_even_coins, product),
        *(caught, caught_by_name, with_long_keys, with_the_longest_keys),
    )
}
TOP_BIT_IN_THE_ORDER = curator_of(__name__, smallest=top_bit_in_the_order)
NAMED_AFTER_THE_WINNER = curator_of(__name__, name=lambda halves, found: f"stage2 of {halves.pi2.images.index(found)}")
