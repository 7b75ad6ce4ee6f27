"""A non-interactive proof that a Paillier modulus n is no prime and has gcd(n, phi(n)) = 1, so that encryption is what
it claims.

Goldberg, Reyzin, Sagga, Baldimtsi (2019), "Efficient noninteractive certification of RSA moduli and beyond": the
holder shows n-th roots of points that a hash picks. If n has no prime factor up to B and gcd(n, phi(n)) > 1, each
point has a root with probability at most 1/B; with B = 2**22 and 6 points all of them do with probability 2**-132 in
the random oracle model. Zero knowledge: n-th roots are unique, so they could be made by hashing backwards.

The reader looks at the roots r_i of the points x_i together, in 2 batches: prod(r_i**e_i)**n = prod(x_i**e_i) mod n
with its own e_i, uniform below B (Bellare, Garay, Rabin 1998). Let G be the units mod n. The order of any element of
G/G**n divides n, so it is 1 or has a prime factor above B. If x_i is no n-th power, two values of e_i that both let a
batch pass, all others being the same, differ by a multiple of that factor, and they differ by less than B: at most one
value passes. (A point that is no unit passes with e_i = 0 alone.) So a batch errs with probability at most 2**-22, and
both with 2**-44 over randomness that the holder does not know, beside the 2**-132: a participant that announces a bad
key is refused with all other probability, and cannot try beforehand. It is the points that are known to have roots:
a root of the wrong sign passes one batch of two, and harms nobody.

Where n is a prime, gcd(n, phi(n)) = 1 as well, and every number is its own n-th root. So a batch whose two sides are
alike before the power fails; under an honest key that happens for four units of all. Where a prime divides n twice, it
divides gcd(n, phi(n)): no perfect power passes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

from protocols.arithmetic import modular
from protocols.arithmetic.rng import Stream
from protocols.crypto.hashed import hash_to_residues
from protocols.crypto.paillier import PrivateKey, PublicKey
from protocols.errors import Fault

SMALL_FACTOR_BOUND = 1 << 22
POINTS = 6
BATCHES = 2


def prove(key: PrivateKey, context: bytes) -> tuple[int, ...]:
    """Return the n-th roots of the points that `context` (the session and the holder) and the key determine."""
    n, p, q = key.public.n, key.p, key.q
    d_p, d_q = modular.invert(n % (p - 1), p - 1), modular.invert(n % (q - 1), q - 1)
    return tuple(
        modular.crt(modular.power(x, d_p, p), modular.power(x, d_q, q), p, q) for x in _points(key.public, context)
    )


def verify(key: PublicKey, bits: int, proof: Sequence[int], context: bytes, rng: Stream) -> Fault | None:
    """Return what is wrong with a key and its proof; None when it may be used. The randomness is the reader's own."""
    n = key.n
    if n.bit_length() != bits:
        return Fault("paillier_key.of_another_length", {"wanted": bits, "got": n.bit_length()})
    if _has_small_factor(n):
        return Fault("paillier_key.small_factor", {"most": SMALL_FACTOR_BOUND})
    if len(proof) != POINTS or any(not modular.is_unit(root, n) for root in proof):
        return Fault("paillier_key.proof_of_no_units", {"points": POINTS})
    points = _points(key, context)
    if not all(_batch_holds(proof, points, n, rng) for _ in range(BATCHES)):
        return Fault("paillier_key.proof_fails")
    return None


@lru_cache(maxsize=32)  # of this process: public moduli, each of which every party of a simulation reads
def _has_small_factor(n: int) -> bool:
    return modular.small_factors(n, SMALL_FACTOR_BOUND) != 1


def _batch_holds(roots: Sequence[int], points: Sequence[int], n: int, rng: Stream) -> bool:
    exponents = [rng.below(SMALL_FACTOR_BOUND) for _ in points]
    root, point = (modular.product_of_powers(side, exponents, n) for side in (roots, points))
    return root != point and modular.power(root, n, n) == point


def _points(key: PublicKey, context: bytes) -> list[int]:
    return hash_to_residues(b"smc-dp admission" + hashlib.sha256(context).digest(), key.n, POINTS)
