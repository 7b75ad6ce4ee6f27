"""Sealed links between two named roles: X25519, HKDF-SHA256, ChaCha20-Poly1305, the header as associated data.

Each pair agrees once and derives a key for each direction, for one session; the nonce is the message's number on that
link, so it never repeats. Assumption: computational Diffie-Hellman on curve25519 in the random oracle model.
"""

from __future__ import annotations

from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from protocols.errors import DecodeError

KEY_BYTES = 32
OVERHEAD_BYTES = 16  # the authentication tag
_NONCE_BYTES = 12


class LinkSecret:
    """X25519 secret of 32 bytes of a participant for one session and all its links; its public key is made once."""

    __slots__ = ("_key", "raw")

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self._key = X25519PrivateKey.from_private_bytes(raw)

    @property
    def public(self) -> bytes:
        """Public key of this secret."""
        return self._key.public_key().public_bytes_raw()

    def agree(self, peer: bytes) -> bytes:
        """Return the common value of the holders of two keys; raise ValueError for a key that cannot be used."""
        return self._key.exchange(X25519PublicKey.from_public_bytes(peer))


def public_key(secret: bytes) -> bytes:
    """Return the X25519 public key of a 32-byte secret."""
    return LinkSecret(secret).public


@dataclass(frozen=True, repr=False)
class LinkKeys:
    """Keys of one link, as one of its ends uses them."""

    outgoing: bytes
    incoming: bytes


def link_keys(secret: bytes | LinkSecret, peer: bytes, session: bytes, me: str, other: str) -> LinkKeys:
    """Derive the keys of both directions of a link in this session, by one agreement; both ends have the same.

    Raises `DecodeError` when the peer's key is none, or a point of small order.
    """
    try:
        shared = (LinkSecret(secret) if isinstance(secret, bytes) else secret).agree(peer)
    except ValueError as error:
        raise DecodeError("peer_key.not_usable") from error
    first, second = sorted((me, other))
    info = b"smc-dp link\x00" + first.encode() + b"\x00" + second.encode()
    keys = HKDF(SHA256(), 2 * KEY_BYTES, salt=session, info=info).derive(shared)
    to_second, to_first = keys[:KEY_BYTES], keys[KEY_BYTES:]
    return LinkKeys(to_second, to_first) if me == first else LinkKeys(to_first, to_second)


def seal(key: bytes, number: int, header: bytes, payload: bytes) -> bytes:
    """Return the payload, encrypted and authenticated together with the header; `number` never repeats under a key."""
    return ChaCha20Poly1305(key).encrypt(number.to_bytes(_NONCE_BYTES, "big"), payload, header)


def unseal(key: bytes, number: int, header: bytes, body: bytes) -> bytes:
    """Return the payload; raise `DecodeError` when body, header, number or key are not those it was sealed with."""
    try:
        return ChaCha20Poly1305(key).decrypt(number.to_bytes(_NONCE_BYTES, "big"), body, header)
    except InvalidTag as error:
        raise DecodeError("seal.broken") from error
