"""Paillier encryption with the randomisation of Damgard, Jurik and Nielsen, and freshness as a type.

Assumption: decisional composite residuosity, and a random oracle. A key is n = p q with p = q = 3 mod 4 and
gcd(p-1, q-1) = 2. Everybody derives h = -x**2 mod n from it, x being a hash of n, and h_s = h**n mod n**2. So the
holder cannot choose an h that generates a small group, under which others could open what is locked for the holder.

A ciphertext of m is (1 + m n) h_s**r mod n**2. A key says how long the exponents r are that this side draws. `full`:
uniform of |n| + 64 bits, i.e. h_s**r is within 2**-64 of uniform over the group that h_s generates, and no further
assumption enters. `short`: uniform of 256 bits, and it is assumed besides that nobody without p and q can tell h_s**r
for such an r from a uniform power of h_s. The best attack known is that on discrete logarithms of 256 bits, of 2**128
steps. (In groups of known order that is all there is: Koshiba and Kurosawa 2004. Modulo n, a proof from factoring is
known for |n|/2 bits, which Damgard, Jurik and Nielsen 2010 use.) Either way it is a ciphertext like any other to its
reader.

The holder of the secret key need not stay in that group: it reads in which coset a ciphertext lies, and no power of
h_s moves it to another. There are many cosets if p and q are not as above (both 1 mod 4, or with a large common factor
of p-1 and q-1), which nobody else can see. So what returns to the holder is multiplied by y**n instead, with y uniform
among all units mod n of Jacobi symbol +1. Admission shows that x -> x**n is a bijection of the units mod n; then the
result is perfectly uniform over the ciphertexts of its plaintext with symbol +1, whatever p and q are.

Keys are phe's key objects around our own primes: what is encrypted here opens there, and back.

Three types keep rules that nobody should have to remember. `Ciphertext` is what came from a peer or out of a product;
`Fresh` carries randomness that nobody has seen; that of `Uniform` is perfectly uniform besides. A message holds
`Fresh`, so what is passed on or computed must go through `refresh` or `blind` first. A field that returns to the holder
of the secret key holds `Uniform`, so it must go through `blind`: semantic security says nothing against the owner, and
an assumption about exponents says nothing either. So no type tells short exponents from full ones: `blind` has none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, reduce
from math import gcd

import phe

from protocols.arithmetic import modular
from protocols.arithmetic.rng import Stream
from protocols.crypto.hashed import hash_to_residues
from protocols.errors import DecodeError, LocalError

RANDOMISER_SLACK = 64  # bits by which a full r exceeds n: the statistical distance from uniform is 2**-64
SHORT_BITS = 256  # of a short r: twice the security level against the discrete logarithm
EXPONENTS = ("short", "full")
CHECK_FACTOR_BITS = 64  # of the random factors by which `decrypt_batch` checks what it took apart
LEAST_BATCH = 4  # ciphertexts: fewer cost as much together as one by one


@dataclass(frozen=True)
class Ciphertext:
    """Unit mod n**2 of Jacobi symbol +1, under the key with this n; not known to carry our own randomness."""

    n: int = field(repr=False)
    value: int = field(repr=False)


class Fresh(Ciphertext):
    """Ciphertext re-randomised here and now: without the secret key nobody links it to what it was made of."""


class Uniform(Fresh):
    """Fresh ciphertext, perfectly uniform among those of its plaintext: with the secret key nobody links it."""


@lru_cache(maxsize=16)  # of this process: public values, which every role that a simulation holds would derive alike
def _h_s(h: int, n: int) -> int:
    return modular.power(h, n, n * n)


@dataclass(frozen=True, repr=False)
class PublicKey:
    """Public key: the modulus n, all that a holder announces; `crypto.admission` checks the proof that comes with it.

    `exponents` is how long the exponents are that this side draws.
    """

    n: int
    exponents: str = field(default="full", compare=False)  # a choice of this side, and no part of the key

    def __post_init__(self) -> None:
        if self.exponents not in EXPONENTS:
            raise ValueError(f"exponents must be one of {', '.join(EXPONENTS)}, got {self.exponents}")
        # Two primes 3 mod 4 make such an n, and -1 has Jacobi symbol +1 then, as every h and every ciphertext.
        if self.n < 5 or self.n % 4 != 1:
            raise ValueError("n must be 1 mod 4 and more than 1")

    @property
    def phe(self) -> phe.PaillierPublicKey:
        """This key as an object of phe."""
        return phe.PaillierPublicKey(self.n)

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of n."""
        return hashlib.sha256(str(self.n).encode()).digest()

    @property
    def bits(self) -> int:
        """Length of n in bits."""
        return self.n.bit_length()

    @cached_property
    def n_square(self) -> int:
        """Square n**2 of the modulus."""
        return self.n * self.n

    @cached_property
    def h(self) -> int:
        """Base h = -x**2 mod n for an x that is a hash of n."""
        (x,) = hash_to_residues(b"smc-dp h", self.n, 1)
        return -x * x % self.n

    @cached_property
    def h_s(self) -> int:
        """Base h_s = h**n mod n**2."""
        return _h_s(self.h, self.n)

    @property
    def exponent_bits(self) -> int:
        """Length of r; short exponents are never longer than full ones."""
        full = self.bits + RANDOMISER_SLACK
        return full if self.exponents == "full" else min(full, SHORT_BITS)

    def randomiser(self, rng: Stream) -> int:
        """Return h_s**r for a new r: an encryption of zero, for everybody but the holder of the secret key."""
        table = modular.public_fixed_base(self.h_s, self.n_square, self.exponent_bits)
        return table.power(rng.bits(self.exponent_bits))

    def encrypt(self, m: int, rng: Stream) -> Fresh:
        """Return an encryption of m mod n."""
        return Fresh(self.n, modular.multiply(1 + m % self.n * self.n, self.randomiser(rng), self.n_square))

    def refresh(self, c: Ciphertext, rng: Stream) -> Fresh:
        """Return the same plaintext under new randomness, for a reader who does not know how c was made."""
        return Fresh(self.n, modular.multiply(self._mine(c), self.randomiser(rng), self.n_square))

    def blind(self, c: Ciphertext, r: int, rng: Stream) -> Uniform:
        """Return a ciphertext of D(c) + r that can go back to the owner of the key, who may have made c.

        The owner reads randomisers and chose the primes, so neither an assumption nor the group of h_s hides the old
        one: it is multiplied by a unit that is uniform among all of symbol +1, whatever the randomiser of c was.
        """
        shifted = modular.multiply(self._mine(c), 1 + r % self.n * self.n, self.n_square)
        zero = modular.power(self._uniform_unit(rng), self.n, self.n_square)
        return Uniform(self.n, modular.multiply(shifted, zero, self.n_square))

    def add(self, *ciphertexts: Ciphertext) -> Ciphertext:
        """Return a ciphertext of the sum; stale, for it shows its factors to a reader that knows them."""
        return Ciphertext(
            self.n, reduce(lambda x, c: modular.multiply(x, self._mine(c), self.n_square), ciphertexts, 1)
        )

    def scale(self, c: Ciphertext, factors: Sequence[int]) -> list[Ciphertext]:
        """Return ciphertexts of D(c) * k for every k >= 0 of `factors`; stale, for k can be found by trying."""
        return [Ciphertext(self.n, x) for x in modular.powers_of_base(self._mine(c), factors, self.n_square)]

    def admit(self, value: int) -> Ciphertext:
        """Return the received value as a ciphertext; raise `DecodeError` unless it is a unit of symbol +1, as ours
        are.
        """
        # n has the prime factors of n**2, and the symbol of what has one in common with n is 0.
        symbol = modular.jacobi(value % self.n, self.n) if 0 < value < self.n_square else 0
        if symbol == 0:
            raise DecodeError("paillier.not_a_unit")
        if symbol != 1:
            raise DecodeError("paillier.not_randomised_by_h")
        return Ciphertext(self.n, value)

    def _uniform_unit(self, rng: Stream) -> int:
        # The symbol of a number that is no unit is 0. That of y**n is that of y, for n is odd.
        while modular.jacobi(y := rng.below(self.n), self.n) != 1:
            pass
        return y

    def _mine(self, c: Ciphertext) -> int:
        if c.n != self.n:
            raise LocalError("ciphertext.under_another_key")
        return c.value


@dataclass(frozen=True, repr=False)
class PrivateKey:
    """Private key: the primes p, q. It encrypts twice as fast as the public side, modulo p**2 and q**2."""

    public: PublicKey
    p: int
    q: int

    def __post_init__(self) -> None:
        if self.p * self.q != self.public.n:
            raise ValueError("p q must be n")

    @cached_property
    def phe(self) -> phe.PaillierPrivateKey:
        """This key as an object of phe."""
        return phe.PaillierPrivateKey(self.public.phe, self.p, self.q)

    @cached_property
    def _squares(self) -> tuple[int, int]:
        return self.p * self.p, self.q * self.q

    @cached_property
    def _tables(self) -> tuple[modular.FixedBase, ...]:
        # Secret, so they are this object's and go with it; a cache of the process would keep p and q.
        bits, h_s = min(self.public.bits // 2, self.public.exponent_bits), self.public.h_s
        return tuple(modular.FixedBase(h_s % square, square, bits) for square in self._squares)

    @cached_property
    def _remainders(self) -> modular.Remainders:
        return modular.Remainders(*self._squares)

    @cached_property
    def _inverses(self) -> tuple[int, int]:
        # (1 + n)**(p - 1) is 1 + n (p - 1) = 1 - n mod p**2, so L of it is -q mod p.
        return modular.invert(-self.q, self.p), modular.invert(-self.p, self.q)

    def decrypt(self, c: Ciphertext) -> int:
        """Return the plaintext in [0, n)."""
        value = self.public._mine(c)
        p_square, q_square = self._squares
        return self._opened(value % p_square, value % q_square)

    def _opened(self, c_p: int, c_q: int) -> int:
        """Return the plaintext from the ciphertext mod p**2 and mod q**2 (Paillier 1999, section 7)."""
        halves = []
        for c, prime, square, inverse in zip((c_p, c_q), (self.p, self.q), self._squares, self._inverses, strict=True):
            halves.append((modular.power(c, prime - 1, square) - 1) // prime * inverse % prime)
        return modular.crt(halves[0], halves[1], self.p, self.q)

    def decrypt_batch(self, ciphertexts: Sequence[Ciphertext], bits: int, rng: Stream) -> list[int]:
        """Return the plaintexts in [0, n), by few decryptions where all are below 2**bits; `rng` draws a check of them.

        As many ciphertexts as have room below n are packed into one by Horner's rule. A plaintext that is longer than
        its maker should have made it would run into its neighbours', so what was taken apart is checked: the sum of all
        numbers under random factors of 64 bits has to be the plaintext of the same product of ciphertexts. Where it is
        not, each is opened alone. If one number is wrong, at most one value of its factor lets the check pass: whatever
        came, all numbers are those of `decrypt` but with probability 2**-64.
        """
        slots = (self.public.bits - 1) // bits
        if len(ciphertexts) < LEAST_BATCH or slots < 2:
            return [self.decrypt(c) for c in ciphertexts]
        values = [self.public._mine(c) for c in ciphertexts]
        found: list[int] = []
        for i in range(0, len(values), slots):
            block = values[i : i + slots]
            packed = self._opened(*(modular.horner(block, bits, square) for square in self._squares))
            found += [(packed >> (bits * k)) & ((1 << bits) - 1) for k in range(len(block))]
        factors = [rng.bits(CHECK_FACTOR_BITS) for _ in values]
        product = self._opened(*(modular.product_of_powers(values, factors, square) for square in self._squares))
        if product == sum(k * x for k, x in zip(factors, found, strict=True)) % self.public.n:
            return found
        return [self.decrypt(c) for c in ciphertexts]

    def encrypt(self, m: int, rng: Stream) -> Fresh:
        """Return the ciphertext that the public key would make of the same randomness, by Chinese remainders."""
        public, r = self.public, rng.bits(self.public.exponent_bits)
        # h_s is an n-th power, so its order mod p**2 divides p - 1.
        halves = [table.power(r % (prime - 1)) for table, prime in zip(self._tables, (self.p, self.q), strict=True)]
        randomiser = self._remainders.joined(halves[0], halves[1])
        return Fresh(public.n, modular.multiply(1 + m % public.n * public.n, randomiser, public.n_square))


def generate(bits: int, rng: Stream, exponents: str = "full") -> PrivateKey:
    """Generate a key with n of exactly `bits` bits (even)."""
    if bits % 2 or bits < 256:
        raise ValueError(f"key length must be even and at least 256 bits, got {bits}")
    p = modular.random_prime(bits // 2, rng, residue=3, modulus=4)
    # gcd(p-1, q-1) = 2, so q is not p. Both have their top bits set, so neither divides the other less one:
    # gcd(n, phi(n)) = 1 makes x -> x**n a permutation, which `crypto.admission` proves.
    q = modular.random_prime(bits // 2, rng, residue=3, modulus=4, apart=(p - 1) // 2)
    return PrivateKey(PublicKey(p * q, exponents), p, q)


def assemble(p: int, q: int, bits: int, exponents: str = "full") -> PrivateKey:
    """Return the private key from received primes; raise `ValueError` naming what `generate` would not have made."""
    if not all(x % 4 == 3 and x.bit_length() == bits // 2 and modular.is_prime(x) for x in (p, q)):
        raise ValueError(f"p and q must be primes of {bits // 2} bits, 3 mod 4")
    if (p * q).bit_length() != bits:
        raise ValueError(f"p q must have {bits} bits, got {(p * q).bit_length()}")
    if p == q or gcd(p - 1, q - 1) != 2 or gcd(p * q, (p - 1) * (q - 1)) != 1:
        raise ValueError("gcd(p-1, q-1) must be 2 and gcd(n, phi(n)) must be 1")
    return PrivateKey(PublicKey(p * q, exponents), p, q)
