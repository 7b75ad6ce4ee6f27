"""Steps from three sums to coefficients of least squares: where rows lie, their Gram matrix, and clipped residuals.

The first sum is the Gram matrix in the public box, which centres the rows; the second that of centred rows, which gives
b0 and how large residuals are; the third the residuals at b0, which give one more step, d, and the robust covariance.
The noise in b0 + d is nearly that of the third sum alone, and the noise in b0 that of the second: so both are estimates
with noise of their own, and the last weights are their mean, each weighed by the inverse of its covariance. Everything
here is post-processing of released sums, and total.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import erfc, hypot, inf, sqrt
from typing import NamedTuple

import numpy as np

from smc_dp.core.arrays import Array
from smc_dp.methods.functionality import Vector
from smc_dp.methods.statistics.coefficient_inference import (
    InferenceNoise,
    infer_coefficients,
    noise_of_gradient,
    raised_inverse,
)
from smc_dp.methods.statistics.inference_steps import CentredSteps, Inquiry, rounded_weights
from smc_dp.methods.training.integer_rows import WEIGHT_BITS, IntegerRows, round_query
from smc_dp.methods.training.least_squares import (
    LARGEST_CLIP,
    MARGIN_BITS,
    gram_numbers,
    read_gram,
    read_residuals,
    residual_numbers,
)

CLIP = 4.0
"""Clip of residuals, in parts of an upper bound on their deviation, where noise is a small part of the bound."""
CLIP_OF_NOISE = 3.0
"""The same where noise is most of the bound: fewer residuals are as long as that."""
CLIP_OF_ESTIMATE = 4.9
"""Clip in parts of the plain estimate, at which more noise begins to widen the bound and not the clip."""
_LEAST_SCALE = 1 / 200  # of half of the range of the outcome
_SIGNIFICANT = 3.0  # deviations of the count of clipped residuals


class GramNoise(NamedTuple):
    """Deviations of the noise of all parties: on the diagonal of the Gram matrix, in products, in y^2, in a count."""

    gram: float
    products: float
    square: float
    left_out: float = 0.0

    def of_residuals(self, b: Array) -> float:
        """Return the deviation of y^2 - 2 b'xy + b'Gb."""
        length = float(b @ b)
        return hypot(self.square, 2 * self.products * sqrt(length), self.gram * length)

    def covariance(self, b: Array, inverse: Array) -> Array:
        """Return the covariance that noise gives to b, the solution with this inverse of the Gram matrix."""
        found: Array = inverse @ noise_of_gradient(self.products, self.gram, b) @ inverse
        return found


class ResidualNoise(NamedTuple):
    """Deviations of the noise of all parties: in the gradient, on the diagonal of the meat, in s^2, in the count."""

    gradient: float
    meat: float
    square: float
    clipped: float


@dataclass(frozen=True)
class LeastSquaresNoise:
    """Noise of all parties: of the first two sums, and of the last."""

    gram: tuple[GramNoise, GramNoise]
    residuals: ResidualNoise


class LeastSquaresSteps(CentredSteps[LeastSquaresNoise]):
    """Steps of least squares."""

    def after(self, state: Inquiry, value: Vector) -> Inquiry:
        """Return the state after one more sum."""
        if state.number < len(self.noise.gram):
            return self._after_gram(state, value)
        p, noise, rows = len(self.kept), self.noise.residuals, max(state.rows, 1.0)
        found = read_residuals(value, p)
        gram = np.eye(p) if state.square is None else state.square
        clip = state.clip / (1 << MARGIN_BITS)
        in_units = InferenceNoise(clip * noise.gradient, self.noise.gram[-1].gram, clip**2 * noise.meat)
        at = rounded_weights(state.at)
        sums = (clip * found.gradient, gram, clip**2 * found.meat, gram)
        inferred = infer_coefficients(at, *sums, state.rows, in_units, longest_step=inf)
        inverse = inferred.inverse
        averaged = inferred.averaged_with_start(self.noise.gram[-1].covariance(at, inverse))
        deviation = clip * sqrt(max(found.square, 0.0) / max(rows - p, 1.0))
        beyond = found.clipped - rows * normal_beyond(clip, deviation)
        # So many residuals that lost as much as the clip move the intercept by its standard error without privacy.
        shift = sqrt(rows) * deviation / clip
        has_long_tail = beyond > max(shift, _SIGNIFICANT * noise.clipped)
        # The mean of the noise of the Gram matrix, squared: it takes a part of each coefficient away.
        bias = (
            self.noise.gram[-1].gram ** 2 / 2 * inverse @ (np.trace(inverse) * np.eye(p) + inverse) @ averaged.estimate
        )
        left = replace(
            averaged,
            privacy=averaged.privacy + np.outer(bias, bias),
            obstacles=(*averaged.obstacles, *(["long_tail"] if has_long_tail else [])),
            rows=state.rows,
            left_out=state.left_out,
            rows_error=state.rows_error,
            left_out_error=self.noise.gram[-1].left_out,
            residual=deviation,
            clip=clip,
        )
        return replace(state, at=left.estimate, number=state.number + 1, found=left)

    def numbers(self, state: Inquiry, rows: IntegerRows) -> list[int]:
        """Return what these rows enter to the sum that follows."""
        asked = rows if state.centring is None else state.centring.apply(rows)
        if state.number < len(self.noise.gram):
            return gram_numbers(asked)
        return residual_numbers(asked, round_query(state.at[np.newaxis]), state.clip)

    def _after_gram(self, state: Inquiry, value: Vector) -> Inquiry:
        p, noise = len(self.kept), self.noise.gram[state.number]
        found = read_gram(value, p)
        if not state.number:
            return replace(self._centred(state, found.gram, found.left_out, noise.gram), number=1)
        # Without a constant nothing counts the rows: as none is longer than 1, there are at least so many.
        count = float(np.trace(found.gram)) if state.centring is None else state.centring.count(found.gram)
        rows, spread = max(count, 1.0), 0.0 if state.centring is None else state.centring.square * noise.gram
        b = rounded_weights(raised_inverse(found.gram, noise.gram) @ found.products)
        error = noise.of_residuals(b)
        squares = found.square - 2 * float(b @ found.products) + float(b @ found.gram @ b)
        clip = round(residual_clip(squares, error, rows) * 2**WEIGHT_BITS) << MARGIN_BITS - WEIGHT_BITS
        counted = replace(state, rows=count, rows_error=spread, left_out=found.left_out)
        return replace(counted, at=b, number=2, square=found.gram, clip=min(clip, LARGEST_CLIP))


def residual_clip(squares: float, error: float, rows: float) -> float:
    """Return the clip for residuals of so many rows whose squares add up to this, with noise of the deviation `error`.

    A clip is to cut few residuals, whatever the noise, and the noise of the last sum is in parts of it.
    """
    bound = max((squares + 2 * error) / rows, error / rows, _LEAST_SCALE**2)
    most = sqrt(min(CLIP**2 * bound, max(CLIP_OF_ESTIMATE**2 * squares / rows, CLIP_OF_NOISE**2 * bound)))
    return min(most, 2.0**12)


def normal_beyond(clip: float, deviation: float) -> float:
    """Return the part of normal residuals of this deviation that is beyond the clip.

    For a clip below three deviations it is what is beyond three: a shorter clip is too short for any residuals.
    """
    least = max(clip / deviation, CLIP_OF_NOISE) if deviation > 0 else inf
    return erfc(least / sqrt(2))
