"""The comparison with one thing left out: each twin is what a careless port would send."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any

from protocols import pathak2010
from protocols.arithmetic import modular
from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.comparison import PROGRAM, roles, signs, steps
from protocols.comparison.messages import Bits, Differences
from protocols.crypto.dgk import BitCiphertext, DgkPublicKey, FreshBit
from protocols.runtime.message import CURATOR, PARTY, Message, masked, message
from protocols.runtime.session import Program


def _terms(key: DgkPublicKey, x: int, y: Sequence[BitCiphertext], delta_a: int) -> list[BitCiphertext]:
    """c_(l-1), ..., c_0, c_(-1), neither blinded nor shuffled."""
    terms, above = [], key.constant(0)
    for i in reversed(range(len(y))):
        x_i = x >> i & 1
        terms.append(key.add(key.constant(1 - 2 * delta_a + x_i), key.negate(y[i]), above, above, above))
        above = key.add(above, key.add(key.constant(1), key.negate(y[i])) if x_i else y[i])
    return [*terms, key.add(key.constant(delta_a), above)]


def _finish(
    key: DgkPublicKey, terms: Sequence[BitCiphertext], rng: Stream, *, blind: bool = True, shuffle: bool = True
) -> tuple[FreshBit, ...]:
    return _blinded(key, terms, rng, lambda: 1 + rng.below(key.u - 1) if blind else 1, shuffle=shuffle)


def _blinded(
    key: DgkPublicKey, terms: Sequence[BitCiphertext], rng: Stream, factor: Callable[[], int], *, shuffle: bool = True
) -> tuple[FreshBit, ...]:
    blinded = [key.blind(c, factor(), rng) for c in terms]
    return tuple(Permutation.random(len(blinded), rng)(blinded) if shuffle else blinded)


def without_equality(
    key: DgkPublicKey, x: int, y: Sequence[BitCiphertext], delta_a: int, rng: Stream
) -> tuple[FreshBit, ...]:
    """The protocol of 2007 without the term for x = y; the place is filled with a constant one."""
    return _finish(key, [*_terms(key, x, y, delta_a)[:-1], key.constant(1)], rng)


def without_blinding(
    key: DgkPublicKey, x: int, y: Sequence[BitCiphertext], delta_a: int, rng: Stream
) -> tuple[FreshBit, ...]:
    """Shuffled, but no factors: the values tell in how many bits x and y differ."""
    return _finish(key, _terms(key, x, y, delta_a), rng, blind=False)


def without_shuffling(
    key: DgkPublicKey, x: int, y: Sequence[BitCiphertext], delta_a: int, rng: Stream
) -> tuple[FreshBit, ...]:
    """Blinded, but in order: the place of the zero is the first bit where x and y differ."""
    return _finish(key, _terms(key, x, y, delta_a), rng, shuffle=False)


def with_few_factors(
    key: DgkPublicKey, x: int, y: Sequence[BitCiphertext], delta_a: int, rng: Stream
) -> tuple[FreshBit, ...]:
    """Factors from the lower half: a term of one and a term of another number are multiplied into other ranges."""
    return _blinded(key, _terms(key, x, y, delta_a), rng, lambda: 1 + rng.below(key.u // 2))


def with_old_exponents(
    key: DgkPublicKey, x: int, y: Sequence[BitCiphertext], delta_a: int, rng: Stream
) -> tuple[FreshBit, ...]:
    """Blinded and shuffled, but called fresh without a new power of h: the holder knows the exponents of its bits, so
    those of the terms tell x.
    """
    blinded = [
        FreshBit(key.n, modular.power(c.value, 1 + rng.below(key.u - 1), key.n)) for c in _terms(key, x, y, delta_a)
    ]
    return tuple(Permutation.random(len(blinded), rng)(blinded))


def with_a_rotation(
    key: DgkPublicKey, x: int, y: Sequence[BitCiphertext], delta_a: int, rng: Stream
) -> tuple[FreshBit, ...]:
    """Not broken: where all but a zero is uniform, turning the terms round hides its place as well."""
    size = len(y) + 1
    by = rng.below(size)
    turned = Permutation(tuple([*range(size), *range(size)][by : by + size]))
    return tuple(turned(_finish(key, _terms(key, x, y, delta_a), rng, shuffle=False)))


# The comparison as a protocol of its own, with one of its two roles replaced.

Stage = Callable[..., Awaitable[Any]]


@message("compare 3", PARTY >> CURATOR)
class Apart(Message):
    """A bit of the chooser."""

    bit: Annotated[bool, masked("bit")]


@message("compare 3", CURATOR >> PARTY)
class Told(Message):
    """A bit of the holder."""

    bit: Annotated[bool, masked("bit")]


def _program(*, choose: Stage = signs.choose, hold: Stage = signs.hold) -> Program:
    async def chooser(me: Any, p: Any, shares: Any) -> None:
        key = await me.stage(signs.take_key, p, name="key of chooser")
        await me.stage(choose, p, key, shares, name="choose")

    async def holder(me: Any, p: Any, shares: Any) -> Any:
        key = await me.stage(signs.give_key, p, name="key of holder")
        return await me.stage(hold, p, key, shares, name="hold")

    return replace(PROGRAM, roles={PARTY: chooser, CURATOR: holder}, kinds=(*PROGRAM.kinds, Apart, Told))


async def _answer(me: Any, key: Any, x: int, flip: int, delta_a: int, rng: Any, differences: Any) -> None:
    y = (await me.receive(signs.HOLDER, Bits)).y
    me.send(signs.HOLDER, Differences(differences(key.dgk, x, y, delta_a, rng), steps.xor(delta_a, flip)))


def with_differences(differences: Callable[..., tuple[FreshBit, ...]]) -> Program:
    """The protocol with these terms."""

    async def choose(me: Any, p: Any, key: Any, shares: Any) -> None:
        for share in shares:
            x, flip = steps.chooser_half(p.ring, share)
            await _answer(me, key, x, flip, me.rng.bits(1), me.rng, differences)

    return _program(choose=choose)


async def _without_mask(me: Any, p: Any, key: Any, shares: Any) -> None:
    for share in shares:
        await _answer(me, key, *steps.chooser_half(p.ring, share), 0, me.rng, steps.blinded_differences)


async def _with_the_same_coins(me: Any, p: Any, key: Any, shares: Any) -> None:
    for share in shares:
        rng = me.rng.fork("terms")
        await _answer(me, key, *steps.chooser_half(p.ring, share), me.rng.bits(1), rng, steps.blinded_differences)


async def _hold_and_tell(me: Any, p: Any, key: Any, shares: Any) -> Any:
    found = await signs.hold(me, p, key, shares)
    for sign in found:
        me.send(signs.CHOOSER, Told(bool(sign)))
    return found


async def _choose_and_hear(me: Any, p: Any, key: Any, shares: Any) -> None:
    await signs.choose(me, p, key, shares)
    for _ in shares:
        await me.receive(signs.HOLDER, Told)


async def _without_factors_under_long_keys(me: Any, p: Any, key: Any, shares: Any) -> None:
    differences = without_blinding if p.key_bits > 2048 else steps.blinded_differences
    for share in shares:
        await _answer(me, key, *steps.chooser_half(p.ring, share), me.rng.bits(1), me.rng, differences)


BLIND = {
    "differences without factors": with_differences(without_blinding),
    "factors of half the range": with_differences(with_few_factors),
    "terms in order": with_differences(without_shuffling),
    "terms with old exponents": with_differences(with_old_exponents),
    "no mask on the flip": _program(choose=_without_mask),
    "the same coins in every comparison": _program(choose=_with_the_same_coins),
    "no factors under long keys": _program(choose=_without_factors_under_long_keys),
}
"""What tells the holder too much."""

LOUD = {
    "the result told to the chooser": _program(choose=_choose_and_hear, hold=_hold_and_tell),
}
"""What tells the chooser something."""

HARMLESS = {
    "terms turned round": with_differences(with_a_rotation),
}
"""What is another protocol and as good."""

WRONG = with_differences(without_equality)
"""What does not give what it should."""


# The comparison inside of the curator protocol, with something told that stays between its two roles.


async def _party(me: Any, p: Any, mine: Any) -> Any:
    return await pathak2010.party(me, p, mine)


async def _curator(me: Any, p: Any) -> Any:
    return await pathak2010.curator(me, p)


_chooser = roles.answer_offer
INSIDE = replace(
    pathak2010.PROGRAM, roles={PARTY: _party, CURATOR: _curator}, kinds=(*pathak2010.PROGRAM.kinds, Apart, Told)
)
"""The curator protocol as it is; its comparison is exchanged by name, in `protocols.comparison.roles`."""


def chooser_that_tells(what: Callable[[Any, Any], Any]) -> Stage:
    """Sends one bit more: what this makes of the mask and the flip."""

    async def chooser(me: Any, holder: str, key: Any, x: Any, flip: Any) -> None:
        y = (await me.receive(holder, Bits)).y
        delta_a = me.rng.bits(1)
        me.send(holder, Differences(steps.blinded_differences(key, x, y, delta_a, me.rng), steps.xor(delta_a, flip)))
        me.send(holder, Apart(what(delta_a, flip)))

    return chooser


async def holder_that_hears(me: Any, chooser: str, key: Any) -> Any:
    """Reads that bit."""
    answer = await me.receive(chooser, Differences)
    await me.receive(chooser, Apart)
    return steps.is_at_most(key, answer.c, answer.delta)


async def holder_that_tells(me: Any, chooser: str, key: Any) -> Any:
    """Tells the chooser the answer, which with its own share is the carry."""
    answer = await me.receive(chooser, Differences)
    found = steps.is_at_most(key, answer.c, answer.delta)
    me.send(chooser, Told(found))
    return found


async def chooser_that_hears(me: Any, holder: str, key: Any, x: Any, flip: Any) -> None:
    """Reads the answer."""
    await _chooser(me, holder, key, x, flip)
    await me.receive(holder, Told)


async def chooser_without_mask(me: Any, holder: str, key: Any, x: Any, flip: Any) -> None:
    """delta_a is always 0."""
    y = (await me.receive(holder, Bits)).y
    me.send(holder, Differences(steps.blinded_differences(key, x, y, 0, me.rng), steps.xor(0, flip)))
