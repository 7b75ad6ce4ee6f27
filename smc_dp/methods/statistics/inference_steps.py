"""Steps from sums of gradient, Hessian and meat to coefficients: Newton's method, and what the last sum says of them.

Sum 0 is at b = 0. Its Hessian, X'X/4, holds the means and squares of all features: the other sums are of rows that are
centred by them. Each step is H^-1 g, with H raised to half of what the largest eigenvalue of its noise is about.
Everything here is post-processing of released sums, and total.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import hypot
from typing import Generic, TypeVar

import numpy as np

from smc_dp.core.arrays import Array
from smc_dp.data.federation import FeatureBox
from smc_dp.methods.functionality import Vector
from smc_dp.methods.statistics.centring import Centring
from smc_dp.methods.statistics.coefficient_inference import (
    CoefficientInference,
    InferenceNoise,
    infer_coefficients,
    raised_inverse,
)
from smc_dp.methods.training.integer_readings import read_inference
from smc_dp.methods.training.integer_rows import WEIGHT_BITS, IntegerRows, round_query

Noise = TypeVar("Noise")


@dataclass(frozen=True, eq=False)
class Inquiry:
    """State after `number` sums: the point of the next one, (p,), in the coordinates of `centring`.

    `square`: X'X of the first sum in these coordinates; `rows`: how many are in the next sum, and `left_out`, both as
    released; `rows_error`: deviation of the noise in the former. `found`: what the last sum says. `kept`: places of the
    p features among d.
    `clip`: that of residuals of least squares, in units of 2^-30 of half of the range of the outcome.
    """

    kept: tuple[int, ...]
    dimension: int
    at: Array
    number: int = 0
    centring: Centring | None = None
    square: Array | None = None
    rows: float = 0.0
    rows_error: float = 0.0
    left_out: float = 0.0
    found: CoefficientInference | None = None
    clip: int = 1

    @property
    def released(self) -> Array:
        """Weights of the rows as they are encoded, (1, d), on the grid of released weights; 0 for references."""
        W = np.zeros((1, self.dimension))
        W[0, list(self.kept)] = self.at if self.centring is None else self.centring.matrix @ self.at
        return rounded_weights(W)


@dataclass(frozen=True)
class CentredSteps(Generic[Noise]):
    """Steps with p `kept` features of d, whose rows are centred by the first sum.

    box: where rows lie; None for rows that somebody encoded otherwise: they are not centred. noise: that of all
    parties.
    """

    kept: tuple[int, ...]
    dimension: int
    box: FeatureBox | None
    noise: Noise

    def begin(self) -> Inquiry:
        """Begin at b = 0."""
        p = len(self.kept)
        centring = None if self.box is None else Centring.public(self.box, p)
        return Inquiry(self.kept, self.dimension, np.zeros(p), centring=centring)

    def _centred(self, state: Inquiry, square: Array, left_out: float, error: float) -> Inquiry:
        """Return the state after the first sum, with X'X `square` of rows in the public box.

        error: the deviation of the noise on the diagonal of it.
        """
        public = state.centring
        if public is None:
            return replace(state, square=square, left_out=left_out)
        centring = public.then(square)
        T = np.linalg.solve(public.matrix, centring.matrix)  # takes weights of centred rows to those of the others
        return replace(
            state,
            at=centring.centred(public.matrix @ state.at),
            centring=centring,
            square=T.T @ square @ T,
            rows=public.count(square),
            rows_error=public.square * error,
            left_out=left_out,
        )


class InferenceSteps(CentredSteps[tuple[InferenceNoise, ...]]):
    """Newton's steps; `noise`: that of each sum."""

    def after(self, state: Inquiry, value: Vector) -> Inquiry:
        """Return the state after one more sum."""
        p, noise = len(self.kept), self.noise[min(state.number, len(self.noise) - 1)]
        sums = read_inference(value, p)
        at = rounded_weights(state.at)
        if not state.number:
            step = raised_inverse(sums.hessian, noise.hessian) @ sums.gradient
            return self._centred(
                replace(state, at=at + step, number=1), 4 * sums.hessian, sums.left_out, 4 * noise.hessian
            )
        square = np.eye(p) if state.square is None else state.square
        rows = state.rows - (sums.left_out - state.left_out)
        before = self.noise[min(state.number, len(self.noise)) - 1].gradient
        found = infer_coefficients(at, sums.gradient, sums.hessian, sums.meat, square, rows, noise, before)
        error = hypot(state.rows_error, noise.left_out, self.noise[0].left_out)
        counted = replace(found, rows=rows, left_out=sums.left_out, rows_error=error, left_out_error=noise.left_out)
        return replace(state, at=found.estimate, number=state.number + 1, found=counted)

    def numbers(self, state: Inquiry, rows: IntegerRows) -> list[int]:
        """Return the sum of gradients, Hessians and meats of these rows, and the count of those left out."""
        asked = rows if state.centring is None else state.centring.apply(rows)
        sums = asked.inference(round_query(state.at[np.newaxis]))
        matrices = (sums.hessian_diagonal, sums.hessian_off_diagonal, sums.meat_diagonal, sums.meat_off_diagonal)
        return [*sums.gradient, *(x for block in matrices for x in block), sums.left_out]


def rounded_weights(weights: Array) -> Array:
    """Return the weights as sums are asked at them: on the grid of released weights."""
    rounded: Array = np.ldexp(round_query(weights).astype(np.float64), -WEIGHT_BITS)
    return rounded
