"""Long-term identity keys: Ed25519 signatures (assumption: discrete logarithms on edwards25519 are hard)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from protocols.arithmetic.rng import Stream

SEED_BYTES = 32
PUBLIC_BYTES = 32
SIGNATURE_BYTES = 64


class Signer(Protocol):
    """Whoever can sign as a participant."""

    @property
    def public(self) -> bytes:
        """The 32 bytes that others pin."""
        ...

    def sign(self, message: bytes) -> bytes:
        """A signature of 64 bytes."""
        ...


@dataclass(frozen=True, repr=False)
class Identity:
    """A participant's private identity; `public` is what the others pin, out of band."""

    seed: bytes

    @classmethod
    def generate(cls, rng: Stream) -> Identity:
        """A new identity."""
        return cls(rng.bytes(SEED_BYTES))

    @property
    def public(self) -> bytes:
        """The 32 bytes that others pin."""
        return self._key.public_key().public_bytes_raw()

    def sign(self, message: bytes) -> bytes:
        """A signature of 64 bytes."""
        return self._key.sign(message)

    @property
    def _key(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.seed)


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the holder of the pinned identity signed the message."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
