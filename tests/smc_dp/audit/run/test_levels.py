"""Three levels of assurance: each is reached by checks that were made and passed, and by nothing else; what is missing
for the next one is said before anything is said to have passed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from support import forgeries
from support.audited import Folders
from support.audits import OF_THE_CODE, OF_THE_RUN, audit

from protocols.errors import Fault
from smc_dp.audit.run import checks
from smc_dp.audit.run.check import CheckOutcome, Finding, failed, not_applicable, not_possible, passed, unfinished
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.audit.run.report import AuditReport, audit_evidence
from smc_dp.audit.run.report_blocks import blocks
from smc_dp.pages.blocks import texts_by_code
from smc_dp.pages.text import block_lines

OF_CODE = tuple(Finding(check, passed("x.passed")) for check in checks.CHECKS if check.name in OF_THE_CODE)


@dataclass(frozen=True)
class Given:
    """An honest run, and what can be handed over beside it."""

    folders: Folders

    @property
    def identities(self) -> Path:
        return self.folders.run.parent / "identities.json"

    def report(self, *, identities: bool = True, views: Path | None = None) -> AuditReport:
        known = self.identities if identities else None
        found = audit_evidence(load_evidence(self.folders.run, known, views), OF_THE_RUN)
        return replace(found, findings=(*found.findings, *OF_CODE))  # of the code: tested elsewhere


@pytest.fixture(scope="module")
def given(charged: Folders) -> Given:
    return Given(charged)


@pytest.fixture(scope="module")
def whole(given: Given) -> AuditReport:
    return given.report(views=given.folders.views)


def number(report: AuditReport) -> int:
    return report.document.level.number


def missing(report: AuditReport) -> list[Fault]:
    """Return what the next level lacks, as faults without the sentences of this package."""
    return [Fault(lack.code, lack.fields) for lack in report.assurance.next.missing] if report.assurance.next else []


def lines(report: AuditReport) -> list[str]:
    return [line.strip() for line in block_lines(blocks(report), 10_000, 10_000) if line]


def test_each_level_is_reached_by_what_it_takes(given: Given, whole: AuditReport) -> None:
    folder = load_evidence(given.folders.run, given.identities.parent)  # a folder stands for its identities.json
    assert folder.pinned == load_evidence(given.folders.run, given.identities).pinned is not None
    alone = given.report(identities=False)
    assert (number(alone), missing(alone)) == (1, [Fault("level.identities_not_given")])
    signed = given.report()
    names = ("'north-0'", "'north-1'", "'north-2'", "'charlie'")
    assert (number(signed), missing(signed)) == (2, [Fault("level.views_not_given", {"names": names})])
    assert (number(whole), missing(whole), whole.document.level.missing) == (3, [], [])
    assert whole.verdict == "audit.passed"
    assert number(given.report(identities=False, views=given.folders.views)) == 1  # no level above one that is missing


@pytest.mark.parametrize("left_out", ["1.view", "4.view"])
def test_the_last_level_is_not_printed_without_the_views_of_everybody(
    given: Given, tmp_path: Path, left_out: str
) -> None:
    for view in given.folders.views.iterdir():
        if view.name != left_out:
            (tmp_path / view.name).write_bytes(view.read_bytes())
    found = given.report(views=tmp_path)
    assert {f.outcome.status for f in found.findings} == {"passed", "not possible"}
    assert number(found) == 2
    name = "north-0" if left_out == "1.view" else "charlie"
    assert missing(found) == [Fault("level.view_not_given", {"names": (repr(name),)})]
    assert "replayed: reached" not in "\n".join(lines(found))


def test_there_is_no_last_level_without_everybodys_views(whole: AuditReport) -> None:
    names = whole.audited.participants
    fewer = replace(whole, audited=replace(whole.audited, viewed=names[1:]))  # every check passed, whatever it saw
    assert number(fewer) == 2


def changed(report: AuditReport, outcome: CheckOutcome, names: Iterable[str]) -> AuditReport:
    found = (replace(f, outcome=outcome) if f.check.name in names else f for f in report.findings)
    return replace(report, findings=tuple(found))


NOT_POSSIBLE = not_possible("x.not_possible")
LEVELS = {
    "schema": 1,
    "cost": 1,
    "statement": 1,
    "identities": 2,
    "noise": 3,
    "dispute": 3,
    "openings": 1,
    "published-values": 3,
    "distribution": 3,
}
"""One check of each kind, and the level that there is not where it was not made."""


@pytest.mark.parametrize(("name", "level"), LEVELS.items())
def test_a_level_needs_each_of_its_checks(whole: AuditReport, name: str, level: int) -> None:
    for outcome in (NOT_POSSIBLE, unfinished("x.unfinished"), failed("x.failed")):
        found = changed(whole, outcome, [name])
        of_noise = name == "noise" and outcome is not NOT_POSSIBLE  # what it found is about the noise
        own = 1 if of_noise else level
        assert number(found) == own - 1
        said = [lack.code for lack in missing(found) if lack.fields.get("name") == name]
        assert said == [f"level.check_{outcome.code.removeprefix('x.').replace('unfinished', 'not_finished')}"]
    without = replace(whole, findings=tuple(f for f in whole.findings if f.check.name != name))
    assert number(without) == level - 1
    assert missing(without) == [Fault("level.checks_not_made", {"names": [name]})]
    assert number(changed(whole, not_applicable("x.nothing"), [name])) == 3


def test_every_check_belongs_to_a_level(whole: AuditReport) -> None:
    for check in checks.CHECKS:
        assert number(changed(whole, NOT_POSSIBLE, [check.name])) < 3


def test_what_a_run_has_nothing_for_is_said_and_keeps_no_level_away(whole: AuditReport) -> None:
    found = {f.check.name for f in whole.findings if f.outcome.inapplicable}
    assert found == {"shares", "approvals", "cosigned", "absences", "keys", "units", "repeats", "freshness", "openings"}
    first, _, last = whole.assurance.levels
    assert [said.split()[0] for said in first.inapplicable] == [
        "shares",
        "openings",
        "absences",
        "approvals",
        "cosigned",
    ]
    assert [said.split()[0] for said in last.inapplicable] == ["keys", "units", "repeats", "freshness"]


def test_a_record_with_a_missing_line_reaches_no_level(given: Given, tmp_path: Path) -> None:
    run = forgeries.forge(given.folders.run, tmp_path / "run", forgeries.drop(5))
    found = audit_evidence(load_evidence(run, given.identities), OF_THE_RUN)
    assert number(found) == 0
    assert list(texts_by_code(blocks(found))) == ["audit.level_missing", "audit.failed"]
    assert texts_by_code(blocks(found))["audit.level_missing"].startswith(
        "Level 1 of 3 (the transcript is whole) was not reached"
    )
    assert "1. The transcript is whole: not reached. The reason stands above." in lines(found)
    assert found.verdict == found.document.verdict == "audit.failed"


def test_the_command_says_the_level_and_json_bears_date_version_and_files(given: Given) -> None:
    arguments = (str(given.folders.run), "--identities", str(given.identities))
    said = audit(*arguments)
    assert "(--views)" in said.out.splitlines()[-6]
    assert said.out.splitlines()[-1].startswith("PASSED: ")
    document = json.loads(audit(*arguments, "--json").out)
    assert document["level"]["number"] == 2
    first = document["findings"][0]
    assert (first["check"], first["code"], first["fields"]["lines"]) == (
        "schema",
        "schema.holds",
        len((given.folders.run / "transcript.jsonl").read_text().splitlines()),
    )
    assert [file["file"] for file in document["files"]][-1] == "identities/identities.json"
