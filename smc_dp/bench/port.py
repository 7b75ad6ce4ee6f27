"""A straightforward port of the paper's steps on phe, what it does counted, and what each operation costs.

The port does what the paper's steps say with one ciphertext per coordinate: phe's own encryption, scalar products
re-randomised by phe's `obfuscate`, Python integers for the shares. It has our comparison, sends nothing over any
channel, and does without the proofs, seals, signatures and encodings that ours pays for. At real sizes it takes minutes
to hours, so it is never run whole there: `operations` says how often it does what, `prices` measures each a few times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import reduce

import phe

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.comparison import steps
from protocols.crypto import dgk
from protocols.pathak2010 import minimum
from protocols.pathak2010.parameters import Parameters
from smc_dp.aggregation import Contribution
from smc_dp.bench.clocks import CpuSeconds, clock, price

ALL_PAIRS, TOURNAMENT = "all-pairs", "tournament"
TRIES = 10


@dataclass(frozen=True)
class PortCounts:
    """How often the port does what: encryptions, decryptions, sums of ciphertexts, scalar products, re-randomisations,
    comparisons, and numbers of shares that are drawn, taken off and added up.
    """

    encrypt: int
    decrypt: int
    add: int
    scale: int
    obfuscate: int
    compare: int
    share: int

    def as_dict(self) -> Mapping[str, int]:
        """By name."""
        return {part.name: getattr(self, part.name) for part in fields(self)}


@dataclass(frozen=True)
class PortPrices:
    """Processor seconds of each of them."""

    encrypt: float
    decrypt: float
    add: float
    scale: float
    obfuscate: float
    compare: float
    share: float

    def of(self, counts: PortCounts) -> float:
        """Units times counts."""
        prices = self.as_dict()
        return sum(prices[name] * count for name, count in counts.as_dict().items())

    def as_dict(self) -> Mapping[str, float]:
        """By name."""
        return {part.name: getattr(self, part.name) for part in fields(self)}


def operations(K: int, d: int, comparison: str = ALL_PAIRS) -> PortCounts:
    """What the port does for K parties and d weights; the paper compares all pairs."""
    return PortCounts(
        encrypt=4 * K + d,
        decrypt=2 * K + d,
        add=K + K * d,
        scale=K * d,
        obfuscate=K * d,
        compare=minimum.comparisons(comparison, K),
        share=(K + 1) ** 2 * d,
    )


def run_port(contributions: Sequence[Contribution], p: Parameters, rng: Stream) -> tuple[CpuSeconds, Vector]:
    """The paper's steps on phe: processor seconds by stage without key generation, and the released sum."""
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
    offered = key.encrypt_all(steps.bits(y, p.compared_bits), rng)
    delta_a = rng.bits(1)
    c = steps.differences(key.public, x, offered, delta_a, rng)
    return steps.is_negative(steps.at_most(key, c, steps.xor(delta_a, flip)), top)


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


def prices(p: Parameters, rng: Stream, tries: int = TRIES) -> PortPrices:
    """What each operation of the port costs at these key lengths, from a few of each."""
    public, private = phe.generate_paillier_keypair(n_length=p.key_bits)
    key = dgk.generate(p.key_bits, p.u, rng)
    a, b = ([p.sizes.random(rng) for _ in range(2)] for _ in range(2))
    noise = [rng.bits(44) - (1 << 43) for _ in range(tries + 1)]  # of either sign, which phe takes different times for
    sealed = [public.encrypt(x) for x in noise[:2]]
    rows = [[rng.bits(42) for _ in range(_SHARED)] for _ in range(_SHARED)]
    return PortPrices(
        encrypt=price(lambda i: public.encrypt(noise[i]), tries),
        decrypt=price(lambda i: private.decrypt(sealed[i % 2]), tries),
        add=price(lambda i: sealed[0] + sealed[1], tries),
        scale=price(lambda i: sealed[0] * noise[i], tries),
        obfuscate=price(lambda i: refreshed(sealed[0]), tries),
        compare=price(lambda i: less(p, key, a, b, 0, 1, rng), tries),
        share=price(lambda i: reshared(rows, p.weights.modulus, rng), tries) / _SHARED**3,
    )


_SHARED = 20  # summands, and numbers in each
