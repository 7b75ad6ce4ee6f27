"""What each kind of statement says of an attacker's certainty, against simulated privacy losses.

A loss is log P(o)/Q(o) of a result o drawn from P. For each kind there is a mechanism of the code, and the worst one
that its figures allow. Generators are seeded. A statement fails where losses beyond its bound are more frequent than it
says by five standard deviations; a sentence is refuted where they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import norm

from protocols.arithmetic.rng import Stream
from smc_dp.privacy import distributed
from smc_dp.privacy.distributed.share_distributions import GammaShares
from smc_dp.privacy.gaussian import loss_tail, mu_for
from smc_dp.privacy.ledger.composition import total
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.noise import DiscreteGaussian
from smc_dp.privacy.output import calibrate_noise, noise_statement
from smc_dp.privacy.statement import GuaranteeKind, PrivacyStatement, round_up
from smc_dp.privacy.target import Target, epsilon_for

DRAWS = 400_000
DEVIATIONS = 5

Losses = NDArray[np.float64]


def states(
    kind: GuaranteeKind, epsilon: float, delta: float, rho: float | None = None, mu: float | None = None
) -> PrivacyStatement:
    return PrivacyStatement(kind, epsilon, delta, "record", "replace", "anybody", (), rho, mu)


def seeded() -> np.random.Generator:
    return np.random.default_rng(20)


def beyond(losses: Losses, most: float) -> int:
    """How many losses are beyond, either way, apart from what floats lose."""
    return int((np.abs(losses) > most + 1e-9).sum())


def refutes(losses: Losses, most: float, missed: float) -> bool:
    """Whether losses are beyond `most` more often than with this probability."""
    expected = missed * losses.size
    return beyond(losses, most) > expected + DEVIATIONS * math.sqrt(expected)


def gaussian_losses(mu: float) -> Losses:
    """Of continuous noise on what moves by mu deviations."""
    losses: Losses = mu * seeded().standard_normal(DRAWS) + mu**2 / 2
    return losses


def threshold(mu: float, epsilon: float) -> float:
    """The t at which Phi(mu - t) is e^epsilon times Phi(-t)."""
    end = epsilon / mu + mu / 2 + 1
    return float(brentq(lambda t: norm.logcdf(mu - t) - norm.logcdf(-t) - epsilon, -40, end))


def threshold_losses(mu: float, epsilon: float) -> Losses:
    """Of the answer whether such noise passes a threshold: the one at which the odds are e^epsilon."""
    t = threshold(mu, epsilon + 1e-6)
    above = seeded().random(DRAWS) < norm.cdf(mu - t)
    odds = float(norm.logcdf(mu - t) - norm.logcdf(-t)), float(norm.logcdf(t - mu) - norm.logcdf(t))
    losses: Losses = np.array(odds)[1 - above.astype(int)]
    return losses


def stopping_losses(mu: float, epsilon: float, steps: int = 200) -> Losses:
    """Of Gaussian answers, whose mu^2 add up to mu^2, to somebody who asks no more once the loss has passed epsilon."""
    rng, losses, step = seeded(), np.zeros(DRAWS // 4), mu / math.sqrt(steps)
    for _ in range(steps):
        going = losses <= epsilon
        losses[going] += step * rng.standard_normal(int(going.sum())) + step**2 / 2
    return losses


def revealing_losses(epsilon: float, delta: float) -> Losses:
    """Of the (epsilon, delta)-private answer that is beyond 2 epsilon as often as can be."""
    beyond = 2 * epsilon + 1e-6
    rate = delta / (1 - math.exp(epsilon - beyond))
    rest = math.log((1 - rate) / (1 - rate * math.exp(-beyond)))
    return np.where(seeded().random(DRAWS) < rate, beyond, rest)


def discrete_gaussian_losses(law: DiscreteGaussian, D: int) -> Losses:
    """Of noise as it is drawn, in one coordinate that moves by D: ((z + D)^2 - z^2)/(2 s^2)."""
    rng = Stream.insecure_from_seed("losses")
    drawn = np.array(law.sample(rng), dtype=float)
    return (2 * D * drawn + D * D) / (2 * float(law.variance))


def k_norm_losses(made: distributed.SharedNoise) -> Losses:
    """Of the sum of three parties' shares of noise that is K-norm noise, in one coordinate."""
    rng = Stream.insecure_from_seed("shares")
    drawn = np.array([sum(made.distribution.share(rng)[0] for _ in range(3)) for _ in range(800)], dtype=float)
    assert isinstance(made.distribution, GammaShares)
    losses: Losses = (np.abs(drawn + made.sensitivity) - np.abs(drawn)) / float(made.distribution.scale)
    return losses


def of_mu(epsilon: float, delta: float = 1e-5) -> PrivacyStatement:
    mu = float(mu_for(Fraction(epsilon), Fraction(delta)))
    return states("zcdp", epsilon, delta, rho=mu**2 / 2, mu=mu)


def of_rho(rho: float, delta: float = 1e-3) -> PrivacyStatement:
    return states("zcdp", round_up(epsilon_for(Fraction(rho), Fraction(delta))), delta, rho=rho)


def of_a_ledger(guarantees: list[Guarantee], delta: Fraction) -> PrivacyStatement:
    """What an estimator states of all releases in its ledger."""
    found = total(guarantees, delta)
    return states("approx", round_up(found.epsilon), round_up(found.delta))


def ledger() -> tuple[PrivacyStatement, Losses]:
    """Four Gaussian releases and three pure ones, coins that lie with odds e^epsilon."""
    mu, epsilon, delta = 0.3, 0.05, Fraction(1, 10**3)
    gauss = Guarantee("zcdp", Fraction(2), delta, "record", "replace", Fraction(mu) ** 2 / 2, Fraction(mu))
    pure = Guarantee("pure", Fraction(epsilon), Fraction(0), "record", "replace")
    coins = seeded().random((3, DRAWS)) < 1 / (1 + math.exp(-epsilon))
    of_coins = np.where(coins, -epsilon, epsilon).sum(axis=0)
    return of_a_ledger([gauss] * 4 + [pure] * 3, delta), gaussian_losses(2 * mu) + of_coins


def pure() -> tuple[PrivacyStatement, Losses]:
    noise = calibrate_noise(Target(Fraction(1)), 1, Fraction(1))
    drawn = seeded().laplace(size=DRAWS)
    return noise_statement(noise, Target(Fraction(1)), "record", "replace", "anybody"), np.abs(drawn + 1) - np.abs(
        drawn
    )


def gauss() -> tuple[PrivacyStatement, Losses]:
    target = Target(Fraction(1, 10), noise="gauss", delta=Fraction(1, 100))
    noise = calibrate_noise(target, 20_000, Fraction(1))
    assert isinstance(noise.distribution, DiscreteGaussian)
    return noise_statement(noise, target, "record", "replace", "anybody"), discrete_gaussian_losses(
        noise.distribution, noise.sensitivity
    )


def with_mu(losses: Callable[[float, float], Losses], epsilon: float) -> tuple[PrivacyStatement, Losses]:
    said = of_mu(epsilon)
    assert said.mu is not None
    return said, losses(said.mu, epsilon)


def vg() -> tuple[PrivacyStatement, Losses]:
    target = Target(Fraction(1), noise="vg")
    made = distributed.calibrate_shares(target, 1, Fraction(1), largest=Fraction(1), parties=3, honest=3)
    return distributed.shared_statement(made, target, "record", "replace", "anybody"), k_norm_losses(made)


CASES: dict[str, Callable[[], tuple[PrivacyStatement, Losses]]] = {
    "pure": pure,
    "gauss, as it is drawn": gauss,
    "mu": lambda: with_mu(lambda mu, _: gaussian_losses(mu), 0.1),
    "mu, a threshold": lambda: with_mu(threshold_losses, 0.1),
    "mu, epsilon 1, a threshold": lambda: with_mu(threshold_losses, 1.0),
    "mu, asked until it is passed": lambda: with_mu(stopping_losses, 0.1),
    "rho": lambda: (of_rho(0.02), gaussian_losses(0.2)),
    "vg, as shares are drawn": vg,
    "approx": lambda: (states("approx", 0.5, 1e-3), revealing_losses(0.5, 1e-3)),
    "ledger": ledger,
}


@cache
def case(name: str) -> tuple[PrivacyStatement, Losses]:
    return CASES[name]()


@pytest.mark.parametrize("name", CASES)
def test_no_statement_says_that_larger_losses_are_rarer_than_they_are(name: str) -> None:
    said, losses = case(name)
    loss, posterior, missed = said.certainty
    assert posterior == pytest.approx(math.exp(loss) / (1 + math.exp(loss)))
    assert not refutes(losses, loss, missed)


@pytest.mark.parametrize(
    "name", ["mu", "mu, a threshold", "mu, epsilon 1, a threshold", "mu, asked until it is passed"]
)
def test_delta_is_not_the_probability_of_a_loss_beyond_epsilon(name: str) -> None:
    said, losses = case(name)
    assert refutes(losses, said.certainty.loss, said.delta)


def test_of_an_approximate_statement_nothing_follows_for_epsilon_itself() -> None:
    said, losses = case("approx")
    assert refutes(losses, 0.5, said.delta)
    assert refutes(losses, 2 * 0.5, said.delta)  # e^epsilon/(e^epsilon - 1) times as often
    assert said.certainty.loss == 2 * 0.5
    assert states("approx", 0.5, 1e-30).certainty.loss == 0.51  # then a hundred deltas are nothing


@pytest.mark.parametrize("name", ["mu, a threshold", "mu, asked until it is passed"])
def test_the_tail_of_a_gaussian_does_not_bound_what_follows_from_its_curve(name: str) -> None:
    said, losses = case(name)
    mu, epsilon = said.mu or 0.0, said.epsilon or 0.0
    once = norm.cdf(-epsilon / mu + mu / 2)
    assert refutes(losses[losses > -epsilon], epsilon, once)  # which the stated bound survives above


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-5, 1e-12])
def test_the_tail_that_follows_from_a_curve_is_the_least_one(epsilon: float, delta: float) -> None:
    mu = mu_for(Fraction(epsilon), Fraction(delta))
    least = norm.cdf(float(mu) - threshold(float(mu), epsilon))
    assert least <= float(loss_tail(mu, Fraction(epsilon))) <= 1.05 * least


def test_figures_at_the_ends_of_their_ranges() -> None:
    assert loss_tail(Fraction(2) ** 12, Fraction(1)) == 1
    assert loss_tail(Fraction(1, 1 << 64), Fraction(1 << 24)) == Fraction(1, 1 << 1000)
    assert states("approx", 1e-9, 1e-5).certainty.missed == 1
    assert "%" not in states("approx", 1e-9, 1e-5).promise
    assert states("zcdp", 0.1, 1e-5, rho=0.5).certainty.missed == 1  # epsilon below rho


def test_the_sentence_has_the_figures_rounded_up() -> None:
    words = of_mu(1.0).promise
    assert "at most 73.2 % sure" in words
    assert "except with a probability of at most 0.000566." in words  # 1.368 times 4.13e-4
    assert "88.1 % sure" in states("approx", 1.0, 1e-6).promise
    assert "at most 1.8e-06." in states("approx", 1.0, 1e-6).promise  # 1.796e-6
    assert "except" not in states("pure", 1.0, 0.0).promise
