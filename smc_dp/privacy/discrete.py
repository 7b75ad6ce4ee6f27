"""Exact samplers on the integers: discrete Laplace and discrete Gaussian, without a single float.

Algorithms 1 to 3 of Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy" (2020).
Every probability is rational or e to a rational power, every comparison is between integers of any size, and
the stream's uniform integers are the only randomness, so the distributions hold exactly for uniform bits.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, isqrt

from protocols.arithmetic.rng import Stream


def bernoulli_exp(numerator: int, denominator: int, rng: Stream) -> bool:
    """Return True with probability e^-g for g = numerator/denominator >= 0; ValueError below.

    The terms decide how many bits are drawn, so callers give them in lowest terms.
    """
    if numerator < 0:
        raise ValueError(f"the numerator is not negative, got {numerator}")
    whole, rest = divmod(numerator, denominator)
    return all(_exp_of_at_most_one(1, 1, rng) for _ in range(whole)) and _exp_of_at_most_one(rest, denominator, rng)


def discrete_laplace(scale: Fraction, rng: Stream) -> int:
    """Draw an integer y with probability proportional to e^(-|y|/scale), scale > 0; else ValueError."""
    if scale <= 0:
        raise ValueError(f"the scale is positive, got {scale}")
    return _laplace(scale.numerator, scale.denominator, rng)


def _laplace(s: int, q: int, rng: Stream) -> int:
    while True:
        low = rng.below(s)
        if not _exp_of_at_most_one(low, s, rng):
            continue
        high = 0
        while _exp_of_at_most_one(1, 1, rng):
            high += 1
        # low + s*high is geometric with ratio e^(-1/s); dividing by q leaves ratio e^(-q/s) = e^(-1/scale).
        magnitude = (low + s * high) // q
        negative = rng.below(2) == 1
        if negative and magnitude == 0:
            continue  # or zero would be counted twice
        return -magnitude if negative else magnitude


def discrete_gaussian(variance: Fraction, rng: Stream) -> int:
    """Draw an integer y with probability proportional to e^(-y^2/(2 variance)), variance > 0; else ValueError."""
    if variance <= 0:
        raise ValueError(f"the variance is positive, got {variance}")
    v, u = variance.numerator, variance.denominator
    t = isqrt(v // u) + 1
    while True:
        y = _laplace(t, 1, rng)
        # of (|y| - v / (u t))^2 / (2 v / u)
        numerator, denominator = (abs(y) * u * t - v) ** 2, 2 * v * u * t * t
        common = gcd(numerator, denominator)
        if bernoulli_exp(numerator // common, denominator // common, rng):
            return y


def _exp_of_at_most_one(numerator: int, denominator: int, rng: Stream) -> bool:
    """Return True with probability e^-g for g = numerator/denominator in [0, 1]."""
    # P(the first k draws of Bernoulli(g/1), Bernoulli(g/2), ... succeed) = g^k/k!; the first failure comes
    # at an odd place with probability 1 - g + g^2/2! - ... = e^-g.
    k = 1
    while rng.below(denominator * k) < numerator:
        k += 1
    return k % 2 == 1
