"""Hash commitments: binding by collision resistance of SHA-256, hiding by a 256-bit random opening."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

from protocols.arithmetic.rng import Stream

OPENING_BYTES = 32
COMMITMENT_BYTES = 32


def commit(context: bytes, value: bytes, rng: Stream) -> tuple[bytes, bytes]:
    """Return a commitment to a value and its opening; the context says who commits to what in which session."""
    opening = rng.bytes(OPENING_BYTES)
    return made(context, value, opening), opening


def made(context: bytes, value: bytes, opening: bytes) -> bytes:
    """Return the commitment that this opening opens to this value."""
    return hmac.new(opening, hashlib.sha256(context).digest() + value, hashlib.sha256).digest()


def opens(commitment: bytes, context: bytes, value: bytes, opening: bytes) -> bool:
    """Return whether value and opening are what was committed to."""
    return hmac.compare_digest(commitment, made(context, value, opening))


def canonical(numbers: Sequence[int]) -> bytes:
    """Return the bytes by which numbers are committed to: others for any other numbers."""
    return ",".join(map(str, numbers)).encode()
