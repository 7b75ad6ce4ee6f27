"""The cryptosystem of Damgard, Geisler and Kroigaard (2007, correction 2009): tiny plaintexts and a fast zero test.

Assumption: factoring n = p q stays hard given g and h, elements whose orders are u v_p v_q and v_p v_q; u is a small
prime, v_p and v_q are primes of t bits. A ciphertext of m mod u is g**m h**r mod n, r of 2.5 t bits; the holder of p
and v_p learns whether m = 0 from c**v_p mod p, and needs no more than that. It can read all of m: u is so small that
the powers of g fit into a table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from protocols.arithmetic import modular
from protocols.arithmetic.rng import Stream
from protocols.errors import DecodeError, LocalError

COFACTOR_MINIMUM = 16  # bits of the prime cofactor; below that the key length leaves no room


@dataclass(frozen=True)
class BitCiphertext:
    """Unit mod the n of a DGK key, as a ciphertext."""

    n: int = field(repr=False)
    value: int = field(repr=False)


class FreshBit(BitCiphertext):
    """DGK ciphertext re-randomised here and now; the only kind that a message can carry.

    Its exponent always makes it uniform (`DgkPublicKey.exponent_bits`), so it can go back to the owner of the key too.
    """


@lru_cache(maxsize=1024)  # of this process: public numbers, a few of which every comparison takes
def _power_of_g(g: int, m: int, n: int) -> int:
    return modular.power(g, m, n)


@dataclass(frozen=True, repr=False)
class DgkPublicKey:
    """Public key: n, g, h, the plaintext modulus u and the length t of the hidden orders."""

    n: int
    g: int
    h: int
    u: int
    t: int

    def __post_init__(self) -> None:
        if any(not modular.is_unit(x, self.n) or x == 1 for x in (self.g, self.h)):
            raise ValueError("g and h must be units mod n other than 1")

    @property
    def exponent_bits(self) -> int:
        """Length of r, 2.5 t: h**r is then statistically close to uniform in the group of h."""
        return 5 * self.t // 2

    def encrypt(self, m: int, rng: Stream) -> FreshBit:
        """Return an encryption of m mod u."""
        return self.blind(BitCiphertext(self.n, modular.power(self.g, m % self.u, self.n)), 1, rng)

    def blind(self, c: BitCiphertext, factor: int, rng: Stream) -> FreshBit:
        """Return a fresh ciphertext of D(c) * factor mod u."""
        table = modular.public_fixed_base(self.h, self.n, self.exponent_bits)
        product = modular.power(self._mine(c), factor, self.n)
        return FreshBit(self.n, modular.multiply(product, table.power(rng.bits(self.exponent_bits)), self.n))

    def constant(self, m: int) -> BitCiphertext:
        """Return g**m: a public constant, not hidden from anybody."""
        return BitCiphertext(self.n, _power_of_g(self.g, m % self.u, self.n))

    def add(self, *ciphertexts: BitCiphertext) -> BitCiphertext:
        """Return a ciphertext of the sum mod u."""
        product = 1
        for c in ciphertexts:
            product = modular.multiply(product, self._mine(c), self.n)
        return BitCiphertext(self.n, product)

    def negate(self, c: BitCiphertext) -> BitCiphertext:
        """Return a ciphertext of -D(c) mod u."""
        return BitCiphertext(self.n, modular.invert(self._mine(c), self.n))

    def admit(self, value: int) -> BitCiphertext:
        """Return the received value as a ciphertext; raise `DecodeError` unless it is a unit mod n."""
        if not modular.is_unit(value, self.n):
            raise DecodeError("dgk.not_a_unit")
        return BitCiphertext(self.n, value)

    def _mine(self, c: BitCiphertext) -> int:
        if c.n != self.n:
            raise LocalError("ciphertext.under_another_key")
        return c.value


@dataclass(frozen=True, repr=False)
class DgkPrivateKey:
    """Private key: p, q and the hidden orders v_p, v_q."""

    public: DgkPublicKey
    p: int
    q: int
    v_p: int
    v_q: int

    @cached_property
    def _tables(self) -> tuple[modular.FixedBase, ...]:
        # Secret, so they are this object's and go with it; a cache of the process would keep p and q.
        h, t = self.public.h, self.public.t
        return tuple(modular.FixedBase(h % prime, prime, t) for prime in (self.p, self.q))

    @cached_property
    def _remainders(self) -> modular.Remainders:
        return modular.Remainders(self.p, self.q)

    def is_zero(self, c: BitCiphertext) -> bool:
        """Return whether D(c) = 0."""
        return modular.power(self.public._mine(c), self.v_p, self.p) == 1

    @cached_property
    def _plaintexts(self) -> dict[int, int]:
        # m by g**(m v_p) mod p; secret as well.
        step, power, found = modular.power(self.public.g, self.v_p, self.p), 1, {}
        for m in range(self.public.u):
            found[power], power = m, modular.multiply(power, step, self.p)
        return found

    def decrypt(self, c: BitCiphertext) -> int | None:
        """Return D(c), a discrete logarithm by table; None for a unit that is no ciphertext under this key.

        No role uses it. An audit does, for whatever the holder can read counts as part of its view.
        """
        return self._plaintexts.get(modular.power(self.public._mine(c), self.v_p, self.p))

    def encrypt(self, m: int, rng: Stream) -> FreshBit:
        """Return the ciphertext that the public key would make of the same randomness, by Chinese remainders."""
        public, r = self.public, rng.bits(self.public.exponent_bits)
        halves = [table.power(r % order) for table, order in zip(self._tables, (self.v_p, self.v_q), strict=True)]
        randomiser = self._remainders.joined(halves[0], halves[1])
        return FreshBit(public.n, modular.multiply(randomiser, public.constant(m).value, public.n))


def order_bits(key_bits: int) -> int:
    """Return the length t for a modulus of this length: twice the security level (224 at 2048 bits, 256 at 3072)."""
    levels = ((3072, 256), (2048, 224))
    return next((t for bits, t in levels if key_bits >= bits), key_bits // 8)


def has_room(key_bits: int, u: int) -> bool:
    """Return whether a prime of half the length has room for u, an order and a cofactor."""
    return key_bits // 2 > order_bits(key_bits) + u.bit_length() + COFACTOR_MINIMUM + 1


def generate(key_bits: int, u: int, rng: Stream) -> DgkPrivateKey:
    """Generate a key with n of exactly `key_bits` bits and plaintexts mod the prime u.

    Each prime is 2 u v k + 1. The paper asks for a prime cofactor k; ours is stepped from a random start until the
    whole is prime, which is hundreds of times faster, and nothing in the scheme rests on the cofactor.
    """
    if not modular.is_prime(u):
        raise ValueError(f"u must be prime, got {u}")
    t = order_bits(key_bits)
    p, v_p = _prime(key_bits // 2, u, t, rng)
    q, v_q = _prime(key_bits // 2, u, t, rng)
    g_p, g_q = _element(p, (u, v_p), rng), _element(q, (u, v_q), rng)
    h_p, h_q = _element(p, (v_p,), rng), _element(q, (v_q,), rng)
    public = DgkPublicKey(p * q, modular.crt(g_p, g_q, p, q), modular.crt(h_p, h_q, p, q), u, t)
    return DgkPrivateKey(public, p, q, v_p, v_q)


def _prime(bits: int, u: int, t: int, rng: Stream) -> tuple[int, int]:
    v = modular.random_prime(t, rng)
    step = 2 * u * v
    low, high = (3 << (bits - 2)) // step + 1, (1 << bits) // step - 1
    if high.bit_length() < COFACTOR_MINIMUM:
        raise ValueError(f"a prime of {bits} bits has no room for u and an order of {t} bits")
    k = low + rng.below(max(1, (high - low) // 2))
    while k <= high:
        if modular.is_prime(step * k + 1):
            return step * k + 1, v
        k += 1
    return _prime(bits, u, t, rng)


def _element(p: int, orders: tuple[int, ...], rng: Stream) -> int:
    """Return an element mod p whose order is the product of the given distinct primes."""
    order = 1
    for prime in orders:
        order *= prime
    while True:
        x = modular.power(rng.below(p - 2) + 2, (p - 1) // order, p)
        if all(modular.power(x, order // prime, p) != 1 for prime in orders):
            return x


def has_size(key: DgkPublicKey, bits: int) -> bool:
    """Return whether n is an odd number of exactly `bits` bits without small factors."""
    n = key.n
    return n.bit_length() == bits and modular.small_factors(n, 1 << 16) == 1
