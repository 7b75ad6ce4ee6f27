"""Seals, links and commitments that bind one thing less."""

from __future__ import annotations

import hashlib

from protocols.arithmetic.rng import Stream
from protocols.crypto import sealing
from protocols.crypto.sealing import LinkKeys


def link_keys_without_direction(secret: bytes, peer: bytes, session: bytes, me: str, other: str) -> LinkKeys:
    """One key for both directions: a message can be sent back to its author."""
    keys = sealing.link_keys(secret, peer, session, *sorted((me, other)))
    return LinkKeys(keys.outgoing, keys.outgoing)


def seal_without_header(key: bytes, number: int, header: bytes, payload: bytes) -> bytes:
    """The header is not authenticated."""
    return sealing.seal(key, number, b"", payload)


def unseal_without_header(key: bytes, number: int, header: bytes, body: bytes) -> bytes:
    """The other end of it."""
    return sealing.unseal(key, number, b"", body)


def commit_without_opening(context: bytes, value: bytes, rng: Stream) -> tuple[bytes, bytes]:
    """A bare hash: whoever can guess the value can check the guess."""
    return hashlib.sha256(context + value).digest(), b""


def commit_without_context(context: bytes, value: bytes, rng: Stream) -> tuple[bytes, bytes]:
    """Serves every party and session: a copy of another's commitment opens with the other's opening."""
    opening = rng.bytes(32)
    return hashlib.sha256(opening + value).digest(), opening


def opens_without_context(commitment: bytes, context: bytes, value: bytes, opening: bytes) -> bool:
    """The other end of it."""
    return commitment == hashlib.sha256(opening + value).digest()
