"""Gradients in ball arithmetic: a norm that is certain, whatever the rounding."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from flint import arb, arb_mat, ctx

from smc_dp.core.arrays import Array
from smc_dp.methods.training.solver import row_blocks

_PRECISION = 128


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
