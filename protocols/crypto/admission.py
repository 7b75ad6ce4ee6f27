"""A non-interactive proof that a Paillier modulus n has gcd(n, phi(n)) = 1, so that encryption is what it claims.

Goldberg, Reyzin, Sagga, Baldimtsi (2019), "Efficient noninteractive certification of RSA moduli and beyond": the
holder shows n-th roots of points that a hash picks. If n has no prime factor up to B and gcd(n, phi(n)) > 1, each
point has a root with probability at most 1/B; with B = 2**16 and 8 points a bad key passes with probability 2**-128
in the random oracle model. Zero knowledge: n-th roots are unique, so they could be made by hashing backwards.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

from protocols.arithmetic import modular
from protocols.crypto.paillier import PrivateKey, PublicKey

SMALL_FACTOR_BOUND = 1 << 16
POINTS = 8


def prove(key: PrivateKey, context: bytes) -> tuple[int, ...]:
    """The n-th roots of the points that `context` (the session and the holder) and the key determine."""
    n, p, q = key.public.n, key.p, key.q
    d_p, d_q = modular.invert(n % (p - 1), p - 1), modular.invert(n % (q - 1), q - 1)
    return tuple(
        modular.crt(modular.power(x, d_p, p), modular.power(x, d_q, q), p, q) for x in _points(key.public, context)
    )


@lru_cache(maxsize=256)  # a pure function of public values; a simulation checks one key once per party
def verify(key: PublicKey, bits: int, proof: tuple[int, ...], context: bytes) -> str | None:
    """None when the key may be used; else what is wrong with it, in words."""
    n = key.n
    if n.bit_length() != bits:
        return f"wanted a modulus of {bits} bits, got {n.bit_length()}"
    if n % 4 != 1 or modular.small_factors(n, SMALL_FACTOR_BOUND) != 1:
        return "the modulus is even, 3 mod 4, or has a small factor"
    if len(proof) != POINTS or any(not modular.is_unit(root, n) for root in proof):
        return f"the key's proof needs {POINTS} units mod n"
    if any(modular.power(root, n, n) != x for root, x in zip(proof, _points(key, context), strict=True)):
        return "the proof that gcd(n, phi(n)) = 1 fails"
    return None


def _points(key: PublicKey, context: bytes) -> list[int]:
    size = (key.n.bit_length() + 7) // 8
    seed = hashlib.sha256(b"smc-dp admission" + hashlib.sha256(context).digest())
    seed.update(key.n.to_bytes(size, "big") + key.h.to_bytes(size, "big"))
    # 16 bytes beyond n make the reduction uniform up to 2**-128.
    stretch = hashlib.shake_256(seed.digest()).digest((size + 16) * POINTS)
    chunks = (stretch[i * (size + 16) : (i + 1) * (size + 16)] for i in range(POINTS))
    return [int.from_bytes(chunk, "big") % key.n for chunk in chunks]
