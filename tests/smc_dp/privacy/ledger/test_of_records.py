"""What releases for one record more or less, and for parties, cost one record that is replaced."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from smc_dp.privacy.gaussian import MOST_MU, epsilon_of
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.history import RECORDS, History, Limit
from smc_dp.privacy.target import epsilon_for
from tests.support.guarantees import bound, curve, pure

DELTA = Fraction(1, 10**6)


def more_or_less(kind: Any, epsilon: Fraction, delta: Fraction = Fraction(0), *figures: Fraction) -> Guarantee:
    return Guarantee(kind, epsilon, delta, "record", "addremove", *figures)


def replaced(guarantee: Guarantee) -> Guarantee:
    """What it costs a record that is replaced, where that is something."""
    found = guarantee.of_records
    assert found is not None
    return found


def hockey_stick(P: Any, Q: Any, epsilon: float) -> float:
    return float(np.maximum(P - math.exp(epsilon) * Q, 0).sum())


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_a_replaced_record_loses_twice_the_epsilon_of_one_more_or_less_and_no_less_can_be_said(epsilon: float) -> None:
    """Counts with geometric noise: without the record, with it, and with the other one in its place."""
    counts = np.arange(-60, 61)
    at = {shift: np.exp(-epsilon * np.abs(counts - shift)) * math.tanh(epsilon / 2) for shift in (-1, 0, 1)}
    said = replaced(more_or_less("pure", Fraction(epsilon)))
    for one, other, loss in ((0, 1, epsilon), (-1, 1, float(said.epsilon))):
        assert np.max(np.log(at[one] / at[other])) == pytest.approx(loss)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("delta", [1e-3, 0.05])
def test_delta_grows_by_1_and_e_to_the_epsilon(epsilon: float, delta: float) -> None:
    """Three data sets in a row, each step of them as far as (epsilon, delta) goes: both figures are reached."""
    said = replaced(more_or_less("approx", Fraction(epsilon), Fraction(delta)))
    grown = math.exp(epsilon)
    event = {"F": 1e-3}  # the probability of an event in the last, in the middle and in the first data set
    event["E"] = grown * event["F"] + delta
    event["D"] = grown * event["E"] + delta
    worlds = {name: np.array([p, 1 - p]) for name, p in event.items()}
    for one, other in (("D", "E"), ("E", "F")):
        assert hockey_stick(worlds[one], worlds[other], epsilon) == pytest.approx(delta)
    assert hockey_stick(worlds["D"], worlds["F"], float(said.epsilon)) == pytest.approx(float(said.delta))


def test_mu_doubles_and_rho_is_four_times_as_large() -> None:
    mu = Fraction(1, 8)
    epsilon = curve(mu**2, DELTA)
    said = more_or_less("zcdp", epsilon, DELTA, mu**2 / 2, mu).of_records
    assert said == Guarantee("zcdp", epsilon_for(2 * mu**2, DELTA), DELTA, *RECORDS, 2 * mu**2, 2 * mu)
    found = bound([said], DELTA)
    assert found.epsilon == epsilon_of(4 * mu**2, DELTA)
    assert found.epsilon > 2 * epsilon  # at the same delta: group privacy of the pair would need a larger one


def test_what_protects_a_party_protects_its_records_and_what_protects_them_is_as_it_is() -> None:
    assert pure(1, "party", "party").of_records == pure(1) == pure(1).of_records


@pytest.mark.parametrize(
    "nothing",
    [
        more_or_less("approx", Fraction(20), Fraction(1, 10**8)),
        more_or_less("approx", Fraction(10**99), Fraction(1, 10**100)),
        more_or_less("pure", Fraction(10**100)),
        more_or_less("zcdp", Fraction(1), DELTA, Fraction(10**100)),
    ],
)
def test_what_comes_to_nothing_passes_every_limit(nothing: Guarantee) -> None:
    assert nothing.of_records is None
    history = History.begin("e" * 64, Limit(Fraction(10**200), Fraction(1, 2)), "2026-01-31T12:00:00Z")
    assert history.standing(RECORDS, nothing).total is None


def test_a_curve_that_doubles_beyond_reach_is_counted_by_rho() -> None:
    mu = Fraction(MOST_MU)
    said = replaced(more_or_less("zcdp", Fraction(10**8), DELTA, mu**2 / 2, mu))
    assert (said.mu, said.rho) == (None, 2 * mu**2)
