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
_TOGETHER = 1 << 14  # rows that are packed together


class TextColumnBuilder:
    """Builder of a column from pieces of pyarrow; cells that are one of `empty` become empty."""

    def __init__(self, empty: Collection[str] = ()) -> None:
        self._empty = empty
        self._read: list[Any] = []
        self._rows = 0
        self._packed: list[Any] = []

    def add(self, pieces: Iterable[Any]) -> None:
        """Add arrays of texts."""
        for piece in pieces:
            self._read.append(piece)
            self._rows += len(piece)
        if self._rows >= _TOGETHER:
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
        texts: Any = pa.concat_arrays(self._read)
        self._read, self._rows = [], 0
        if self._empty:
            words = pa.array([*self._empty], pa.string())
            texts = compute.if_else(compute.is_in(texts, value_set=words), "", texts)
        packed = pack_decimals(texts)
        self._packed.append(texts if packed is None else packed)


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
    """Yield the parts, those of one kind that follow each other as one."""
    import pyarrow as pa

    for are_decimals, group in groupby(parts, lambda part: isinstance(part, Decimals)):
        same = list(group)
        yield join_decimals(same) if are_decimals else same[0] if len(same) == 1 else pa.concat_arrays(same)


def _numbers(texts: Any) -> NDArray[np.float64] | None:
    """Return the numbers in texts, NaN for empty ones; None where one has to be read by itself."""
    if not _OF_NUMBERS[text_bytes(texts)[0]].all() or (found := cast_numbers(texts)) is None:
        return None
    return None if np.isinf(found).any() else found
