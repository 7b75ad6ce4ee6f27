"""Masks that cancel: words that two participants make of a key they agree on, or one of its own seed.

Assumptions: gap Diffie-Hellman on curve25519, SHA-256 and SHAKE-256 as random oracles, ChaCha20 as a pseudo-random
generator, AES-256-CCM with tags of 64 bits as authenticated encryption. A seed may be opened after the masked vector
was sent and before it is decided which, so its expansion has to be a random oracle: the proof of `protocols/secure_sum`
programs it, and there is no such proof for a stream cipher. What is closed is of other types than what may be opened,
and the stream cipher is for closed pairs alone.

A word is a whole number of bytes wide, so that it is exactly uniform in the ring.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from cryptography.hazmat.primitives.ciphers.aead import AESCCM

from protocols.arithmetic import modular
from protocols.arithmetic.ring import Vector
from protocols.arithmetic.words import MACHINE_BYTES, Words, from_bytes, to_bytes
from protocols.crypto import sealing
from protocols.errors import DecodeError

SECRET_BYTES = KEY_BYTES = DIGEST_BYTES = 32
TAG_BYTES = 8  # AEAD_AES_256_CCM_8, RFC 6655: shares are short, and the forger of one stops a session and no more
_INDEX_BYTES = 2
_NONCE, _COVER_NONCE = bytes(16), bytes(12)
_P, _A24 = 2**255 - 19, 121_666  # curve25519, RFC 7748


@dataclass(frozen=True, repr=False)
class ClosedSecret:
    """Secret mask key that its owner keeps from everybody: a type of its own, so it cannot be dealt."""

    secret: bytes


@dataclass(frozen=True, repr=False)
class ClosedPairs:
    """Common values of the party at this place with each party, or each neighbour, in their order, under a closed
    secret, for one sum.

    None stands for a key of small order; what stands at its own place is of no use.
    """

    index: int
    agreed: tuple[bytes | None, ...]


def public_key(secret: bytes) -> bytes:
    """Return the mask key that belongs to a secret of 32 bytes; never that of a link, or opening one would open
    messages.
    """
    return sealing.public_key(secret)


def agree(secret: bytes, peer: bytes) -> bytes:
    """Return the common value of the holders of two mask keys; raise `DecodeError` for a key of small order."""
    return agree_with_all(secret, (peer,))[0]


def agree_with_all(secret: bytes, peers: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return the common value with each of these; half of the work of an agreement is to read the own secret."""
    own = X25519PrivateKey.from_private_bytes(secret)
    found = [_exchanged(own, peer) for peer in peers]
    if None in found:
        raise DecodeError("mask_key.not_usable")
    return tuple(agreed for agreed in found if agreed is not None)


def agreeing(key: bytes) -> bytes | None:
    """Return a value that is the same for keys with which everybody agrees alike; None for a key of small order, with
    which everybody agrees on zero.

    The keys' own bytes will not do: the top bit, the prime, and a point of small order can be added to a key, and all
    agree on the same with it as before. Eight times the point is the value: every secret is a multiple of eight, and
    what is left of it is below the order of the points that remain, on the curve and on its twist.
    """
    if len(key) != KEY_BYTES:
        return None
    x, z = int.from_bytes(key, "little") % (1 << 255), 1
    for _ in range(3):  # twice the point, each time
        added, taken = (x + z) ** 2 % _P, (x - z) ** 2 % _P
        x, z = added * taken % _P, (added - taken) * (taken + _A24 * (added - taken)) % _P
    return (x * modular.invert(z, _P) % _P).to_bytes(KEY_BYTES, "little") if z else None


def closed_key(secret: ClosedSecret) -> bytes:
    """Return the mask key that belongs to a closed secret."""
    return public_key(secret.secret)


def closed_pairs(secret: ClosedSecret, index: int, keys: Sequence[bytes]) -> ClosedPairs:
    """Return the common values of the owner of this secret, the party at this place, with the owners of these keys.

    It is the same for two keys if and only if `agreeing` is.
    """
    own = X25519PrivateKey.from_private_bytes(secret.secret)
    return ClosedPairs(index, tuple([_exchanged(own, key) for key in keys]))


def closed_after(pairs: ClosedPairs) -> ClosedPairs:
    """Return the common values for the next sum: nobody can go back from them."""
    after = [agreed and hashlib.sha256(b"smc-dp sum after\0" + agreed).digest() for agreed in pairs.agreed]
    return replace(pairs, agreed=tuple(after))


def self_mask(context: bytes, index: int, seed: bytes, length: int, width: int) -> bytes:
    """Return the mask that a participant makes of its own seed alone: `length` words of `width` bytes."""
    return _stretched(b"smc-dp sum self\0" + context + _place(index) + seed, length, width)


def pair_mask(context: bytes, one: int, other: int, agreed: bytes, length: int, width: int) -> bytes:
    """Return the mask of two participants, whichever of them asks.

    Both places stand in it, in their order: a key that is a copy of another, or its reflection, gives another mask.
    """
    return _stretched(_of_pair(b"smc-dp sum pair\0", context, one, other, agreed), length, width)


def closed_mask(
    context: bytes, pairs: ClosedPairs, other: int, length: int, width: int, at: int | None = None
) -> bytes:
    """Return the mask of two participants with closed secrets, one of whom owns these pairs; the key is used for it
    alone. `at`: which of the pairs it is, where they are not with everybody.
    """
    agreed = pairs.agreed[other if at is None else at]
    if agreed is None or other == pairs.index:
        raise DecodeError("mask_key.not_usable")
    label = _of_pair(b"smc-dp sum closed\0", context, pairs.index, other, agreed)
    return expand(hashlib.sha256(label).digest(), length, width)


def expand(key: bytes, length: int, width: int) -> bytes:
    """Expand a key of 32 bytes that nobody ever opens into `length` words of `width` bytes, by ChaCha20 with nonce 0.

    Every key is used once. It takes a fraction of what SHAKE-256 takes, and is no random oracle: no proof covers it
    where a key may be opened after its words were sent.
    """
    return Cipher(algorithms.ChaCha20(key, _NONCE), mode=None).encryptor().update(bytes(length * width))


def combined(plus: Iterable[bytes], minus: Iterable[bytes], length: int, width: int) -> Vector:
    """Return the words of all masks in `plus` less those in `minus`, place by place mod 2**(8 width)."""
    if width in MACHINE_BYTES:
        return _combined_words(plus, minus, length, width)
    bits = 8 * width
    added, taken = _added(plus, length, bits), _added(minus, length, bits)
    return tuple([(a - b) % (1 << bits) for a, b in zip(added, taken, strict=True)])


def covered(context: bytes, dealer: int, holder: int, agreed: bytes, strings: Sequence[bytes]) -> bytes:
    """Return strings under authenticated encryption with a key that only dealer and holder can make, used once."""
    return _cover(context, dealer, holder, agreed).encrypt(_COVER_NONCE, b"".join(strings), None)


def uncovered(context: bytes, dealer: int, holder: int, agreed: bytes, body: bytes) -> tuple[bytes, ...]:
    """Return the strings, of the length of a secret each; raises `DecodeError` if they are not the dealer's."""
    try:
        raw = _cover(context, dealer, holder, agreed).decrypt(_COVER_NONCE, body, None)
    except InvalidTag as error:
        raise DecodeError("seal.broken") from error
    return tuple(raw[i : i + SECRET_BYTES] for i in range(0, len(raw), SECRET_BYTES))


def digest(vector: Vector, width: int) -> bytes:
    """Return SHA-256 of a vector of words of `width` bytes."""
    return hashlib.sha256(to_bytes(vector, width)).digest()


def _cover(context: bytes, dealer: int, holder: int, agreed: bytes) -> AESCCM:
    label = b"smc-dp sum cover\0" + context + _place(dealer) + _place(holder) + agreed
    return AESCCM(hashlib.sha256(label).digest(), TAG_BYTES)


def _exchanged(secret: X25519PrivateKey, key: bytes) -> bytes | None:
    try:
        return secret.exchange(X25519PublicKey.from_public_bytes(key))
    except ValueError:
        return None


def _of_pair(kind: bytes, context: bytes, one: int, other: int, agreed: bytes) -> bytes:
    low, high = (one, other) if one < other else (other, one)
    return kind + context + _place(low) + _place(high) + agreed


def _place(index: int) -> bytes:
    return index.to_bytes(_INDEX_BYTES, "big")


def _stretched(label: bytes, length: int, width: int) -> bytes:
    return hashlib.shake_256(label).digest(length * width)


def _combined_words(plus: Iterable[bytes], minus: Iterable[bytes], length: int, width: int) -> Vector:
    sent = np.dtype(f">u{width}")
    total = np.zeros(length, dtype=f"=u{width}")  # wraps as the ring does
    for mask in plus:
        total += np.frombuffer(mask, sent, length)
    for mask in minus:
        total -= np.frombuffer(mask, sent, length)
    return Words(total)


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
    return from_bytes(raw, bits // 8)
