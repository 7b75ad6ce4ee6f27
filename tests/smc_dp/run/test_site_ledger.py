"""One party's own ledger in a session: charged once, void or released once, however often it is asked."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest
from support.audited import agreement, hospitals

from smc_dp.data.fingerprint import fingerprint_data
from smc_dp.data.table import Table
from smc_dp.data.table_reader import read_table
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.history import OverBudgetError
from smc_dp.privacy.ledger.ledger import Ledger, run_key
from smc_dp.privacy.target import Target
from smc_dp.run.budget_charge import RELEASED, GivenUp, OpenCharge
from smc_dp.run.site_ledger import SiteLedger
from tests.support.refusals import refused

CASE = hospitals((12, 8, 20), 2)
ROWS = CASE.federation.parties[0]
AGREED = agreement(CASE, Target(Fraction("0.4")), seeded=False)
SESSION, OTHER = b"s" * 32, b"t" * 32
LEFT = OpenCharge().leaving("sum 0")
BACK = LEFT.disowned("sum 0")
ENDS = ("refunded", "released", "no member", "no member that paid")


@pytest.fixture
def own(tmp_path: Path) -> SiteLedger:
    return made(tmp_path)


def made(folder: Path) -> SiteLedger:
    Ledger.create(folder / "own.ledger", Fraction(1)).close()
    (folder / "release.json").write_text("{}")
    return SiteLedger(folder / "own.ledger")


def states(own: SiteLedger) -> list[str]:
    with Ledger.open(own.path) as ledger:
        return [entry.state for entry in ledger.history().entries][1:]


def end(own: SiteLedger, how: str) -> None:
    """Any of the ways in which a session ends for a party."""
    release = own.path.with_name("release.json")
    if how == "refunded":
        own.refund(SESSION, GivenUp(BACK))
    else:
        charge = LEFT if how == "no member that paid" else BACK
        own.released(SESSION, release, charge, member=how == "released")


WRITTEN = {"refunded": ["refunded"], "released": ["released"], "no member": ["refunded"], "no member that paid": []}


def test_no_charge_from_before_a_recovery_is_refunded(own: SiteLedger) -> None:
    """The lost ledger may have known of a release that the copy does not know of."""
    charge = Guarantee("pure", Fraction(1, 10), Fraction(0), "record", "replace")
    own.reserve(SESSION, AGREED, ROWS)
    with Ledger.open(own.path) as ledger:
        ledger.recover(lambda _: [("recovered 1: 2 charges", run_key(OTHER, RELEASED), charge)])
    for session in (SESSION, OTHER):
        own.refund(session, GivenUp(OpenCharge()))
    assert states(own) == ["reserved", "reserved"]


@pytest.mark.parametrize("how", ENDS)
def test_whatever_is_asked_again_is_found_done(own: SiteLedger, how: str) -> None:
    number = own.reserve(SESSION, AGREED, ROWS)
    assert own.reserve(SESSION, AGREED, ROWS) == number == 2
    assert states(own) == ["reserved"]
    for _ in range(2):
        end(own, how)
        assert states(own) == ["reserved", *WRITTEN[how]]
    with Ledger.open(own.path) as ledger:
        entry = ledger.history().entries[1]
        assert entry.run == run_key(SESSION, RELEASED)
        assert (entry.mechanism, entry.epsilon) == ("pathak2010", Fraction(2, 5))
        assert entry.dataset == ledger.dataset(partial(fingerprint_data, held=ROWS))
    own.reserve(OTHER, AGREED, ROWS)
    assert states(own) == ["reserved", *WRITTEN[how], "reserved"]


@pytest.mark.parametrize("how", ENDS)
def test_a_session_has_one_end(own: SiteLedger, how: str) -> None:
    """Whatever comes after it: another end, another release, or the session again once it was given up."""
    own.reserve(SESSION, AGREED, ROWS)
    end(own, how)
    before = states(own)
    for other in ENDS:
        if WRITTEN[other] not in ([], WRITTEN[how]) and WRITTEN[how]:
            with refused("ledger.other_outcome", number=2, state=WRITTEN[how][0], wanted=WRITTEN[other][0]):
                end(own, other)
    if how == "released":
        own.path.with_name("release.json").write_text("{ }")
        with refused("ledger.other_release", number=2):
            end(own, how)
    if WRITTEN[how] == ["refunded"]:
        with refused("ledger.session_given_up", number=2):
            own.reserve(SESSION, AGREED, ROWS)
        with Ledger.open(own.path) as ledger:  # twin: the ledger alone charges it anew, and the session would go on
            ledger.reserve(
                ledger.dataset(partial(fingerprint_data, held=ROWS)),
                AGREED.protocol,
                price(own),
                run_key(SESSION, RELEASED),
            )
        assert states(own) == [*before, "reserved"]
    else:
        assert own.reserve(SESSION, AGREED, ROWS) == 2
        assert states(own) == before


def price(own: SiteLedger) -> Guarantee:
    with Ledger.open(own.path) as ledger:
        return ledger.history().entries[1].guarantee


def test_what_was_not_charged_has_no_end_to_write(own: SiteLedger) -> None:
    own.refund(SESSION, GivenUp(OpenCharge()))
    assert states(own) == []
    with refused("ledger.session_unknown"):
        end(own, "released")


def test_it_says_before_what_a_reservation_would(own: SiteLedger, tmp_path: Path) -> None:
    own.check(AGREED)
    assert states(own) == []
    much = replace(AGREED, target=Target(Fraction("1.5")))
    nothing = agreement(CASE, seeded=True)
    for asked in (own.check, lambda agreed: own.reserve(SESSION, agreed, ROWS)):
        with refused("budget.passed", error=OverBudgetError, at="own.ledger"):
            asked(much)
        with refused("ledger.no_price"):
            asked(nothing)
    assert states(own) == []
    with refused("ledger.not_readable", at="no.ledger"):
        SiteLedger(tmp_path / "no.ledger").check(AGREED)


def test_one_session_is_about_one_table_and_one_price(own: SiteLedger, tmp_path: Path) -> None:
    """A table is named as it was read, before any bounds; another one under the same session is refused."""
    table = read(tmp_path, "age,outcome\n1,no\n2,yes\n")
    own.reserve(SESSION, AGREED, table)
    assert own.reserve(SESSION, AGREED, read(tmp_path, "outcome,age\nyes,2.0\nno,1\n")) == 2  # the same table
    for agreed, held, what in (
        (AGREED, read(tmp_path, "age,outcome\n1,no\n3,yes\n"), "data set"),
        (replace(AGREED, target=Target(Fraction("0.3"))), table, "guarantee"),
    ):
        with refused("ledger.same_run_other_release", number=2, what=what):
            own.reserve(SESSION, agreed, held)
    assert states(own) == ["reserved"]


def read(folder: Path, text: str) -> Table:
    (folder / "own.csv").write_text(text)
    return read_table(folder / "own.csv", "own")
