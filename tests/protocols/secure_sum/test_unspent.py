"""What a state keeps of a session of sums: no addends of a sum that is over."""

from __future__ import annotations

import pytest
from support.sums import parameters

from protocols.secure_sum import unspent
from protocols.secure_sum.values import Addends

P = parameters(4, 1, 1, (1, 1, 1))
FIRST, LATER = Addends(((1,), (2,)), ((3,), (4,))), Addends(((5,),), ((6,),))


@pytest.mark.parametrize(
    ("over", "first", "later"),
    [
        (0, FIRST, LATER),
        (1, Addends(((), (2,)), ((), (4,))), LATER),
        (2, Addends(((), ()), ((), ())), LATER),
        (3, Addends(((), ()), ((), ())), Addends(((),), ((),))),
    ],
)
def test_what_was_added_to_a_sum_that_is_over_is_not_kept(over: int, first: Addends, later: Addends) -> None:
    results: list[object] = ["setup", *range(over)]
    assert unspent(P, "P1", (P, FIRST, LATER), results) == ((P, first, later), results)
