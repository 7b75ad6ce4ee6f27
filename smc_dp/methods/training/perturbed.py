"""Regularised minimisers of Huber and logistic losses with any linear term, surely to a public tolerance.

F(f) = (1/n) sum of l(y f.x) + (modulus/2) |f|^2 + linear.f. The linear term of objective perturbation has no bound, so
floats alone cannot promise a gradient of at most tau. Therefore f = c + u, where c = -linear/modulus is a vector of
exact rationals and |u| <= 1/modulus at the minimiser, whatever the linear term is: the gradient at f is
(1/n) sum of l'(y f.x) y x + modulus u, in which the linear term has cancelled. What floats then leave uncertain are the
margins y f.x, and they matter only to rows on whose margin the slope depends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy
from flint import arb, arb_mat, ctx, fmpq

from smc_dp.core.arrays import Array
from smc_dp.methods.training.balls import middle_and_bound
from smc_dp.methods.training.newton import BALL_PATIENCE, FLOAT_PATIENCE, descend
from smc_dp.methods.training.solver import PUBLIC_TAU, row_blocks, summation_depth

_PRECISION = 128
_ROUNDS = 50
_TRIFLE = 2.0**-40  # of the trace: 2^13 times its rounding error


@dataclass(frozen=True)
class Huber:
    """Huber loss (Chapelle 2007): 0 beyond 1 + h, 1 - z below 1 - h, else (1 + h - z)^2/(4 h); h in [2^-10, 2^10]."""

    h: float = 0.5

    def __post_init__(self) -> None:
        if not 2.0**-10 <= self.h <= 2.0**10:
            raise ValueError(f"h is from 2**-10 to 2**10, got {self.h}")

    @property
    def largest_curvature(self) -> Fraction:
        """1/(2h)."""
        return 1 / (2 * Fraction(self.h))

    def value(self, z: Array) -> Array:
        """Return the loss at these margins."""
        bent = np.clip(1 + self.h - z, 0.0, 2 * self.h)
        return np.asarray(bent**2 / (4 * self.h) + np.maximum(1 - self.h - z, 0.0))

    def slope(self, z: Array) -> Array:
        """Return the derivative of the loss, in [-1, 0]."""
        return np.asarray(np.clip((z - 1 - self.h) / (2 * self.h), -1.0, 0.0))

    def curvature_near(self, z: Array, radius: float) -> Array:
        """Return the largest second derivative within this radius of each margin."""
        return np.where(np.abs(z - 1) <= self.h + radius, 1 / (2 * self.h), 0.0)

    def slope_in_balls(self, z: arb) -> arb:
        """Return the derivative, certainly enclosed."""
        return ((z - 1 - self.h) / (2 * arb(self.h))).min(arb(0)).max(arb(-1))


@dataclass(frozen=True)
class Logistic:
    """Logistic loss log(1 + e^-z)."""

    largest_curvature: Fraction = Fraction(1, 4)

    def value(self, z: Array) -> Array:
        """Return the loss at these margins."""
        return np.logaddexp(0.0, -z)

    def slope(self, z: Array) -> Array:
        """Return the derivative of the loss, in [-1, 0]."""
        return np.asarray(-scipy.special.expit(-z))

    def curvature_near(self, z: Array, radius: float) -> Array:
        """Bound the second derivative within this radius of each margin: e^-|z| where that is below 1/4."""
        return np.minimum(0.25, np.exp(-np.maximum(np.abs(z) - radius, 0.0)))

    def slope_in_balls(self, z: arb) -> arb:
        """Return the derivative, certainly enclosed: margins beyond 1024 count as 1024, which is e^-1024 off."""
        return arb(0, 2.0**-1000) - 1 / (1 + z.min(arb(1024)).max(arb(-1024)).exp())


Loss = Huber | Logistic


def minimise_uncertified(loss: Loss, X: Array, y: Array, modulus: float) -> Array:
    """Minimise without a linear term, (d,), to a gradient norm of 1e-11 or where floats gain nothing more.

    Not certified, for releases without noise. X: (n, d), finite; y: (n,) in {-1, +1}; modulus positive.
    """
    problem = _Problem(loss, y[:, np.newaxis] * X, modulus, np.zeros(len(y)))
    u, _ = descend(np.zeros(X.shape[1]), problem.evaluate, problem.hessian, 1e-11, FLOAT_PATIENCE)
    return u


def minimise_perturbed(
    loss: Loss, X: Array, y: Array, modulus: float, linear: Sequence[Fraction], tau: float = PUBLIC_TAU
) -> tuple[Fraction, ...]:
    """Return d exact numbers at which the gradient of F has a norm of at most tau, surely; it never refuses.

    X: (n, d), rows of the unit ball; y: (n,) in {-1, +1}; modulus from 2^-29 to 2^30; linear: d numbers, of any
    length.
    """
    centre = tuple(-Fraction(v) / Fraction(modulus) for v in linear)
    rows = y[:, np.newaxis] * X
    floats = np.array([float(c) for c in centre])
    problem = _Problem(loss, rows, modulus, rows @ floats)
    # An eighth of tau: the rest is left for the rounding charge.
    u, size = descend(np.zeros(len(floats)), problem.evaluate, problem.hessian, tau / 8, FLOAT_PATIENCE)
    point = _moved(centre, u)
    if size + _rounding_charge(problem, float(np.linalg.norm(floats)), u) <= tau:
        return point
    for _ in range(_ROUNDS):
        point, bound = _continued(problem, centre, point, tau)
        if bound <= tau:
            return point
    raise ArithmeticError("the gradient stalled above the public tolerance; strong convexity excludes this")


@dataclass(frozen=True, eq=False)
class _Problem:
    """Objective as a function of u, f = c + u; rows: (n, d), y x; at_centre: (n,), the margins y c.x."""

    loss: Loss
    rows: Array
    modulus: float
    at_centre: Array

    def margins(self, u: Array) -> Array:
        """Return y f.x of each row: (n,)."""
        return np.asarray(self.at_centre + self.rows @ u)

    def evaluate(self, u: Array) -> tuple[Array, float]:
        """Return the gradient and its norm, in floats."""
        total = np.zeros(len(u))
        for rows, slopes in row_blocks(self.rows, self.loss.slope(self.margins(u))):
            total += slopes @ rows
        gradient: Array = total / len(self.rows) + self.modulus * u
        return gradient, float(np.linalg.norm(gradient))

    def hessian(self, u: Array) -> Array:
        """Return the Hessian (d, d), and a trifle more, so that rounding leaves it definite."""
        curvatures = self.loss.curvature_near(self.margins(u), 0.0)
        bent = np.flatnonzero(curvatures)
        root = np.sqrt(curvatures[bent])[:, np.newaxis] * self.rows[bent]
        H: Array = root.T @ root / len(self.rows)
        return H + (self.modulus + _TRIFLE * float(np.trace(H))) * np.eye(len(u))


def _rounding_charge(problem: _Problem, centre_length: float, u: Array) -> float:
    """Bound what float evaluation can hide of the gradient's norm, for rows of norm at most 1.

    A margin errs by at most d 2^-53 of the lengths of the centre and of u, and by a few units more when they and the
    slope are put together: `radius` is twice that. It moves the slope by the radius times the curvature nearby. The
    mean and the regulariser err as in `smc_dp.methods.training.softmax`.
    """
    n, d = problem.rows.shape
    length = float(np.linalg.norm(u))
    radius = (d + 6) * (centre_length + length + 1) * 2.0**-52
    nearby = float(np.mean(problem.loss.curvature_near(problem.margins(u), radius)))
    moved = radius * nearby * (1 + 2.0**-20)
    return float(moved + (summation_depth(n) + d + 20 + 4 * problem.modulus * length) * 2.0**-52)


def _moved(centre: tuple[Fraction, ...], u: Array) -> tuple[Fraction, ...]:
    return tuple(c + Fraction(v) for c, v in zip(centre, u.tolist(), strict=True))


def _continued(
    problem: _Problem, origin: tuple[Fraction, ...], start: tuple[Fraction, ...], tau: float
) -> tuple[tuple[Fraction, ...], float]:
    """Step from an exact start with gradients in ball arithmetic: the point reached, a sure bound on its gradient.

    origin: -linear/modulus, where the gradient is that of the loss alone.
    """
    bits = _PRECISION + max(abs(f).__ceil__().bit_length() for f in (*origin, *start))

    def evaluate(u: Array) -> tuple[Array, float]:
        point = _moved(start, u)
        from_origin = [p - o for p, o in zip(point, origin, strict=True)]
        with ctx.workprec(bits):
            return _gradient_in_balls(problem, [_exact(p) for p in point], [_exact(v) for v in from_origin])

    with ctx.workprec(bits):
        margins = _margins_in_balls(problem.rows, [_exact(f) for f in start])
    near = _Problem(problem.loss, problem.rows, problem.modulus, np.array([float(m.mid()) for m in margins]))
    u, bound = descend(np.zeros(len(start)), evaluate, near.hessian, tau, BALL_PATIENCE)
    return _moved(start, u), bound


def _exact(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def _margins_in_balls(rows: Array, point: list[arb]) -> list[arb]:
    column = arb_mat([[p] for p in point])
    return [m for (part,) in row_blocks(rows) for m in (arb_mat(part.tolist()) * column).entries()]


def _gradient_in_balls(problem: _Problem, point: list[arb], from_origin: list[arb]) -> tuple[Array, float]:
    """Return the gradient at a point, and an upper bound on its norm."""
    total, column = arb_mat(1, len(point)), arb_mat([[p] for p in point])
    for (part,) in row_blocks(problem.rows):
        rows = arb_mat(part.tolist())
        total += arb_mat([[problem.loss.slope_in_balls(m) for m in (rows * column).entries()]]) * rows
    gradient = [g / len(problem.rows) + problem.modulus * v for g, v in zip(total.entries(), from_origin, strict=True)]
    return middle_and_bound(gradient)
