"""Gradients in ball arithmetic: a norm that is certain, whatever the rounding."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from flint import arb, arb_mat, ctx

from smc_dp.core.arrays import Array
from smc_dp.methods.training.objective import row_blocks

_PRECISION = 128


def gradient_in_balls(lam: float, w: Array, X: Array, y: Array) -> tuple[Array, float]:
    """Return the gradient of the regularised logistic objective at w, and an upper bound on its norm.

    w, X, y: as in `RegularisedLogistic`, taken as the exact numbers they are. The bound holds for every real
    number that rounds to the float lam.
    """
    with ctx.workprec(_PRECISION):
        weights = arb_mat([[v] for v in w.tolist()])
        total = arb_mat(1, len(w))
        for rows, labels in row_blocks(X, y):
            signed = arb_mat((labels[:, np.newaxis] * rows).tolist())  # labels are signs: exact
            slopes = [-1 / (1 + margin.exp()) for margin in (signed * weights).entries()]
            total += arb_mat([slopes]) * signed
        mu = 2 * arb(lam, lam * 2.0**-53)
        gradient = [g / len(y) + mu * v for g, v in zip(total.entries(), weights.entries(), strict=True)]
        return middle_and_bound(gradient)


def softmax_gradient_in_balls(mu: float, V: Array, X: Array, alpha: Array, B: Array) -> tuple[Array, float]:
    """Return the gradient of the soft-label objective at V, flattened, and an upper bound on its norm.

    V: (p, d), X: (N, d), alpha: (N, C), B: (C, p): the exact numbers that they are.
    """
    with ctx.workprec(_PRECISION):
        code, weights = arb_mat(B.tolist()), arb_mat(V.tolist())
        total = arb_mat(*V.shape)
        for x, wanted in row_blocks(X, alpha):
            rows = arb_mat(x.tolist())
            scores = (rows * weights.transpose() * code.transpose()).tolist()
            residuals = []
            for score, labels in zip(scores, wanted.tolist(), strict=True):
                powers = [s.exp() for s in score]
                whole = sum(powers, arb(0))
                residuals.append([power / whole - label for power, label in zip(powers, labels, strict=True)])
            total += (arb_mat(residuals) * code).transpose() * rows
        entries = [g / len(X) + mu * v for g, v in zip(total.entries(), weights.entries(), strict=True)]
        return middle_and_bound(entries)


def middle_and_bound(gradient: Sequence[arb]) -> tuple[Array, float]:
    """Return the midpoints of the balls, and an upper bound on the norm of whatever they contain."""
    norm = sum((g * g for g in gradient), arb(0)).sqrt()
    return np.array([float(g.mid()) for g in gradient]), math.nextafter(float(norm.abs_upper()), math.inf)
