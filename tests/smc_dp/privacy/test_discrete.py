"""The exact integer samplers against their closed-form laws and against OpenDP."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
import opendp.prelude as dp
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


@pytest.mark.parametrize("sampler", [discrete_laplace, discrete_gaussian])
def test_tails_are_symmetric(sampler: Callable[[Fraction, Stream], int]) -> None:
    rng = Stream.insecure_from_seed("symmetric")
    samples = [sampler(Fraction(9), rng) for _ in range(DRAWS)]
    far = [z for z in samples if abs(z) > 3]
    assert scipy.stats.binomtest(sum(z > 0 for z in far), len(far)).pvalue > ACCEPT
    shifted = [z + 1 for z in samples if abs(z + 1) > 3]  # broken twin: rounded the wrong way
    assert scipy.stats.binomtest(sum(z > 0 for z in shifted), len(shifted)).pvalue < REJECT


@pytest.mark.parametrize("scale", with_slow(SCALES, *SCALES[:2]))
@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_agrees_with_opendp(name: str, scale: Fraction) -> None:
    # OpenDP takes no seed, so this one is not reproducible and its threshold is far lower.
    dp.enable_features("contrib")
    make = {"laplace": dp.m.make_laplace, "gaussian": dp.m.make_gaussian}[name]
    metric = {"laplace": dp.l1_distance(T=int), "gaussian": dp.l2_distance(T=float)}[name]
    space = (dp.vector_domain(dp.atom_domain(T=int)), metric)
    ours = drawn(name, scale)

    def agreement(their_scale: float) -> float:
        theirs = make(*space, scale=their_scale)([0] * DRAWS)
        reach = max(1, int(2 * scale))
        counts = [Counter(min(max(z, -reach), reach) for z in sample) for sample in (ours, theirs)]
        table = [[count[z] for z in range(-reach, reach + 1)] for count in counts]
        return float(scipy.stats.chi2_contingency(table).pvalue)

    assert agreement(float(scale)) > 1e-9
    assert agreement(1.5 * float(scale)) < REJECT


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


def test_shares_of_polya_add_up_to_the_discrete_laplace_law() -> None:
    """A way to the same law that shares nothing with the sampler: differences of negative binomials, 1/H of a failure
    each, drawn by numpy. The twin counts more parties than add up.
    """
    coins, scale, H = np.random.default_rng(8), Fraction(7, 2), 5
    success = -math.expm1(-1 / float(scale))

    def sums(made_for: int) -> list[int]:
        one, other = coins.negative_binomial(1 / made_for, success, (2, 20_000, H))
        return (one - other).sum(axis=1).tolist()  # type: ignore[no-any-return]

    assert chi_square(sums(H), laplace_pmf(scale)) > ACCEPT
    assert chi_square(sums(H + 1), laplace_pmf(scale)) < REJECT
