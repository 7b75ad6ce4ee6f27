"""Column of texts as it is read, block by block: decimals of 2 to 4 bytes where that keeps every text, else texts.

Different cells become Python texts only where somebody looks at them: a column of numbers never needs that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc_dp.data.decimals import Decimals, cast_numbers, join_decimals, pack_decimals, text_bytes
from smc_dp.data.table import DictionaryColumn

# Of these characters alone pyarrow reads no other numbers than Python: no words, no spaces, no 1_000.
_OF_NUMBERS = np.isin(np.arange(256), np.frombuffer(b"0123456789.-+eE", np.uint8))
_FIRST = 64  # cells that tell most columns of other texts
_TOGETHER, _HEAVY = 1 << 14, 1 << 21  # rows that are packed together, and bytes of fewer and longer ones


class TextColumnBuilder:
    """Builder of a column from pieces of pyarrow; cells that are one of `empty` become empty."""

    def __init__(self, empty: Collection[str] = ()) -> None:
        self._empty = empty
        self._read: list[Any] = []
        self._rows = self._size = 0
        self._packed: list[Any] = []

    def add(self, pieces: Iterable[Any]) -> None:
        """Add arrays of texts."""
        for piece in pieces:
            self._read.append(piece)
            self._rows += len(piece)
            self._size += piece.nbytes
        if self._rows >= _TOGETHER or self._size >= _HEAVY:
            self._pack()

    def column(self) -> TextColumn:
        """Return the column, once."""
        self._pack()
        return TextColumn(self._packed)

    def _pack(self) -> None:
        import pyarrow as pa
        from pyarrow import compute

        if not self._read:
            return
        read, self._read, self._rows, self._size = self._read, [], 0, 0
        if self._empty:
            words = pa.array([*self._empty], pa.string())
            read = [compute.if_else(compute.is_in(texts, value_set=words), "", texts) for texts in read]
        is_other = pack_decimals(read[0][:_FIRST]) is None  # then nothing is copied
        packed = None if is_other else pack_decimals(pa.concat_arrays(read, pa.system_memory_pool()))
        self._packed += read if packed is None else [packed]


class TextColumn(DictionaryColumn):
    """Texts of a column: decimals, and arrays of pyarrow. It is dictionary-encoded when its cells are looked at."""

    def __init__(self, parts: Sequence[Any]) -> None:
        """Take decimals and arrays of texts, in the order of the rows."""
        found = list(_merged(parts))
        object.__setattr__(self, "_parts", found)

    _parts: list[Any]

    @override
    def __len__(self) -> int:
        return sum(map(len, self._parts))

    @cached_property
    def _encoded(self) -> tuple[NDArray[np.signedinteger[Any]], tuple[object, ...]]:
        import pyarrow as pa

        parts = [p.encoded() if isinstance(p, Decimals) else p.dictionary_encode() for p in self._parts]
        kind = pa.dictionary(pa.int32(), pa.string())
        found = pa.chunked_array(parts, kind).unify_dictionaries().combine_chunks()
        small = np.min_scalar_type(-len(found.dictionary) - 1)  # 1 byte for the levels of most columns
        return found.indices.to_numpy().astype(small), tuple(found.dictionary.to_pylist())

    @property
    @override
    def codes(self) -> NDArray[np.signedinteger[Any]]:
        return self._encoded[0]

    @property
    @override
    def values(self) -> tuple[object, ...]:
        return self._encoded[1]

    @override
    def take(self, indices: NDArray[np.int64]) -> TextColumn:
        import pyarrow as pa

        if len(self._parts) == 1:
            return TextColumn([self._parts[0].take(indices)])
        texts = [p.encoded().dictionary_decode() if isinstance(p, Decimals) else p for p in self._parts]
        return TextColumn(pa.chunked_array(texts, pa.string()).take(indices).chunks)

    def between(self, start: int, stop: int) -> TextColumn:
        """Return the cells from `start` to before `stop`, without a copy."""
        found, at = [], 0
        for part in self._parts:
            first, end = max(start - at, 0), min(stop - at, len(part))
            if first < end:
                found.append(part[first:end])
            at += len(part)
        return TextColumn(found)

    @override
    def plain_numbers(self) -> NDArray[np.float64] | None:
        found = np.empty(len(self))
        start = 0
        for part in self._parts:
            numbers = part.numbers() if isinstance(part, Decimals) else _numbers(part)
            if numbers is None:
                return None
            found[start : start + len(part)] = numbers
            start += len(part)
        return found


def _merged(parts: Iterable[Any]) -> Iterator[Any]:
    """Yield the parts, decimals that follow each other as one."""
    for are_decimals, group in groupby(parts, lambda part: isinstance(part, Decimals)):
        same = list(group)
        yield from [join_decimals(same)] if are_decimals else same  # long texts together could exceed an array


def _numbers(texts: Any) -> NDArray[np.float64] | None:
    """Return the numbers in texts, NaN for empty ones; None where one has to be read by itself."""
    if not _OF_NUMBERS[text_bytes(texts)[0]].all() or (found := cast_numbers(texts)) is None:
        return None
    return None if np.isinf(found).any() else found
