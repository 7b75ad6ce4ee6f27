"""Modular arithmetic on large integers: the one file that knows gmpy2.

Running times depend on the operands (table look-ups, sliding windows): an attacker who shares the machine is out of
scope, and README says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import gmpy2

from protocols.arithmetic.rng import Stream

_SIEVES = (53, 1 << 10, 1 << 17)  # gcds find nine of ten composites, in a fraction of the time of a long power
_LONG = 768  # bits from which the last one saves more than it costs
_BAILLIE_PSW = 24  # GMP's number for Baillie-PSW alone; every number above it adds a round of Miller-Rabin


def power(base: int, exponent: int, modulus: int) -> int:
    """Return `base ** exponent mod modulus`; a negative exponent asks for the inverse."""
    return int(gmpy2.powmod(base, exponent, modulus))


def invert(x: int, modulus: int) -> int:
    """Return the inverse of x; raise ZeroDivisionError when gcd(x, modulus) is not 1."""
    return int(gmpy2.invert(x, modulus))


def multiply(x: int, y: int, modulus: int) -> int:
    """Return `x * y mod modulus`."""
    return int(gmpy2.f_mod(gmpy2.mpz(x) * y, modulus))


def product_of_powers(bases: Sequence[int], exponents: Sequence[int], modulus: int) -> int:
    """Return the product of `base ** exponent mod modulus` over all pairs, by one chain of squarings. Exponents are >=
    0.
    """
    if any(e < 0 for e in exponents):
        raise ValueError("exponents must not be negative")
    pairs = [(gmpy2.mpz(base), e) for base, e in zip(bases, exponents, strict=True)]
    result = gmpy2.mpz(1) % modulus
    for i in reversed(range(max((e.bit_length() for e in exponents), default=0))):
        result = result * result % modulus
        for base, e in pairs:
            if e >> i & 1:
                result = result * base % modulus
    return int(result)


def horner(bases: Sequence[int], shift: int, modulus: int) -> int:
    """Return the product of `base_i ** 2**(shift * i) mod modulus`."""
    result = gmpy2.mpz(1) % modulus
    for base in reversed(bases):
        result = gmpy2.powmod(result, 1 << shift, modulus) * base % modulus
    return int(result)


def is_unit(x: int, modulus: int) -> bool:
    """Return whether 0 < x < modulus and gcd(x, modulus) = 1."""
    return 0 < x < modulus and gmpy2.gcd(x, modulus) == 1


def jacobi(x: int, n: int) -> int:
    """Return the Jacobi symbol (x | n) for odd positive n."""
    return int(gmpy2.jacobi(x, n))


def is_prime(x: int) -> bool:
    """Return whether a number is prime, as far as Baillie-PSW and some rounds of Miller-Rabin tell; for numbers that
    somebody chose or stepped to.

    GMP's bases can be foretold, so more rounds would not help against the author of the number: no composite that
    passes Baillie-PSW is known, and none is proved not to exist. Of numbers drawn at random `random_prime` says more.
    """
    # Of random numbers of 600 bits that pass one round, 2**-75 are composite (Damgard, Landrock, Pomerance 1993).
    rounds = 1 if x.bit_length() >= 600 else 16
    return _is_unsieved(x) and bool(gmpy2.is_prime(x, _BAILLIE_PSW + rounds))


def random_prime(bits: int, rng: Stream, *, residue: int = 1, modulus: int = 2, apart: int = 1) -> int:
    """Return a random prime x of exactly `bits` bits, its two top bits set, = `residue` mod `modulus`, gcd(x-1, apart)
    = 1.

    With both top bits set, the product of two such primes has exactly twice as many bits. For lengths of 224 bits and
    more the result is composite with probability below 2**-128, if `modulus` is at most 4; see `miller_rabin_rounds`.
    """
    top, bases = 3 << (bits - 2), rng.fork("bases")
    while True:
        candidate = top | rng.bits(bits - 2)
        candidate += (residue - candidate) % modulus
        fits = candidate.bit_length() == bits and gmpy2.gcd(candidate - 1, apart) == 1
        if fits and _is_unsieved(candidate) and _passes(candidate, bases):
            return candidate


_ROUNDS = ((3072, 2), (2048, 3), (1536, 4), (1024, 6), (512, 13), (224, 32))


def miller_rabin_rounds(bits: int) -> int:
    """Return the number of Miller-Rabin rounds that a random odd number of this length has to pass, with bases of our
    own.

    Damgard, Landrock, Pomerance (1993): an odd number of k bits, uniform, that passed t rounds is composite with
    probability p(k, t) below k**(3/2) 2**t t**(-1/2) 4**(2 - sqrt(t k)) for t = 2 and 3 <= t <= k/9 (k from 88), and
    below 7/20 k 2**(-5t) + 1/7 k**(15/4) 2**(-k/2 - 2t) + 12 k 2**(-k/4 - 3t) for k/9 <= t <= k/4. The numbers here
    make that less than 2**-133. The bits that `random_prime` fixes leave one number of four, and its condition on x - 1
    more than one prime of eight, whatever x - 1 is to be apart from: 2**-128 (sieves only remove composites). Below 224
    bits, where keys protect nobody, 64 rounds: each composite fails one of them with probability 3/4 (Rabin 1980).
    """
    return next((t for least, t in _ROUNDS if bits >= least), 64)


def _passes(x: int, bases: Stream) -> bool:
    # A first round to the base 2 costs less than others, and nearly no composite gets beyond it.
    return bool(gmpy2.is_strong_prp(x, 2)) and all(
        gmpy2.is_strong_prp(x, 2 + bases.below(x - 3)) for _ in range(miller_rabin_rounds(x.bit_length()))
    )


def _is_unsieved(x: int) -> bool:
    sieves = _SIEVES if x.bit_length() >= _LONG else _SIEVES[:-1]
    return all(small_factors(x, bound) in (1, x) for bound in sieves)


def next_prime(x: int) -> int:
    """Return the smallest prime above x."""
    return int(gmpy2.next_prime(x))


def crt(x_p: int, x_q: int, p: int, q: int) -> int:
    """Return the x mod p*q with x = x_p mod p and x = x_q mod q."""
    return Remainders(p, q).joined(x_p, x_q)


class Remainders:
    """Chinese remainders for two moduli that stay, which may be secret: the object holds their inverse."""

    def __init__(self, p: int, q: int) -> None:
        self._p, self._q, self._inverse = gmpy2.mpz(p), gmpy2.mpz(q), gmpy2.invert(q, p)

    def joined(self, x_p: int, x_q: int) -> int:
        """Return the x mod p*q with x = x_p mod p and x = x_q mod q."""
        return int(x_q + self._q * ((x_p - x_q) * self._inverse % self._p))


def small_factors(x: int, bound: int) -> int:
    """Return the product of the primes up to `bound` that divide x, each once."""
    return int(gmpy2.gcd(x, _primorial(bound)))


@lru_cache(maxsize=4)  # of this process: a public constant, which takes longer to make than to use
def _primorial(bound: int) -> gmpy2.mpz:
    return gmpy2.primorial(bound)


MAX_TABLE_BYTES = 1 << 24  # of the entries of one table


@dataclass(frozen=True)
class Comb:
    """Shape of a table of a fixed base: an exponent is `teeth` rows of `blocks` * `block_columns` bits, one below the
    other.

    Lim and Lee (1994). A block has an entry for each of the 2**teeth columns of bits; a power takes one product for
    each column, and `block_columns` - 1 squarings in all.
    """

    teeth: int
    blocks: int
    block_columns: int

    @property
    def columns(self) -> int:
        """Number of columns, which is the length of a row."""
        return self.blocks * self.block_columns

    @classmethod
    @lru_cache(maxsize=256)  # of this process: shapes hold nothing of a key
    def for_uses(cls, bits: int, uses: int, entries: int) -> Comb:
        """Return the shape of at most `entries` entries, for exponents of `bits` bits, that takes least products for
        the table and `uses` powers.
        """
        shapes = (
            cls(teeth, -(-bits // (teeth * block_columns)), block_columns)
            for teeth in range(1, min(bits, 13) + 1)  # for keys from 2048 bits, more save at most 2 %
            for block_columns in range(1, -(-bits // teeth) + 1)
        )
        fits = (shape for shape in shapes if shape.blocks << shape.teeth <= max(2, entries))
        return min(fits, key=lambda c: (c.blocks << c.teeth) + uses * (c.columns + c.block_columns))


class FixedBase:
    """Powers of one base by a table that grows with its use.

    The first power is made without a table, for that may be all; the second, and each one whose number is a power of
    eight, makes the table that suits seven times as many more.
    """

    def __init__(self, base: int, modulus: int, exponent_bits: int) -> None:
        self._base, self._modulus = gmpy2.mpz(base) % modulus, gmpy2.mpz(modulus)
        self._bits, self._uses = exponent_bits, 0
        self._shape, self._blocks = Comb(1, 1, 1), list[list[gmpy2.mpz]]()

    def power(self, exponent: int) -> int:
        """Return `base ** exponent`, for 0 <= exponent < 2**exponent_bits."""
        if exponent < 0 or exponent.bit_length() > self._bits:
            raise ValueError(f"exponent must be in [0, 2**{self._bits}), got {exponent.bit_length()} bits")
        self._uses += 1
        if self._uses == 1:
            return int(gmpy2.powmod(self._base, exponent, self._modulus))
        if self._uses == 2 or _is_power_of_eight(self._uses):
            self._grow(Comb.for_uses(self._bits, 7 * self._uses, 8 * MAX_TABLE_BYTES // self._modulus.bit_length()))
        return self._combed(exponent)

    def _grow(self, shape: Comb) -> None:
        if self._blocks and shape == self._shape:
            return
        square, tips = self._base, {}  # base ** 2**i for each place i where a tooth of a block stands
        wanted = {t * shape.columns + b * shape.block_columns for t in range(shape.teeth) for b in range(shape.blocks)}
        for i in range(max(wanted) + 1):
            if i in wanted:
                tips[i] = square
            square = square * square % self._modulus
        self._shape = shape
        self._blocks = [
            self._block([tips[t * shape.columns + b * shape.block_columns] for t in range(shape.teeth)])
            for b in range(shape.blocks)
        ]

    def _block(self, teeth: list[gmpy2.mpz]) -> list[gmpy2.mpz]:
        entries = [gmpy2.mpz(1) % self._modulus]
        for tooth in teeth:
            entries += [entry * tooth % self._modulus for entry in entries]
        return entries

    def _combed(self, exponent: int) -> int:
        length, step, modulus = self._shape.columns, self._shape.block_columns, self._modulus
        rows = f"{exponent:0{self._shape.teeth * length}b}"  # highest bit first
        columns = [int(rows[i::length], 2) for i in range(length)]
        result = gmpy2.mpz(1) % modulus
        for first in range(length - step, length):  # its column is of the first block, in which columns are lowest
            if first > length - step:
                result = result * result % modulus
            for block, column in zip(self._blocks, columns[first::-step], strict=True):
                if column:
                    result = result * block[column] % modulus
        return int(result)


def _is_power_of_eight(x: int) -> bool:
    return x.bit_count() == 1 and x.bit_length() % 3 == 1


public_fixed_base = lru_cache(maxsize=8)(FixedBase)
"""Powers of a public base, by one table for all of this process; the owner of a secret base keeps its own table."""

_BLOCK = 8  # exponents that share buckets


def powers_of_base(base: int, exponents: Sequence[int], modulus: int) -> list[int]:
    """Return `[base ** e mod modulus for e in exponents]` for exponents >= 0, sharing the squarings of the base.

    One pass over the bits multiplies base**(2**i) into the bucket of the column of bits that the exponents have at
    position i; each exponent then collects the buckets that contain it (Yao's bucket method). Blocks of at most
    eight exponents keep the buckets few, and all blocks take their squares from one pass. Where exponents are few, each
    is dealt out to several, bit by bit in turn, which makes columns fewer. Raises ValueError for a negative exponent.
    """
    if any(e < 0 for e in exponents):
        raise ValueError("exponents must not be negative")
    if len(exponents) < 2:
        return [power(base, e, modulus) for e in exponents]
    deal = max(1, _BLOCK // len(exponents))
    length = max(1, -(-max(e.bit_length() for e in exponents) // deal))
    rows = [f"{e:0{deal * length}b}"[k::deal] for e in exponents for k in reversed(range(deal))]
    size = -(-len(rows) // -(-len(rows) // _BLOCK))
    found = _row_products(base, [rows[i : i + size] for i in range(0, len(rows), size)], deal, modulus)
    return [horner(found[i : i + deal], 1, modulus) for i in range(0, len(found), deal)]


def _row_products(base: int, blocks: Sequence[Sequence[str]], step: int, modulus: int) -> list[int]:
    """Return for each row of bits, lowest last, the product of base**(2**(step * i)) over the places i of its ones."""
    buckets: list[list[gmpy2.mpz | None]] = [[None] * (1 << len(block)) for block in blocks]
    square = gmpy2.mpz(base) % modulus
    for column in zip(*(_columns(block) for block in blocks), strict=True):
        for full, place in zip(buckets, column, strict=True):
            if place:
                there = full[place]
                full[place] = square if there is None else there * square % modulus
        for _ in range(step):
            square = square * square % modulus
    return [product for full in buckets for product in _collected(full, modulus)]


def _columns(block: Sequence[str]) -> list[int]:
    """Return for each place, lowest first, the bits that the rows have there, that of the first row lowest."""
    return [int("".join(column), 2) for column in zip(*reversed(block), strict=True)][::-1]


def _collected(buckets: list[gmpy2.mpz | None], modulus: int) -> list[int]:
    """Return for each bit, lowest first, the product of all buckets whose number has it; halves the buckets bit by
    bit.
    """
    found = []
    while len(buckets) > 1:
        half = len(buckets) // 2
        low, high = buckets[:half], buckets[half:]
        result = gmpy2.mpz(1) % modulus
        for bucket in high:
            if bucket is not None:
                result = result * bucket % modulus
        found.append(int(result))
        buckets = [_times(x, y, modulus) for x, y in zip(low, high, strict=True)]
    return found[::-1]


def _times(x: gmpy2.mpz | None, y: gmpy2.mpz | None, modulus: int) -> gmpy2.mpz | None:
    if x is None or y is None:
        return y if x is None else x
    return x * y % modulus
