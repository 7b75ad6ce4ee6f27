"""Rows that are centred and scaled by released numbers, so that noise beside them weighs less.

In the public box, [-1, 1] for each feature x, a row stands as (x, 1)/sqrt R, with R - 1 the number of columns. There a
one-hot or skewed feature is short, and far from 0. From a sum of such rows follow its mean m and its deviation s; then
(x - m)/h stands for it, h = min(1, max(s, (1 + |m|)/3)), and R is about as long as rows then are: a row that is longer
is left out, and counted.
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
_STEPS = 2.0**16  # on which released numbers are rounded: digits in which machines may differ are away


@dataclass(frozen=True, eq=False)
class Centring:
    """Means and scales of features in parts of the reach of their box, (p - 1,), and R, the squared length of rows."""

    box: FeatureBox
    means: Array
    scales: Array
    square: float

    @classmethod
    def public(cls, box: FeatureBox, p: int) -> Centring:
        """Return the centring of the public box, of p features with the constant."""
        return cls(box, np.zeros(p - 1), np.ones(p - 1), 1.0 + box.columns)

    def then(self, square: Array) -> Centring:
        """Return the centring that follows from a noisy X'X, (p, p), of rows with this one, the public one."""
        rows = max(self.count(square), 1.0)
        means = np.clip(_rounded(square[:-1, -1] * self.square / rows), -1.0, 1.0)
        squares = np.clip(_rounded(np.diagonal(square)[:-1] * self.square / rows), 0.0, 1.0)
        deviations = np.sqrt(np.maximum(squares - means**2, _LEAST_VARIANCE))
        farthest = 1 + np.abs(means)
        scales = np.minimum(1.0, np.maximum(deviations, farthest / 3))
        usual = fsum(((deviations / scales) ** 2).tolist())
        largest = fsum(((farthest / scales) ** 2).tolist())
        return Centring(self.box, means, scales, 1 + min(usual + max(_LEAST_SLACK, 3 * sqrt(2 * usual)), largest))

    def count(self, square: Array) -> float:
        """Return the number of rows with this centring that a noisy X'X says."""
        return float(square[-1, -1]) * self.square

    def apply(self, rows: IntegerRows) -> IntegerRows:
        """Return these rows, centred; those that were 0 stay 0, and those that would be longer than 1 become it."""
        X = rows.x.astype(np.float64) / float(1 << ROW_BITS)
        inside = rows.squares > 0
        Z = np.empty_like(X)
        Z[:, :-1] = (X[:, :-1] / self.box.reach - self.means) / self.scales
        Z[:, -1] = 1.0
        Z /= sqrt(self.square)
        inside &= np.einsum("ij,ij->i", Z, Z) <= 1.0
        return IntegerRows.of(Z * inside[:, np.newaxis], rows.y, rows.classes)

    @property
    def matrix(self) -> Array:
        """Matrix T: (p, p), with T b the weights of the rows that b are of the centred ones; these are T'x."""
        p = len(self.means) + 1
        slopes = 1 / (self.scales * sqrt(self.square))
        T = np.zeros((p, p))
        T[np.arange(p - 1), np.arange(p - 1)] = slopes / self.box.reach
        T[-1, :-1] = -self.means * slopes / self.box.constant
        T[-1, -1] = 1 / (sqrt(self.square) * self.box.constant)
        return T

    def centred(self, weights: Array) -> Array:
        """Return the weights of the centred rows, (p,), for those of the others."""
        root, slopes = sqrt(self.square), weights[:-1] * self.box.reach
        constant = (self.box.constant * weights[-1] + slopes @ self.means) * root
        return np.append(slopes * self.scales * root, constant)


def _rounded(numbers: Array) -> Array:
    rounded: Array = np.rint(np.clip(numbers, -_STEPS, _STEPS) * _STEPS) / _STEPS
    return rounded
