"""Modular arithmetic on large integers: the one file that knows gmpy2.

Running times depend on the operands (table look-ups, sliding windows): an attacker who shares the machine is out of
scope, and README says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import compress
from math import gcd

import gmpy2

from protocols.arithmetic.rng import Stream

_SIEVES = (1 << 10, 1 << 17)  # two gcds find nine of ten composites, in a fraction of the time of a power
_BAILLIE_PSW = 24  # GMP's number for Baillie-PSW alone; what is asked for beyond it are rounds of Miller-Rabin


def power(base: int, exponent: int, modulus: int) -> int:
    """`base ** exponent mod modulus`; a negative exponent asks for the inverse."""
    return int(gmpy2.powmod(base, exponent, modulus))


def invert(x: int, modulus: int) -> int:
    """The inverse of x; raises ZeroDivisionError when gcd(x, modulus) is not 1."""
    return int(gmpy2.invert(x, modulus))


def multiply(x: int, y: int, modulus: int) -> int:
    """`x * y mod modulus`."""
    return int(gmpy2.f_mod(gmpy2.mpz(x) * y, modulus))


def is_unit(x: int, modulus: int) -> bool:
    """Whether 0 < x < modulus and gcd(x, modulus) = 1."""
    return 0 < x < modulus and gcd(x, modulus) == 1


def jacobi(x: int, n: int) -> int:
    """The Jacobi symbol (x | n) for odd positive n."""
    return int(gmpy2.jacobi(x, n))


def is_prime(x: int) -> bool:
    """Whether x is prime, as far as the Baillie-PSW test and some rounds of Miller-Rabin can tell.

    A random odd number that passed one round is composite with probability below 2**-75 from 600 bits on, and one of
    250 bits or more that passed ten, below 2**-79 (Damgard, Landrock, Pomerance 1993, table 2); the bits that
    `random_prime` fixes make it four times that. Of a prime stepped to, as in DGK, or received, this says nothing, and
    GMP's bases can be foretold, so more rounds would not help against whoever chose it: no composite that passes
    Baillie-PSW is known, and none is proved not to exist.
    """
    rounds = 1 if x.bit_length() >= 600 else 16
    unsieved = all(small_factors(x, bound) in (1, x) for bound in _SIEVES)
    return unsieved and bool(gmpy2.is_prime(x, _BAILLIE_PSW + rounds))


def random_prime(bits: int, rng: Stream, *, residue: int = 1, modulus: int = 2, apart: int = 1) -> int:
    """A random prime x of exactly `bits` bits, its two top bits set, = `residue` mod `modulus`, gcd(x-1, apart) = 1.

    With both top bits set, the product of two such primes has exactly twice as many bits.
    """
    top = 3 << (bits - 2)
    while True:
        candidate = top | rng.bits(bits - 2)
        candidate += (residue - candidate) % modulus
        if candidate.bit_length() == bits and gcd(candidate - 1, apart) == 1 and is_prime(candidate):
            return candidate


def next_prime(x: int) -> int:
    """The smallest prime above x."""
    return int(gmpy2.next_prime(x))


def crt(x_p: int, x_q: int, p: int, q: int) -> int:
    """The x mod p*q with x = x_p mod p and x = x_q mod q."""
    return x_q + q * ((x_p - x_q) * invert(q, p) % p)


def small_factors(x: int, bound: int) -> int:
    """The product of the primes up to `bound` that divide x, each once."""
    return int(gmpy2.gcd(x, _primorial(bound)))


@lru_cache(maxsize=4)  # of this process: a public constant, which takes longer to make than to use
def _primorial(bound: int) -> gmpy2.mpz:
    return gmpy2.primorial(bound)


class FixedBase:
    """Powers of one base by table: no squarings, one product per window of the exponent.

    Entry (i, j) is base**(j * 2**(window * i)). Brickell, Gordon, McCurley, Wilson (1992), without the final folding.
    The first `plain` powers are made without the table, for bases that may not be used often enough to pay for one.
    """

    def __init__(self, base: int, modulus: int, exponent_bits: int, window: int = 4, plain: int = 0) -> None:
        self._base, self._modulus = gmpy2.mpz(base) % modulus, gmpy2.mpz(modulus)
        self._window, self._bits = window, exponent_bits
        self._plain = plain

    @cached_property
    def _rows(self) -> list[list[gmpy2.mpz]]:
        rows, step = [], self._base
        for _ in range(-(-self._bits // self._window)):
            row = [gmpy2.mpz(1)]
            for _ in range((1 << self._window) - 1):
                row.append(row[-1] * step % self._modulus)
            rows.append(row)
            step = row[-1] * step % self._modulus
        return rows

    def power(self, exponent: int) -> int:
        """`base ** exponent`, for 0 <= exponent < 2**exponent_bits."""
        if exponent < 0 or exponent.bit_length() > self._bits:
            raise ValueError(f"exponent must be in [0, 2**{self._bits}), got {exponent.bit_length()} bits")
        if self._plain:
            self._plain -= 1
            return int(gmpy2.powmod(self._base, exponent, self._modulus))
        result, mask = gmpy2.mpz(1), (1 << self._window) - 1
        for row in self._rows:
            digit = exponent & mask
            if digit:
                result = result * row[digit] % self._modulus
            exponent >>= self._window
        return int(result)


# Of this process, so for public bases and moduli only; whoever has secret ones keeps its tables beside them.
public_base = lru_cache(maxsize=24)(FixedBase)


def powers(base: int, exponents: Sequence[int], modulus: int) -> list[int]:
    """`[base ** e mod modulus for e in exponents]` for exponents >= 0, sharing the squarings of the base.

    One pass over the bits multiplies base**(2**i) into the bucket of the column of bits that the exponents have at
    position i; each exponent then collects the buckets that contain it (Yao's bucket method). Blocks of at most
    eight exponents keep the buckets few. Raises ValueError for a negative exponent.
    """
    if any(e < 0 for e in exponents):
        raise ValueError("exponents must not be negative")
    block = 8
    if len(exponents) > block:
        return powers(base, exponents[:block], modulus) + powers(base, exponents[block:], modulus)
    buckets = [gmpy2.mpz(1)] * (1 << len(exponents))
    square = gmpy2.mpz(base)
    for i in range(max((e.bit_length() for e in exponents), default=0)):
        column = sum(((e >> i) & 1) << k for k, e in enumerate(exponents))
        if column:
            buckets[column] = buckets[column] * square % modulus
        square = square * square % modulus
    results = []
    for k in range(len(exponents)):
        result = gmpy2.mpz(1)
        for bucket in compress(buckets, [(column >> k) & 1 for column in range(len(buckets))]):
            result = result * bucket % modulus
        results.append(int(result))
    return results
