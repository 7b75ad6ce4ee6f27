"""Bounds on mu: right as often as they say, not idle, and what goes wrong without each of their parts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isclose, sqrt

import numpy as np
import pytest
from scipy.stats import binom, norm

from smc_dp.audit.epsilon.bounds import EventPlan, Worlds, choose_event, measure_bound
from smc_dp.audit.epsilon.gaussian import CHOOSING_SHARE, MuMeasure, choose_curve, claimed_mu, too_many_right
from smc_dp.audit.epsilon.one_run import Canaries
from smc_dp.core.arrays import Array
from smc_dp.privacy.statement import PrivacyStatement

ALPHA, REPEATS = 0.1, 100
CHOICES: dict[str, Callable[[Worlds], EventPlan]] = {
    "one threshold": partial(choose_event, measure=MuMeasure(ALPHA)),
    "the curve": partial(choose_curve, alpha=ALPHA),
}


def worlds(mu: float, draws: int, seed: int, noise: Callable[[Array], Array] = lambda x: x) -> Worlds:
    """One score, and one that tells nothing."""
    generator = np.random.default_rng(seed)
    first, second = (noise(generator.normal(size=draws)) + shift for shift in (0.0, mu))
    return np.array([generator.normal(size=draws), first]), np.array([generator.normal(size=draws), second])


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("mu", [0.2, 2.0])
def test_mu_is_exceeded_as_seldom_as_allowed_and_too_often_without_limits(name: str, mu: float) -> None:
    """The broken twin takes the shares of the draws for their probabilities."""
    bounds, taken = [], []
    for seed in range(REPEATS):
        found = measure_bound(worlds(mu, 1000, seed), CHOICES[name], CHOOSING_SHARE)
        bounds.append(found.bound)
        above = [np.cumsum(counts[::-1])[::-1][1:] / counts.sum() for counts in (found.first, found.second)]
        taken.append(float(np.max(np.abs(norm.ppf(above[0]) - norm.ppf(above[1])))))
    allowed = binom.isf(1e-6, REPEATS, ALPHA)
    assert sum(bound > mu for bound in bounds) <= allowed < sum(bound > mu for bound in taken)
    assert np.mean(bounds) > (0.1 if mu < 1 else 0.75) * mu


def test_many_draws_come_close_to_mu() -> None:
    for choose in CHOICES.values():
        assert 0.9 < measure_bound(worlds(0.5, 100_000, 1), choose, CHOOSING_SHARE).bound / 0.5 <= 1


@pytest.mark.parametrize("name", CHOICES)
def test_noise_with_the_right_width_and_no_tails_is_refuted(name: str) -> None:
    """Uniform noise of variance 1, told apart by where only one of both reaches."""
    uniform = worlds(1.0, 4000, 3, lambda x: np.asarray(sqrt(12) * (norm.cdf(x) - 0.5)))
    assert measure_bound(uniform, CHOICES[name], CHOOSING_SHARE).bound > 1.5
    assert measure_bound(worlds(1.0, 4000, 3), CHOICES[name], CHOOSING_SHARE).bound <= 1


def test_the_claim_is_that_of_the_noise() -> None:
    who = ("record", "replace", "anyone", ())
    assert claimed_mu(PrivacyStatement("pure", 1.0, 0.0, *who)) is None
    found = claimed_mu(PrivacyStatement("zcdp", 1.0, 1e-6, *who, rho=0.5))
    assert isclose(found, 1.0)


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
def test_one_canary_is_guessed_right_as_often_as_both_errors_allow(mu: float) -> None:
    """By hand: Phi(mu/2), half of the draws on either side."""
    most = float(norm.cdf(mu / 2))
    assert not too_many_right(np.array([mu]), 1, 1, 1, most - 1e-9)[0]
    assert too_many_right(np.array([mu]), 1, 1, 1, most + 1e-9)[0]


@pytest.mark.parametrize("number", [2, 5, 40])
def test_independent_canaries_are_not_refuted_and_half_their_noise_is(number: int) -> None:
    """Noise of its own for each: the number of right guesses is binomial, with all its chances known."""
    refuted = 0
    for mu in (0.2, 1.0, 3.0):
        for right in range(number // 2 + 1, number + 1):
            chances = [float(binom.sf(right - 1, number, norm.cdf(m / 2))) for m in (mu, 4 * mu)]
            assert not too_many_right(np.array([mu]), number, number, right, chances[0])[0]
            refuted += bool(too_many_right(np.array([mu]), number, number, right, chances[1])[0])
    assert refuted > number // 2


def told(mu: float, number: int, seed: int) -> Canaries:
    generator = np.random.default_rng(seed)
    bits = generator.integers(0, 2, number)
    return Canaries(bits + generator.normal(size=number) / mu, bits)


def test_the_bound_of_one_run_is_below_mu_and_above_a_third_of_it() -> None:
    for mu in (0.5, 1.5, 4.0):
        bounds = [told(mu, 4000, seed).mu_at_least(0.01) for seed in range(5)]
        assert max(bounds) < mu
        assert np.mean(bounds) > mu / 3
    assert told(4 * 0.5, 4000, 0).mu_at_least(0.001) > 0.5  # a quarter of the noise
    assert told(0.5, 4000, 0).mu_at_least(0.001) < 0.5
    hidden = told(1e-6, 4000, 0)  # bits that do not show prove nothing
    assert hidden.mu_at_least(0.01) == 0
    assert Canaries(hidden.positions, 1 - (hidden.positions > 0.5).astype(np.int64)).mu_at_least(0.01) == 0
