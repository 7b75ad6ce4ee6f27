"""What is made of published sums: each of them is of enough parties, or none is a value."""

from __future__ import annotations

import pytest
from support.sums import parameters

from protocols.curator import CURATOR_NAME
from protocols.secure_sum.messages import PublishedSum
from smc_dp.run.protocols.bindings import BINDINGS

SUMS = BINDINGS["secure_sum"]
ALL, WITHOUT_P4, TWO = 0b1111, 0b0111, 0b0011


def test_every_sum_is_of_enough_parties_or_there_is_no_value() -> None:
    """A sum of fewer has less noise than is stated, whichever of them it is."""
    p = parameters(4, 0, 1, (2, 1, 3))
    S = tuple(range(p.numbers))
    good = {CURATOR_NAME: PublishedSum((WITHOUT_P4, ALL, WITHOUT_P4), S)}
    assert SUMS.value(p, good) == ((0, 1), (2,), (3, 4, 5))
    assert SUMS.members(p, good) == [p.parties[:3], p.parties, p.parties[:3]]
    for r in range(p.R):
        members = tuple(TWO if i == r else ALL for i in range(p.R))
        with pytest.raises(ValueError, match="a sum of 2 parties, wanted at least 3"):
            SUMS.value(p, {CURATOR_NAME: PublishedSum(members, S)})
