"""Long-term identity keys: Ed25519 signatures (assumption: discrete logarithms on edwards25519 are hard)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from nacl.bindings import crypto_sign_open
from nacl.exceptions import BadSignatureError

from protocols.arithmetic.rng import Stream

SEED_BYTES = 32
PUBLIC_BYTES = 32
SIGNATURE_BYTES = 64

# For a "key" of small order anybody can sign, so the owner of a pinned one could deny every signature: the eight points
# of edwards25519 whose order divides 8, by their y-coordinates, with either sign bit, and y = 0, 1 also as p, p + 1.
_P, _Y = 2**255 - 19, 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
_SMALL_ORDER = frozenset(
    (y + sign).to_bytes(PUBLIC_BYTES, "little")
    for y in (0, 1, _P - 1, _P, _P + 1, _Y, _P - _Y)
    for sign in (0, 1 << 255)
)


class Signer(Protocol):
    """Signing key of a participant."""

    @property
    def public(self) -> bytes:
        """Public key of 32 bytes, which others pin."""
        ...

    def sign(self, message: bytes) -> bytes:
        """Return a signature of 64 bytes."""
        ...


@dataclass(frozen=True, repr=False)
class Identity:
    """Private identity of a participant; `public` is what the others pin, out of band."""

    seed: bytes

    @classmethod
    def generate(cls, rng: Stream) -> Identity:
        """Generate a new identity."""
        return cls(rng.bytes(SEED_BYTES))

    @property
    def public(self) -> bytes:
        """Public key of 32 bytes, which others pin."""
        return self._key.public_key().public_bytes_raw()

    def sign(self, message: bytes) -> bytes:
        """Return a signature of 64 bytes."""
        return self._key.sign(message)

    @cached_property
    def _key(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.seed)


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether the holder of the pinned identity signed the message.

    Accepted are, in every version of the transcript, the same signatures (R, S): with the point A of the public key,
    which is not of small order, and k = SHA-512(R, public, message) mod L, S < L, and the encoding of S B - k A is R.
    """
    if has_small_order(public) or len(public) != PUBLIC_BYTES or len(signature) != SIGNATURE_BYTES:
        return False
    return _is_accepted_fast(public, message, signature) or _is_accepted(public, message, signature)


def _is_accepted_fast(public: bytes, message: bytes, signature: bytes) -> bool:
    """Tell it in half of the time, for all but a few signatures: libsodium also refuses R of small order."""
    try:
        crypto_sign_open(signature + message, public)
    except (BadSignatureError, ValueError):
        return False
    return True


def _is_accepted(public: bytes, message: bytes, signature: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def has_small_order(public: bytes) -> bool:
    """Return whether this is a "key" for which anybody can sign, and which nobody should pin."""
    return public in _SMALL_ORDER
