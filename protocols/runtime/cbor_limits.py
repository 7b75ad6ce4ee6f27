"""Heads of CBOR items: the shortest one of a length, and the size and depth of a value before a parser creates objects.

A parser turns one byte into an object of about sixty: without this check, a file of 64 MB could take gigabytes. Tags
are refused as well, for each has a decoder of its own and no format here uses one.
"""

from __future__ import annotations

from functools import cache

STRING, ARRAY = 2, 4
"""Major types of a byte string and of an array."""
_STRINGS, _MAP, _TAG = (STRING, 3), 5, 6


@cache
def shortest_head(major: int, length: int) -> bytes:
    """Return the head of a byte string or an array of this length (RFC 8949, deterministic)."""
    if length < 24:
        return bytes([(major << 5) + length])
    extra, width = next((24 + i, 1 << i) for i in range(4) if length < 1 << (8 << i))
    return bytes([(major << 5) + extra]) + length.to_bytes(width, "big")


def is_plain(data: bytes, items: int, depth: int) -> bool:
    """Tell whether `data` is one value of at most `items` items, nested at most `depth` deep.

    Tags, indefinite lengths and trailing bytes are refused. An array counts as one item beside those in it.
    """
    at, open_ = 0, [1]  # of each open array, how many items are still to come
    for _ in range(items):
        if at >= len(data):
            return False
        major, argument = data[at] >> 5, data[at] & 31
        if argument > 27 or major == _TAG:  # 28 to 30 are reserved, 31 is an indefinite length
            return False
        more = 0 if argument < 24 else 1 << (argument - 24)
        length = int.from_bytes(data[at + 1 : at + 1 + more], "big") if more else argument
        at += 1 + more + (length if major in _STRINGS else 0)
        open_[-1] -= 1
        if major in (ARRAY, _MAP):
            open_.append(length if major == ARRAY else 2 * length)
        while open_ and not open_[-1]:
            open_.pop()
        if not open_:
            return at == len(data)
        if len(open_) > depth + 1:
            return False
    return False
