"""Guarantees that tests of ledgers charge, and what they come to."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

from smc_dp.privacy.gaussian import epsilon_of
from smc_dp.privacy.ledger.composition import Total, total
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.history import History
from smc_dp.privacy.ledger.ledger import Ledger
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


def charge(path: Path, times: int = 1) -> History:
    """Charge the ledger in a file so many times with very little, and return its history."""
    with Ledger.open(path) as ledger:
        for _ in range(times):
            ledger.reserve("a" * 64, "newton", pure("1/1000"), secrets.token_hex(32))
        return ledger.history()
