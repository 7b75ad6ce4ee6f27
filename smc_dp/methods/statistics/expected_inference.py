"""Inference to be expected of rows that nobody has yet: that of their expected sums, with the noise of a run.

The centring, the steps and the covariance are those of a release; only the noise is not drawn. Noise moves the scales
of the rows, and makes small eigenvalues smaller. Both matter where it nearly hides the Hessian: so a plan asks for more
than a release, `SURE_EIGENVALUE`.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from smc_dp.core.arrays import Array
from smc_dp.methods.statistics.centring import Centring
from smc_dp.methods.statistics.coefficient_inference import (
    SURE_EIGENVALUE,
    CoefficientInference,
    InferenceNoise,
    infer_coefficients,
    loudest,
)
from smc_dp.methods.statistics.coefficient_sums import CoefficientSums
from smc_dp.methods.statistics.inference_steps import InferenceSteps
from smc_dp.methods.statistics.least_squares_steps import LeastSquaresSteps, residual_clip


def expect_inference(spec: CoefficientSums, moments: Array, rows: float, spread: float) -> CoefficientInference:
    """Return the inference to be expected on the weights of so many rows: (p,), all of them 0.

    moments: the mean of x x' over encoded rows, (d, d). spread: of `logistic` the mean of q (1 - q) over the rows, q
    the probability of a class; of `linear` the deviation of the residuals in parts of half of the range.
    """
    steps, box = spec.steps, spec.public.box
    if box is None or not isinstance(steps, InferenceSteps | LeastSquaresSteps):
        raise TypeError("wanted sums of rows in a box whose coefficients have intervals")
    p, kept = len(steps.kept), list(steps.kept)
    square = rows * moments[np.ix_(kept, kept)]
    public = Centring.public(box, p)
    centring = public.then(public.matrix.T @ square @ public.matrix)
    gram = centring.matrix.T @ square @ centring.matrix
    hessian, meat, noise = _last_sum(steps, gram, rows, spread)
    nothing = np.zeros(p)
    found = infer_coefficients(nothing, nothing, hessian, meat, gram, rows, noise, longest_step=inf)
    if isinstance(steps, LeastSquaresSteps):
        of_start = steps.noise.gram[-1].covariance(nothing, found.inverse)
        found = replace(found.averaged_with_start(of_start), residual=spread)
    hidden = np.linalg.eigvalsh(hessian) < SURE_EIGENVALUE * loudest(noise.hessian, p)
    unraised = np.linalg.inv(hessian)
    sampling = unraised @ meat @ unraised * (rows / (rows - p) if rows > p else 1.0)
    return replace(found, sampling=sampling, rows=rows, hidden=hidden).transformed(centring.matrix)


def _last_sum(
    steps: InferenceSteps | LeastSquaresSteps, gram: Array, rows: float, spread: float
) -> tuple[Array, Array, InferenceNoise]:
    """Return the expected Hessian and meat, and the noise beside them."""
    if isinstance(steps, InferenceSteps):
        return spread * gram, spread * gram, steps.noise[-1]
    squares, of_gram, last = spread**2 * rows, steps.noise.gram[-1], steps.noise.residuals
    clip = residual_clip(squares, of_gram.square, max(rows, 1.0))
    noise = InferenceNoise(clip * last.gradient, of_gram.gram, clip**2 * last.meat)
    return gram, spread**2 * gram, noise
