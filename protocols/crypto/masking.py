"""Masks that cancel: words that two participants make of a key they agree on, or one of its own seed.

Assumptions: gap Diffie-Hellman on curve25519, SHA-256 and SHAKE-256 as random oracles. A seed may be opened after the
masked vector was sent and before it is decided which, so the expansion has to be a random oracle: the proof of
`protocols/secure_sum` programs it, and there is no such proof for a stream cipher.

A word is a whole number of bytes wide, so that it is exactly uniform in the ring.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from protocols.arithmetic.ring import Vector
from protocols.crypto import sealing
from protocols.errors import DecodeError

SECRET_BYTES = KEY_BYTES = DIGEST_BYTES = 32
_INDEX_BYTES = 2
_PROBE = hashlib.sha256(b"smc-dp mask key probe").digest()


def public_key(secret: bytes) -> bytes:
    """The mask key that belongs to a secret of 32 bytes; never that of a link, or opening one would open mail."""
    return sealing.public_key(secret)


def agree(secret: bytes, peer: bytes) -> bytes:
    """What the holders of two mask keys have in common; raises `DecodeError` for a key of small order."""
    try:
        return X25519PrivateKey.from_private_bytes(secret).exchange(X25519PublicKey.from_public_bytes(peer))
    except ValueError:
        raise DecodeError("a mask key is not usable") from None


def agreeing(key: bytes) -> bytes | None:
    """The same bytes for all keys with which everybody agrees on the same; None for one of small order, with which
    everybody agrees on zero.

    The keys' own bytes will not do: the top bit, the prime, and a point of small order can be added to a key, and all
    agree on the same with it as before.
    """
    try:
        return agree(_PROBE, key)
    except DecodeError:
        return None


def self_mask(context: bytes, index: int, seed: bytes, length: int, width: int) -> bytes:
    """The mask that a participant makes of its own seed alone: `length` words of `width` bytes."""
    return _stretched(b"smc-dp sum self\0" + context + _place(index) + seed, length, width)


def pair_mask(context: bytes, one: int, other: int, agreed: bytes, length: int, width: int) -> bytes:
    """The mask of two participants, whichever of them asks.

    Both places stand in it, in their order: a key that is a copy of another, or its reflection, gives another mask.
    """
    low, high = sorted((one, other))
    return _stretched(b"smc-dp sum pair\0" + context + _place(low) + _place(high) + agreed, length, width)


def combined(plus: Sequence[bytes], minus: Sequence[bytes], length: int, width: int) -> Vector:
    """The words of all masks in `plus` less those in `minus`, place by place mod 2**(8 width)."""
    bits = 8 * width
    added, taken = _added(plus, length, bits), _added(minus, length, bits)
    return tuple((a - b) % (1 << bits) for a, b in zip(added, taken, strict=True))


def digest(vector: Vector, width: int) -> bytes:
    """SHA-256 of a vector of words of `width` bytes."""
    return hashlib.sha256(b"".join(x.to_bytes(width, "big") for x in vector)).digest()


def _place(index: int) -> bytes:
    return index.to_bytes(_INDEX_BYTES, "big")


def _stretched(label: bytes, length: int, width: int) -> bytes:
    return hashlib.shake_256(label).digest(length * width)


def _added(masks: Iterable[bytes], length: int, bits: int) -> Vector:
    # Words are added up as lanes of two large integers, every second word in each. Carries are dropped at once: there
    # can be more masks than a short word has values.
    lane = ((1 << bits) - 1).to_bytes(2 * bits // 8, "big")
    lanes = int.from_bytes(lane * ((length + 1) // 2), "big")
    even = odd = 0
    for mask in masks:
        words = int.from_bytes(mask, "big")
        even = (even + (words & lanes)) & lanes
        odd = (odd + (words >> bits & lanes)) & lanes
    whole = even | odd << bits
    raw = (whole % (1 << length * bits)).to_bytes(length * bits // 8, "big")
    width = bits // 8
    return tuple(int.from_bytes(raw[i : i + width], "big") for i in range(0, len(raw), width))
