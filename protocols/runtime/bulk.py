"""Arrays of CBOR byte strings of one width, encoded and decoded in bulk.

An item is a head, which gives the length of the string, and the string. Heads are the shortest possible (RFC 8949,
deterministic), so items of one width have equal lengths, and their places follow by multiplication.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache
from typing import Any

from protocols.errors import LocalError

_STRING, _ARRAY = 0x40, 0x80
_WORDS = {1: "B", 2: "H", 4: "I", 8: "Q"}  # widths of integers that `struct` knows, in the same bytes on every machine


def array_head(count: int) -> bytes:
    """Return the head of an array of `count` items."""
    return _head(_ARRAY, count)


def item_bytes(width: int) -> int:
    """Return the length of a byte string of this width with its head."""
    return len(_head(_STRING, width)) + width


def strings(pieces: Sequence[bytes]) -> bytes:
    """Encode byte strings, all as long as the first, as items."""
    if not pieces:
        return b""
    head = _head(_STRING, len(pieces[0]))
    return head + head.join(pieces)


def integer(value: Any, width: int) -> bytes:
    """Encode an integer in `width` bytes; raise `LocalError` for any other type, or a value that does not fit."""
    if not isinstance(value, int) or value < 0 or value.bit_length() > 8 * width:
        raise LocalError("integer.too_large", bits=8 * width)
    return value.to_bytes(width, "big")


def integers(values: Sequence[Any], width: int) -> bytes:
    """Encode integers as items of one width; raise `LocalError` as `integer` does."""
    if width not in _WORDS or not all(issubclass(kind, int) for kind in set(map(type, values))):
        return strings([integer(value, width) for value in values])
    try:
        words = struct.pack(f">{len(values)}{_WORDS[width]}", *values)
    except struct.error:
        raise LocalError("integer.too_large", bits=8 * width) from None
    head, item = _head(_STRING, width), item_bytes(width)
    items = bytearray(len(values) * item)
    for place, byte in enumerate(head):
        items[place::item] = bytes([byte]) * len(values)
    for place in range(width):
        items[len(head) + place :: item] = words[place::width]
    return bytes(items)


def are_strings(data: bytes, at: int, end: int, width: int) -> bool:
    """Tell whether each item from `at` to `end` begins with the head of its width."""
    head, item = _head(_STRING, width), item_bytes(width)
    if end - at <= item:
        return at == end or data.startswith(head, at)
    count = (end - at) // item
    return all(data[at + place : end : item] == bytes([byte]) * count for place, byte in enumerate(head))


def read_strings(data: bytes, at: int, end: int, width: int) -> tuple[bytes, ...]:
    """Return the byte strings from `at` to `end`; their heads are not checked."""
    item = item_bytes(width)
    return tuple([data[i - width : i] for i in range(at + item, end + item, item)])


def read_integers(data: bytes, at: int, end: int, width: int) -> tuple[int, ...]:
    """Return the integers in the byte strings from `at` to `end`."""
    item = item_bytes(width)
    count = (end - at) // item
    if width not in _WORDS or count == 1:
        return tuple([int.from_bytes(piece, "big") for piece in read_strings(data, at, end, width)])
    words = bytearray(count * width)
    for place in range(width):
        words[place::width] = data[at + item - width + place : end : item]
    return struct.unpack(f">{count}{_WORDS[width]}", words)


@cache
def _head(major: int, length: int) -> bytes:
    """Return the shortest CBOR head of a byte string or an array."""
    if length < 24:
        return bytes([major + length])
    extra, width = next((0x18 + i, 1 << i) for i in range(4) if length < 1 << (8 << i))
    return bytes([major + extra]) + length.to_bytes(width, "big")
