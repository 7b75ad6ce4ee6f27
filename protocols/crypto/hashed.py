"""Hashing to residues, so that nobody chooses them. Assumption: SHA-256 and SHAKE-256 as random oracles."""

from __future__ import annotations

import hashlib

_SLACK_BYTES = 16  # beyond n, which make the reduction mod n uniform up to 2**-128


def hash_to_residues(label: bytes, n: int, count: int) -> list[int]:
    """Return `count` numbers, uniform mod n, that the label and n determine."""
    size = (n.bit_length() + 7) // 8
    seed = hashlib.sha256(hashlib.sha256(label).digest() + n.to_bytes(size, "big")).digest()
    width = size + _SLACK_BYTES
    stretch = hashlib.shake_256(seed).digest(width * count)
    return [int.from_bytes(stretch[i * width : (i + 1) * width], "big") % n for i in range(count)]
