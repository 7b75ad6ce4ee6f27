"""Rows that are centred and scaled by released numbers, so that noise beside them weighs less.

In the public box, [-1, 1] for each feature x, a row stands as (x, 1)/sqrt R, with R - 1 the number of columns. There a
one-hot or skewed feature is short, and far from 0. From a sum of such rows follow its mean m and its deviation s; then
z = (x - m)/h stands for it, h = min(1, max(s, (1 + |m|)/3)), and R is about as long as rows then are: a row that is
longer is left out, and counted.

Of k levels or bins that are known from each other only k - 1 features stand in a row. Without the first, what tells it
from all others is spread over them, so that noise drowns it. Therefore all k are centred and scaled, and turned: as
h'z = 0, a reflection that takes h to the first axis leaves k - 1 coordinates of the same length. Which level is first
then makes no difference to the noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, sqrt

import numpy as np

from smc_dp.core.arrays import Array
from smc_dp.data.federation import FeatureBox
from smc_dp.methods.training.integer_rows import ROW_BITS, IntegerRows

_LEAST_VARIANCE = 1e-4
_LEAST_SLACK = 9.0
_LONGEST_LEVEL = 2.5  # of a column of levels: rows of a rare level are to stay within the slack
_STEPS = 2.0**16  # on which released numbers are rounded: digits in which machines may differ are away


@dataclass(frozen=True, eq=False)
class _Levels:
    """Features of a column of levels: places of all but the first, and the first one's mean and scale."""

    places: slice
    mean: float
    scale: float

    def turn(self, U: Array, Z: Array, scales: Array) -> None:
        """Replace centred features, Z: (n, p - 1), by coordinates; U has them as they were, in parts of the reach.

        Columns are added up one by one: so no record's coordinates depend on the others.
        """
        each = range(*self.places.indices(Z.shape[1]))
        axis = np.append(self.scale, scales[self.places])
        axis /= sqrt(axis @ axis)
        axis[0] += 1.0  # the reflection along this takes the first axis to the scales
        first = np.full(len(U), 1.0 - self.mean)
        for j in each:
            first -= U[:, j]
        along = axis[0] * first / self.scale
        for j, part in zip(each, axis[1:], strict=True):
            along += part * Z[:, j]
        along *= 2 / (axis @ axis)
        for j, part in zip(each, axis[1:], strict=True):
            Z[:, j] -= part * along


@dataclass(frozen=True, eq=False)
class Centring:
    """Means and scales of features in parts of the reach of their box, (p - 1,), and R, the squared length of rows."""

    box: FeatureBox
    means: Array
    scales: Array
    square: float
    levels: tuple[_Levels, ...] = ()

    @classmethod
    def public(cls, box: FeatureBox, p: int) -> Centring:
        """Return the centring of the public box, of p features with the constant."""
        return cls(box, np.zeros(p - 1), np.ones(p - 1), 1.0 + box.columns)

    def then(self, square: Array) -> Centring:
        """Return the centring that follows from a noisy X'X, (p, p), of rows with this one, the public one."""
        rows = max(self.count(square), 1.0)
        means = np.clip(_rounded(square[:-1, -1] * self.square / rows), -1.0, 1.0)
        squares = np.clip(_rounded(np.diagonal(square)[:-1] * self.square / rows), 0.0, 1.0)
        places = [slice(first - i, first - i + k - 1) for i, (first, k) in enumerate(self.box.levels)]
        others = np.clip([1.0 - fsum(means[kept].tolist()) for kept in places], 0.0, 1.0)
        every, every_square = np.append(means, others), np.append(squares, others)
        deviations = np.sqrt(np.maximum(every_square - every**2, _LEAST_VARIANCE))
        farthest = 1 + np.abs(every)
        scales = np.minimum(1.0, np.maximum(deviations, farthest / 3))
        for i, kept in enumerate(places):
            own = np.append(np.arange(len(means))[kept], len(means) + i)
            away = (np.eye(len(own)) - every[own]) / scales[own]
            longest = sqrt(max(fsum(squared) for squared in (away**2).tolist()))
            scales[own] = np.minimum(1.0, scales[own] * max(1.0, longest / _LONGEST_LEVEL))
        usual = fsum(((deviations / scales) ** 2).tolist())
        largest = fsum(((farthest / scales) ** 2).tolist())
        p = len(means)
        return Centring(
            self.box,
            means,
            scales[:p],
            1 + min(usual + max(_LEAST_SLACK, 3 * sqrt(2 * usual)), largest),
            tuple(map(_Levels, places, others.tolist(), scales[p:].tolist())),
        )

    def count(self, square: Array) -> float:
        """Return the number of rows with this centring that a noisy X'X says."""
        return float(square[-1, -1]) * self.square

    def apply(self, rows: IntegerRows) -> IntegerRows:
        """Return these rows, centred; those that were 0 stay 0, and those that would be longer than 1 become it."""
        X = rows.x.astype(np.float64) / float(1 << ROW_BITS)
        inside = rows.squares > 0
        Z = np.empty_like(X)
        Z[:, :-1] = self._coordinates(X[:, :-1] / self.box.reach)
        Z[:, -1] = 1.0
        Z /= sqrt(self.square)
        inside &= np.einsum("ij,ij->i", Z, Z) <= 1.0
        return IntegerRows.of(Z * inside[:, np.newaxis], rows.y, rows.classes)

    def _coordinates(self, U: Array) -> Array:
        Z: Array = (U - self.means) / self.scales
        for of_column in self.levels:
            of_column.turn(U, Z, self.scales)
        return Z

    @property
    def matrix(self) -> Array:
        """Matrix T: (p, p), with T b the weights of the rows that b are of the centred ones; these are T'x."""
        p, root = len(self.means) + 1, sqrt(self.square)
        at_zero = self._coordinates(np.zeros((1, p - 1)))[0]
        T = np.zeros((p, p))
        T[:-1, :-1] = (self._coordinates(np.eye(p - 1)) - at_zero) / (self.box.reach * root)
        T[-1, :-1] = at_zero / (self.box.constant * root)
        T[-1, -1] = 1 / (self.box.constant * root)
        return T

    def centred(self, weights: Array) -> Array:
        """Return the weights of the centred rows, (p,), for those of the others."""
        of_centred: Array = np.asarray(np.linalg.solve(self.matrix, weights), dtype=np.float64)
        return of_centred


def _rounded(numbers: Array) -> Array:
    rounded: Array = np.rint(np.clip(numbers, -_STEPS, _STEPS) * _STEPS) / _STEPS
    return rounded
