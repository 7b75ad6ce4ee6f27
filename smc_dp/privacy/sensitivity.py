"""Sensitivity of a regularised logistic or softmax model to one record, or one party: certified upper bounds.

J(w) = (1/n) sum of log(1 + e^(-y w.x)) + (mu/2) |w|^2 with |x|_2 <= 1, and the same for more classes in the
coordinates V in which the sum of all class vectors is zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import scipy

# t sigmoid(-t) is largest at t = _T0, where it is _H0, the Lambert function at 1/e.
_H0 = 0.2784645427610738
_T0 = 1.0 + _H0
_GRID = 6000  # steps over [0, pi]; fixes how much slack G carries
_ROUNDING = 1e-12  # above every float rounding error made here (about 1e-15)


@dataclass(frozen=True)
class LogisticConstants:
    """Upper bounds: W on the norm of a minimiser, G on the distance of two records' loss gradients there."""

    W: float
    G: float


@lru_cache(maxsize=256)
def logistic_constants(mu: Fraction | float) -> LogisticConstants:
    """Return certified W(mu) and G(W(mu)) for mu-strongly convex logistic regression on the unit ball.

    W: at a minimiser mu |w|^2 = mean of t sigmoid(-t) with |t| <= |w|, so |w| <= sqrt(H0/mu) where that is
    at least T0, and else at most the root of mu w = sigmoid(-w). G = sup |u sigmoid(-w.u) - u'
    sigmoid(-w.u')| over |u|, |u'| <= 1, |w| <= W. It depends on the angles of u and u' to w alone, is
    attained at |w| = W, and its square is (W+2)-Lipschitz in each angle: the largest value on a grid of step
    h, plus (W+2)h, is an upper bound. G lies in [1, 2]. ValueError: mu is not a positive finite number.
    """
    W = _largest_norm(_float_below(mu))
    return LogisticConstants(W, _largest_gradient_difference(W))


def largest_norm(mu: Fraction | float) -> float:
    """Return an upper bound W on the norm of any minimiser, whatever the data."""
    return _largest_norm(_float_below(mu))


def replace_one(n: int, mu: Fraction | float, tau: float, classes: int = 2) -> Fraction:
    """Return the L2 sensitivity, to replacing one of n records, of any w with |grad J(w)| <= tau: G/(mu n) + 2 tau/mu.

    Proof. Let v, v' minimise J, J'. Then grad J(v') = grad J(v') - grad J'(v') is 1/n times the difference
    of two loss gradients at v', a minimiser, hence at most G/n long; strong convexity gives |v - v'| <=
    |grad J(v')|/mu. In the same way each approximate minimiser is within tau/mu of the exact one. G is an
    upper bound (of more classes twice `steepest`) and enters, like tau, as the exact rational value of its float, so
    nothing is rounded down. ValueError: n < 1, fewer than two classes, tau negative or not finite, mu not positive and
    finite.
    """
    if n < 1:
        raise ValueError(f"the number of records n is at least 1, got {n}")
    _check_tolerance(tau)
    G = Fraction(logistic_constants(mu).G) if classes == 2 else 2 * steepest(classes, mu)
    return (G / n + 2 * Fraction(tau)) / Fraction(mu)


def add_remove(mu: Fraction | float, tau_sum: float, classes: int = 2) -> Fraction:
    """Return the L2 sensitivity of n w, w the minimiser for all n records, to one record more or less, whatever n.

    sqrt(g^2 + (mu W)^2)/mu + 2 tau_sum/mu, g = `steepest`, tau_sum being a cap on n |grad J(w)|. Proof. Let w minimise
    J for n records, w' without the record z, g the loss gradient of z at w, H the mean Hessian, between w' and w, of
    the summed loss of the others. Both conditions of optimality give n w - (n-1) w' = (1/mu)(-A g + (1 - A) mu w'),
    where A = n mu (n mu + H)^-1 lies between 0 and 1. Since |2 A - 1| <= 1, |A a + (1 - A) b| <= (|a + b| + |a - b|)/2
    <= sqrt(|a|^2 + |b|^2), and |g| <= `steepest`, |w'| <= W. Without any other record, w' counts as zero.
    ValueError: fewer than two classes, tau_sum negative or not finite, mu not positive and finite.
    """
    _check_tolerance(tau_sum)
    W, exact = largest_softmax_norm(classes, mu), Fraction(mu)
    length = math.sqrt(steepest(classes, mu) ** 2 + (exact * Fraction(W)) ** 2) * (1 + _ROUNDING)
    return (Fraction(length) + 2 * Fraction(tau_sum)) / exact


def steepest(classes: int, mu: Fraction | float) -> Fraction:
    """Bound the length of a record's loss gradient at any minimiser: sigmoid(W), of C > 2 sqrt 2 (1 - q).

    Proof. Of two classes it is |u| sigmoid(-w.u) with |w.u| <= W. Of C it is |p - e_y| |x|, p the probabilities and y
    the class: |p - e_y|^2 = (1 - p_y)^2 + the sum of the other p_k^2 <= 2 (1 - p_y)^2. Two class vectors are sqrt 2
    apart, so no score is ahead of that of y by more than sqrt 2 W, and p_y >= q = 1/(1 + (C - 1) e^(sqrt 2 W)).
    """
    W = largest_softmax_norm(classes, mu)
    if classes == 2:
        return Fraction(float(scipy.special.expit(W)) * (1 + _ROUNDING))
    missed = scipy.special.expit(math.sqrt(2) * W * (1 + _ROUNDING) + math.log(classes - 1))
    return Fraction(math.sqrt(2) * float(missed) * (1 + _ROUNDING))


def largest_softmax_norm(classes: int, mu: Fraction | float) -> float:
    """Bound |V| of any minimiser, V: (p, d), whatever the data and the labels, which may be soft.

    For two classes `largest_norm`. For C > 2, sqrt(w/mu) with w e^w = (C-1)/e, and at most sqrt 2/mu. Proof. At a
    minimiser mu |V|^2 is a mean of z_y - <q, z> with scores z and q = softmax(z). With m_k = z_y - z_k that is the
    sum of m_k e^(-m_k) over 1 + the sum of e^(-m_k), k not y; for a fixed sum of e^(-m_k) it is largest when all
    m_k are equal (entropy), and a m/(e^m + a), a = C - 1, is at most w. And each gradient is at most sqrt 2 long.
    ValueError: fewer than two classes, mu not positive and finite.
    """
    if classes < 2:
        raise ValueError(f"there are at least 2 classes, got {classes}")
    if classes == 2:
        return largest_norm(mu)
    below = _float_below(mu)
    return min(math.sqrt(_lambert((classes - 1) / math.e) / below), math.sqrt(2) / below) * (1 + _ROUNDING)


def _check_tolerance(tau: float) -> None:
    if not (math.isfinite(tau) and tau >= 0):
        raise ValueError(f"the tolerance tau is finite and not negative, got {tau}")


def _lambert(a: float) -> float:
    """Return w with w e^w = a >= 0, up to float rounding from above."""
    low, high = 0.0, max(1.0, math.log1p(a))  # `high` is above the root at every step
    for _ in range(200):
        middle = (low + high) / 2
        if middle * math.exp(middle) < a:
            low = middle
        else:
            high = middle
    return high


def _float_below(mu: Fraction | float) -> float:
    """Return the largest float not above mu; W and G only grow when mu shrinks."""
    nearest = float(mu)
    below = math.nextafter(nearest, 0.0) if nearest > mu else nearest
    if not (math.isfinite(below) and below > 0):
        raise ValueError(f"the modulus mu is positive and finite, got {mu}")
    return below


def _largest_norm(mu: float) -> float:
    root = math.sqrt(_H0 / mu)
    if root >= _T0:
        return root * (1 + _ROUNDING)
    low, high = 0.0, _T0  # `high` is above the root at every step
    for _ in range(200):
        middle = (low + high) / 2
        if mu * middle < 1 / (1 + math.exp(middle)):
            low = middle
        else:
            high = middle
    return high * (1 + _ROUNDING)


def _largest_gradient_difference(W: float) -> float:
    h = math.pi / _GRID
    margin = W * np.cos(np.arange(_GRID + 1) * h)
    # Beyond T0 a shorter u, with u.w = T0, has the longer gradient.
    length = np.where(margin > _T0, _H0 / np.maximum(margin, _T0), scipy.special.expit(-margin))
    # The difference is longest where w lies between u and u': then their angle is the sum of both. Rows of the grid
    # come in the order of a bound, u' being at most as long as the longest: most need not be computed.
    cosine = np.cos(np.arange(2 * _GRID + 1) * h)
    least = np.minimum(0, cosine[np.maximum(2 * np.arange(_GRID + 1), _GRID)])
    reached = length**2 + length.max() ** 2 - 2 * length * length.max() * least
    largest = 0.0
    for k in np.argsort(-reached):
        if reached[k] < largest - _ROUNDING:
            break
        r, others = length[k], length[k:]
        between = r * r + others**2 - 2 * r * others * cosine[2 * k : k + _GRID + 1]
        largest = max(largest, float(between.max()))
    return min(2.0, math.sqrt(largest + (W + 2) * h) * (1 + _ROUNDING))
