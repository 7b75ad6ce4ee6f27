"""Damped Newton steps towards a zero of a gradient."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

from smc_dp.core.arrays import Array

_SHORTEST_STEP = 2.0**-40

Evaluate = Callable[[Array], tuple[Array, float]]
"""The gradient at a point, (k,), and a bound on its norm."""


def newton(w: Array, evaluate: Evaluate, hessian: Callable[[Array], Array], target: float) -> tuple[Array, float]:
    """Take Newton steps, each halved until the gradient shrinks; end at the target or where none shrinks it.

    w: (k,). hessian: (k, k), positive definite. Returns the point, the bound on its gradient's norm.
    """
    gradient, size = evaluate(w)
    while size > target:
        direction = scipy.linalg.cho_solve(scipy.linalg.cho_factor(hessian(w)), gradient)
        t = 1.0
        while True:
            candidate = w - t * direction
            new_gradient, new_size = evaluate(candidate)
            if new_size <= (1 - t / 4) * size:
                break
            t /= 2
            if t < _SHORTEST_STEP:
                return w, size
        w, gradient, size = candidate, new_gradient, new_size
    return w, size


def in_floats(gradient: Callable[[Array], Array]) -> Evaluate:
    """Evaluate the gradient and its norm in floats."""

    def evaluate(w: Array) -> tuple[Array, float]:
        g = gradient(w)
        return g, float(np.linalg.norm(g))

    return evaluate
