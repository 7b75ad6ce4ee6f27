"""The proof that gcd(n, phi(n)) = 1: honest keys pass, and no holder of a bad one does."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd, prod

import pytest
from broken.paillier_twins import admit_by_batches, admit_prime
from hypothesis import given
from hypothesis import strategies as st
from support.toy import paillier_key

from protocols.arithmetic import modular
from protocols.arithmetic.rng import Stream
from protocols.crypto import admission, paillier
from protocols.crypto.paillier import PublicKey

KEY = paillier_key()
CONTEXT = b"session and holder"
PROOF = admission.prove(KEY, CONTEXT)
POINTS = tuple(admission._points(KEY.public, CONTEXT))


def root(x: int, n: int, p: int) -> int | None:
    """An n-th root of x modulo the prime p, when n and p - 1 share at most one factor f, and only once."""
    f = gcd(n, p - 1)
    if x == 0:
        return 0
    if pow(x, (p - 1) // f, p) != 1:
        return None
    # x lies in the subgroup of order (p - 1) / f, where raising to n is a bijection
    return pow(x, pow(n, -1, (p - 1) // f), p)


def best_effort(key: PublicKey, factors: tuple[int, int], context: bytes) -> tuple[int, ...]:
    """What a holder of a bad key can answer: a root modulo each factor where there is one, any number elsewhere."""
    p, q = factors
    points = admission._points(key, context)
    roots = [[root(x % prime, key.n, prime) for prime in factors] for x in points]
    return tuple(modular.crt(*(1 if r is None else r for r in pair), p, q) for pair in roots)


def prime_above(base: int, factor: int, residue: int = 3) -> int:
    """A prime of the residue mod 4 above base that is 1 mod factor, but not mod its square (for odd factors)."""
    x = base - base % factor + 1
    while x % 4 != residue or (factor > 2 and x % factor**2 == 1) or not modular.is_prime(x):
        x += factor
    return x


def verify(key: PublicKey, bits: int, proof: tuple[int, ...], context: bytes = CONTEXT) -> str | None:
    """With new coins of the reader."""
    fault = admission.verify(key, bits, proof, context, Stream.from_system())
    return fault.code if fault else None


def key_with_bad_gcd(factor_bits: int) -> tuple[PublicKey, tuple[int, int]]:
    """A modulus p q with p dividing q - 1, and its factors."""
    p = modular.random_prime(factor_bits, Stream.insecure_from_seed(f"p {factor_bits}"), residue=3, modulus=4)
    q = prime_above(1 << (311 if factor_bits == 200 else 300), p)
    assert gcd(p * q, (p - 1) * (q - 1)) == p
    return PublicKey(p * q), (p, q)


@pytest.mark.parametrize("bits", [256, 384, 512])
def test_honest_keys_pass(bits: int) -> None:
    for seed in range(3):
        key = paillier.generate(bits, Stream.insecure_from_seed(f"admit {seed}"))
        proof = admission.prove(key, CONTEXT)
        assert verify(key.public, bits, proof) is None
        assert all(pow(y, key.public.n, key.public.n) == x for y, x in zip(proof, _points(key), strict=True))


def _points(key: paillier.PrivateKey) -> list[int]:
    return admission._points(key.public, CONTEXT)


def test_the_points_depend_on_key_and_context_and_fill_the_modulus() -> None:
    lists = [admission._points(k.public, c) for k in (KEY, paillier_key("other")) for c in (CONTEXT, b"", b"x")]
    assert len({x for points in lists for x in points}) == 6 * admission.POINTS
    assert max(max(points) for points in lists).bit_length() > 505


def test_a_bad_key_passes_with_probability_2_to_the_minus_128_over_the_hash_and_64_over_the_coins() -> None:
    assert admission.SMALL_FACTOR_BOUND**admission.POINTS >= 2**128
    assert admission.SMALL_FACTOR_BOUND**admission.BATCHES >= 2**40
    assert len(PROOF) == admission.POINTS


@given(st.binary(max_size=40).filter(lambda c: c != CONTEXT))
def test_a_proof_does_not_serve_another_context(context: bytes) -> None:
    assert verify(KEY.public, 512, PROOF, context) == "paillier_key.proof_fails"


def test_a_proof_does_not_serve_another_key() -> None:
    assert verify(paillier_key("other").public, 512, PROOF) is not None


@pytest.mark.parametrize(
    "proof",
    [(), PROOF[:-1], (*PROOF, PROOF[0]), (0, *PROOF[1:]), (*PROOF[1:], KEY.p), (*PROOF[1:], KEY.public.n)],
)
def test_a_proof_of_another_shape_is_refused(proof: tuple[int, ...]) -> None:
    assert verify(KEY.public, 512, proof) == "paillier_key.proof_of_no_units"


def test_permuted_or_altered_roots_are_refused() -> None:
    for proof in ((*PROOF[1:], PROOF[0]), (PROOF[0] + 1, *PROOF[1:]), (1,) * admission.POINTS, POINTS):
        assert verify(KEY.public, 512, proof) == "paillier_key.proof_fails"


@pytest.mark.parametrize("bits", [511, 513, 3072])
def test_another_size_is_refused(bits: int) -> None:
    assert verify(KEY.public, bits, PROOF) == "paillier_key.of_another_length"


@pytest.mark.parametrize("factor", [3, 5, 251, 65521, 65537, 2097143, 4194301])
def test_a_small_factor_is_refused(factor: int) -> None:
    p = modular.random_prime(64, Stream.insecure_from_seed(factor), residue=factor % 4, modulus=4)
    n = factor * p
    assert verify(PublicKey(n), n.bit_length(), PROOF) == "paillier_key.small_factor"


def test_a_prime_is_refused_although_every_point_is_its_own_root() -> None:
    n = modular.random_prime(512, Stream.insecure_from_seed("prime"), residue=1, modulus=4)
    key = PublicKey(n)
    assert gcd(n, n - 1) == 1
    points = tuple(admission._points(key, CONTEXT))
    assert admit_prime(key, points, CONTEXT)
    for proof in (points, tuple(-x % n for x in points), (n - points[0], *points[1:])):
        assert not any(verify(key, 512, proof) is None for _ in range(20))


@given(st.binary(max_size=8))
def test_coins_decide_nothing_about_an_honest_key(seed: bytes) -> None:
    assert admission.verify(KEY.public, 512, PROOF, CONTEXT, Stream.insecure_from_seed(seed.hex())) is None


BAD_BATCHES: dict[str, Callable[[], int]] = {"zero": lambda: 0, "constant": lambda: 7}


@pytest.mark.parametrize("name", BAD_BATCHES)
def test_exponents_that_the_holder_can_foretell_let_a_bad_key_pass(name: str) -> None:
    key, (p, q) = key_with_bad_gcd(10)
    for attempt in range(100_000):
        context = f"foretold {attempt}".encode()
        points = admission._points(key, context)
        # With one exponent for all, a root of their product is enough: one try in p finds it, not one in p**6.
        halves = [root(prod(points) % prime, key.n, prime) for prime in (p, q)]
        if halves[1] is not None:
            break
    proof = (modular.crt(halves[0] or 0, halves[1] or 0, p, q), *[1] * (admission.POINTS - 1))
    assert admit_by_batches(key, proof, context, BAD_BATCHES[name])
    assert not all(admission._batch_holds(proof, points, key.n, Stream.from_system()) for _ in range(5))


def test_verifying_takes_one_full_power_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths, real = [], modular.power
    monkeypatch.setattr(modular, "power", lambda x, e, n: (lengths.append(e.bit_length()), real(x, e, n))[1])
    assert verify(KEY.public, 512, PROOF) is None
    assert lengths == [512] * admission.BATCHES  # the small powers of a side share one chain of squarings


@pytest.mark.parametrize("factor_bits", [23, 32, 200])
def test_the_holder_of_a_key_whose_gcd_is_not_one_cannot_answer(factor_bits: int) -> None:
    key, factors = key_with_bad_gcd(factor_bits)
    for attempt in range(50):
        context = f"attempt {attempt}".encode()
        assert (
            verify(key, key.n.bit_length(), best_effort(key, factors, context), context) == "paillier_key.proof_fails"
        )


@pytest.mark.parametrize("power", [2, 4])
def test_a_perfect_power_cannot_answer(power: int) -> None:
    n = KEY.p**power
    d = pow(n, -1, KEY.p - 1)
    for attempt in range(20):
        context = f"attempt {attempt}".encode()
        proof = tuple(pow(x, d, KEY.p) for x in admission._points(PublicKey(n), context))  # roots mod p, all there are
        assert verify(PublicKey(n), n.bit_length(), proof, context) == "paillier_key.proof_fails"
