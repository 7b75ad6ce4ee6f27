"""Steps of the comparison as pure functions.

Damgard, Geisler, Kroigaard, "Efficient and secure comparison for on-line auctions" (ACISP 2007), with the extra term
for equality of Veugen, "Improving the DGK comparison protocol" (WIFS 2012). His later correction (ePrint 2018/1100)
concerns a variant for encrypted inputs, which is not used here.
"""

from __future__ import annotations

from collections.abc import Sequence

from protocols.arithmetic import modular
from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.ring import Ring
from protocols.arithmetic.rng import Stream
from protocols.crypto.dgk import BitCiphertext, DgkPrivateKey, DgkPublicKey, FreshBit


def plaintext_modulus(compared_bits: int) -> int:
    """Return u, the smallest prime above every value of a c_i: these are at most 3 l + 2 for l compared bits."""
    return modular.next_prime(3 * compared_bits + 2)


def bits(value: int, length: int) -> list[int]:
    """Return the lowest `length` bits, lowest first."""
    return [(value >> i) & 1 for i in range(length)]


def xor(x: int, y: int) -> bool:
    """Return the sum of two bits mod 2."""
    return bool(x ^ y)


def blinded_differences(
    key: DgkPublicKey, x: int, y: Sequence[BitCiphertext], delta_a: int, rng: Stream
) -> tuple[FreshBit, ...]:
    """Return the blinded, shuffled c_i: one encrypts zero exactly if x <= y (for delta_a = 0) or x > y (for 1).

    c_i = s + x_i - y_i + 3 sum_(j>i) (x_j xor y_j) with s = 1 - 2 delta_a, and for x = y the term c_(-1) = delta_a +
    sum_j (x_j xor y_j).
    """
    s = 1 - 2 * delta_a
    above = key.constant(0)  # sum of (x_j xor y_j) over the bits j above i
    c: list[BitCiphertext] = []
    for x_i, y_i in reversed(list(zip(bits(x, len(y)), y, strict=True))):
        minus = key.negate(y_i)
        c.append(key.add(key.constant(s + x_i), minus, above, above, above))
        xor = key.add(key.constant(1), minus) if x_i else y_i
        above = key.add(above, xor)
    c.append(key.add(key.constant(delta_a), above))
    blinded = [key.blind(c_i, 1 + rng.below(key.u - 1), rng) for c_i in c]
    return tuple(Permutation.random(len(blinded), rng)(blinded))


def is_at_most(key: DgkPrivateKey, c: Sequence[BitCiphertext], delta: int) -> int:
    """Return [x <= y] xor the chooser's flip: whether some c_i is zero, xor delta = delta_a xor flip."""
    zeros = [key.is_zero(c_i) for c_i in c]  # all of them, so that the time does not tell where
    return delta ^ int(any(zeros))


# The sign of a difference D = D_c + D_p mod 2**l that chooser and holder share additively. Its top bit is the xor of
# the top bits of both shares and of the carry out of their low parts, and the carry is the comparison low(D_p) > y
# with y = 2**(l-1) - 1 - low(D_c). The chooser hides the top bit of its share in the flip; learning it apart would
# tell more than D's sign.


def chooser_half(ring: Ring, d_p: int) -> tuple[int, int]:
    """Return (x, flip) of the chooser for its share of the difference."""
    low = ring.bits - 1
    return d_p & ((1 << low) - 1), d_p >> low


def holder_half(ring: Ring, d_c: int) -> tuple[int, int]:
    """Return (y, top bit) of the holder for its share of the difference."""
    low = ring.bits - 1
    return (1 << low) - 1 - (d_c & ((1 << low) - 1)), d_c >> low


def is_negative(answer: int, top: int) -> int:
    """Return 1 if D is negative, i.e. its top bit is set, from the answer and the holder's top bit."""
    return 1 ^ answer ^ top
