"""A column as it is read, block by block: each different cell is kept once, as long as that saves anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smc_dp.data.table import Coded

_MANY = 1 << 16


class Coding:
    """The cells of a column so far. Once very many differ, most of all, those of a new block are no longer compared."""

    def __init__(self, empty: Mapping[str, str]) -> None:
        """`empty`: texts that stand for an empty one."""
        self._empty: Mapping[object, object] = dict(empty.items())
        self._places: dict[object, int] = {}
        self._values: list[object] = []
        self._codes = [np.empty(0, np.int32)]
        self._rows = 0

    def add(self, cells: Sequence[object], codes: NDArray[np.int32]) -> None:
        """More rows: each is the cell of this number."""
        meant = [self._empty.get(cell, cell) for cell in cells] if self._empty else cells
        if self._values:
            self._codes.append(codes + np.int32(len(self._values)))
            self._values += meant
            return
        places = self._places
        self._codes.append(np.array([places.setdefault(cell, len(places)) for cell in meant], dtype=np.int32)[codes])
        self._rows += len(codes)
        if len(places) > max(_MANY, self._rows // 2):
            self._values = [*places]
            places.clear()

    def coded(self) -> Coded:
        """All of them; this is empty then."""
        codes: NDArray[Any] = np.concatenate(self._codes)
        self._codes.clear()
        return Coded(codes, tuple(self._values or self._places))
