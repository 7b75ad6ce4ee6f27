"""Regularised logistic objective that every party minimises on its own records."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy

from smc_dp.core.arrays import Array

SMALLEST_LAM = 2.0**-30
_BLOCK = 1024  # records summed at a time: keeps copies small and rounding errors from growing with n


@dataclass(frozen=True)
class RegularisedLogistic:
    """Objective J(w) = (1/n) sum of log(1 + e^(-y w.x)) + lam w.w (Pathak, Rane and Raj 2010, equation 2).

    Everywhere w: (d,), X: (n, d), y: (n,) in {-1, +1}. lam is finite and at least 2^-30: below that the
    float nearest to the minimiser may have too large a gradient for the solver's public tolerance.
    ValueError otherwise.
    """

    lam: float

    def __post_init__(self) -> None:
        if not SMALLEST_LAM <= self.lam < math.inf or not math.isfinite(2 * self.lam):
            raise ValueError(f"lam is finite and at least 2**-30, got {self.lam}")

    @property
    def mu(self) -> float:
        """The modulus of strong convexity, 2 lam."""
        return 2 * self.lam

    def value(self, w: Array, X: Array, y: Array) -> float:
        """Return J(w)."""
        return float(np.mean(np.logaddexp(0.0, -y * (X @ w))) + self.lam * (w @ w))

    def gradient(self, w: Array, X: Array, y: Array) -> Array:
        """Return the gradient of J at w: (d,)."""
        total = np.zeros_like(w)
        for rows, labels in row_blocks(X, y):
            total += (-labels * scipy.special.expit(-labels * (rows @ w))) @ rows
        return total / len(y) + self.mu * w

    def hessian(self, w: Array, X: Array, y: Array) -> Array:
        """Return the Hessian of J at w: (d, d), symmetric, at least mu times the identity."""
        total = np.zeros((len(w), len(w)))
        for rows, _ in row_blocks(X, y):
            p = scipy.special.expit(rows @ w)
            root = np.sqrt(p * (1 - p))[:, np.newaxis] * rows
            total += root.T @ root
        return total / len(y) + self.mu * np.eye(len(w))


def row_blocks(*arrays: Array) -> Iterator[tuple[Array, ...]]:
    """Yield the records, rows of each array, at most 1024 at a time: the sums that `summation_depth` counts."""
    for start in range(0, len(arrays[0]), _BLOCK):
        yield tuple(array[start : start + _BLOCK] for array in arrays)


def summation_depth(n: int) -> int:
    """Bound the number of additions that each record's gradient goes through in `gradient`; n for small n."""
    return min(n, _BLOCK) + (n - 1) // _BLOCK
