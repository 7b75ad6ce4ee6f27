"""Dictionary encoding of a column as it is read, block by block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smc_dp.data.table import DictionaryColumn

_MANY = 1 << 16


class DictionaryEncoder:
    """Dictionary encoder of a column, which stops comparing cells once most of very many differ.

    `empty`: texts that stand for an empty cell, with the text that replaces each.
    """

    def __init__(self, empty: Mapping[str, str]) -> None:
        self._empty: Mapping[object, object] = dict(empty.items())
        self._places: dict[object, int] = {}
        self._values: list[object] = []
        self._codes = [np.empty(0, np.int32)]
        self._rows = 0

    def add(self, cells: Sequence[object], codes: NDArray[np.int32]) -> None:
        """Add rows: row i has the cell `cells[codes[i]]`."""
        meant = [self._empty.get(cell, cell) for cell in cells] if self._empty else cells
        if self._values:  # most cells differ: a block's cells are appended without a comparison
            self._codes.append(codes + np.int32(len(self._values)))
            self._values += meant
            return
        places = self._places
        self._codes.append(np.array([places.setdefault(cell, len(places)) for cell in meant], dtype=np.int32)[codes])
        self._rows += len(codes)
        if len(places) > max(_MANY, self._rows // 2):
            self._values = [*places]
            places.clear()

    def coded(self) -> DictionaryColumn:
        """Return the encoded column, and empty the encoder."""
        codes: NDArray[Any] = np.concatenate(self._codes)
        self._codes.clear()
        return DictionaryColumn(codes, tuple(self._values or self._places))
