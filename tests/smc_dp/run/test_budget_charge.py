"""What becomes of one party's charge: every order in which something leaves, is taken back, or the release comes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, permutations

import pytest

from smc_dp.run.budget_charge import RELEASED, ChargeEnd, GivenUp, OpenCharge

SUMS = ("sum 0", "sum 1")
Happened = tuple[str, ...]
"""In their order, "out X" and "back X": something left under X, or a certificate takes it back."""
EVENTS = (*(f"{what} {label}" for label in SUMS for what in ("out", "back")), f"out {RELEASED}")
ORDERS = [*chain.from_iterable(permutations(EVENTS, n) for n in range(len(EVENTS) + 1))]


def after(happened: Happened) -> OpenCharge:
    charge = OpenCharge()
    for what, _, label in (event.partition(" ") for event in happened):
        charge = charge.leaving(label) if what == "out" else charge.disowned(label)
    return charge


def is_possible(happened: Happened) -> bool:
    """A certificate is about what has left."""
    return all(event.replace("back", "out") in happened[:i] for i, event in enumerate(happened) if "back" in event)


def is_free(happened: Happened) -> bool:
    """Said apart from the rule: everything that left was taken back."""
    return all(event.replace("out", "back") in happened for event in happened if "out" in event)


def fault(rule: Callable[[OpenCharge], bool]) -> Happened | None:
    """An order in which this rule makes something void that has left, or keeps what has not."""
    return next((h for h in ORDERS if is_possible(h) and rule(after(h)) != is_free(h)), None)


def may_be_void(charge: OpenCharge) -> bool:
    try:
        GivenUp(charge)
    except ValueError:
        return False
    return True


def test_a_charge_is_void_exactly_where_all_that_left_was_taken_back() -> None:
    assert len(ORDERS) == 326
    assert fault(may_be_void) is None
    assert fault(lambda charge: charge.end(member=False) == "refunded") is None
    for charge in map(after, filter(is_possible, ORDERS)):
        assert charge.end(member=True) == "released"
        assert charge.end(member=False) in ("refunded", None)


def test_nothing_is_taken_back_that_has_not_left_or_was_published() -> None:
    for happened in [h for h in ORDERS if not is_possible(h)]:
        with pytest.raises(ValueError, match=r"sum \d cannot be taken back: it has not left"):
            after(happened)
    for make in (
        lambda: OpenCharge().leaving(RELEASED).disowned(RELEASED),
        lambda: OpenCharge(frozenset({RELEASED}), frozenset({RELEASED})),  # as a store could hand it in
    ):
        with pytest.raises(ValueError, match="release cannot be taken back"):
            make()


def test_steps_that_are_done_again_after_a_crash_come_to_the_same() -> None:
    """A role that is run again says again what it spent, and what became void; a certificate stays one."""
    for happened in filter(is_possible, ORDERS):
        for n in range(len(happened)):
            assert after((*happened, *happened[n:])) == after(happened)


def test_a_given_up_charge_names_what_stands() -> None:
    with pytest.raises(ValueError, match="a charge stays: release, sum 1 has left"):
        GivenUp(after(("out sum 0", "out sum 1", "back sum 0", f"out {RELEASED}")))
    ends: set[ChargeEnd | None] = {OpenCharge().end(member) for member in (True, False)}
    assert ends == {"released", "refunded"}
