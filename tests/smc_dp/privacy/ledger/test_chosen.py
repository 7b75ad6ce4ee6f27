"""Figures that are chosen in view of earlier answers: where the limit is kept, and where it is not claimed to be.

What is computed is delta itself, the mean of (1 - e^(epsilon - Z))_+ over the privacy loss Z of the whole, by sums over
a grid of losses; whoever chooses takes, for each loss so far, what comes to most.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from smc_dp.privacy.gaussian import epsilon_of
from smc_dp.privacy.ledger import report
from smc_dp.privacy.ledger.composition import CURVE, kept_however_chosen, total
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.ledger import Ledger

DELTA = Fraction(1, 10**3)
FIRST, MORE = Fraction(1, 2), Fraction(1, 2)  # mu of the first release and of what may follow
Array = NDArray[np.float64]
LOSSES = np.linspace(-8, 8, 20_001)


def gauss(mu: Fraction) -> Guarantee:
    epsilon = epsilon_of(mu**2, DELTA)
    assert epsilon is not None
    return Guarantee("zcdp", epsilon, DELTA, "record", "replace", mu**2 / 2, mu)


def after(mu: float, threshold: Any) -> Array:
    """delta of Gaussian noise of this mu at a threshold; with mu 0 nothing is released."""
    threshold = np.asarray(threshold, dtype=float)
    if mu == 0:
        nothing: Array = np.maximum(0.0, 1 - np.exp(threshold))
        return nothing
    far, near = -threshold / mu - mu / 2, -threshold / mu + mu / 2
    found: Array = norm.cdf(near) - np.exp(threshold + norm.logcdf(far))
    return found


def after_coin(epsilon: float, threshold: Array) -> Array:
    """delta of a coin that lies with odds e^epsilon, which is the worst pure release."""
    lies = 1 / (1 + math.exp(epsilon))
    found: Array = (1 - lies) * after(0, threshold - epsilon) + lies * after(0, threshold + epsilon)
    return found


def averaged(values: Array) -> float:
    """The mean over the loss of the first release."""
    mu = float(FIRST)
    weights = norm.pdf(LOSSES, mu**2 / 2, mu)
    return float((weights * values).sum() / weights.sum())


def limit() -> float:
    found = total([gauss(FIRST), gauss(MORE)], DELTA)
    assert found is not None
    assert found.how == CURVE
    return float(found.epsilon)


def test_gaussian_releases_of_any_size_chosen_from_the_loss_so_far_keep_delta() -> None:
    """None more, one of what is left, or one of half of that: at every loss that which comes to most."""
    epsilon, left = limit(), float(MORE)
    chosen = np.max([after(mu, epsilon - LOSSES) for mu in (0.0, left / 2, left / math.sqrt(2), left)], axis=0)
    assert averaged(after(left, epsilon - LOSSES)) == pytest.approx(float(DELTA), rel=1e-3)
    assert averaged(chosen) <= float(DELTA) * (1 + 1e-6)


@pytest.mark.parametrize("steps", [2, 5])
def test_pure_releases_that_are_chosen_keep_their_sum(steps: int) -> None:
    """At most their sum is lost at any answer, whichever comes after which."""
    sizes = [Fraction(1, 10 * n) for n in range(1, steps + 1)]
    found = total([Guarantee("pure", e, Fraction(0), "record", "replace") for e in sizes], Fraction(0))
    assert found is not None
    worst = after_coin(float(sizes[0]), np.array([float(found.epsilon - sum(sizes[1:], Fraction(0)))]))
    assert worst[0] <= 1e-12


def test_what_is_not_claimed_a_mixture_that_is_chosen_from_the_loss_passes_delta() -> None:
    """As much as the limit leaves, as a pure release or as a Gaussian one: each alone keeps delta, the choice not."""
    epsilon, left = limit(), float(MORE)
    rest = Fraction(0)
    for step in (Fraction(1, 10**n) for n in range(1, 5)):  # the largest that would be charged, to four digits
        while (found := total([gauss(FIRST), pure(rest + step)], DELTA)) and float(found.epsilon) <= epsilon:
            rest += step
    ways = after(left, epsilon - LOSSES), after_coin(float(rest), epsilon - LOSSES)
    assert all(averaged(way) <= float(DELTA) * (1 + 1e-3) for way in ways)
    chosen = averaged(np.maximum(*ways))
    assert float(DELTA) * 1.02 < chosen < 2 * float(DELTA)


@pytest.mark.parametrize(
    ("releases", "delta", "kept"),
    [
        ([], DELTA, True),
        ([gauss(FIRST), gauss(MORE)], DELTA, True),
        ([gauss(FIRST), replace(gauss(MORE), mu=None)], DELTA, False),
        ([Guarantee("approx", FIRST, DELTA / 2, "record", "replace")] * 2, DELTA, True),
        ([Guarantee("pure", FIRST, Fraction(0), "record", "replace")] * 2, Fraction(0), True),
        ([Guarantee("pure", FIRST, Fraction(0), "record", "replace")] * 2, DELTA, False),
        ([gauss(FIRST), Guarantee("pure", FIRST, Fraction(0), "record", "replace")], DELTA, False),
        ([gauss(FIRST), Guarantee("approx", FIRST, DELTA / 2, "record", "replace")], DELTA, False),
    ],
)
def test_of_which_accounts_it_is_claimed(releases: list[Guarantee], delta: Fraction, kept: bool) -> None:
    assert kept_however_chosen(releases, delta) == kept


def test_an_account_of_which_it_is_not_claimed_says_so(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "x", Fraction(9), DELTA) as ledger:
        for number, (release, said) in enumerate(((gauss(FIRST), False), (pure(FIRST), True))):
            ledger.reserve(f"{number:064x}", "m", release, f"{number:064x}")
            lines = [block.text for block in report.checked(ledger.history())]
            assert any("chosen in view of an earlier release" in line for line in lines) == said


def pure(epsilon: Fraction) -> Guarantee:
    return Guarantee("pure", max(epsilon, Fraction(1, 10**9)), Fraction(0), "record", "replace")
