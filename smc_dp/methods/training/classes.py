"""The coordinates in which C classes are learnt: one weight vector for two classes, C - 1 for more.

A model is V: (p, d). The scores of the classes at x are B V x with a fixed code B: (C, p), whose columns sum to zero.
For two classes B = (-1/2, 1/2), p = 1, so V is the binary logistic model w and the difference of scores is w.x. For
more, B is a Helmert matrix: B'B = 1, p = C - 1, so W = B V is the softmax model whose class vectors sum to zero, and
norms are the same in V and in W. A regularised softmax minimiser lies in that subspace, because the loss does not
see a common shift of all class vectors; the dimension in which noise is needed is p d instead of C d.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt

import numpy as np

from smc_dp.core.arrays import Array


@lru_cache(maxsize=64)
def code(classes: int) -> Array:
    """Return B: (C, p), read-only; ValueError below two classes."""
    if classes < 2:
        raise ValueError(f"there are at least 2 classes, got {classes}")
    if classes == 2:
        B = np.array([[-0.5], [0.5]])
    else:
        B = np.zeros((classes, classes - 1))
        for k in range(1, classes):
            B[:k, k - 1] = -1 / sqrt(k * (k + 1))
            B[k, k - 1] = k / sqrt(k * (k + 1))
    B.flags.writeable = False
    return B


def coordinate_count(classes: int) -> int:
    """Return p: 1 for two classes, else C - 1."""
    return 1 if classes == 2 else classes - 1


def diameter(classes: int) -> float:
    """Bound |B'(a - b)| over two probability vectors a, b: 1 for two classes, sqrt 2 for more.

    The entries of B are rounded, each by at most 2 units of 2^-53 in relation to itself, and sqrt 2 is rounded up by
    more than that, so that the bound holds for B as it is stored.
    """
    return 1.0 if classes == 2 else 1.414213562373096
