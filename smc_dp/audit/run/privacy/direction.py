"""Directions of noise: exact distributions under the claim, several statistics, one stated level.

Noise of every kind becomes numbers that are independent and standard normal if it follows its distribution, so that
each vector has a uniform direction, and all of them end to end have one too. The squared cosine of a uniform direction
with any vector that does not depend on it has the distribution Beta(1/2, (d-1)/2). A statistic is the probability of
what was seen under it, or a bound on it; their smallest times their number is a level that no honest noise falls below
more often than it says, whatever the statistics have to do with each other. Directions that none of them looks at are
not noticed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from hashlib import shake_256
from math import sqrt
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import special

from smc_dp.privacy.output import NoiseDistribution

Vectors: TypeAlias = npt.NDArray[np.float64]
"""Array (d,), or (K, d): one vector for each party."""

COARSE = 1 << 12  # a scale below which whole numbers show no direction
_FIXED = 4  # directions of random signs, the same for everybody
_FURTHEST = 38.0  # of a normal score: beyond, floats know no chance


def normal_scores(noise: Sequence[int], distribution: NoiseDistribution) -> Vectors:
    """Return scores that are independent and standard normal for noise of this distribution, but for rounding: (d,)."""
    if distribution.name == "gauss":
        return np.array([float(x) for x in noise], dtype=np.float64) / sqrt(distribution.variance)
    y = np.array([float(Fraction(x) / distribution.scale) for x in noise])
    if distribution.name == "laplace":
        found: Vectors = np.sign(y) * -special.ndtri(np.exp(-np.abs(y)) / 2)
        return found
    length, d = float(np.linalg.norm(y)), distribution.dimension
    # The length has the distribution Gamma(d), that of a normal vector chi(d): the same quantile of the other.
    if length < d:
        squared = 2 * special.gammaincinv(d / 2, special.gammainc(d, length))
    else:
        squared = 2 * special.gammainccinv(d / 2, special.gammaincc(d, length))
    found = y * (sqrt(squared) / max(length, 1e-300))
    return found


def direction_chance(scores: Vectors, model: Vectors) -> float:
    """Return the probability that a vector without a direction points as much as this one: (d,) both."""
    return _combined([*_of_one(scores, model)])


def common_direction_chance(scores: Vectors, models: Vectors) -> float:
    """Return the same probability of all vectors together: (K, d) both, K at least 2."""
    return _combined([*_of_one(scores.ravel(), models.ravel()), *_of_several(scores, models)])


def _combined(chances: Sequence[float]) -> float:
    """Return the smallest times their number (Bonferroni)."""
    return min(1.0, len(chances) * min(chances))


def _of_one(x: Vectors, model: Vectors) -> Iterator[float]:
    d = len(x)
    rest = max(0.0, float(x @ x - np.max(x * x)))
    yield d * _beyond(rest / max(float(x @ x), 1e-300), d)  # the share of the largest coordinate
    for ahead in (np.ones(d), model, *(_fixed(i, d) for i in range(_FIXED))):
        yield float(2 * special.ndtr(-abs(_score(x, ahead))))
    half = d // 2
    yield float(2 * special.ndtr(-abs(_score(x[:half], x[half : 2 * half]))))  # one half, and again
    fewer = min(np.count_nonzero(x > 0), np.count_nonzero(x <= 0))
    yield float(2 * special.bdtr(fewer, d, 0.5))  # all signs alike, or nearly
    yield _evenness(x)


def _of_several(x: Vectors, models: Vectors) -> Iterator[float]:
    K, d = x.shape
    if d < 2:
        return
    # The sign may differ between parties, so that what they point at cancels out end to end.
    for ahead in (np.ones_like(x), models):
        scores = [_score(row, target) for row, target in zip(x, ahead, strict=True) if target.any()]
        squares = sum(score**2 for score in scores) / 2
        yield float(special.gammaincc(len(scores) / 2, squares)) if scores else 1.0
    units = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-300)
    pairs = [_score(units[j], units[k]) for j in range(K) for k in range(j)]
    yield float(len(pairs) * 2 * special.ndtr(-max(map(abs, pairs))))
    # Each with the sum of those before it, on which it does not depend: independent scores (after Rayleigh).
    before = np.cumsum(units, axis=0)
    common = sum(_score(units[j], before[j - 1]) for j in range(1, K)) / sqrt(K - 1)
    yield float(2 * special.ndtr(-abs(common)))


def _score(x: Vectors, ahead: Vectors) -> float:
    """Return the cosine of both as a standard normal number; 0 where one of them points nowhere, or on a line."""
    lengths = float(np.linalg.norm(x) * np.linalg.norm(ahead))
    if len(x) < 2 or not lengths:
        return 0.0
    cosine = float(x @ ahead) / lengths
    score = -float(special.ndtri(_beyond(max(0.0, 1 - cosine * cosine), len(x)) / 2))
    return float(np.copysign(min(score, _FURTHEST), cosine))


def _beyond(rest: float, d: int) -> float:
    """Return the probability that a uniform direction has a squared cosine of at least 1 - rest with a given one."""
    return 1.0 if d < 2 else float(special.betainc((d - 1) / 2, 0.5, rest))


def _evenness(x: Vectors) -> float:
    """Test by Kolmogorov and Smirnov the share of each coordinate in what those before it left."""
    squares = x * x
    left = np.cumsum(squares[::-1])[::-1]
    n = len(x) - 1
    if n < 1:
        return 1.0
    rest = left[1:] / np.maximum(left[:-1], 1e-300)
    uniform = np.sort(special.betainc(np.arange(n, 0, -1) / 2, 0.5, np.clip(rest, 0, 1)))
    places = np.arange(n + 1) / n
    distance = max(float(np.max(places[1:] - uniform)), float(np.max(uniform - places[:-1])))
    return float(min(1.0, 2 * special.smirnov(n, distance)))


def _fixed(number: int, d: int) -> Vectors:
    """Return signs that follow from the number alone."""
    digest = shake_256(f"direction {number}".encode()).digest((d + 7) // 8)
    bits = np.unpackbits(np.frombuffer(digest, dtype=np.uint8))[:d]
    return np.where(bits, 1.0, -1.0)
