"""Toy keys, made once per process, and the statistical checks that the protocol tests share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import cache
from math import gcd

import scipy.stats

from protocols.arithmetic.rng import Stream
from protocols.crypto import dgk, paillier

ACCEPT, REJECT = 1e-6, 1e-12


@cache
def paillier_key(name: str = "xi", bits: int = 512) -> paillier.PrivateKey:
    """A Paillier key of toy size."""
    return paillier.generate(bits, Stream.insecure_from_seed(f"toy paillier {name}"))


@cache
def dgk_key(u: int = 17, bits: int = 256) -> dgk.DgkPrivateKey:
    """A comparison key of toy size with plaintexts mod u."""
    return dgk.generate(bits, u, Stream.insecure_from_seed("toy dgk"))


def uniformity(samples: Iterable[Hashable], cells: Sequence[Hashable]) -> float:
    """p-value of Pearson's chi-square test that the samples are uniform over the cells; 0 for one outside."""
    counts = Counter(samples)
    if not counts.keys() <= set(cells):
        return 0.0
    return float(scipy.stats.chisquare([counts[cell] for cell in cells]).pvalue)


def randomiser(key: paillier.PrivateKey, value: int) -> int:
    """The r with c = (1 + m n) r**n mod n**2, as everybody who holds the secret key can extract it from c."""
    n, phi = key.public.n, (key.p - 1) * (key.q - 1)
    assert gcd(n, phi) == 1
    return pow(value % n, pow(n, -1, phi), n)


@cache
def _powers(key: dgk.DgkPrivateKey, prime: int) -> dict[int, int]:
    p, v = ((key.p, key.v_p), (key.q, key.v_q))[prime]
    return {pow(key.public.g, m * v, p): m for m in range(key.public.u)}


def opened_bit(key: dgk.DgkPrivateKey, c: dgk.BitCiphertext, prime: int = 0) -> int:
    """The plaintext mod u that the holder of a comparison key can read, by a table of all powers of g**v."""
    p, v = ((key.p, key.v_p), (key.q, key.v_q))[prime]
    return _powers(key, prime)[pow(c.value, v, p)]
