"""Newton's method with a certificate: the returned float weights provably meet the public tolerance.

The noise of a release is made for every solution whose gradient is at most `PUBLIC_TAU` long, a constant.
Stopping without one would be an output that depends on private data, so the solver never refuses: what
floats cannot certify is continued in ball arithmetic, and strong convexity guarantees that a solution
exists.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from smc_dp.core.arrays import Array, first_outside
from smc_dp.methods.training.balls import gradient_in_balls
from smc_dp.methods.training.newton import in_floats, newton
from smc_dp.methods.training.objective import RegularisedLogistic, summation_depth

PUBLIC_TAU = 2.0**-33
"""Upper bound on the gradient norm of every solution: what noise is calibrated to, whatever was reached."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The minimiser found: weights (d,), a certified bound on its gradient norm.

    charged_tolerance never exceeds PUBLIC_TAU. It depends on private data and is for tests and logs, never
    for noise.
    """

    weights: Array
    charged_tolerance: float


def minimise(
    objective: RegularisedLogistic, X: npt.ArrayLike, y: npt.ArrayLike, *, tolerance: float = 1e-11
) -> Solution:
    """Minimise the objective over w, by damped Newton steps from zero.

    X: (n, d), finite, every row of Euclidean norm at most 1, exactly. y: (n,) in {-1, +1}. tolerance: the
    measured gradient norm at which float steps end, or where they gain nothing any more. ValueError:
    malformed input.
    """
    if not tolerance > 0:
        raise ValueError(f"the tolerance is positive, got {tolerance}")
    X, y = _checked(X, y)

    def gradient(w: Array) -> Array:
        return objective.gradient(w, X, y)

    def in_balls(w: Array) -> tuple[Array, float]:
        return gradient_in_balls(objective.lam, w, X, y)

    def hessian(w: Array) -> Array:
        return objective.hessian(w, X, y)

    w, measured = newton(np.zeros(X.shape[1]), in_floats(gradient), hessian, tolerance)
    charged = measured + _rounding_charge(len(y), w)
    if charged > PUBLIC_TAU:
        w, charged = newton(w, in_balls, hessian, PUBLIC_TAU)
        if charged > PUBLIC_TAU:
            raise ArithmeticError("Newton's method stalled above the public tolerance; strong convexity excludes this")
    return Solution(w, charged)


def _rounding_charge(n: int, w: Array) -> float:
    """Bound what float evaluation can hide of the gradient norm, for rows of norm at most 1.

    Summing n gradients of norm at most 1 errs by (additions per term) 2^-53 after averaging, margins err by
    d 2^-53 |w| times the slope 1/4; twice all that and 20 units more cover the sigmoid, the regulariser and
    lam.
    """
    d = len(w)
    return (summation_depth(n) + 2 * d + 2 * d * float(np.linalg.norm(w)) + 20) * 2.0**-52


def _checked(X: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Array, Array]:
    rows, labels = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(f"X has n >= 1 rows and d >= 1 columns, got shape {rows.shape}")
    if labels.shape != rows.shape[:1]:
        raise ValueError(f"y has one label per row of X, shape {rows.shape[:1]}, got {labels.shape}")
    if not np.isin(labels, (-1.0, 1.0)).all():
        raise ValueError("the labels y are -1 or +1, got other values")
    if not np.isfinite(rows).all():
        raise ValueError("the entries of X are finite, got NaN or infinity")
    i = first_outside(rows)
    if i is not None:
        raise ValueError(
            f"every row of X has Euclidean norm at most 1, row {i} has {math.hypot(*rows[i])!r}: "
            "scale rows by a public bound first"
        )
    return rows, labels
