"""Keys for the owner of a box key: both ends have the same, and it is bound to session, ephemeral key and box key."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from protocols.arithmetic.rng import Stream
from protocols.crypto import encapsulation
from protocols.errors import DecodeError
from tests.support.refusals import refused

SESSION, SECRET = bytes(range(32)), bytes(range(32, 64))
BOX = encapsulation.public_key(SECRET)


def by_hand(secret: bytes, peer: bytes, epk: bytes) -> bytes:
    """HKDF-SHA256 of RFC 5869, written out for one block."""
    agreed = X25519PrivateKey.from_private_bytes(secret).exchange(X25519PublicKey.from_public_bytes(peer))
    extracted = hmac.new(SESSION, agreed, hashlib.sha256).digest()
    return hmac.new(extracted, b"smc-dp row\0" + epk + BOX + b"\1", hashlib.sha256).digest()


def test_both_ends_have_the_key_that_is_written_down() -> None:
    rng = Stream.insecure_from_seed(1)
    ephemeral = Stream.insecure_from_seed(1).bytes(32)
    epk, kappa = encapsulation.encapsulate(BOX, SESSION, rng)
    assert epk == encapsulation.public_key(ephemeral)
    assert kappa == encapsulation.opened(SECRET, epk, SESSION) == by_hand(ephemeral, BOX, epk)
    assert kappa.hex() == "b1ab1890b2031493720c3b93271e56fed3441cfb874c5dada2667a98032b3e62"


def test_it_is_bound_to_all_that_stands_in_it_and_new_each_time() -> None:
    rng = Stream.insecure_from_seed(2)
    (epk, kappa), (other, another) = (encapsulation.encapsulate(BOX, SESSION, rng) for _ in range(2))
    assert epk != other
    assert encapsulation.is_usable(epk)
    found = {
        kappa,
        another,
        encapsulation.opened(SECRET, epk, bytes(32)),
        encapsulation.opened(SECRET[::-1], epk, SESSION),
        encapsulation.opened(SECRET, other[:-1] + bytes([other[-1] ^ 0x40]), SESSION),
    }
    assert len(found) == 5
    # the top bit of a key makes no difference to what is agreed on: that it stands in the key does
    reflected = epk[:-1] + bytes([epk[-1] ^ 0x80])
    assert encapsulation.opened(SECRET, reflected, SESSION) != kappa


@pytest.mark.parametrize("key", [bytes(32), b"\1" + bytes(31), b"\xec" + b"\xff" * 30 + b"\x7f", b"", bytes(31)])
def test_a_key_of_small_order_or_none_is_refused_at_both_ends(key: bytes) -> None:
    with refused("x25519_key.not_usable", error=DecodeError):
        encapsulation.encapsulate(key, SESSION, Stream.insecure_from_seed(3))
    assert not encapsulation.is_usable(key)
    with refused("x25519_key.not_usable", error=DecodeError):
        encapsulation.opened(SECRET, key, SESSION)
