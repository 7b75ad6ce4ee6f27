"""Logistic regression without a regulariser and with a linear term, the objective of OFPA as published.

l(theta) = sum of -y_i z_i + log(1 + e^(z_i)), z_i = x~_i.theta, plus v.theta, for rows x~_i = (x_i, 1), |x_i| <= 1, and
labels y in {0, 1}; rows: (n, D), y: (n,), v: (D,). It is convex, and may have no minimiser.
"""

from __future__ import annotations

import numpy as np
import scipy

from smc_dp.core.arrays import Array

_STEPS = 100
_LONGEST = 10.0
_HALVINGS = 40
_DAMPING = 1e-12  # of the Hessian, for each row
_NEGLIGIBLE = 1e-6  # a Newton step, in parts of 1 + |theta|


def tilted_gradient(rows: Array, y: Array, v: Array, theta: Array) -> Array:
    """Return the gradient at theta: (D,)."""
    total: Array = rows.T @ (scipy.special.expit(rows @ theta) - y) + v
    return total


def minimise_tilted(rows: Array, y: Array, v: Array, start: Array) -> tuple[Array, bool]:
    """Return a point, and whether it is a minimiser.

    Newton's method until floats gain nothing, at most 100 steps of length at most 10, so that the answer is finite
    where there is no minimiser. It counts as one if the next step would be below a millionth of 1 + |theta|.
    """
    theta, slope = start, tilted_gradient(rows, y, v, start)
    for _ in range(_STEPS):
        step = _newton_step(rows, theta, slope)
        candidate = _shorter(rows, y, v, theta, slope, step)
        if candidate is None:
            return theta, bool(np.linalg.norm(step) <= _NEGLIGIBLE * (1 + np.linalg.norm(theta)))
        theta, slope = candidate
    return theta, False


def descend_tilted(rows: Array, y: Array, v: Array, start: Array, epochs: int) -> Array:
    """Descend over all rows with step 1/L, L = n/2: curvature 1/4, |x~|^2 <= 2."""
    theta = start
    for _ in range(epochs):
        theta = theta - 2 / len(rows) * tilted_gradient(rows, y, v, theta)
    return theta


def _newton_step(rows: Array, theta: Array, slope: Array) -> Array:
    """Return Newton's step, damped where the Hessian is nearly singular, and cut to the allowed length."""
    p = scipy.special.expit(rows @ theta)
    H = (rows * (p * (1 - p))[:, np.newaxis]).T @ rows + _DAMPING * len(rows) * np.eye(len(theta))
    step: Array = scipy.linalg.solve(H, slope, assume_a="pos")
    return step * min(1.0, _LONGEST / max(float(np.linalg.norm(step)), _LONGEST))


def _shorter(rows: Array, y: Array, v: Array, theta: Array, slope: Array, step: Array) -> tuple[Array, Array] | None:
    """Halve the step until the gradient is shorter: the point and its gradient; None if none is."""
    for _ in range(_HALVINGS):
        new = tilted_gradient(rows, y, v, theta - step)
        if np.linalg.norm(new) < np.linalg.norm(slope):
            return theta - step, new
        step = step / 2
    return None
