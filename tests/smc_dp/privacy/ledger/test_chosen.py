"""Figures that are chosen in view of earlier answers: the limit is kept, and by the smallest of all bounds it is not.

What is computed is delta itself, the mean of (1 - e^(epsilon - Z))_+ over the privacy loss Z of the whole, by sums over
a grid of losses; whoever chooses takes, for each loss so far, what comes to most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
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
from smc_dp.privacy.ledger.composition import (
    _PURE_AS_CURVE,
    CHOSEN,
    CURVE,
    Total,
    _bounds,
    holds_however_chosen,
    total,
)
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.history import RECORDS
from smc_dp.privacy.ledger.ledger import Ledger
from tests.support import guarantees
from tests.support.guarantees import approx, bound, curve, pure

DELTA = Fraction(1, 10**3)
FIRST, MORE = Fraction(1, 2), Fraction(1, 2)  # mu of the first release and of what may follow
Array = NDArray[np.float64]
LOSSES = np.linspace(-8, 8, 20_001)


def gauss(mu: Fraction) -> Guarantee:
    return guarantees.gauss(mu, DELTA)


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
    found = bound([gauss(FIRST), gauss(MORE)], DELTA)
    assert found.how == CURVE
    return float(found.epsilon)


def test_gaussian_releases_of_any_size_chosen_from_the_loss_so_far_keep_delta() -> None:
    """None more, one of what is left, or one of half of that: at every loss that which comes to most."""
    epsilon, left = limit(), float(MORE)
    chosen = np.max([after(mu, epsilon - LOSSES) for mu in (0.0, left / 2, left / math.sqrt(2), left)], axis=0)
    assert averaged(after(left, epsilon - LOSSES)) == pytest.approx(float(DELTA), rel=1e-3)
    assert averaged(chosen) <= float(DELTA) * (1 + 1e-6)


def largest_pure(bound: Callable[[list[Guarantee]], Total | None]) -> float:
    """The largest pure release that a limit leaves where one more Gaussian release would fill it, to four digits."""
    epsilon, rest = limit(), Fraction(0)
    for step in (Fraction(1, 10**n) for n in range(1, 5)):
        while (found := bound([gauss(FIRST), pure(rest + step)])) and float(found.epsilon) <= epsilon:
            rest += step
    return float(rest)


def chosen_mixture(rest: float) -> float:
    """delta of whoever spends what the limit leaves as a pure release or as a Gaussian one, whichever comes to more."""
    threshold, left = limit() - LOSSES, float(MORE)
    ways = after(0, threshold), after(left / 2, threshold), after(left, threshold), after_coin(rest, threshold)
    return averaged(np.max(ways, axis=0))


def test_a_mixture_that_is_chosen_from_the_loss_so_far_keeps_delta() -> None:
    rest = largest_pure(lambda releases: total(releases, DELTA))
    assert rest > 0.05
    assert chosen_mixture(rest) <= float(DELTA) * (1 + 1e-6)


def test_pure_releases_before_the_first_gaussian_one_add_as_they_are() -> None:
    """Whatever they answered, delta of the rest is that of what is left of epsilon."""
    found, alone = (bound([*before, gauss(FIRST), gauss(MORE)], DELTA) for before in ([pure(FIRST), pure(MORE)], []))
    assert found.epsilon == FIRST + MORE + alone.epsilon
    later = bound([gauss(FIRST), pure(FIRST), pure(MORE), gauss(MORE)], DELTA)
    assert (later.how, later.epsilon > found.epsilon) == (CHOSEN, True)


@pytest.mark.parametrize("given", [Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("size", [Fraction(1, 2), Fraction(2)])
def test_approximate_releases_before_the_first_gaussian_one_leave_the_rest_of_delta(
    given: Fraction, size: Fraction
) -> None:
    """The worst one shows everything with its probability and is else a coin; then come Gaussian ones, or none."""
    first = approx(size, given * DELTA)
    found, left = bound([first, gauss(MORE)], DELTA), curve(MORE**2, DELTA - first.delta)
    assert (found.epsilon, found.how) == (size + left, CURVE)
    lies = 1 / (1 + math.exp(float(size)))
    losses = np.array([float(size), -float(size)])
    rest = np.max([after(mu, float(found.epsilon) - losses) for mu in (0.0, float(MORE))], axis=0)
    shown = float(first.delta) + (1 - float(first.delta)) * float(rest @ [1 - lies, lies])
    assert float(first.delta) < shown <= float(DELTA) * (1 + 1e-6)
    alone = curve(MORE**2, DELTA)  # twin: the Gaussian one has all of delta, the approximate one spends it too
    both = after(float(MORE), float(size + alone) - losses)
    assert float(first.delta) + (1 - float(first.delta)) * float(both @ [1 - lies, lies]) > 1.1 * float(DELTA)


def test_a_pure_release_after_both_has_what_the_approximate_one_left_of_delta() -> None:
    found = bound([approx(FIRST, DELTA / 2), gauss(FIRST), pure(MORE)], DELTA)
    assert (found.epsilon, found.how) == (FIRST + curve(FIRST**2 + _PURE_AS_CURVE * MORE**2, DELTA / 2), CHOSEN)


def test_the_twin_an_approximate_release_after_a_gaussian_one_is_no_filter() -> None:
    """Each of the two ways is within the limit; an account says that it claims nothing of the choice between them."""
    epsilon = limit()
    spare = DELTA * 9 / 10
    one_way = [gauss(FIRST), approx(Fraction(1, 10**6), spare)]
    found = bound(one_way, DELTA)
    assert found.epsilon <= epsilon
    chosen = np.maximum(after(float(MORE), epsilon - LOSSES), float(spare))
    assert averaged(chosen) > 1.5 * float(DELTA)
    assert not holds_however_chosen(one_way)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.create(tmp_path / "x", Fraction(20), DELTA) as made:
        yield made


def reserve(ledger: Ledger, *releases: Guarantee) -> list[int]:
    """The numbers of charges for these releases, each under a key of its own."""
    return [ledger.reserve("0" * 64, "m", g, f"{len(ledger.history().entries):064x}") for g in releases]


def spent(ledger: Ledger, *further: Guarantee) -> Total:
    found = ledger.history().standing(RECORDS, *further).total
    assert found is not None
    return found


def test_an_approximate_reservation_given_up_after_a_gaussian_answer_leaves_nothing(ledger: Ledger) -> None:
    number, _ = reserve(ledger, approx(FIRST, DELTA / 2), gauss(FIRST))
    before = spent(ledger, gauss(MORE))
    ledger.settle(number, "refunded")
    assert spent(ledger, gauss(MORE)) == before


def test_a_gaussian_release_that_came_to_nothing_changes_no_order(ledger: Ledger) -> None:
    """Else a pure release that was asked for after it would count as one before it, once its answer is known."""
    number, *_ = reserve(ledger, gauss(FIRST), pure(FIRST), gauss(MORE))
    ledger.settle(number, "refunded")
    wanted = bound([gauss(MORE), pure(FIRST)], DELTA).epsilon
    assert spent(ledger).epsilon == wanted != FIRST + curve(MORE**2, DELTA)


def test_a_pure_reservation_given_up_after_a_gaussian_answer_leaves_nothing(ledger: Ledger) -> None:
    """Else whoever knows the answer carries it out, or gives it up for more Gaussian ones: 1.5 times the delta."""
    numbers = reserve(ledger, pure(FIRST), gauss(FIRST))
    before = spent(ledger, gauss(MORE))
    ledger.settle(numbers[1], "released", "0" * 64)
    ledger.settle(numbers[0], "refunded")
    assert spent(ledger, gauss(MORE)).epsilon == before.epsilon


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_reservations_that_both_came_to_nothing_leave_no_charge(ledger: Ledger, order: tuple[int, int]) -> None:
    """As of two runs that are charged together and stop before anything leaves, whichever is refunded first."""
    numbers = reserve(ledger, pure(FIRST), gauss(FIRST))
    for place in order:
        ledger.settle(numbers[place], "refunded")
    assert spent(ledger).epsilon == 0
    reserve(ledger, gauss(MORE))
    assert spent(ledger).epsilon == curve(MORE**2, DELTA)


def test_a_refund_after_any_answer_since_the_switch_leaves_the_charge(ledger: Ledger) -> None:
    """Also after the answer of a pure release, which counts as a Gaussian one, where the Gaussian came to nothing."""
    numbers = reserve(ledger, pure(FIRST), gauss(FIRST), pure(MORE))
    ledger.settle(numbers[2], "released", "0" * 64)
    ledger.settle(numbers[1], "refunded")
    before = spent(ledger, gauss(MORE))
    ledger.settle(numbers[0], "refunded")
    assert spent(ledger, gauss(MORE)) == before


def test_what_is_left_after_a_gaussian_release_is_said_to_be_no_price_of_a_pure_one(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "x", Fraction(2), DELTA) as ledger:
        ledger.reserve("0" * 64, "m", gauss(Fraction(3, 10)), "0" * 64)
        standing = ledger.history().standing(RECORDS)
        assert standing.left > 1
        assert not ledger.history().standing(RECORDS, pure(Fraction(1, 2))).fits
        lines = [block.text for block in report.check_blocks(ledger.history())]
    assert any("prr_mean" in line for line in lines)


def test_gaussian_releases_come_to_what_their_curve_says_even_where_rho_says_less() -> None:
    """With a variance near the least one, mu^2 is far above 2 rho: of two accounts only one is kept."""
    small = replace(gauss(FIRST), rho=FIRST**2 / 8)
    found = bound([small, small], DELTA)
    assert found.epsilon == epsilon_of(2 * FIRST**2, DELTA)


def test_the_twin_the_smallest_bound_alone_is_no_filter() -> None:
    """Each of the two ways keeps delta, and the choice between them does not."""
    rest = largest_pure(lambda releases: min(_bounds(releases, DELTA), key=lambda found: found.epsilon))
    assert averaged(after_coin(rest, limit() - LOSSES)) <= float(DELTA) * (1 + 1e-3)
    assert float(DELTA) * 1.02 < chosen_mixture(rest) < 2 * float(DELTA)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 4.0])
def test_a_pure_release_is_below_the_curve_of_what_it_counts_as(epsilon: float) -> None:
    mu, thresholds = math.sqrt(float(_PURE_AS_CURVE)) * epsilon, np.linspace(-epsilon, epsilon, 101)
    assert np.all(after_coin(epsilon, thresholds) <= after(mu, thresholds) + 1e-12)
    if epsilon < 0.5:  # near 0 no less than (pi/2)^(1/2) epsilon will do
        assert after_coin(epsilon, np.zeros(1)) > after(0.98 * mu, np.zeros(1))


@pytest.mark.parametrize(
    ("releases", "kept"),
    [
        ([], True),
        ([gauss(FIRST), gauss(MORE)], True),
        ([gauss(FIRST), replace(gauss(MORE), mu=None)], False),
        ([approx(FIRST, DELTA / 2)] * 2, True),
        ([gauss(FIRST), Guarantee("pure", FIRST, Fraction(0), "record", "replace")], True),
        ([gauss(FIRST), approx(FIRST, DELTA / 2)], False),
        ([gauss(FIRST), approx(FIRST, DELTA / 2), gauss(MORE)], False),
        ([approx(FIRST, DELTA / 2), gauss(FIRST)], True),
        ([approx(FIRST, DELTA), Guarantee("pure", FIRST, Fraction(0), "record", "replace")], True),
    ],
)
def test_of_which_accounts_it_is_claimed(releases: list[Guarantee], kept: bool) -> None:
    assert holds_however_chosen(releases) == kept


def test_an_account_of_which_it_is_not_claimed_says_so(ledger: Ledger) -> None:
    for release, said in ((gauss(FIRST), False), (pure(FIRST), False), (approx(FIRST, DELTA / 100), True)):
        reserve(ledger, release)
        lines = [block.text for block in report.check_blocks(ledger.history())]
        assert any("an approximate one" in line for line in lines) == said
