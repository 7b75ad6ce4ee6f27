"""Records in which somebody went on without a letter: held against their own schedule, and nobody is named for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import audits
from support import forgeries as f
from support.audited import Folders
from support.audits import outcomes
from support.sessions import setup
from support.summed import OF_THE_RELEASE, recorded, summing, written

from protocols.curator import CURATOR_NAME
from protocols.runtime.channel import GREETING_STAGE
from protocols.runtime.envelope import HELLO
from protocols.runtime.transcript import ABSENT
from smc_dp.audit.run.check import CheckOutcome
from smc_dp.audit.run.conformity import CONVERSATION_CHECKS
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.run.agreement import SEEDED, TEST_KEYS

P1, P2, P3 = "P1", "P2", "P3"
OF_THE_SCHEDULE = ("order", "rounds", "completeness", "headers")


@pytest.fixture(scope="module")
def gone(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """P2 sends nothing to the sum; the curator goes on without it."""
    return recorded(tmp_path_factory.mktemp("gone"), summing(), P2=4)


def failed(found: dict[str, CheckOutcome]) -> dict[str, str]:
    return {name: code for name, code in audits.failed(found).items() if name not in OF_THE_RELEASE}


def test_a_run_that_went_on_without_somebody_is_held_against_its_own_schedule(gone: Folders) -> None:
    found = outcomes(gone.evidence())
    assert failed(found) == {}
    assert {found[name].status for name in OF_THE_SCHEDULE} == {"passed"}
    assert found["completeness"].fault.fields["but"] == " with 1 message given up"
    assert found["signatures"].fault.fields["apart"] == ", 1 apart, without whom others went on"
    (mark,) = [x for x in f.read_lines(gone.run) if x["kind"] == ABSENT]
    assert (mark["to"], mark["from"], mark["missing"], mark["read"]) == (CURATOR_NAME, P2, "Masked", 0)
    assert json.loads(gone.evidence().lines.text(mark["n"])) == mark


@pytest.mark.parametrize(("who", "sent"), [("P2", 3), ("charlie", 6)])
def test_nobody_is_accused_when_somebody_vanishes(who: str, sent: int, tmp_path: Path) -> None:
    """The protocol that has ciphertexts, keys and a claim; with all views, and with the record alone."""
    made = setup(3, 1)
    done = made.simulate(drop_outs={who: sent}, views=True, marks=(SEEDED, TEST_KEYS))
    assert any(done.absent.values())
    folders = written(tmp_path, made, done, 1 << 64)
    for views in (True, False):
        found = outcomes(folders.evidence(views=views))
        assert failed(found) == {}, (views, failed(found))
        assert {found[name].status for name in OF_THE_SCHEDULE} == {"passed"}


Make = Callable[[Folders, Path], Folders]


def record(*changes: f.Change) -> Make:
    return lambda made, folder: Folders(f.forge(made.run, folder / "run", *changes), made.views)


def without_the_mark(record: f.Record) -> f.Record:
    return replace(record, missed=())


def other_mark(**fields: Any) -> f.Change:
    def change(record: f.Record) -> f.Record:
        (missed,) = record.missed
        return replace(record, missed=(replace(missed, absent=replace(missed.absent, **fields)),))

    return change


def line(**fields: Any) -> Make:
    """The line of the mark as it should not be."""

    def make(made: Folders, folder: Path) -> Folders:
        n = next(n for n, x in enumerate(f.read_lines(made.run)) if x["kind"] == ABSENT)
        return Folders(f.rewritten(made.run, folder / "run", n, lambda x: x.update(fields)), made.views)

    return make


def view_without_marks(made: Folders, folder: Path) -> Folders:
    evidence = made.evidence()
    folder.mkdir()
    for name, view in evidence.views.items():
        changed = replace(view, marks=()) if name == CURATOR_NAME else view
        (folder / f"{name}.view").write_bytes(changed.dumps(evidence.session))
    return Folders(made.run, folder)


MUTANTS: dict[str, tuple[Make, str]] = {
    "mark left out": (record(without_the_mark), "signatures"),
    "mark of another letter": (record(other_mark(read=1)), "view-agrees"),
    "mark in another stage": (record(other_mark(stage="elsewhere")), "view-agrees"),
    "mark too many": (record(f.miss(CURATOR_NAME, P1, "Masked", "sum0")), "view-agrees"),
    "view without its marks": (view_without_marks, "view-agrees"),
    "mark of a kind that nobody sends": (record(other_mark(kind="Pickle")), "routes"),
    "mark of a kind on no route": (record(other_mark(kind="Result")), "routes"),
    "mark about a stranger": (record(other_mark(sender="nobody")), "participants"),
    "mark of the own greeting": (record(f.miss(P1, P1, HELLO, GREETING_STAGE)), "participants"),
    "mark with another text": (line(stage="x"), "hash-chain"),
    "mark with a size": (line(size=1), "schema"),
    "mark with a field too many": (line(number=1), "schema"),
    "mark that counts below zero": (line(read=-1), "schema"),
    "mark that counts in words": (line(read="0"), "schema"),
    "mark of a text that is none": (line(stage="\ud800"), "schema"),
    "letter flipped": (record(lambda made: f.flip(made.place("Masked"))(made)), "sender-chain"),
    "signature flipped": (record(lambda made: f.flip(made.place("StageEnd"), -1)(made)), "signatures"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_what_is_wrong_with_a_mark_is_found_and_nobody_is_named(name: str, gone: Folders, tmp_path: Path) -> None:
    make, check = MUTANTS[name]
    found = outcomes(make(gone, tmp_path / "forged").evidence())
    assert found[check].status == "failed", failed(found)
    assert found[check].code != "evidence.not_workable"
    assert {found[name].party for name in failed(found)} == {None}


FORGED: dict[str, tuple[f.Change, str]] = {
    "a round that nobody reached": (
        lambda record: f.alter(record.place("Masked"), round=99)(record),
        "rounds",
    ),
    "a letter left out": (lambda record: f.drop(record.place("Masked", P3))(record), "completeness"),
    "a letter too many": (lambda record: f.duplicate(record.place("Masked", P3))(record), "order"),
    "a letter of who is gone": (lambda record: f.alter(record.place("Masked", P3), sender=P2)(record), "completeness"),
    "no mark": (without_the_mark, "completeness"),
    "a mark of another letter": (other_mark(kind="Result"), "completeness"),
    "a mark too many": (f.miss(CURATOR_NAME, P1, "Masked", "sum0", 7), "completeness"),
    "an end of everything": (f.miss("public", P3, "StageEnd", "sum0"), "passed"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_record_is_held_against_its_own_absences(name: str, gone: Folders, tmp_path: Path) -> None:
    """Asked for alone: beside lines that do not hang together an audit asks for nothing of the kind."""
    change, caught = FORGED[name]
    evidence = load_evidence(f.forge(gone.run, tmp_path / "forged", change))
    found = {check.name: check.run(evidence) for check in CONVERSATION_CHECKS}
    if caught == "passed":  # nobody answers for its last signature, and nothing else is missing
        assert {outcome.status for outcome in found.values()} == {"passed"}
    else:
        assert (found[caught].status, found[caught].party) == ("failed", None), found


def test_a_mark_put_into_an_honest_record_excuses_nobody(tmp_path: Path) -> None:
    """Whoever it is about may vanish at the end, but nobody else."""
    made = recorded(tmp_path / "made", summing())
    mark = f.miss("public", P2, "StageEnd", "sum0")
    marked = Folders(f.forge(made.run, tmp_path / "marked", mark), made.views)
    found = outcomes(marked.evidence())
    assert failed(found) == {}
    assert {found[name].status for name in OF_THE_SCHEDULE} == {"passed"}
    short = outcomes(load_evidence(f.forge(made.run, tmp_path / "cut", mark, f.cut(39))))
    assert failed(short) == {"signatures": "signature.missing_at_end"}
