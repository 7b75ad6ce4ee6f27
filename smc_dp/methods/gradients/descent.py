"""Descent from sums to weights: public post-processing of the sums so far, which gives the query of the next sum.

Nesterov's method from W = 0: W_t+1 = V_t + (the sum of descent directions at V_t) times a fixed matrix, and V_t+1 =
W_t+1 + t/(t+3) (W_t+1 - W_t). The last W is the model: no average, no projection, no line search, no regulariser. The
matrix is the only thing in which `newton` and `gd` differ.

Everything here is post-processing of released sums, and total: whatever integers a sum is, weights come of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from typing_extensions import Protocol

from smc_dp.core.arrays import Array, IntArray
from smc_dp.methods.functionality import Vector
from smc_dp.methods.training import integer_readings as readings
from smc_dp.methods.training.integer_rows import WEIGHT_BITS, IntegerRows, round_query

Scaling: TypeAlias = Callable[[Array], Array]
"""Function that makes a step of a direction, (p, d)."""

MOST_STEP = 10
"""Largest inverse of the curvature that steps assume for three and more classes, in units of that of X'X."""


def softmax_step(classes: int) -> int:
    """Return the inverse of the curvature that steps assume for k classes, at least 3: k X'X^-1 at W = 0, capped.

    The Hessian at W = 0 is (1/k) X'X in each class. At other weights it can be (1/2) X'X, the bound of Boehning (1992)
    for all weights. Steps of k (X'X)^-1 may go beyond the minimum, where two classes share all of the probability.
    Clipped gradients and `MOST_STEP` keep the loss below that at W = 0 there; with hundreds of classes and no cap it
    grows without end.
    """
    return min(classes, MOST_STEP)


@dataclass(frozen=True, eq=False)
class Descent:
    """State of the descent after `number` sums: the weights, and `at`, the point of the next sum: (p, d)."""

    weights: Array
    at: Array
    scaling: Scaling
    number: int = 0

    @property
    def query(self) -> IntArray:
        """Point of the next sum, on the grid of released weights."""
        return round_query(self.at)

    @property
    def released(self) -> Array:
        """The weights on that grid: digits in which machines may differ are rounded away."""
        weights: Array = np.ldexp(round_query(self.weights).astype(np.float64), -WEIGHT_BITS)
        return weights

    def moved(self, direction: Array) -> Descent:
        """Return the descent after one of Nesterov's steps, momentum included."""
        with np.errstate(all="ignore"):  # what is no number is 0 in a query
            weights = self.at + self.scaling(direction)
            ahead = weights + self.number / (self.number + 3) * (weights - self.weights)
        return Descent(weights, ahead, self.scaling, self.number + 1)


class Steps(Protocol):
    """Rule of a method for the steps that follow from the sums: states, whose `released` are weights: (p, d)."""

    def begin(self) -> Any:
        """Return the state before the first sum."""

    def after(self, state: Any, value: Vector) -> Any:
        """Return the state after one more sum."""

    def numbers(self, state: Any, rows: IntegerRows) -> list[int]:
        """Return what these rows enter to the sum that follows."""


@dataclass(frozen=True)
class GradientSteps:
    """Nesterov's steps of `gd`: every direction times one public number, `size`. Sums hold directions only."""

    classes: int
    dimension: int
    size: float
    weighted: bool = False

    def begin(self) -> Descent:
        """Begin at W = 0."""
        origin = _origin(self.classes, self.dimension)
        return Descent(origin, origin, lambda direction: direction * self.size)

    def after(self, descent: Descent, value: Vector) -> Descent:
        """Return the descent after one more sum."""
        return descent.moved(readings.read_gradient(value, self.classes, weighted=self.weighted))

    def numbers(self, descent: Descent, rows: IntegerRows) -> list[int]:
        """Return the sum of the gradients of these rows."""
        return rows.gradient(descent.query)


@dataclass(frozen=True)
class NewtonSteps:
    """Nesterov's steps of `newton`: directions times the inverse of the released curvature, kept from below.

    The first sum releases it. For two classes it is X'X/4, which bounds the Hessian at any weights; for more it is that
    of `softmax_step`, the same for all classes. floor: what its eigenvalues are raised to, public, in units of X'X/4
    or X'X; where the noise hides the curvature, steps are those of plain descent. Weights of at most 1 stand in both.
    """

    classes: int
    dimension: int
    floor: float
    weighted: bool = False

    def begin(self) -> Descent:
        """Begin at W = 0; the first sum sets the scaling."""
        origin = _origin(self.classes, self.dimension)
        return Descent(origin, origin, self._plain)

    def after(self, descent: Descent, value: Vector) -> Descent:
        """Return the descent after one more sum."""
        if descent.number:
            return descent.moved(readings.read_gradient(value, self.classes, weighted=self.weighted))
        d = self.dimension
        numbers = len(descent.at) * d
        first, diagonal, beside = value[:numbers], value[numbers : numbers + d], value[numbers + d :]
        scaling = self._scaling(readings.read_curvature(diagonal, beside, self.classes, weighted=self.weighted))
        direction = readings.read_start_gradient(first, self.classes, weighted=self.weighted)
        return replace(descent, scaling=scaling).moved(direction)

    def numbers(self, descent: Descent, rows: IntegerRows) -> list[int]:
        """Return the sum of the gradients of these rows; in the first sum with their curvatures."""
        if descent.number:
            return rows.gradient(descent.query)
        start = rows.start()
        return [*start.gradient, *start.diagonal, *start.off_diagonal]

    @property
    def _times(self) -> float:
        return 1.0 if self.classes == 2 else float(softmax_step(self.classes))  # of more classes X'X is read

    def _plain(self, direction: Array) -> Array:
        return direction * (self._times / self.floor)

    def _scaling(self, curvature: Array) -> Scaling:
        try:
            values, vectors = np.linalg.eigh(curvature)
        except np.linalg.LinAlgError:  # no curvature that was ever seen: only a sum that somebody made for it
            return self._plain
        inverse = (vectors * (self._times / np.maximum(values, self.floor))) @ vectors.T
        return lambda direction: direction @ inverse


def _origin(classes: int, dimension: int) -> Array:
    return np.zeros((1 if classes == 2 else classes, dimension))
