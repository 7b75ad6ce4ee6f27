"""Encoding of vectors as bytes: words of a whole number of bytes each, the highest byte first."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from types import MappingProxyType

_MACHINE: Mapping[int, str] = MappingProxyType({1: "B", 2: "H", 4: "I", 8: "Q"})


def to_bytes(vector: Sequence[int], width: int) -> bytes:
    """Return the words one after the other; OverflowError for a number that is negative or takes more bytes."""
    form = _MACHINE.get(width)
    if form is None:
        return b"".join([x.to_bytes(width, "big") for x in vector])
    try:
        return struct.pack(f">{len(vector)}{form}", *vector)
    except struct.error:
        raise OverflowError(f"wanted numbers from 0 to {(1 << 8 * width) - 1}") from None


def from_bytes(data: bytes, width: int) -> tuple[int, ...]:
    """Return the vector of which these are the words; ValueError for bytes that are no whole words."""
    if len(data) % width:
        raise ValueError(f"wanted words of {width} bytes, got {len(data)} bytes")
    form = _MACHINE.get(width)
    if form is None:
        return tuple([int.from_bytes(data[i : i + width], "big") for i in range(0, len(data), width)])
    return struct.unpack(f">{len(data) // width}{form}", data)


def canonical(vector: Sequence[int]) -> bytes:
    """Return the width of the widest number, and the words in it: other bytes for any other vector of numbers >= 0."""
    least = max(1, (max(vector, default=0).bit_length() + 7) // 8)
    width = next((machine for machine in sorted(_MACHINE) if machine >= least), least)
    return width.to_bytes(4, "big") + to_bytes(vector, width)
