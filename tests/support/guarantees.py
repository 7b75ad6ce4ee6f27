"""Guarantees that tests of ledgers charge, and what they come to."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from smc_dp.privacy.gaussian import epsilon_of
from smc_dp.privacy.ledger.composition import Total, total
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.target import epsilon_for


def pure(epsilon: object, unit: Any = "record", adjacency: Any = "replace") -> Guarantee:
    return Guarantee("pure", Fraction(str(epsilon)), Fraction(0), unit, adjacency)


def approx(epsilon: object, delta: object) -> Guarantee:
    return Guarantee("approx", Fraction(str(epsilon)), Fraction(str(delta)), "record", "replace")


def gauss(mu: object, delta: Fraction) -> Guarantee:
    """What discrete Gaussian noise of so many grid units states that the 9 is nothing."""
    exact = Fraction(str(mu))
    epsilon = epsilon_of(exact**2, delta) or epsilon_for(exact**2 / 2, delta)
    return Guarantee("zcdp", epsilon, delta, "record", "replace", exact**2 / 2, exact)


def bound(releases: Iterable[Guarantee], delta: Fraction) -> Total:
    """What releases come to at this delta, where they have a bound."""
    found = total(releases, delta)
    assert found is not None
    return found


def curve(square: Fraction, delta: Fraction) -> Fraction:
    """The epsilon of a Gaussian with this mu^2, where its curve has one."""
    found = epsilon_of(square, delta)
    assert found is not None
    return found
