"""A site's state at rest: sealed under a key that only the holder of its identity can make again.

The key follows from a signature of the identity over a random salt (Ed25519 signatures are deterministic), and from a
passphrase where one is given. So a copy of the state without the identity's key is of no use, and the identity's key
is never part of it.
"""

from __future__ import annotations

import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from protocols.crypto.identity import Signer
from smc_dp.core.errors import InputError

SALT_BYTES = 32
_NONCE_BYTES = 12
_KEY_BYTES = 32
_LABEL = b"smc-dp state at rest"


class Seal:
    """Seals and opens what one site keeps. A nonce that comes twice tells no more than that the content did."""

    __slots__ = ("_aead",)

    def __init__(self, signer: Signer, salt: bytes, passphrase: str | None = None) -> None:
        typed = b"" if passphrase is None else _stretched(passphrase, salt)
        made = signer.sign(_LABEL + salt) + typed
        self._aead = AESGCMSIV(HKDF(SHA256(), _KEY_BYTES, salt, _LABEL).derive(made))

    def seal(self, content: bytes, bound: bytes) -> bytes:
        """The content, sealed; it opens with the same `bound` only."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._aead.encrypt(nonce, content, bound)

    def open(self, sealed: bytes, bound: bytes) -> bytes:
        """The content; InputError for another identity or passphrase, or for bytes that nobody sealed."""
        try:
            return self._aead.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], bound)
        except (InvalidTag, ValueError):
            raise InputError("does not open: it was sealed under another key or passphrase, or changed") from None


def _stretched(passphrase: str, salt: bytes) -> bytes:
    return Scrypt(salt=salt, length=_KEY_BYTES, n=1 << 15, r=8, p=1).derive(passphrase.encode())
