"""Paillier done nearly right: each function forgets one thing, and shows what the thing is for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from protocols.arithmetic import modular
from protocols.arithmetic.rng import Stream
from protocols.crypto import admission
from protocols.crypto.paillier import Ciphertext, Fresh, PrivateKey, PublicKey, Uniform


def blind_plaintext_only(key: PublicKey, c: Ciphertext, r: int, rng: Stream) -> Uniform:
    """Adds r without new randomness: whoever holds the secret key recognises the randomiser."""
    return Uniform(key.n, c.value * (1 + r % key.n * key.n) % key.n_square)


def blind_with_short_exponent(key: PublicKey, c: Ciphertext, r: int, rng: Stream) -> Uniform:
    """New randomness of five bits."""
    randomiser = modular.power(key.h_s, rng.bits(5), key.n_square)
    return Uniform(key.n, blind_plaintext_only(key, c, r, rng).value * randomiser % key.n_square)


def blind_by_a_power_of_h(key: PublicKey, c: Ciphertext, r: int, rng: Stream) -> Uniform:
    """New randomness from the group of h alone, in which a holder with other primes than agreed finds cosets."""
    return Uniform(key.n, key.refresh(blind_plaintext_only(key, c, r, rng), rng).value)


def decrypt_batch_unchecked(key: PrivateKey, ciphertexts: Sequence[Ciphertext], bits: int) -> list[int]:
    """Takes apart what was packed by Horner's rule, and believes it."""
    square = key.public.n_square
    packed = key.decrypt(Ciphertext(key.public.n, modular.horner([c.value for c in ciphertexts], bits, square)))
    return [packed >> (bits * i) & ((1 << bits) - 1) for i in range(len(ciphertexts))]


def blind_by_any_unit(key: PublicKey, c: Ciphertext, r: int, rng: Stream) -> Uniform:
    """y**n with any y: half of these have the symbol -1, and are refused where they arrive."""
    y = rng.below(key.n - 1) + 1
    return Uniform(key.n, blind_plaintext_only(key, c, r, rng).value * pow(y, key.n, key.n_square) % key.n_square)


def encrypt_classically(key: PublicKey, m: int, rng: Stream) -> Fresh:
    """(1 + m n) r**n with any unit r: half of these have the symbol -1, and keep it through every refresh."""
    r = rng.below(key.n - 1) + 1
    return Fresh(key.n, (1 + m % key.n * key.n) * pow(r, key.n, key.n_square) % key.n_square)


def admit_any_unit(key: PublicKey, value: int) -> Ciphertext:
    """Looks at the unit only, not at the symbol."""
    if not modular.is_unit(value, key.n_square):
        raise ValueError("not a unit")
    return Ciphertext(key.n, value)


def encrypt_with_tables_of_the_process(key: PrivateKey, m: int, rng: Stream) -> Fresh:
    """Takes its tables of secret moduli from the cache for public ones, where they outlive the key."""
    public, r = key.public, rng.bits(key.public.bits + 64)
    squares = (key.p**2, key.q**2)
    halves = [modular.public_fixed_base(public.h_s % square, square, r.bit_length()).power(r) for square in squares]
    randomiser = modular.crt(halves[0], halves[1], *squares)
    return Fresh(public.n, (1 + m % public.n * public.n) * randomiser % public.n_square)


def encrypt_by_halves_swapped(key: PrivateKey, m: int, rng: Stream) -> Fresh:
    """Reduces the exponent modulo the other prime's order."""
    public, r = key.public, rng.bits(key.public.bits + 64)
    halves = [pow(public.h_s, r % (x - 1), y * y) for x, y in ((key.q, key.p), (key.p, key.q))]
    randomiser = modular.crt(halves[0], halves[1], key.p**2, key.q**2)
    return Fresh(public.n, (1 + m % public.n * public.n) * randomiser % public.n_square)


def admit_prime(key: PublicKey, proof: tuple[int, ...], context: bytes) -> bool:
    """Checks small factors and all roots one by one: under a prime, gcd(n, phi(n)) = 1 and every point is its root."""
    small = modular.small_factors(key.n, admission.SMALL_FACTOR_BOUND)
    return small == 1 and _all_are_roots(key, proof, context)


def admit_by_batches(key: PublicKey, proof: tuple[int, ...], context: bytes, draw: Callable[[], int]) -> bool:
    """Checks batches under exponents that the holder knows, and lets both sides be one."""
    n, points = key.n, admission._points(key, context)
    for _ in range(admission.BATCHES):
        exponents = [draw() for _ in points]
        root, point = (modular.product_of_powers(side, exponents, n) for side in (proof, points))
        if pow(root, n, n) != point:
            return False
    return True


def _all_are_roots(key: PublicKey, proof: tuple[int, ...], context: bytes) -> bool:
    points = admission._points(key, context)
    return all(pow(root, key.n, key.n) == x for root, x in zip(proof, points, strict=True))
