"""Identities: the first test vector of RFC 8032, and what does not verify."""

from __future__ import annotations

import hashlib
from functools import cache
from itertools import count
from typing import TypeAlias

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from protocols.arithmetic.rng import Stream
from protocols.crypto import identity
from protocols.crypto.identity import Identity

ME = Identity.generate(Stream.insecure_from_seed("identity"))
SIGNATURE = ME.sign(b"message")

# RFC 8032, section 7.1: seed, public key, message, signature
VECTORS = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
        "d25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
        "387b2eaeb4302aeeb00d291612bb0c00",
    ),
]


@pytest.mark.parametrize(("seed", "public", "message", "signature"), VECTORS)
def test_rfc_8032(seed: str, public: str, message: str, signature: str) -> None:
    signer = Identity(bytes.fromhex(seed))
    assert signer.public.hex() == public
    assert signer.sign(bytes.fromhex(message)).hex() == signature
    assert identity.verify(signer.public, bytes.fromhex(message), bytes.fromhex(signature))


def test_lengths_and_fresh_identities() -> None:
    assert (len(ME.seed), len(ME.public), len(SIGNATURE)) == (
        identity.SEED_BYTES,
        identity.PUBLIC_BYTES,
        identity.SIGNATURE_BYTES,
    )
    rng = Stream.insecure_from_seed("identities")
    assert len({Identity.generate(rng).public for _ in range(20)}) == 20


@given(st.binary(max_size=50))
def test_only_the_signed_message_verifies(message: bytes) -> None:
    assert identity.verify(ME.public, message, SIGNATURE) == (message == b"message")
    assert identity.verify(ME.public, message, ME.sign(message))


@given(st.integers(0, 63), st.integers(1, 255))
def test_no_altered_signature_verifies(at: int, change: int) -> None:
    altered = bytearray(SIGNATURE)
    altered[at] ^= change
    assert not identity.verify(ME.public, b"message", bytes(altered))


@given(st.binary(max_size=80), st.binary(max_size=80))
def test_arbitrary_keys_and_signatures_raise_nothing(public: bytes, signature: bytes) -> None:
    assert not identity.verify(ME.public, b"message", signature)
    assert not identity.verify(public, b"message", SIGNATURE)
    assert not identity.verify(public, b"message", signature)


# Arithmetic of edwards25519 from its definition, as an oracle: points are pairs (x, y).
P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D, ROOT = -121665 * pow(121666, -1, P) % P, pow(2, (P - 1) // 4, P)
Point: TypeAlias = tuple[int, int]


def add(one: Point, other: Point) -> Point:
    (a, b), (x, y) = one, other
    t = D * a * b * x * y
    return (a * y + b * x) * pow(1 + t, -1, P) % P, (b * y + a * x) * pow(1 - t, -1, P) % P


def multiple(k: int, point: Point) -> Point:
    doubled = add(point, point) if k > 1 else point
    return (0, 1) if k == 0 else add(multiple(k // 2, doubled), point if k % 2 else (0, 1))


def with_y(y: int) -> list[Point]:
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    root = pow(square, (P + 3) // 8, P)
    return [(x, y) for x in (root, root * ROOT % P) for x in (x, P - x) if x * x % P == square]


def encoded(point: Point) -> bytes:
    x, y = point
    return (y + (x % 2 << 255)).to_bytes(32, "little")


BASE = next(point for point in with_y(4 * pow(5, -1, P) % P) if point[0] % 2 == 0)


@cache
def eighth() -> Point:
    """Return a point of order 8."""
    candidates = (multiple(L, point) for y in range(2, 100) for point in with_y(y))
    return next(T for T in candidates if multiple(4, T) != (0, 1))


def challenge(R: bytes, public: bytes, message: bytes) -> int:
    return int.from_bytes(hashlib.sha512(R + public + message).digest(), "little") % L


def case(a: int, r: int, of_key: int, of_r: int, more: int) -> tuple[bytes, bytes, bytes]:
    """Key a B + of_key T, a message, and signature (r B + of_r T, r + k a + more), T of order 8, with S B - k A = R."""
    A, R = (add(multiple(n, BASE), multiple(t, eighth())) for n, t in ((a, of_key), (r, of_r)))
    public, commitment = encoded(A), encoded(R)
    messages = (b"%d" % i for i in count())
    message = next(m for m in messages if (challenge(commitment, public, m) * of_key + of_r) % 8 == 0)
    S = (r + challenge(commitment, public, message) * a) % L + more
    return public, message, commitment + S.to_bytes(32, "little")


# Arguments of `case`; with r = 0 the point R is of small order.
ACCEPTED_BY_BOTH = [(5, 7, 0, 0, 0), (5, 7, 1, 0, 0), (5, 7, 4, 0, 0), (5, 7, 1, 3, 0), (5, 7, 4, 4, 0)]
ACCEPTED_BY_ONE = [(5, 0, 0, 0, 0), (5, 0, 1, 3, 0), (5, 0, 4, 4, 0)]
REFUSED = [(5, 7, 0, 0, L), (5, 7, 1, 3, L), (5, 0, 0, 0, L)]


@pytest.mark.parametrize("made", [*ACCEPTED_BY_BOTH, *ACCEPTED_BY_ONE, *REFUSED])
def test_the_accepted_signatures_follow_from_the_equation_and_not_from_a_library(made: tuple[int, ...]) -> None:
    public, message, signature = case(*made)
    assert identity.verify(public, message, signature) == (made not in REFUSED)
    assert not identity.verify(public, message + b"x", signature)
    assert identity._is_accepted_fast(public, message, signature) == (made in ACCEPTED_BY_BOTH)
    assert identity._is_accepted(public, message, signature) == (made not in REFUSED)


def test_a_signature_for_which_the_equation_holds_only_up_to_a_point_of_small_order_is_refused() -> None:
    commitment = encoded(multiple(7, BASE))
    mixed = encoded(add(multiple(5, BASE), multiple(1, eighth())))
    messages = (b"%d" % i for i in count())
    hard = next(m for m in messages if challenge(commitment, mixed, m) % 8)
    S = (7 + challenge(commitment, mixed, hard) * 5) % L
    assert not identity.verify(mixed, hard, commitment + S.to_bytes(32, "little"))


def test_other_encodings_of_the_same_point_are_refused() -> None:
    public, message, signature = case(5, 0, 0, 0, 0)
    assert signature[:32] == (1).to_bytes(32, "little")
    for R in (P + 1, 1 + 2**255):
        other = R.to_bytes(32, "little")
        S = challenge(other, public, message) * 5 % L
        assert not identity.verify(public, message, other + S.to_bytes(32, "little"))


def test_a_key_and_a_signature_have_their_lengths() -> None:
    assert not identity.verify(ME.public + b"x", b"message", SIGNATURE)
    assert not identity.verify(ME.public, b"essage", SIGNATURE + b"m")


def torsion() -> list[bytes]:
    """The y-coordinates of all points whose order divides 8, with both signs."""
    found = {multiple(k, eighth())[1] for k in range(8)}
    return [(v + sign).to_bytes(32, "little") for v in found for sign in (0, 1 << 255)]


def test_no_key_of_small_order_signs_anything() -> None:
    """The library alone would let anybody sign for the neutral point: R = [s] B fits every message."""
    keys = torsion()
    assert len(keys) == 10
    neutral = (1).to_bytes(32, "little")
    assert neutral in keys
    forged = neutral + bytes(32)  # R = O, s = 0
    Ed25519PublicKey.from_public_bytes(neutral).verify(forged, b"message")
    assert not any(identity.verify(key, bytes([i]), forged) for key in keys for i in range(64))
