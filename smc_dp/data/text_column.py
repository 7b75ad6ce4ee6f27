"""Column of texts as pyarrow holds them, and its numbers in one vectorised step.

Different cells become Python texts only where somebody looks at them: a column of numbers never needs that.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc_dp.data.table import DictionaryColumn

# What pyarrow and Python read as the same number, both correctly rounded: each other cell is left to Python.
_NUMBER = r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$"


class TextColumn(DictionaryColumn):
    """Texts of a column in pieces of pyarrow, dictionary-encoded when its different cells are looked at."""

    def __init__(self, pieces: Sequence[Any], empty: Collection[str] = ()) -> None:
        """Take pyarrow arrays of texts; cells that are one of `empty` become empty."""
        import pyarrow as pa
        from pyarrow import compute

        texts: Any = pa.chunked_array(pieces, pa.string())
        if empty:
            texts = compute.if_else(compute.is_in(texts, value_set=pa.array([*empty], pa.string())), "", texts)
        object.__setattr__(self, "_texts", texts)

    _texts: Any

    @override
    def __len__(self) -> int:
        return len(self._texts)

    @cached_property
    def _encoded(self) -> tuple[NDArray[np.signedinteger[Any]], tuple[object, ...]]:
        found = self._texts.combine_chunks().dictionary_encode()
        return found.indices.to_numpy(), tuple(found.dictionary.to_pylist())

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
        return TextColumn(self._texts.take(indices).chunks)

    @override
    def plain_numbers(self) -> NDArray[np.float64] | None:
        from pyarrow import ArrowInvalid, compute

        empty = compute.equal(self._texts, "")
        if not compute.all(compute.or_(empty, compute.match_substring_regex(self._texts, _NUMBER))).as_py():
            return None
        try:
            numbers = compute.if_else(empty, None, self._texts).cast("float64").to_numpy()
        except ArrowInvalid:
            return None
        found = np.asarray(numbers, dtype=np.float64)
        return None if np.isinf(found).any() else found
