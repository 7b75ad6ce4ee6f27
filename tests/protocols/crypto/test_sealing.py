"""Sealed links against RFC 7748 and HKDF written out; whatever is altered does not open."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.arithmetic.rng import Stream
from protocols.crypto import sealing
from protocols.crypto.sealing import LinkKeys
from protocols.errors import DecodeError
from tests.support.refusals import refused

SESSION = bytes(range(32))
A, B = (Stream.insecure_from_seed(name).bytes(32) for name in "ab")
LINK = sealing.link_keys(A, sealing.public_key(B), SESSION, "north", "south")
KEY = LINK.outgoing

# RFC 7748, section 6.1
ALICE_PUBLIC = bytes.fromhex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
BOB = bytes.fromhex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
BOB_PUBLIC = bytes.fromhex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
SHARED = bytes.fromhex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")

# The points of small order (Bernstein, "Curve25519", on contributory behaviour), and non-canonical forms of them.
SMALL_ORDER = [
    bytes(32),
    bytes([1]) + bytes(31),
    bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
    bytes.fromhex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
    (2**255 - 20).to_bytes(32, "little"),
    (2**255 - 19).to_bytes(32, "little"),
    (2**255 - 18).to_bytes(32, "little"),
]


def hkdf(secret: bytes, salt: bytes, info: bytes) -> bytes:
    """RFC 5869 for two blocks of output."""
    extracted = hmac.new(salt, secret, hashlib.sha256).digest()
    first = hmac.new(extracted, info + b"\x01", hashlib.sha256).digest()
    return first + hmac.new(extracted, first + info + b"\x02", hashlib.sha256).digest()


def test_the_key_exchange_of_rfc_7748_and_hkdf_written_out() -> None:
    assert sealing.public_key(BOB) == BOB_PUBLIC
    info = b"smc-dp link\x00north\x00south"
    keys = hkdf(SHARED, SESSION, info)
    north, south = (
        sealing.link_keys(BOB, ALICE_PUBLIC, SESSION, *ends) for ends in (("north", "south"), ("south", "north"))
    )
    assert north == LinkKeys(keys[:32], keys[32:])
    assert south == LinkKeys(keys[32:], keys[:32])


def test_both_ends_derive_the_same_keys() -> None:
    other = sealing.link_keys(B, sealing.public_key(A), SESSION, "south", "north")
    assert (other.incoming, other.outgoing) == (LINK.outgoing, LINK.incoming)


@pytest.mark.parametrize("point", SMALL_ORDER, ids=lambda point: point[:4].hex())
def test_points_of_small_order_are_refused(point: bytes) -> None:
    with refused("peer_key.not_usable", error=DecodeError):
        sealing.link_keys(A, point, SESSION, "north", "south")


@given(st.binary(max_size=70).filter(lambda b: len(b) != 32))
def test_points_of_another_length_are_refused(point: bytes) -> None:
    with refused("peer_key.not_usable", error=DecodeError):
        sealing.link_keys(A, point, SESSION, "north", "south")


@given(st.binary(max_size=300), st.binary(max_size=100), st.integers(0, 2**32))
def test_sealing_and_back(payload: bytes, header: bytes, number: int) -> None:
    body = sealing.seal(KEY, number, header, payload)
    assert sealing.unseal(KEY, number, header, body) == payload
    assert len(body) == len(payload) + sealing.OVERHEAD_BYTES
    assert body == sealing.seal(KEY, number, header, payload)


BODY = sealing.seal(KEY, 3, b"header", b"payload")


@given(st.integers(0, len(BODY) - 1), st.integers(1, 255))
def test_no_altered_byte_opens(at: int, change: int) -> None:
    body = bytearray(BODY)
    body[at] ^= change
    with refused("seal.broken", error=DecodeError):
        sealing.unseal(KEY, 3, b"header", bytes(body))


@pytest.mark.parametrize("body", [b"", BODY[:-1], BODY[1:], BODY + b"\x00", BODY[:15]])
def test_cut_or_longer_bodies_do_not_open(body: bytes) -> None:
    with refused("seal.broken", error=DecodeError):
        sealing.unseal(KEY, 3, b"header", body)


def test_the_header_is_bound() -> None:
    body = sealing.seal(KEY, 3, b"from north to south", b"payload")
    with refused("seal.broken", error=DecodeError):
        sealing.unseal(KEY, 3, b"from north to charlie", body)


def test_another_number_or_key_does_not_open() -> None:
    for key, number in ((KEY, 2), (KEY, 4), (bytes(32), 3), (KEY[:-1] + bytes([KEY[-1] ^ 1]), 3)):
        with refused("seal.broken", error=DecodeError):
            sealing.unseal(key, number, b"header", BODY)
