"""The bounds of Pathak, Rane and Raj (NIPS 2010), section 4, each as printed and in a form that can be proved.

Letters are the paper's: K parties, n records, n_smallest of them with the smallest party, regulariser lam w.w, d
weights, epsilon, confidence 1 - delta. mu = 2 lam is the modulus of strong convexity of objective (2), and L = mu + 1/4
bounds its second derivative, because rows lie in the unit ball. `scale` is that of the noise on the mean model, whose
length, in L2 for `knorm` and in L1 for `laplace`, is Gamma(d, scale).

These are floats about exact minimisers and continuous noise. What a release guarantees is its statement.
"""

from __future__ import annotations

from math import log, sqrt

from smc_dp.privacy.pathak2010 import PureNoiseName
from smc_dp.privacy.sensitivity import logistic_constants


def printed_scale(n_smallest: int, lam: float, epsilon: float) -> float:
    """The paper's 2/(n_(1) epsilon lam)."""
    return 2 / (n_smallest * epsilon * lam)


def proven_scale(K: int, n_smallest: int, lam: float, epsilon: float) -> float:
    """G/(mu K n_(1) epsilon): what epsilon needs of K-norm noise, and sqrt(d) times that of coordinate-wise noise."""
    return logistic_constants(2 * lam).G / (2 * lam * K * n_smallest * epsilon)


def theorem_4_1_printed(epsilon: float, n_smallest: int, n_j: int) -> float:
    """The last exponent of the printed proof, epsilon n_(1)/n_j, for a record of a party with n_j records."""
    return epsilon * n_smallest / n_j


def theorem_4_1(K: int, n_smallest: int, n_j: int, lam: float, epsilon: float, d: int, noise: PureNoiseName) -> float:
    """The epsilon that noise of the printed scale truly gives to a record of a party with n_j records.

    The proof bounds a change of the model in L1 by the figure of Chaudhuri and Monteleoni for L2, takes mu = lam, and
    forgets that the mean of K models moves K times less. The mean moves by G/(mu K n_j) in L2, and up to sqrt(d) times
    that in L1, over the scale 2/(n_(1) epsilon lam). Without any guarantee for the party whose noise it is.
    """
    moved = logistic_constants(2 * lam).G / (2 * lam * K * n_j)
    return moved * (sqrt(d) if noise == "laplace" else 1.0) / printed_scale(n_smallest, lam, epsilon)


def theorem_4_2_printed(K: int, n_smallest: int, lam: float) -> float:
    """The printed bound on |w_mean - w*|: (K-1)/(n_(1) lam). It is wrong.

    Let party j hold n copies of the unit vector e_j with label 1: neither the mean model nor w* depends on n, they
    differ, and the bound goes to zero.
    """
    return (K - 1) / (n_smallest * lam)


def theorem_4_2(K: int, lam: float) -> float:
    """A bound on |w_mean - w*|: 2 (K-1)/(K mu), whatever the sizes.

    Proof. Gradients of the loss have norms of at most 1, so those of J_j, the objective of party j, and of J, that of
    all records, are at most 2 (1 - n_j/n) apart: records of party j weigh 1/n_j in one and 1/n in the other. At the
    minimiser of J_j that bounds the gradient of J, so strong convexity puts it within 2 (1 - n_j/n)/mu of w*. The
    mean of these over K parties is 2 (1 - 1/K)/mu.
    """
    return 2 * (K - 1) / (K * 2 * lam)


def theorem_4_3_printed(K: int, n_smallest: int, lam: float, epsilon: float, d: int, delta: float) -> float:
    """The printed bound on J(w_mean + noise) - J(w*): (lam+1)/2 (A + B)^2 with the printed A of 4.2, written out."""
    common, radius = (lam + 1) / (n_smallest**2 * lam**2), log(d / delta)
    aggregation = common * (K - 1) ** 2 / 2
    perturbation = common * 2 * d**2 / epsilon**2 * radius**2
    return aggregation + perturbation + common * 2 * d * (K - 1) / epsilon * radius


def theorem_4_3(K: int, lam: float, scale: float, d: int, delta: float) -> float:
    """A bound on J(w_mean + noise) - J(w*) that fails with probability at most delta: L/2 (A + B)^2.

    Proof. J is L-smooth and w* minimises it, so J(v) - J(w*) <= L/2 |v - w*|^2. A bounds |w_mean - w*| (Theorem 4.2),
    B = scale d log(d/delta) the noise: its length has the law of a sum of d exponential variables, each of which
    exceeds scale log(d/delta) with probability delta/d. The printed lam + 1 is at least L for lam <= 3/4 only.
    """
    return _smooth(lam, theorem_4_2(K, lam) + _longest_noise(scale, d, delta))


def equation_3_printed(K: int, n_smallest: int, lam: float) -> float:
    """Theorem 4.3 as printed without noise: (K-1)^2 (lam+1)/(2 n_(1)^2 lam^2)."""
    return (K - 1) ** 2 * (lam + 1) / (2 * n_smallest**2 * lam**2)


def equation_3(K: int, lam: float) -> float:
    """Theorem 4.3 without noise: L/2 (2 (K-1)/(K mu))^2, surely."""
    return _smooth(lam, theorem_4_2(K, lam))


def equation_4_printed(n: int, lam: float, epsilon: float, d: int, delta: float) -> float:
    """Theorem 4.3 as printed for one party: 2 d^2 (lam+1)/(n epsilon lam)^2 log^2(d/delta)."""
    return 2 * d**2 * (lam + 1) / (n**2 * epsilon**2 * lam**2) * log(d / delta) ** 2


def equation_4(lam: float, scale: float, d: int, delta: float) -> float:
    """Theorem 4.3 for one party: L/2 (scale d log(d/delta))^2, which fails with probability at most delta."""
    return _smooth(lam, _longest_noise(scale, d, delta))


def theorem_4_4_printed(K: int, n_smallest: int, n: int, lam: float, epsilon: float, d: int, delta: float) -> float:
    """The printed bound on the true excess risk: twice that of 4.3 and 16/(lam n) (32 + log(1/delta))."""
    empirical = theorem_4_3_printed(K, n_smallest, lam, epsilon, d, delta)
    return 2 * empirical + 16 / (lam * n) * (32 + log(1 / delta))


def theorem_4_4(K: int, n: int, lam: float, scale: float, d: int, delta: float) -> float:
    """A bound on the true excess risk over w* that fails with probability at most delta.

    The n records, dealt to the parties in any way, are independent draws of one law, and the true risk is the
    expectation of the regularised loss of a fresh one. Proof. With probability 1 - delta/2 the excess over the best
    true risk of every w at once, one with noise too, is at most twice its empirical excess plus 16/(mu n)
    (32 + log(2/delta)) (Sridharan, Srebro and Shalev-Shwartz 2008, Theorem 1 with a = 1, for a 1-Lipschitz loss, rows
    in the unit ball and a mu-strongly convex regulariser). Theorem 4.3 bounds the empirical excess with probability
    1 - delta/2. Both count: the printed form spends delta twice.
    """
    empirical = theorem_4_3(K, lam, scale, d, delta / 2)
    return 2 * empirical + 16 / (2 * lam * n) * (32 + log(2 / delta))


def _smooth(lam: float, distance: float) -> float:
    return (2 * lam + 0.25) / 2 * distance**2


def _longest_noise(scale: float, d: int, delta: float) -> float:
    return scale * d * log(d / delta)
