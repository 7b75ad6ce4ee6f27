"""Principal components of public rows, and the radius that holds them: the only parameters here that rows decide."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy

from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError
from smc_dp.data.dataset import Features

RadiusRule: TypeAlias = Literal["median", "largest"]
"""Rule for the clipping norm: the median or the largest norm of the projected public rows."""


@dataclass(frozen=True, eq=False)
class Projection:
    """Map x -> axes (x - mean), of the columns of x with the numbers `columns`, or of all for None.

    axes: (k, c), orthonormal rows; mean: (c,), zero for sparse rows.
    """

    axes: Array
    mean: Array
    columns: npt.NDArray[np.int64] | None = None

    def of(self, X: Features) -> Array:
        """Project the rows X: (n, d) to the new coordinates: (n, k)."""
        chosen = X if self.columns is None else X[:, self.columns]
        if isinstance(chosen, np.ndarray):
            chosen = chosen - self.mean
        return np.asarray(chosen @ self.axes.T)


def fit_projection(public: Features, components: int, radius: RadiusRule = "median") -> tuple[Projection, float]:
    """Fit the projection on the first principal components of public rows; return it with a clipping radius.

    The radius is the median or the largest norm of the projected public rows. The largest clips no public row, and
    leaves most rows so short that a regularised model hardly sees them.

    Sparse rows are not centred (a truncated singular value decomposition), so that they stay sparse, and columns in
    which all public rows are 0 are left out. The signs of the axes are fixed: the entry of largest size is positive.
    Raises InputError when there are too few public rows or they are all equal.
    """
    projection = (_dense if isinstance(public, np.ndarray) else _sparse)(public, components)
    largest = np.abs(projection.axes).argmax(axis=1)
    signs = np.sign(projection.axes[np.arange(components), largest])
    projection = replace(projection, axes=np.ascontiguousarray(projection.axes * signs[:, np.newaxis]))
    norms = np.linalg.norm(projection.of(public), axis=1)
    length = float(np.median(norms) if radius == "median" else norms.max())
    if not length > 0:
        raise InputError("components.equal_rows")
    return projection, length


def _dense(public: Array, components: int) -> Projection:
    _check(components, *public.shape)
    mean = public.mean(axis=0)
    _, vectors = np.linalg.eigh((public - mean).T @ (public - mean))
    return Projection(vectors[:, ::-1][:, :components].T, mean)


def _sparse(public: scipy.sparse.csr_array, components: int) -> Projection:
    from sklearn.decomposition import TruncatedSVD  # a second that dense rows need not wait

    columns = np.unique(public.indices).astype(np.int64)
    _check(components, public.shape[0], len(columns))
    axes = TruncatedSVD(components, random_state=0).fit(public[:, columns]).components_
    return Projection(axes, np.zeros(len(columns)), columns)


def _check(components: int, rows: int, width: int) -> None:
    if components >= rows:
        raise InputError("components.too_few_rows", components=components, least=components + 1, rows=rows)
    if components > width:
        raise InputError("components.too_many", most=width, got=components)
