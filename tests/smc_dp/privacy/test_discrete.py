"""The exact integer samplers against their closed-form laws."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import scipy.stats
from support.repetitions import with_slow

from protocols.arithmetic.rng import Stream
from smc_dp.privacy.discrete import bernoulli_exp, discrete_gaussian, discrete_laplace

ACCEPT, REJECT = 1e-6, 1e-12
DRAWS = 10_000
SCALES = [Fraction(1, 3), Fraction(1), Fraction(7, 2)]


def chi_square(samples: list[int], pmf: Callable[[int], float]) -> float:
    """p-value of a goodness of fit: cells of expected count >= 10 around zero, one for all beyond."""
    n = len(samples)
    counts = Counter(samples)
    reach = next(r for r in range(10**6) if n * pmf(r + 1) < 10)
    cells = range(-reach, reach + 1)
    expected = [n * pmf(z) for z in cells]
    observed = [counts[z] for z in cells]
    expected.append(max(n - sum(expected), 1e-3 * n))
    observed.append(n - sum(observed))
    expected = [e * n / sum(expected) for e in expected]
    return float(scipy.stats.chisquare(observed, expected).pvalue)


@cache
def drawn(name: str, scale: Fraction) -> list[int]:
    rng = Stream.insecure_from_seed(f"{name} {scale}")
    if name == "laplace":
        return [discrete_laplace(scale, rng) for _ in range(DRAWS)]
    return [discrete_gaussian(scale * scale, rng) for _ in range(DRAWS)]


def laplace_pmf(scale: Fraction) -> Callable[[int], float]:
    r = math.exp(-1 / scale)
    return lambda z: (1 - r) / (1 + r) * r ** abs(z)


def gaussian_pmf(variance: Fraction) -> Callable[[int], float]:
    reach = 20 + int(20 * math.sqrt(variance))
    total = sum(math.exp(-z * z / (2 * variance)) for z in range(-reach, reach + 1))
    return lambda z: math.exp(-z * z / (2 * variance)) / total


@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(7)])
def test_bernoulli_exp_has_its_probability(gamma: Fraction) -> None:
    rng = Stream.insecure_from_seed(f"bernoulli exp {gamma}")
    hits = sum(bernoulli_exp(gamma.numerator, gamma.denominator, rng) for _ in range(DRAWS))
    assert scipy.stats.binomtest(hits, DRAWS, math.exp(-gamma)).pvalue > ACCEPT
    assert scipy.stats.binomtest(hits, DRAWS, math.exp(-gamma / 2 - 1)).pvalue < REJECT


def test_bernoulli_exp_of_a_huge_number_ends_at_once() -> None:
    assert not bernoulli_exp(10**30, 1, Stream.insecure_from_seed("huge"))


@pytest.mark.parametrize("scale", SCALES)
def test_discrete_laplace_has_its_law(scale: Fraction) -> None:
    samples = drawn("laplace", scale)
    assert chi_square(samples, laplace_pmf(scale)) > ACCEPT

    # Broken twins: the scale too small or too large, and a sampler that counts zero for both signs.
    assert chi_square(samples, laplace_pmf(scale / Fraction(7, 10))) < REJECT
    assert chi_square(samples, laplace_pmf(scale / Fraction(13, 10))) < REJECT
    magnitudes = np.random.default_rng(1).geometric(1 - math.exp(-1 / scale), DRAWS) - 1
    signs = np.random.default_rng(2).choice([-1, 1], DRAWS)
    assert chi_square((signs * magnitudes).tolist(), laplace_pmf(scale)) < REJECT


@pytest.mark.parametrize("scale", with_slow(SCALES, SCALES[0]))
def test_discrete_gaussian_has_its_law(scale: Fraction) -> None:
    variance = scale * scale
    samples = drawn("gaussian", scale)
    assert chi_square(samples, gaussian_pmf(variance)) > ACCEPT

    # Broken twins: standard deviations off by 0.7 and 1.3, and a discrete Laplace in the Gaussian's place.
    assert chi_square(samples, gaussian_pmf(variance / Fraction(49, 100))) < REJECT
    assert chi_square(samples, gaussian_pmf(variance / Fraction(169, 100))) < REJECT
    assert chi_square(drawn("laplace", scale), gaussian_pmf(variance)) < REJECT


def test_a_scale_beyond_floats_leaves_no_holes() -> None:
    scale = Fraction(10**40 + 7, 3)
    rng = Stream.insecure_from_seed("holes")
    samples = [discrete_laplace(scale, rng) for _ in range(5_000)]
    assert scipy.stats.kstest([float(abs(z) / scale) for z in samples], "expon").pvalue > ACCEPT

    def low_bits(values: list[int]) -> float:
        return float(scipy.stats.chisquare([Counter(z % 64 for z in values)[k] for k in range(64)]).pvalue)

    assert low_bits(samples) > ACCEPT
    floats = np.random.default_rng(3).laplace(0, float(scale), 5_000)  # broken twin
    assert low_bits([int(z) for z in floats]) < REJECT


def test_the_stream_decides_everything() -> None:
    first, second = (
        [discrete_gaussian(Fraction(50), rng) for _ in range(20)]
        for rng in (Stream.insecure_from_seed("again"), Stream.insecure_from_seed("again"))
    )
    assert first == second
    assert len(set(first)) > 1


def test_parameters_out_of_range_are_refused() -> None:
    rng = Stream.insecure_from_seed("refused")
    with pytest.raises(ValueError, match="numerator"):
        bernoulli_exp(-1, 2, rng)
    with pytest.raises(ValueError, match="scale"):
        discrete_laplace(Fraction(0), rng)
    with pytest.raises(ValueError, match="variance"):
        discrete_gaussian(Fraction(-1), rng)
