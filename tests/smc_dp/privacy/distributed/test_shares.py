"""What the parties draw: sums of H shares have the law that is claimed, and other shares have not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import scipy.stats
from support.repetitions import with_slow

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.privacy.distributed.share_distributions import GammaShares, GaussianShares, ShareDistribution, WholeShares

ACCEPT, REJECT = 1e-6, 1e-12
D, H, K = 3, 4, 8  # coordinates, honest parties that are counted, parties that draw
SCALE = Fraction(1 << 40)  # so wide that the lattice is invisible to a test of a continuous law
VECTORS = 400

GAUSSIAN, GAMMA, WHOLE = (GaussianShares(D, H, SCALE**2 / H), GammaShares(D, H, SCALE), WholeShares(D, H, SCALE))
LAWS: tuple[ShareDistribution, ...] = (GAUSSIAN, GAMMA, WHOLE)


@cache
def shares(law: ShareDistribution, parties: int = K) -> Array:
    """What so many parties draw for each of VECTORS sums, in scales: (VECTORS, parties, D)."""
    rng = Stream.insecure_from_seed(f"shares {law.text}")
    return np.array([[law.share(rng) for _ in range(parties)] for _ in range(VECTORS)], dtype=float) / float(SCALE)


def fits(law: ShareDistribution, sums: Array) -> float:
    """How well vectors follow the law of the noise that is claimed for H shares, but `self`, where one is enough."""
    if isinstance(law, GaussianShares):
        squares = scipy.stats.chi2(sums.size)
        size = min(squares.cdf((sums**2).sum()), squares.sf((sums**2).sum()))
        return 2 * min(2 * float(size), float(scipy.stats.kstest(sums.ravel(), scipy.stats.norm().cdf).pvalue))
    return float(scipy.stats.kstest(np.linalg.norm(sums, axis=1), scipy.stats.gamma(D).cdf).pvalue)


@pytest.mark.parametrize("law", with_slow(LAWS, GAMMA), ids=lambda law: law.name)
def test_what_honest_parties_draw_adds_up_to_the_noise_that_is_claimed(law: ShareDistribution) -> None:
    counted = 1 if isinstance(law, WholeShares) else H
    assert fits(law, shares(law)[:, :counted].sum(axis=1)) > ACCEPT
    assert fits(law, shares(law)[:, : 2 * counted].sum(axis=1)) < REJECT  # more honest ones: more noise
    if counted == H:
        assert fits(law, shares(law)[:, : H - 2].sum(axis=1)) < REJECT


@pytest.mark.parametrize("law", with_slow([GAUSSIAN, GAMMA], GAMMA), ids=lambda law: law.name)
def test_shares_made_for_all_parties_are_too_small_for_the_honest_ones(law: GaussianShares | GammaShares) -> None:
    """H replaced by K: what is left when K - H parties subtract theirs is too little, and far from what is claimed."""
    small = GaussianShares(D, K, SCALE**2 / K) if isinstance(law, GaussianShares) else GammaShares(D, K, SCALE)
    assert fits(law, shares(small)[:, :H].sum(axis=1)) < REJECT
    assert fits(law, shares(small).sum(axis=1)) > ACCEPT  # though the sum of all is right


def test_one_variance_serves_all_coordinates_of_a_share() -> None:
    """The twin with a variance for each coordinate has no K-norm law: squares of two coordinates are independent."""
    one = shares(GAMMA)[:, 0] ** 2
    together = scipy.stats.spearmanr(one[:, 0], one[:, 1]).pvalue
    apart = scipy.stats.spearmanr(one[:-1, 0], one[1:, 1]).pvalue
    assert together < REJECT
    assert apart > ACCEPT


def test_on_a_coarse_lattice_shares_are_discrete_gaussians() -> None:
    """Pmf of the sum of three shares of variance 18, which is that of one of variance 54 up to 2^-250."""
    law, n, reach = GaussianShares(1, 3, Fraction(18)), 6000, 20
    rng = Stream.insecure_from_seed("coarse")
    sums = [sum(law.share(rng)[0] for _ in range(3)) for _ in range(n)]

    def fit(variance: float) -> float:
        support = np.arange(-200, 201)
        weights = np.exp(-(support**2) / (2 * variance))
        cells = (weights / weights.sum())[200 - reach : 200 + reach + 1]
        counts = np.bincount([z + reach for z in sums if abs(z) <= reach], minlength=2 * reach + 1)
        return float(scipy.stats.chisquare([*counts, n - counts.sum()], [*n * cells, n * (1 - cells.sum())]).pvalue)

    assert fit(54) > ACCEPT
    assert fit(54 * 3 / 5) < REJECT  # share variance s^2/K
    assert fit(18) < REJECT
    assert fit(math.sqrt(54)) < REJECT


def over(law: ShareDistribution, bound: float) -> float:
    return float((np.abs(shares(law).sum(axis=1)).max(axis=1) * float(SCALE) > bound).mean())


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_all_shares_together_stay_within_the_tail(law: ShareDistribution) -> None:
    for bits in (1, 3):
        hits = round(over(law, law.tail(K, bits)) * VECTORS)
        assert scipy.stats.binomtest(hits, VECTORS, 2.0**-bits, alternative="greater").pvalue > ACCEPT
        assert over(law, law.tail(K, bits) / 30) > 2.0**-bits  # and the bound is not idle
    assert over(law, law.tail(K)) == 0
    assert over(law, law.tail(1, 3) / 3) > 2.0**-3  # twin: of one share
    # Of 200 parties the sum is nearly Gaussian, and above 0.67 deviations with probability 1/2.
    deviation = {"ddg": 200 / H, "vg": 200 / H * (D + 1), "self": 200 * (D + 1)}[law.name] ** 0.5
    assert law.tail(200, 1) > 0.67 * deviation * float(SCALE)
    assert law.tail(K) < law.tail(K, 100) < 1.5 * law.tail(K)
    assert law.tail(K) < law.tail(2 * K) <= 2.1 * law.tail(K)


def exact_tail(law: GammaShares, parties: int, bound: int) -> float:
    """P(|one coordinate| > bound) without the lattice: a mixture of Gaussians over the exact Gamma law."""
    a = float(parties * law.shape)
    V = np.exp(np.linspace(-40, math.log(a + 400), 40_000))
    density = scipy.stats.gamma(a).pdf(V) * V * (math.log(a + 400) + 40) / 40_000
    return float((density * 2 * scipy.stats.norm.sf(bound / np.sqrt(2 * float(law.scale) ** 2 * V))).sum())


@pytest.mark.parametrize(("dimension", "honest", "parties"), [(1, 20, 30), (1, 1, 1), (124, 25, 50), (10**4, 3, 3)])
def test_the_tail_of_mixed_shares_is_below_its_probability(dimension: int, honest: int, parties: int) -> None:
    law = GammaShares(dimension, honest, Fraction(1 << 30))
    assert dimension * exact_tail(law, parties, law.tail(parties)) <= 2.0**-80
    assert dimension * exact_tail(law, parties, law.tail(parties) // 4) > 2.0**-80


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_every_share_is_fresh_and_one_seed_gives_one_share(law: ShareDistribution) -> None:
    rng, again = (Stream.insecure_from_seed("fresh") for _ in range(2))
    first = law.share(rng)
    assert first == law.share(again)
    assert len(first) == D
    assert first != law.share(rng)


def texts(laws: Sequence[ShareDistribution]) -> set[str]:
    return {law.text for law in laws}


def test_two_laws_of_the_same_text_are_the_same() -> None:
    assert GAMMA.text == f"vg dimension=3 honest=4 scale={1 << 40}/1"
    assert GaussianShares(2, 3, Fraction(61, 3)).text == "ddg dimension=2 honest=3 variance=61/3"
    assert WholeShares(2, 1, Fraction(1, 7)).text == "self dimension=2 honest=1 scale=1/7"
    others = (GammaShares(D, H + 1, SCALE), GammaShares(D + 1, H, SCALE), GammaShares(D, H, SCALE + Fraction(1, 3)))
    assert len(texts((*LAWS, *others))) == 6
    assert texts((GammaShares(D, H, Fraction(2 << 40, 2)),)) == {GAMMA.text}


def test_laws_that_no_theorem_covers_are_not_made() -> None:
    with pytest.raises(ValueError, match="at least 18"):
        GaussianShares(1, 1, Fraction(18) - Fraction(1, 10**9))
    with pytest.raises(ValueError, match="at least 16"):
        GammaShares(1, 1, Fraction(16) - Fraction(1, 10**9))
    with pytest.raises(ValueError, match="at most 10000"):
        GammaShares(10**4 + 1, 1, SCALE)
    with pytest.raises(ValueError, match=r"scale .* got 0"):
        WholeShares(1, 1, Fraction(0))
    for make in (GaussianShares, GammaShares, WholeShares):
        for dimension, honest, words in ((0, 1, "dimension"), (1, 0, "from 1 to 2000"), (1, 2001, "from 1 to 2000")):
            with pytest.raises(ValueError, match=words):
                make(dimension, honest, SCALE)
