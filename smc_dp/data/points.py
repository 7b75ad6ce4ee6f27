"""What a simulation deals from: a whole data set as rows and class numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse

from smc_dp.core.arrays import Array

Features: TypeAlias = Array | scipy.sparse.csr_array


@dataclass(frozen=True, eq=False, repr=False)
class Points:
    """X: (n, d); y: (n,), class numbers 0, 1, ...

    Dense rows lie in the unit ball; sparse rows are as their file has them and are projected before anything else.
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
    """A data set for simulations.

    `classes[c]` is what class c is called. `test` is the data set's own test set, None if it has none. `public`: (N,
    d), rows that no experiment trains or tests on, a public source for a projection. No entry of a dense row exceeds
    `coordinate`, a public bound. `bias` is the constant that is appended to each row unless the deal says otherwise.
    `holder` is what a party is called. `notes` say what a reader of the results must know.
    """

    name: str
    train: Points
    test: Points | None
    classes: tuple[str, ...]
    public: Array | None = None
    coordinate: float = 1.0
    bias: float = 0.0
    holder: str = "party"
    notes: tuple[str, ...] = ()

    def __sizeof__(self) -> int:
        """With its rows, so that Dask knows it to be large and carries it to a worker once, not with every trial."""
        return self.train.nbytes + (0 if self.test is None else self.test.nbytes)
