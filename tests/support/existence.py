"""Whether what the printed OFPA minimises has a minimiser, decided by linear programming."""

from __future__ import annotations

from math import inf

import numpy as np
import scipy.optimize

from smc_dp.core.arrays import Array

FARTHEST = 2.0**20  # as good as unbounded; its inverse is as good as zero


def existence(rows: Array, y: Array, v: Array) -> float:
    """Whether there is a minimiser, by linear programming: if this is positive.

    It is the largest delta, up to 1/2, such that some q in [delta, 1 - delta]^n has sum of q_i a_i = v with
    a_i = (2 y_i - 1) x~_i, which is the equation of a minimiser for q_i = sigmoid(-a_i.theta). Negative: the objective
    falls for ever along some direction (Farkas), and -inf if no q of whatever size will do; zero: its infimum is not
    attained. Solved as: how far can v - (sum of a_i)/2 be stretched and still be a sum of r_i a_i, |r_i| <= 1/2?
    """
    signed = ((2 * y - 1)[:, np.newaxis] * rows).T
    found = scipy.optimize.linprog(
        np.append(np.zeros(len(y)), -1.0),
        A_eq=np.column_stack([signed, signed.sum(axis=1) / 2 - v]),
        b_eq=np.zeros(len(v)),
        bounds=[*[(-0.5, 0.5)] * len(y), (0, FARTHEST)],
    )
    if not found.success:
        raise ArithmeticError(f"a bounded linear program that zero solves was not solved: {found.message}")
    stretch = -float(found.fun)
    return (1 - 1 / stretch) / 2 if stretch > 1 / FARTHEST else -inf
