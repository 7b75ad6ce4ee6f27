"""The comparison with one thing left out: each twin is what a careless port would send."""

from __future__ import annotations

from collections.abc import Sequence

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.ring import Ring
from protocols.arithmetic.rng import Stream
from protocols.comparison import steps
from protocols.crypto.dgk import BitCiphertext, DgkPublicKey, FreshBit


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
    blinded = [key.blind(c, 1 + rng.below(key.u - 1) if blind else 1, rng) for c in terms]
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


def chooser_half_with_top_apart(ring: Ring, d_p: int) -> tuple[int, int, int]:
    """(x, flip, top bit sent in clear): the holder then also learns the carry."""
    x, top = steps.chooser_half(ring, d_p)
    return x, 0, top
