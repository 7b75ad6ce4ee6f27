"""Budget before and after a run, out of each party's ledger or an export of it, which a stranger may have written."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support.audited import Folders, hospitals, long_term, sum_agreement
from support.audits import OF_THE_RUN, audit

from smc_dp.audit.run import budget_report, budgets
from smc_dp.audit.run.budgets import PartyBudget
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.audit.run.run_summary import AuditedRun
from smc_dp.privacy.ledger import composition, export
from smc_dp.privacy.ledger.head import HeadRequest
from smc_dp.privacy.ledger.history import History
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.run.budget_charge import charge_of_run
from smc_dp.run.ledgers import Ledgers
from smc_dp.run.release import RELEASE
from tests.support.refusals import refused

PARTIES = ("north-0", "north-1", "north-2")


@pytest.fixture(scope="module")
def audited(charged: Folders) -> AuditedRun:
    return AuditedRun.of(load_evidence(charged.run))


@pytest.fixture
def ledgers(charged: Folders, tmp_path: Path) -> Path:
    """A copy, to be changed."""
    return shutil.copytree(charged.run.parent / "ledgers", tmp_path / "ledgers")


def at(folder: Path, party: str) -> Path:
    return Ledgers(folder).path(party)


def exported(folder: Path, party: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(export.to_json(export.read_history(at(folder, party))))
    return found


def by_party(folder: Path, audited: AuditedRun) -> dict[str, PartyBudget]:
    return {found.party: found for found in budgets.read_budgets(folder, audited)}


def test_the_run_in_the_middle_stands_between_its_neighbours(audited: AuditedRun, ledgers: Path) -> None:
    cost = charge_of_run(sum_agreement(hospitals((12, 8, 20), 2), seeded=False))
    found = by_party(ledgers, audited)
    assert tuple(found) == PARTIES
    for budget in found.values():
        assert (budget.charged.entry, budget.charged.outcome, budget.charged.guarantee) == (4, "released", cost)
        for standing, releases in ((budget.charged.before, 1), (budget.charged.after, 2)):  # and a third came later
            assert standing.total == composition.total([cost] * releases, standing.limit.delta)
        assert budget.charged.doubts == ()


def test_an_export_says_the_same_as_its_ledger(audited: AuditedRun, ledgers: Path) -> None:
    before = by_party(ledgers, audited)
    at(ledgers, "north-1").with_suffix(".json").write_text(json.dumps(exported(ledgers, "north-1")))
    with refused("ledgers.ledger_and_export", party="north-1"):
        budgets.read_budgets(ledgers, audited)
    at(ledgers, "north-1").unlink()
    assert by_party(ledgers, audited) == before


def test_a_reservation_that_came_to_nothing_costs_nothing(audited: AuditedRun, ledgers: Path) -> None:
    with Ledger.open(at(ledgers, "north-0")) as ledger:
        history = ledger.history()
    reserved = replace(history, entries=history.entries[:4])
    pending, refunded = (
        budgets.find_charge(found, audited)
        for found in (
            reserved,
            History(
                reserved.start, (*reserved.entries, reserved.settled(4, "refunded", None, history.entries[3].date))
            ),
        )
    )
    assert (pending.outcome, refunded.outcome) == ("reserved", "refunded")
    assert pending.before == refunded.before == refunded.after
    assert pending.after.left < pending.before.left


def test_an_entry_that_is_not_as_the_release_is_doubted(audited: AuditedRun, ledgers: Path) -> None:
    other = replace(audited, files={RELEASE: "0" * 64})
    cheaper = sum_agreement(hospitals((12, 8, 20), 2), seeded=True)  # of kind none: it has no price
    free = replace(audited, release=replace(audited.release, agreement=cheaper))
    for run, code in ((other, "entry.other_release"), (free, "entry.other_price")):
        (said,) = next(b.charged.doubts for b in budgets.read_budgets(ledgers, run) if b.charged)
        assert said.code == code


FAULTS = {
    "a digest": (lambda document: document["entries"][3].update(epsilon="1/1000"), "ledger.entry_changed"),
    "no entries": (lambda document: document.update(entries=[]), "ledger.entry_out_of_order"),
    "a text": (lambda document: document.update(entries="all"), "json.not_a_list"),
    "another format": (lambda document: document.update(format="<script>"), "ledger.no_export"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_ledger_that_a_stranger_changed_is_refused_by_name(audited: AuditedRun, ledgers: Path, name: str) -> None:
    change, code = FAULTS[name]
    document = exported(ledgers, "north-1")
    change(document)
    at(ledgers, "north-1").unlink()
    at(ledgers, "north-1").with_suffix(".json").write_text(json.dumps(document))
    with refused(code, at="party north-1: "):
        budgets.read_budgets(ledgers, audited)


def test_a_ledger_has_to_extend_the_heads_that_its_party_signed(
    charged: Folders, audited: AuditedRun, ledgers: Path
) -> None:
    """They lie beside it. An older export is refused, and so is another party's head."""
    owner, ledger = long_term(PARTIES)["north-1"], at(ledgers, "north-1")
    history, head = export.read_history(ledger), ledger.with_suffix(".head")
    head.write_bytes(HeadRequest.make(replace(history, entries=history.entries[:5]), owner).encode())
    assert [by_party(ledgers, audited)[party].signed for party in PARTIES] == [None, 5, None]
    ledger.with_suffix(".cosigned").write_bytes(HeadRequest.make(history, owner).encode())
    assert by_party(ledgers, audited)["north-1"].signed == len(history.entries)
    ledger.unlink()
    older = replace(history, entries=history.entries[:6])
    ledger.with_suffix(".json").write_text(export.to_json(older))
    with refused("head.seen_further", at="party north-1: ", seen=len(history.entries), entries=6):
        budgets.read_budgets(ledgers, audited)
    ledger.with_suffix(".cosigned").write_bytes(HeadRequest.make(history, long_term(PARTIES)["north-0"]).encode())
    with refused("head.of_another_ledger", at="party north-1: "):
        budgets.read_budgets(ledgers, audited)


def test_garbage_and_empty_folders_are_refused(audited: AuditedRun, ledgers: Path, tmp_path: Path) -> None:
    at(ledgers, "north-1").write_bytes(b"\x00SQLite" * 100)
    with refused("ledger.not_readable", at="party north-1: "):
        budgets.read_budgets(ledgers, audited)
    for folder in (tmp_path / "none", tmp_path / "file"):
        (tmp_path / "file").touch()
        with refused("ledgers.no_folder"):
            budgets.read_budgets(folder, audited)
    (tmp_path / "empty").mkdir()
    with refused("ledgers.none", first="north-0"):
        budgets.read_budgets(tmp_path / "empty", audited)


def test_the_command_says_it_on_the_page_and_in_json(charged: Folders, ledgers: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    found = audit(str(charged.run), "--ledgers", str(ledgers), "--json", "--report", str(target), of=OF_THE_RUN[:8])
    first, *others = json.loads(found.out)["budgets"]
    assert (first["entry"], first["outcome"]) == (4, "released")
    assert Fraction(first["spent_before"]) < Fraction(first["spent_after"]) < Fraction(first["limit"])
    assert {found["spent_after"] for found in others} == {first["spent_after"]}
    written = target.read_text(encoding="utf-8").replace("<wbr>", "")  # where a long word may be broken
    assert "north-0, north-1, north-2: charged: epsilon " in written
    assert "0.836639 spent before this run" in written  # said once for all that stand alike
    assert first["head"] in written
    assert budget_report.LEDGER_NOTE.partition(". ")[2] in written


def test_whose_account_it_is_stands_beside_the_figures(audited: AuditedRun, ledgers: Path) -> None:
    """That of records, whatever the adjacency, and that of parties for what protects all records of one."""
    found = by_party(ledgers, audited)["north-0"]
    assert "account of records" in budget_report.budget_sentence(found)
    for unit, adjacency, account in (("record", "addremove", "records"), ("party", "party", "parties")):
        other = replace(found.charged, guarantee=replace(found.charged.guarantee, unit=unit, adjacency=adjacency))
        assert f"account of {account}, " in budget_report.budget_sentence(replace(found, charged=other))
