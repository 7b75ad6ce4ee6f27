"""Vectors of machine words, and their encoding as bytes: words of a whole number of bytes each, the highest byte
first.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, SupportsIndex, TypeAlias, overload

import numpy as np
import numpy.typing as npt
from typing_extensions import override

MACHINE_BYTES = (1, 2, 4, 8)
_FORMS: Mapping[int, str] = MappingProxyType({1: "B", 2: "H", 4: "I", 8: "Q"})


class Words(Sequence[int]):
    """Vector of machine words: it never changes, and is equal to the tuple of the same numbers, of which each takes 40
    bytes.
    """

    __slots__ = ("array",)

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self.array = array.view()
        self.array.flags.writeable = False

    @override
    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, at: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> Words: ...
    @override
    def __getitem__(self, at: SupportsIndex | slice) -> int | Words:
        return Words(self.array[at]) if isinstance(at, slice) else int(self.array[at])

    @override
    def __iter__(self) -> Iterator[int]:
        return iter(self.array.tolist())

    @override
    def __eq__(self, other: object) -> bool:
        if isinstance(other, Words) and self.array.dtype == other.array.dtype:
            return bool(np.array_equal(self.array, other.array))
        return tuple(self) == tuple(other) if isinstance(other, Words | tuple) else NotImplemented

    @override
    def __hash__(self) -> int:
        return hash(tuple(self))

    @override
    def __repr__(self) -> str:
        return repr(tuple(self))


Vector: TypeAlias = Words | tuple[int, ...]
"""Vector of integers. What is no machine word stands in a tuple: a wider number, or an unknown of an audit."""


def to_bytes(vector: Sequence[int], width: int) -> bytes:
    """Return the words one after the other; OverflowError for a number that is negative or takes more bytes."""
    form = _FORMS.get(width)
    if form is None:
        return b"".join([x.to_bytes(width, "big") for x in vector])
    if isinstance(vector, Words) and _fits(vector.array, width):
        return vector.array.astype(f">u{width}").tobytes()
    try:
        return struct.pack(f">{len(vector)}{form}", *vector)
    except struct.error:
        raise OverflowError(f"wanted numbers from 0 to {(1 << 8 * width) - 1}") from None


def from_bytes(data: bytes, width: int) -> Vector:
    """Return the vector of which these are the words; ValueError for bytes that are no whole words."""
    if len(data) % width:
        raise ValueError(f"wanted words of {width} bytes, got {len(data)} bytes")
    if width not in MACHINE_BYTES:
        return tuple([int.from_bytes(data[i : i + width], "big") for i in range(0, len(data), width)])
    return Words(np.frombuffer(data, f">u{width}").astype(f"=u{width}"))


def canonical(vector: Sequence[int]) -> bytes:
    """Return the width of the widest number, and the words in it: other bytes for any other vector of numbers >= 0."""
    least = max(1, (max(vector, default=0).bit_length() + 7) // 8)
    width = next((machine for machine in MACHINE_BYTES if machine >= least), least)
    return width.to_bytes(4, "big") + to_bytes(vector, width)


def _fits(array: npt.NDArray[Any], width: int) -> bool:
    return not len(array) or (array.min() >= 0 and int(array.max()).bit_length() <= 8 * width)
