"""Logistic and softmax regression with soft labels, which the labels enter only through one statistic.

J(V) = (1/N) sum of logsumexp(B V x_i) - <V, T> + (mu/2) |V|^2, where T = (1/N) sum of (B' alpha_i) x_i' and alpha_i
is a probability vector over the classes (Hamm, Cao and Belkin 2016, equations 14, 19 and 55, in the coordinates of
`smc_dp.methods.training.classes`). For two classes it is binary logistic regression with labels weighted by alpha.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import scipy

from smc_dp.core.arrays import Array
from smc_dp.methods.training.balls import softmax_gradient_in_balls
from smc_dp.methods.training.classes import code, coordinate_count
from smc_dp.methods.training.newton import BALL_PATIENCE, FLOAT_PATIENCE, descend, in_floats
from smc_dp.methods.training.solver import PUBLIC_TAU, row_blocks, summation_depth

_SMALLEST_MU = 2.0**-29  # below it the float nearest to the minimiser may have a longer gradient than is allowed


def statistic(X: Array, alpha: Array) -> Array:
    """Return T: (p, d) from rows X: (N, d) and probabilities of the classes alpha: (N, C)."""
    T = np.zeros((code(alpha.shape[1]).shape[1], X.shape[1]))
    for x, wanted in row_blocks(X, alpha):
        T += (wanted @ code(alpha.shape[1])).T @ x
    return T / len(X)


def one_hot(y: np.ndarray[tuple[int], np.dtype[np.int64]], classes: int) -> Array:
    """Return class numbers (n,) as certain probabilities: (n, C)."""
    return np.eye(classes)[y]


def check_mu(mu: float) -> None:
    """Raise ValueError unless mu is finite and at least 2^-29, for which the nearest float minimiser is certified."""
    if not _SMALLEST_MU <= mu < math.inf:
        raise ValueError(f"mu is finite and at least 2**-29, got {mu}")


@dataclass(frozen=True, eq=False)
class SoftLabelObjective:
    """Objective J of softmax regression with soft labels, which enter by the statistic T.

    X: (N, d), rows of the unit ball; T: (p, d); B: (C, p), the code of each class; mu is finite, at least 2^-29, else
    ValueError.
    """

    X: Array
    T: Array
    classes: int
    mu: float
    B: Array = field(init=False)

    def __post_init__(self) -> None:
        check_mu(self.mu)
        object.__setattr__(self, "B", code(self.classes))

    def value(self, V: Array) -> float:
        """Return J(V), V: (p, d)."""
        return float(
            np.mean(scipy.special.logsumexp(self.X @ V.T @ self.B.T, axis=1))
            - np.vdot(V, self.T)
            + self.mu / 2 * np.vdot(V, V)
        )

    def gradient(self, v: Array) -> Array:
        """Return the gradient at v = V flattened: (p d,)."""
        V = v.reshape(self.T.shape)
        total = np.zeros_like(self.T)
        for (x,) in row_blocks(self.X):
            total += (scipy.special.softmax(x @ V.T @ self.B.T, axis=1) @ self.B).T @ x
        flat: Array = (total / len(self.X) - self.T + self.mu * V).ravel()
        return flat

    def hessian(self, v: Array) -> Array:
        """Return the Hessian at v: (p d, p d), at least mu times the identity."""
        p, d = self.T.shape
        V = v.reshape(p, d)
        parts = np.zeros((p, p, d, d))
        for (x,) in row_blocks(self.X):
            q = scipy.special.softmax(x @ V.T @ self.B.T, axis=1)
            mean = q @ self.B
            for a in range(p):
                for b in range(a, p):
                    curvature = q @ (self.B[:, a] * self.B[:, b]) - mean[:, a] * mean[:, b]
                    parts[a, b] += (curvature[:, np.newaxis] * x).T @ x
        for a in range(p):
            for b in range(a):
                parts[a, b] = parts[b, a]
        H: Array = parts.transpose(0, 2, 1, 3).reshape(p * d, p * d) / len(self.X) + self.mu * np.eye(p * d)
        return H


def minimise_soft(objective: SoftLabelObjective, *, tolerance: float = 1e-11) -> Array:
    """Minimise over V: (p, d), up to the tolerance in the norm of the gradient or where floats gain nothing more."""
    v, _ = descend(
        np.zeros(objective.T.size), in_floats(objective.gradient), objective.hessian, tolerance, FLOAT_PATIENCE
    )
    return v.reshape(objective.T.shape)


def certified(X: Array, alpha: Array, mu: float) -> Array:
    """Minimise over V: (p, d) for soft labels alpha: (N, C); the gradient's norm is surely at most PUBLIC_TAU.

    X: (N, d), rows of the unit ball. It never refuses: what floats cannot certify is continued in ball arithmetic.
    """
    objective = SoftLabelObjective(X, statistic(X, alpha), alpha.shape[1], mu)
    V = minimise_soft(objective)
    measured = float(np.linalg.norm(objective.gradient(V.ravel())))
    charged = measured + rounding_charge(len(X), alpha.shape[1], X.shape[1], float(np.linalg.norm(V)))
    if charged <= PUBLIC_TAU:
        return V

    def in_balls(v: Array) -> tuple[Array, float]:
        return softmax_gradient_in_balls(mu, v.reshape(V.shape), X, alpha, objective.B)

    v, charged = descend(V.ravel(), in_balls, objective.hessian, PUBLIC_TAU, BALL_PATIENCE)
    if charged > PUBLIC_TAU:
        raise ArithmeticError("Newton's method stalled above the public tolerance; strong convexity excludes this")
    return v.reshape(V.shape)


def rounding_charge(rows: int, classes: int, d: int, norm: float) -> float:
    """Bound what float evaluation can hide of the gradient's norm at a V of this norm.

    Summing gradients of norm at most sqrt 2 errs by (additions per term) 2^-53 after averaging, C scores are products
    with d terms and then p, and probabilities move by at most the error of the scores; and T was summed in floats.
    Twice all that and 20 units more cover the exponentials and the regulariser. Not less for a larger norm.
    """
    p = coordinate_count(classes)
    return (2 * summation_depth(rows) + 2 * p * d + 2 * (p + d) * norm + 4 * classes + 20) * 2.0**-51
