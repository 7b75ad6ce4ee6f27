"""Identities: the first test vector of RFC 8032, and what does not verify."""

from __future__ import annotations

import pytest
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
    assert identity.verify(public, b"message", signature) in (False, True)  # a key of small order signs anything


def test_another_identity_does_not_verify() -> None:
    assert not identity.verify(Identity.generate(Stream.insecure_from_seed("x")).public, b"message", SIGNATURE)


def test_repr_shows_no_seed() -> None:
    assert ME.seed.hex() not in repr(ME)
    assert repr(ME.seed) not in repr(ME)
