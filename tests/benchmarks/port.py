"""A straightforward port of the paper's steps on phe.

The port does what the paper's steps say with one ciphertext per coordinate: phe's own encryption, scalar products
re-randomised by phe's `obfuscate`, Python integers for the shares. It has our comparison, sends nothing over any
channel, and does without the proofs, seals, signatures and encodings that ours pays for.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce

import phe

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.comparison import steps
from protocols.crypto import dgk
from protocols.pathak2010 import minimum
from protocols.pathak2010.parameters import Parameters
from smc_dp.methods.functionality import Contribution

CpuSeconds = dict[str, float]


@contextmanager
def clock(seconds: CpuSeconds, stage: str) -> Iterator[None]:
    """Note the processor seconds of the block."""
    start = time.process_time()
    yield
    seconds[stage] = time.process_time() - start


def run_port(contributions: Sequence[Contribution], p: Parameters, rng: Stream) -> tuple[CpuSeconds, Vector]:
    """Run the paper's steps on phe; return processor seconds by stage, without key generation, and the released sum."""
    K, d = p.K, p.dimension
    xi_public, xi = phe.generate_paillier_keypair(n_length=p.key_bits)
    zeta_public, zeta = phe.generate_paillier_keypair(n_length=p.key_bits)
    compare = dgk.generate(p.key_bits, p.u, rng)
    seconds: CpuSeconds = {}
    with clock(seconds, "stage1"):
        halves = [p.sizes.split(minimum.with_tie_bits(c.size, p.tie_bits, rng), rng) for c in contributions]
        pi1, pi2 = Permutation.random(K, rng), Permutation.random(K, rng)
        a = pi1([xi_public.encrypt(a_j) for a_j, _ in halves])
        b = [zeta.decrypt(c) for c in pi1([zeta_public.encrypt(b_j) for _, b_j in halves])]
        r = [rng.bits(p.blind_bits) for _ in range(K)]
        a_tilde = [
            p.sizes.reduce(xi.decrypt(c)) for c in pi2([c + xi_public.encrypt(x) for c, x in zip(a, r, strict=True)])
        ]
        b_tilde = pi2([p.sizes.subtract(x, y) for x, y in zip(b, r, strict=True)])
        search = minimum.search(p.comparison, K)
        while not search.found:
            search = search.after([less(p, compare, a_tilde, b_tilde, i, j, rng) for i, j in search.pairs])
    with clock(seconds, "stage2"):
        u = pi2.inverse([int(place == search.winner) for place in range(K)])
        v = pi1.inverse([zeta_public.encrypt(x) for x in u])
        selected = [[refreshed(v_j * x) for x in c.noise] for v_j, c in zip(v, contributions, strict=True)]
        psi = [sum(column[1:], column[0]) for column in zip(*selected, strict=True)]
    with clock(seconds, "stage3"):
        s = [rng.bits(p.mask_bits) for _ in range(d)]
        masked = [zeta.decrypt(c + zeta_public.encrypt(x)) for c, x in zip(psi, s, strict=True)]
        summands = [list(c.weights) for c in contributions]
        summands[0] = [w - x for w, x in zip(summands[0], s, strict=True)]
        total = reshared([*summands, masked], p.weights.modulus, rng)
    return seconds, total


def refreshed(c: phe.EncryptedNumber) -> phe.EncryptedNumber:
    """The same ciphertext under new randomness."""
    c.obfuscate()
    return c


def less(p: Parameters, key: dgk.DgkPrivateKey, a: Sequence[int], b: Sequence[int], i: int, j: int, rng: Stream) -> int:
    """Whether a_i + b_i < a_j + b_j, by our comparison."""
    y, top = steps.holder_half(p.sizes, p.sizes.subtract(b[i], b[j]))
    x, flip = steps.chooser_half(p.sizes, p.sizes.subtract(a[i], a[j]))
    offered = [key.encrypt(bit, rng) for bit in steps.bits(y, p.compared_bits)]
    delta_a = rng.bits(1)
    c = steps.blinded_differences(key.public, x, offered, delta_a, rng)
    return steps.is_negative(steps.is_at_most(key, c, steps.xor(delta_a, flip)), top)


def reshared(summands: Sequence[Sequence[int]], modulus: int, rng: Stream) -> Vector:
    """The sum mod M of as many vectors as there are participants, each in a share for each of them; plain integers."""
    shares = [_split([x % modulus for x in summand], len(summands), modulus, rng) for summand in summands]
    published = [_added(column, modulus) for column in zip(*shares, strict=True)]
    return tuple(_added(published, modulus))


def _split(x: list[int], count: int, modulus: int, rng: Stream) -> list[list[int]]:
    bits = modulus.bit_length() - 1
    shares = [[rng.bits(bits) for _ in x] for _ in range(count - 1)]
    rest = reduce(lambda left, share: [(a - b) % modulus for a, b in zip(left, share, strict=True)], shares, x)
    return [*shares, rest]


def _added(vectors: Sequence[list[int]], modulus: int) -> list[int]:
    return [sum(column) % modulus for column in zip(*vectors, strict=True)]
