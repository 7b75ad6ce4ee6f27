"""Key encapsulation to the holder of an announced public key, with nothing in it that tells who made it.

Assumption: computational Diffie-Hellman on curve25519, and HKDF-SHA256 as a random oracle. The sender takes a
new secret each time, so each message is a public key that was never seen before and names no sender.
"""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from protocols.arithmetic.rng import Stream
from protocols.crypto import sealing
from protocols.errors import DecodeError

KEY_BYTES = 32
_PROBE = X25519PrivateKey.from_private_bytes(bytes(range(KEY_BYTES)))  # no secret: any multiple of the cofactor will do


def secret(rng: Stream) -> bytes:
    """Return the secret of a new box key."""
    return rng.bytes(KEY_BYTES)


def public_key(secret: bytes) -> bytes:
    """Return the box key that belongs to this secret."""
    return sealing.public_key(secret)


def encapsulate(box: bytes, session: bytes, rng: Stream) -> tuple[bytes, bytes]:
    """Return epk and kappa of 32 bytes, used once; the owner of the box key makes kappa of epk.

    Raises `DecodeError` for a box key that cannot be used.
    """
    ephemeral = X25519PrivateKey.from_private_bytes(rng.bytes(KEY_BYTES))
    epk = ephemeral.public_key().public_bytes_raw()
    return epk, _derived(_agreed(ephemeral, box), session, epk, box)


def opened(secret: bytes, epk: bytes, session: bytes) -> bytes:
    """Return kappa, from the secret of the box key and epk; raise `DecodeError` for an epk that cannot be used."""
    return _derived(_agreed(X25519PrivateKey.from_private_bytes(secret), epk), session, epk, public_key(secret))


def is_usable(key: bytes) -> bool:
    """Return whether the key is not of small order, so that two holders agree on something."""
    try:
        _agreed(_PROBE, key)
    except DecodeError:
        return False
    return True


def _agreed(secret: X25519PrivateKey, peer: bytes) -> bytes:
    try:
        return secret.exchange(X25519PublicKey.from_public_bytes(peer))
    except ValueError:
        raise DecodeError("x25519_key.not_usable") from None


def _derived(agreed: bytes, session: bytes, epk: bytes, box: bytes) -> bytes:
    info = b"smc-dp row\x00" + epk + box
    return HKDF(SHA256(), KEY_BYTES, salt=session, info=info).derive(agreed)
