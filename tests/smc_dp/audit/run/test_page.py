"""The report of an audit as a page: the worst first, what is missing before what passed, strangers' text as text."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from support import forgeries
from support.audited import Folders
from support.audits import OF_THE_RUN, audit
from support.shown import ShownPage

from smc_dp.audit.run import report_blocks as page
from smc_dp.audit.run.check import failed
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.audit.run.report import AuditReport, audit_evidence
from smc_dp.audit.run.run_summary import AuditedRun
from smc_dp.cli.schemas import json_schema
from smc_dp.pages.html import MOST_PAGE_BYTES, html
from smc_dp.run.release import RELEASE
from smc_dp.run.release_report import NO_PROOF

FIRST = (
    "What was released",
    "What it guarantees, and against whom",
    "Three levels of assurance",
    "Budget before and after",
    "Signature",
)
HOSTILE = '</title><script>alert(1)</script>"><img src=x onerror=alert(1)>{{7*7}}'


@pytest.fixture(scope="module")
def report(charged: Folders) -> AuditReport:
    return audit_evidence(load_evidence(charged.run), OF_THE_RUN)


def text(report: AuditReport) -> str:
    return ShownPage(html(page.audit_page(report))).text


def reported(folders: Folders, target: Path, *arguments: str) -> tuple[int, str]:
    found = audit(str(folders.run), "--report", str(target), *arguments)
    return found.code, ShownPage(target.read_text(encoding="utf-8")).text


def test_the_first_sheet_says_what_everybody_asks(report: AuditReport) -> None:
    made = page.audit_page(report)
    assert tuple(section.heading for section in made.sections[: len(FIRST)]) == FIRST
    assert [section.new_sheet for section in made.sections][: len(FIRST) + 1] == [False] * len(FIRST) + [True]
    found = text(report)
    stated = report.audited.statement
    for said in (replace(stated, caveats=()).plain_words(), *stated.caveats, page.NO_LEDGERS, NO_PROOF):
        assert said in found
    for label in ("Name", "Function", "Date", "Signature", "north-0, north-1, north-2", "wsum", "x0, x1", "2 numbers"):
        assert label in found


def test_every_check_file_and_participant_stands_on_it(charged: Folders) -> None:
    given = audit_evidence(
        load_evidence(charged.run, charged.run.parent / "identities.json", charged.views), OF_THE_RUN
    )
    found = text(given)
    for finding in given.findings:
        assert f"{finding.check.name} {finding.outcome.status} {finding.check.asks}" in found
    for name, digest in given.audited.read.items():
        assert f"{name} {digest}" in found
    for name, key in given.audited.identities.items():
        assert f"{name} {'no' if name == 'charlie' else 'yes'} {key} yes, the same yes" in found


def test_a_failed_check_is_said_first_and_written_all_the_same(charged: Folders, tmp_path: Path) -> None:
    run = forgeries.forge(charged.run, tmp_path / "run", forgeries.drop(5))
    code, found = reported(Folders(run, charged.views), tmp_path / "report.html")
    assert code == 1
    assert found.index("FAILED: ") < found.index("What was released")
    assert "What it claims to guarantee, and against whom" in found
    assert "PASSED" not in found
    assert NO_PROOF in found
    assert found.count("FAILED: ") == 2  # at the top, and under the levels
    transcript = run / "transcript.jsonl"
    transcript.write_bytes(transcript.read_bytes()[:-200])
    _, found = reported(Folders(run, charged.views), tmp_path / "cut.html")
    assert re.search("FAILED: files: transcript.jsonl .*; sender-chain at line .*; also failed: schema, ", found)


def test_what_is_no_release_is_said(report: AuditReport, charged: Folders) -> None:
    assert page.UNREADABLE_STATEMENT not in text(report)
    none = replace(report, audited=AuditedRun.of(load_evidence(charged.run), with_release=False))
    assert page.UNREADABLE_STATEMENT in text(none)


def test_what_strangers_wrote_stays_text_and_does_not_fill_the_page(report: AuditReport) -> None:
    release = report.audited.release
    columns = tuple(replace(release.bounds.columns[0], name=f"{HOSTILE}{i}") for i in range(3000))
    bounds = replace(release.bounds, columns=columns, classes=(HOSTILE, "x" * 10**6))
    hostile = replace(release, agreement=replace(release.agreement, bounds=release.bounds))
    object.__setattr__(hostile.agreement, "bounds", bounds)  # no run has such names, and a report must not rely on it
    names = tuple(f"{HOSTILE}{i}" for i in range(3000))
    audited = replace(report.audited, release=hostile, participants=names, parties=names, viewed=names)
    long = replace(report.findings[0], outcome=failed("x.hostile", hostile=HOSTILE * 10**5))
    wide = replace(report, run=HOSTILE, findings=(long, *report.findings[1:]), audited=audited)
    found = html(page.audit_page(wide))
    assert len(found.encode()) < MOST_PAGE_BYTES
    read = ShownPage(found)
    assert HOSTILE[:40] in read.text
    assert "img" not in read.elements
    assert read.elements.count("script") == 1


def test_the_command_prints_writes_and_keeps_what_is_there(charged: Folders, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    found = audit(str(charged.run), "--json", "--report", str(target))
    assert (found.code, found.err) == (0, f"Report: {target}\n")
    document = json.loads(found.out)
    assert list(Draft202012Validator(json_schema("audit")).iter_errors(document)) == []
    before = target.read_bytes()
    again = audit(str(charged.run), "--report", str(target))
    assert again.code == 2
    assert "--report" in again.err
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert audit(str(charged.run / RELEASE), "--report", str(tmp_path / "none.html")).code == 2
    assert not (tmp_path / "none.html").exists()
