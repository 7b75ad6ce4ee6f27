"""What Hamm, Cao and Belkin (2016) prove about utility, as functions: Lemmas 2, 5 and 6 and Theorem 4.

Letters as in the paper: M parties, N auxiliary rows, dimension d, regulariser lam, loss slope c-Lipschitz (1/4 for
the logistic loss), noise of Algorithm 2 with its printed scale 2/(M lam epsilon). Logarithms are natural.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from smc_dp.core.arrays import Array

LOGISTIC = 0.25
"""c for the logistic loss."""


def weighted_loss(margins: Array, alpha: Array) -> float:
    """The mean of alpha l(m) + (1 - alpha) l(-m), l the logistic loss (equation 14); margins m = w.x: (n,)."""
    return float(np.mean(alpha * np.logaddexp(0.0, -margins) + (1 - alpha) * np.logaddexp(0.0, margins)))


def lemma_2(margins: Array, Q: Array, M: int) -> float:
    """A bound, over the draw of M independent classifiers, on the mean of |E l^alpha - E l|, which tends to 0.

    Lemma 2 has the limit only. Q: (n,), the probability that a classifier chooses +1 for each row. l(m) - l(-m) = -m
    and alpha has the mean Q and the variance Q(1-Q)/M, so the mean difference of the losses at a row is at most
    |m| sqrt(Q(1-Q)/M).
    """
    return float(np.mean(np.abs(margins) * np.sqrt(Q * (1 - Q)))) / sqrt(M)


def lemma_5(k: int, theta: float, delta: float) -> float:
    """What a Gamma variable of shape k and scale theta exceeds with probability at most delta: k theta log(k/delta).

    It is a sum of k exponential variables, and each exceeds theta log(k/delta) with probability delta/k.
    """
    return k * theta * log(k / delta)


def lemma_6(d: int, lam: float, M: int, epsilon: float, delta: float, c: float = LOGISTIC) -> float:
    """What R(w_p) exceeds R(w_s) by with probability at most delta, R the regularised empirical risk (equation 32).

    R is (c + lam)-smooth with gradient 0 at w_s: (c + lam)/2 times the square of the noise's length by Lemma 5.
    """
    return (c + lam) / 2 * lemma_5(d, 2 / (M * lam * epsilon), delta) ** 2


def theorem_4(
    d: int,
    lam: float,
    M: int,
    N: int,
    epsilon: float,
    delta_p: float,
    delta_s: float,
    reference_norm: float,
    c: float = LOGISTIC,
) -> float:
    """What the expected risk R(w_p) exceeds that of any reference w_0 by, with probability at most delta_p + delta_s.

    Equation 22. Twice Lemma 6, the gap between expected and empirical risk (Sridharan, Shalev-Shwartz and Srebro
    2009, Theorem 1, for a 1-Lipschitz loss), and the reference's regulariser. The votes are fixed here: the
    probabilities are over the noise and the draw of the auxiliary rows.
    """
    gap = 16 * (32 + log(1 / delta_s)) / (lam * N)
    return 2 * lemma_6(d, lam, M, epsilon, delta_p, c) + gap + lam / 2 * reference_norm**2
