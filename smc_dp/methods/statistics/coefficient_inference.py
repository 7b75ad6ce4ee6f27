"""Coefficients with covariances, from one noisy sum at weights that were released before.

At weights b there are the gradient g, the Hessian H and the meat M, the sum of the squares of the gradients. One
step of Newton, d = H^-1 g, goes to the estimate b + d. Its covariance has two parts:
* of sampling, the sandwich H^-1 M H^-1 n/(n - p) (HC1), which holds where the model is wrong, too;
* of privacy, H^-1 [s_g^2 I + s_H^2/2 (|d|^2 I + d d')] H^-1, with the noise of the gradient, and of the Hessian in d.
Noise is what *all* parties added. A meat with noise is made positive semidefinite, a Hessian is raised from below.
Everything here is post-processing of released numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from smc_dp.core.arrays import Array

FLOOR = 0.5
"""Least eigenvalue of the Hessian that is used, in units of the largest of its noise, about s_H sqrt(2 p)."""
LONGEST_STEP = 0.05
"""Mean square that the last step may move the scores by; beyond, intervals are known to cover too little."""

_TINY = 1e-12


@dataclass(frozen=True)
class InferenceNoise:
    """Deviation of the noise of all parties in a coordinate of the gradient, and on the diagonal of both matrices.

    Beside the diagonal it is the latter over sqrt 2.
    """

    gradient: float
    hessian: float
    meat: float


@dataclass(frozen=True, eq=False)
class CoefficientInference:
    """Estimate: (p,), the two parts of its covariance: (p, p), and why there are no intervals, as codes.

    `step`: mean square by which the last step moved the scores. `rows`, `left_out`: how many rows are in the sum, and
    are not, as released. `inverse`: (p, p), of the sum of x x', and `residual`: deviation of the residuals, of least
    squares alone; `long_tail`: whether more residuals were clipped than the intercept allows.
    """

    estimate: Array
    sampling: Array
    privacy: Array
    step: float
    obstacles: tuple[str, ...] = ()
    rows: float = 0.0
    left_out: float = 0.0
    inverse: Array | None = None
    residual: float | None = None
    long_tail: bool = False

    @property
    def covariance(self) -> Array:
        """Covariance of the estimate."""
        return self.sampling + self.privacy

    def transformed(self, T: Array) -> CoefficientInference:
        """Return the inference on T times the coefficients, T: (q, p)."""
        return replace(
            self,
            estimate=T @ self.estimate,
            sampling=T @ self.sampling @ T.T,
            privacy=T @ self.privacy @ T.T,
            inverse=None if self.inverse is None else T @ self.inverse @ T.T,
        )


def infer_coefficients(
    at: Array,
    gradient: Array,
    hessian: Array,
    meat: Array,
    square: Array,
    rows: float,
    noise: InferenceNoise,
    longest_step: float = LONGEST_STEP,
) -> CoefficientInference:
    """Infer coefficients from released sums: `at` and gradient (p,), hessian, meat and square = X'X (p, p), n rows."""
    p = len(at)
    inverse = raised_inverse(hessian, noise.hessian)
    step = inverse @ gradient
    identity = np.eye(p)
    inside = noise.gradient**2 * identity + noise.hessian**2 / 2 * ((step @ step) * identity + np.outer(step, step))
    moved = float(step @ _positive(square) @ step) / max(rows, 1.0)
    is_collinear = bool(np.linalg.eigvalsh(hessian)[0] <= loudest(noise.hessian, p))
    scale = rows / (rows - p) if rows > p else 1.0
    return CoefficientInference(
        at + step,
        inverse @ _positive(meat) @ inverse * scale,
        inverse @ inside @ inverse,
        moved,
        find_obstacles(is_collinear, moved, rows, p, longest_step),
    )


def find_obstacles(
    is_collinear: bool, step: float, rows: float, p: int, longest_step: float = LONGEST_STEP
) -> tuple[str, ...]:
    """Return the codes of what forbids intervals of p coefficients, after a last step of this mean square.

    `collinear` where an eigenvalue of the Hessian is below its noise, `far_start` where the step is long, `few_rows`
    with no more rows than coefficients.
    """
    obstacles = {"collinear": is_collinear, "far_start": step > longest_step, "few_rows": rows <= p}
    return tuple(code for code, holds in obstacles.items() if holds)


def loudest(deviation: float, p: int) -> float:
    """Return about the largest eigenvalue of p x p numbers with this deviation on the diagonal, over sqrt 2 beside."""
    return deviation * sqrt(2 * p)


def raised_inverse(hessian: Array, deviation: float) -> Array:
    """Return the inverse of a noisy Hessian, (p, p), with eigenvalues raised to `FLOOR` times the loudest noise."""
    values, vectors = np.linalg.eigh(hessian)
    raised = np.maximum(values, max(FLOOR * loudest(deviation, len(hessian)), _TINY))
    inverse: Array = (vectors / raised) @ vectors.T
    return inverse


def _positive(matrix: Array) -> Array:
    """Return the nearest positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    nearest: Array = (vectors * np.maximum(values, 0)) @ vectors.T
    return nearest
