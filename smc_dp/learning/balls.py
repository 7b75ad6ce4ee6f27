"""The gradient in ball arithmetic: a norm that is certain, whatever the rounding."""

from __future__ import annotations

import math

import numpy as np
from flint import arb, arb_mat, ctx

from smc_dp.learning.objective import Array, blocks

_PRECISION = 128


def gradient_in_balls(lam: float, w: Array, X: Array, y: Array) -> tuple[Array, float]:
    """The gradient of the regularised logistic objective at w, and an upper bound on its norm.

    w, X, y: as in `RegularisedLogistic`, taken as the exact numbers they are. The bound holds for every real
    number that rounds to the float lam.
    """
    with ctx.workprec(_PRECISION):
        weights = arb_mat([[v] for v in w.tolist()])
        total = arb_mat(1, len(w))
        for rows, labels in blocks(X, y):
            signed = arb_mat((labels[:, np.newaxis] * rows).tolist())  # labels are signs: exact
            slopes = [-1 / (1 + margin.exp()) for margin in (signed * weights).entries()]
            total += arb_mat([slopes]) * signed
        mu = 2 * arb(lam, lam * 2.0**-53)
        gradient = [g / len(y) + mu * v for g, v in zip(total.entries(), weights.entries(), strict=True)]
        norm = sum((g * g for g in gradient), arb(0)).sqrt()
        bound = math.nextafter(float(norm.abs_upper()), math.inf)
        return np.array([float(g.mid()) for g in gradient]), bound
