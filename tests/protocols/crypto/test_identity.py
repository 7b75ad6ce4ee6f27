"""Identities: the first test vector of RFC 8032, and what does not verify."""

from __future__ import annotations

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


def torsion() -> list[bytes]:
    """The y-coordinates of all points whose order divides 8, with both signs: multiples of L times some point."""
    p, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
    d, i = -121665 * pow(121666, -1, p) % p, pow(2, (p - 1) // 4, p)

    def add(P: tuple[int, int], Q: tuple[int, int]) -> tuple[int, int]:
        (a, b), (x, y) = P, Q
        t = d * a * b * x * y
        return (a * y + b * x) * pow(1 + t, -1, p) % p, (b * y + a * x) * pow(1 - t, -1, p) % p

    def multiple(k: int, P: tuple[int, int]) -> tuple[int, int]:
        doubled = add(P, P) if k > 1 else P
        return (0, 1) if k == 0 else add(multiple(k // 2, doubled), P if k % 2 else (0, 1))

    for y in range(2, 100):
        square = (y * y - 1) * pow(d * y * y + 1, -1, p) % p
        for x in (root := pow(square, (p + 3) // 8, p), root * i % p):
            T = multiple(L, (x, y))
            if x * x % p == square and multiple(4, T) != (0, 1):
                found = {multiple(k, T)[1] for k in range(8)}
                return [(v + sign).to_bytes(32, "little") for v in found for sign in (0, 1 << 255)]
    raise ValueError("no point of order 8")


def test_no_key_of_small_order_signs_anything() -> None:
    """The library alone would let anybody sign for the neutral point: R = [s] B fits every message."""
    keys = torsion()
    assert len(keys) == 10
    neutral = (1).to_bytes(32, "little")
    assert neutral in keys
    forged = neutral + bytes(32)  # R = O, s = 0
    Ed25519PublicKey.from_public_bytes(neutral).verify(forged, b"message")
    assert not any(identity.verify(key, bytes([i]), forged) for key in keys for i in range(64))


def test_another_identity_does_not_verify() -> None:
    assert not identity.verify(Identity.generate(Stream.insecure_from_seed("x")).public, b"message", SIGNATURE)


def test_repr_shows_no_seed() -> None:
    assert ME.seed.hex() not in repr(ME)
    assert repr(ME.seed) not in repr(ME)
