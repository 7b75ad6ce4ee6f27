"""Minima of b.theta + theta'M theta where noise may have left M without any: b is (D,), M is (D, D) and symmetric."""

from __future__ import annotations

import numpy as np

from smc_dp.core.arrays import Array

_FARTHEST = 1000.0
_ROUNDING = 2.0**-40  # of an eigenvalue, in parts of the largest


def minimise_quadratic(b: Array, M: Array) -> Array | None:
    """Return the shortest minimiser of b.theta + theta'M theta; None if M has a negative eigenvalue."""
    values, _ = np.linalg.eigh(M)
    if values[0] < -_ROUNDING * np.abs(values).max():
        return None
    return minimise_trimmed(b, M, 0.0)


def minimise_trimmed(b: Array, M: Array, ridge: float) -> Array:
    """Minimise after adding `ridge` to the diagonal and dropping eigenvalues that are not positive, with b's part.

    Eigenvalues that may be positive by rounding only are dropped too, so the result is finite: (D,).
    """
    values, vectors = np.linalg.eigh(M + ridge * np.eye(len(M)))
    kept = values > max(_ROUNDING * float(np.abs(values).max()), 0.0)
    theta: Array = -vectors[:, kept] @ (vectors[:, kept].T @ b / (2 * values[kept]))
    return theta


def minimise_projected(b: Array, M: Array, floor: float) -> Array:
    """Minimise with the nearest matrix that has no eigenvalue below the positive floor: (D,)."""
    values, vectors = np.linalg.eigh(M)
    theta: Array = -vectors @ (vectors.T @ b / (2 * np.maximum(values, floor)))
    return theta


def descend_quadratic(b: Array, M: Array, start: Array, epochs: int) -> Array:
    """Descend from `start` with step 1/L, L = 2 |M|_2, in a ball: without a minimum steps would leave any."""
    L = 2 * float(np.linalg.norm(M, 2))
    theta = start
    for _ in range(epochs if L else 0):
        theta = theta - (b + 2 * M @ theta) / L
        theta = theta * min(1.0, _FARTHEST / max(float(np.linalg.norm(theta)), _FARTHEST))
    return theta
