"""Coefficients with covariances, from one noisy sum at weights that were released before.

At weights b there are the gradient g, the Hessian H and the meat M, the sum of the squares of the gradients. One
step of Newton, d = H^-1 g, goes to the estimate b + d. Its covariance has two parts:
* of sampling, the sandwich H^-1 M H^-1 n/(n - p) (HC1), which holds where the model is wrong, too;
* of privacy, H^-1 [s_g^2 I + s_H^2/2 (|d|^2 I + d d')] H^-1, with the noise of the gradient, and of the Hessian in d.
Noise is what *all* parties added. A meat with noise is made positive semidefinite, a Hessian is raised from below.

Along a direction in which noise hides the Hessian the step is off by an unknown part: an estimate there is mostly
noise, or stays near 0. A coefficient of which these directions make more than `MOST_HIDDEN` of what noise adds is ill
determined, and has no interval; the others do. Everything here is post-processing of released numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from smc_dp.core.arrays import Array, BoolArray

FLOOR = 0.5
"""Least eigenvalue of the Hessian that is used, in units of the largest of its noise, about s_H sqrt(2 p)."""
LEAST_EIGENVALUE = 1.0
"""Least eigenvalue, in the same units, of a direction in which noise does not hide the Hessian.

Noise alone has eigenvalues of about 1. In simulations of noise alone a limit of .5 stated intervals in 2 to 8 of 100
releases, of which a half to six of seven held the coefficients; this limit stated them in less than 1.
"""
SURE_EIGENVALUE = 5.0
"""Least eigenvalue of the expected Hessian, in the same units, from which on intervals are expected.

In simulated releases of `logistic` and `linear` with 5 and 12 columns at least four of five had all intervals there,
and widths were at most 1.15 times those expected. At 2.3 a fifth to a half of the coefficients had none.
"""
MOST_HIDDEN = 0.5
"""Part of a coefficient's variance by noise that may come from directions in which noise hides the Hessian."""
LONGEST_STEP = 0.05
"""Mean square that the last step may move the scores by beyond what noise makes of it, where nothing is raised.

Where steps have not come near, intervals are known to cover too little. Noise of this sum and of the one before moves
scores as well; that alone did no harm.
"""

LARGEST_RESIDUAL = 0.5
"""Deviation of the residuals that tell of a coefficient, in parts of their clip, beyond which it has no interval.

Where residuals of few rows are so long, their clip cuts them: errors are too small, and the last step too short.
"""

_TINY = 1e-12


@dataclass(frozen=True)
class InferenceNoise:
    """Deviation of the noise of all parties in a coordinate of the gradient, and on the diagonal of both matrices.

    Beside the diagonal it is the latter over sqrt 2. `left_out`: that in the number of such rows.
    """

    gradient: float
    hessian: float
    meat: float
    left_out: float = 0.0


@dataclass(frozen=True, eq=False)
class CoefficientInference:
    """Estimate: (p,), the two parts of its covariance: (p, p), and why there are no intervals, as codes.

    `last`: (p,), the last step, and `step` the mean square by which it moved the scores. `spread`: (p, m), whose rows
    are as long as the noise of the gradient makes each estimate err, for unit noise; those columns `hidden`, (m,), are
    of directions in which noise hides the Hessian. `inverse`: (p, p), that of the raised Hessian. `rows`, `left_out`:
    how many rows are in the sum, and are not, as released; `rows_error` and `left_out_error`: deviations of
    the noise in them. Of least squares alone, `residual`: deviation of the residuals, and `clip`: theirs.
    `of_other_parties`: whether the last sum is not of the parties whose rows were counted. `least`: the least
    eigenvalue of the Hessian, in units of the largest of its noise.
    """

    estimate: Array
    sampling: Array
    privacy: Array
    last: Array
    step: float
    spread: Array
    hidden: BoolArray
    inverse: Array
    obstacles: tuple[str, ...] = ()
    rows: float = 0.0
    left_out: float = 0.0
    rows_error: float = 0.0
    left_out_error: float = 0.0
    residual: float | None = None
    clip: float | None = None
    of_other_parties: bool = False
    least: float = 0.0

    @property
    def covariance(self) -> Array:
        """Covariance of the estimate."""
        return self.sampling + self.privacy

    @property
    def ill_determined(self) -> BoolArray:
        """Tell of each coefficient, (p,), whether too much of its error lies where steps are too short."""
        squares = self.spread**2
        ill: BoolArray = squares[:, self.hidden].sum(axis=1) > MOST_HIDDEN * squares.sum(axis=1)
        return ill

    @property
    def clipped(self) -> BoolArray:
        """Tell of each coefficient, (p,), whether the residuals that tell of it are nearly as long as their clip."""
        if self.clip is None:
            return np.zeros(len(self.estimate), dtype=np.bool_)
        told: BoolArray = np.diagonal(self.sampling) > (LARGEST_RESIDUAL * self.clip) ** 2 * np.diagonal(self.inverse)
        return told

    def transformed(self, T: Array) -> CoefficientInference:
        """Return the inference on T times the coefficients, T: (q, p)."""
        return replace(
            self,
            estimate=T @ self.estimate,
            sampling=T @ self.sampling @ T.T,
            privacy=T @ self.privacy @ T.T,
            last=T @ self.last,
            spread=T @ self.spread,
            inverse=T @ self.inverse @ T.T,
        )

    def averaged_with_start(self, noise: Array) -> CoefficientInference:
        """Return the inference on the mean of the estimate and of that before the last step, which has this noise.

        noise: (p, p), its covariance, independent of that of the estimate. Each is weighed by the inverse of its own.
        """
        of_start = self.privacy @ np.linalg.pinv(self.privacy + noise, hermitian=True)
        of_step = np.eye(len(self.last)) - of_start
        return replace(
            self,
            estimate=self.estimate - of_start @ self.last,
            privacy=of_step @ self.privacy @ of_step.T + of_start @ noise @ of_start.T,
        )


def noise_of_gradient(gradient: float, matrix: float, b: Array) -> Array:
    """Return the covariance of a noisy gradient less a noisy matrix times b; `matrix`: deviation on its diagonal."""
    identity = np.eye(len(b))
    found: Array = gradient**2 * identity + matrix**2 / 2 * ((b @ b) * identity + np.outer(b, b))
    return found


def infer_coefficients(
    at: Array,
    gradient: Array,
    hessian: Array,
    meat: Array,
    square: Array,
    rows: float,
    noise: InferenceNoise,
    before: float = 0.0,
    longest_step: float = LONGEST_STEP,
) -> CoefficientInference:
    """Infer coefficients from released sums: `at` and gradient (p,), hessian, meat and square = X'X (p, p), n rows.

    before: the deviation of the noise of the gradient from which `at` comes. longest_step: the mean square by which the
    step may move the scores beyond what both noises make of it, in directions that are not raised.
    """
    p = len(at)
    floor = max(FLOOR * loudest(noise.hessian, p), _TINY)
    values, vectors = np.linalg.eigh(hessian)
    spread = vectors / np.maximum(values, floor)
    inverse = spread @ vectors.T
    step = inverse @ gradient
    whole = _positive(square)
    moved = float(step @ whole @ step) / max(rows, 1.0)
    sure = values >= floor
    own, of_noise = vectors[:, sure] @ (vectors[:, sure].T @ step), spread[:, sure]
    by_noise = (noise.gradient**2 + before**2) * float(np.trace(of_noise.T @ whole @ of_noise))
    beyond = (float(own @ whole @ own) - by_noise) / max(rows, 1.0)
    scale = rows / (rows - p) if rows > p else 1.0
    return CoefficientInference(
        at + step,
        inverse @ _positive(meat) @ inverse * scale,
        inverse @ noise_of_gradient(noise.gradient, noise.hessian, step) @ inverse,
        step,
        moved,
        spread,
        values < LEAST_EIGENVALUE * loudest(noise.hessian, p),
        inverse,
        find_obstacles(beyond > longest_step, rows, p),
        least=float(values[0]) / max(loudest(noise.hessian, p), _TINY),
    )


def find_obstacles(is_far: bool, rows: float, p: int) -> tuple[str, ...]:
    """Return the codes of what forbids all intervals of p coefficients.

    `far_start` where the last step was too long, `few_rows` with no more rows than coefficients.
    """
    obstacles = {"far_start": is_far, "few_rows": rows <= p}
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
