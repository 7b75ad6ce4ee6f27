"""Whole data set of a simulation: encoded rows and class numbers, before they are dealt to parties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import scipy

from smc_dp.core.arrays import Array

Features: TypeAlias = "Array | scipy.sparse.csr_array"


@dataclass(frozen=True, eq=False, repr=False)
class Points:
    """Rows X: (n, d) with class numbers y: (n,).

    Dense rows lie in the unit ball; sparse rows are those of their file, and are projected before anything else.
    """

    X: Features
    y: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def nbytes(self) -> int:
        """Bytes of the rows, dense or sparse."""
        X = self.X
        return X.nbytes if isinstance(X, np.ndarray) else int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)


@dataclass(frozen=True, eq=False, repr=False)
class Pool:
    """Data set for simulations.

    `classes[c]` is the name of class c. `test` is the data set's own test set, None if it has none. `public`: (N, d),
    rows that no experiment trains or tests on, for fitting a projection. No entry of a dense row exceeds `coordinate`,
    a public bound. `bias` is the constant appended to each row unless the partition sets another. `holder` is the name
    for a party.
    """

    name: str
    train: Points
    test: Points | None
    classes: tuple[str, ...]
    public: Array | None = None
    coordinate: float = 1.0
    bias: float = 0.0
    holder: str = "party"
