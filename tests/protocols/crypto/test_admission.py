"""The proof that gcd(n, phi(n)) = 1: honest keys pass, and no holder of a bad one does."""

from __future__ import annotations

from math import gcd

import pytest
from broken.paillier_twins import admit_key_with_small_factors
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


def public(n: int) -> PublicKey:
    return PublicKey(n, next(x * x for x in range(2, 99) if gcd(x, n) == 1))


@pytest.mark.parametrize("bits", [256, 384, 512])
def test_honest_keys_pass(bits: int) -> None:
    for seed in range(3):
        key = paillier.generate(bits, Stream.insecure_from_seed(f"admit {seed}"))
        proof = admission.prove(key, CONTEXT)
        assert admission.verify(key.public, bits, proof, CONTEXT) is None
        assert all(pow(y, key.public.n, key.public.n) == x for y, x in zip(proof, _points(key), strict=True))


def _points(key: paillier.PrivateKey) -> list[int]:
    return admission._points(key.public, CONTEXT)


def test_the_points_depend_on_key_h_and_context_and_fill_the_modulus() -> None:
    other_h = PublicKey(KEY.public.n, 4)
    lists = [admission._points(k, c) for k in (KEY.public, other_h) for c in (CONTEXT, b"", b"x")]
    assert len({x for points in lists for x in points}) == 6 * admission.POINTS
    assert max(max(points) for points in lists).bit_length() > 505


def test_a_bad_key_passes_with_probability_at_most_2_to_the_minus_128() -> None:
    assert admission.SMALL_FACTOR_BOUND**admission.POINTS >= 2**128
    assert len(PROOF) == admission.POINTS


@given(st.binary(max_size=40).filter(lambda c: c != CONTEXT))
def test_a_proof_does_not_serve_another_context(context: bytes) -> None:
    assert "gcd" in (admission.verify(KEY.public, 512, PROOF, context) or "")


def test_a_proof_does_not_serve_another_key_or_h() -> None:
    assert admission.verify(paillier_key("other").public, 512, PROOF, CONTEXT) is not None
    assert "gcd" in (admission.verify(PublicKey(KEY.public.n, 4), 512, PROOF, CONTEXT) or "")


@pytest.mark.parametrize(
    "proof",
    [(), PROOF[:-1], (*PROOF, PROOF[0]), (0, *PROOF[1:]), (*PROOF[1:], KEY.p), (*PROOF[1:], KEY.public.n)],
)
def test_a_proof_of_another_shape_is_refused(proof: tuple[int, ...]) -> None:
    assert "units mod n" in (admission.verify(KEY.public, 512, proof, CONTEXT) or "")


def test_permuted_or_altered_roots_are_refused() -> None:
    for proof in ((*PROOF[1:], PROOF[0]), (PROOF[0] + 1, *PROOF[1:]), (1,) * admission.POINTS):
        assert "gcd" in (admission.verify(KEY.public, 512, proof, CONTEXT) or "")


@pytest.mark.parametrize("bits", [511, 513, 3072])
def test_another_size_is_refused(bits: int) -> None:
    assert f"{bits} bits, got 512" in (admission.verify(KEY.public, bits, PROOF, CONTEXT) or "")


@pytest.mark.parametrize("factor", [3, 5, 251, 65521])
def test_a_small_factor_is_refused(factor: int) -> None:
    p = modular.random_prime(64, Stream.insecure_from_seed(factor), residue=3, modulus=4)
    while factor * p % 4 != 1:
        p = modular.next_prime(p)
    n = factor * p
    fault = admission.verify(public(n), n.bit_length(), PROOF, CONTEXT)
    assert "small factor" in (fault or "")


def test_3_mod_4_and_even_moduli_are_refused() -> None:
    n = KEY.p * prime_above(1 << 255, 2, residue=1)
    assert "3 mod 4" in (admission.verify(public(n), n.bit_length(), PROOF, CONTEXT) or "")
    with pytest.raises(ValueError, match="odd"):
        public(2 * KEY.p)


@pytest.mark.parametrize("factor_bits", [17, 32, 200])
def test_the_holder_of_a_key_whose_gcd_is_not_one_cannot_answer(factor_bits: int) -> None:
    p = modular.random_prime(factor_bits, Stream.insecure_from_seed(f"p {factor_bits}"), residue=3, modulus=4)
    q = prime_above(1 << (311 if factor_bits == 200 else 300), p)
    n = p * q
    assert gcd(n, (p - 1) * (q - 1)) == p
    for attempt in range(50):
        context = f"attempt {attempt}".encode()
        proof = best_effort(public(n), (p, q), context)
        assert "gcd" in (admission.verify(public(n), n.bit_length(), proof, context) or "")


def test_a_prime_power_cannot_answer() -> None:
    p, q = KEY.p, prime_above(1 << 256, 2)
    n = p * p * q
    n_key = public(n if n % 4 == 1 else n * KEY.q)
    phi = p * (p - 1) * (q - 1) * (1 if n % 4 == 1 else KEY.q - 1)
    assert gcd(n_key.n, phi) == p
    # the best a holder can do: roots modulo the radical
    radical = n_key.n // p
    d = pow(n_key.n, -1, phi // p)
    proof = tuple(pow(x, d, radical) for x in admission._points(n_key, CONTEXT))
    assert all((pow(y, n_key.n, radical) - x) % radical == 0 for y, x in zip(proof, _points_of(n_key), strict=True))
    assert "gcd" in (admission.verify(n_key, n_key.n.bit_length(), proof, CONTEXT) or "")


def _points_of(key: PublicKey) -> list[int]:
    return admission._points(key, CONTEXT)


def test_without_the_small_factor_rule_a_bad_key_gets_in_by_trying() -> None:
    q = prime_above(1 << 200, 3)
    key = public(3 * q)
    assert gcd(key.n, 2 * (q - 1)) == 3
    for attempt in range(200_000):
        context = attempt.to_bytes(4, "big")
        if all(pow(x, (q - 1) // 3, q) == 1 for x in admission._points(key, context)):
            break
    proof = best_effort(key, (3, q), context)
    assert admit_key_with_small_factors(key, proof, context)
    assert "small factor" in (admission.verify(key, key.n.bit_length(), proof, context) or "")


@pytest.mark.slow
def test_3072_bits() -> None:
    key = paillier.generate(3072, Stream.insecure_from_seed("full size"))
    proof = admission.prove(key, CONTEXT)
    assert admission.verify(key.public, 3072, proof, CONTEXT) is None
    assert "gcd" in (admission.verify(key.public, 3072, proof, b"another") or "")
