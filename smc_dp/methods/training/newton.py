"""Newton's method for a convex objective of which only gradients are known.

A full step is taken when it halves the shortest gradient seen; otherwise the objective is searched along the step. The
former happens finitely often and the latter lowers the objective by a fixed multiple of the squared gradient, so the
gradient gets as short as is wanted, also where the slope has kinks (Huber).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy

from smc_dp.core.arrays import Array

FLOAT_PATIENCE = 20
"""Steps without a shorter gradient after which floats are left for balls."""
BALL_PATIENCE = 10_000
"""Such steps in balls: the objective falls at each, and the gradient has to follow."""
_HALVINGS = 100

Evaluate = Callable[[Array], tuple[Array, float]]
"""The gradient at a point, (k,), and a bound on its norm."""


def descend(
    u: Array, evaluate: Evaluate, hessian: Callable[[Array], Array], target: float, patience: int
) -> tuple[Array, float]:
    """Take Newton steps from u until the gradient is short, or for long gets no shorter: the best point, its bound.

    A step that lowers the objective may lengthen the gradient, many times over where the regulariser is weak.
    """
    gradient, size = evaluate(u)
    best, shortest, since = u, size, 0
    while shortest > target and since <= patience:
        direction = -scipy.linalg.cho_solve(scipy.linalg.cho_factor(hessian(u)), gradient)
        candidate = u + direction
        new_gradient, size = evaluate(candidate)
        if size > shortest / 2:
            candidate, new_gradient, size = _along(u, direction, float(gradient @ direction), evaluate)
        u, gradient, since = candidate, new_gradient, since + 1
        if size < shortest:
            best, shortest, since = u, size, 0
    return best, shortest


def _along(u: Array, direction: Array, steepness: float, evaluate: Evaluate) -> tuple[Array, Array, float]:
    """Search the direction for a step where the objective falls at most half as steeply, and does not yet rise.

    Along a line the derivative grows, from the steepness < 0 on, so bisection finds such a step.
    """
    low, high, t = 0.0, math.inf, 1.0
    for _ in range(_HALVINGS):
        candidate = u + t * direction
        gradient, size = evaluate(candidate)
        slope = float(gradient @ direction)
        if slope > 0:
            high = t
        elif slope < steepness / 2:
            low = t
        else:
            break
        t = 2 * t if high == math.inf else (low + high) / 2
        if t in (low, high):
            break
    return candidate, gradient, size


def in_floats(gradient: Callable[[Array], Array]) -> Evaluate:
    """Evaluate the gradient and its norm in floats."""

    def evaluate(w: Array) -> tuple[Array, float]:
        g = gradient(w)
        return g, float(np.linalg.norm(g))

    return evaluate
