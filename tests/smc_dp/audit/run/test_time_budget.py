"""Cheap checks first, and a bound on processor time: nothing in a record decides how long an audit takes."""

from __future__ import annotations

import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import forgeries as f
from support.audited import Folders

from smc_dp.audit.run import checks
from smc_dp.audit.run.check import Check, CheckOutcome, passed
from smc_dp.audit.run.checks import audit_run
from smc_dp.audit.run.conformity import expected_schedule
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.report import AuditReport, audit_evidence
from smc_dp.audit.run.time_budget import Allowance, TakesTooLongError
from tests.support.refusals import refused as expect_refusal

LINES = ("schema", "hash-chain", "participants", "sender-chain", "signatures")


def refused(*_: Any) -> Any:
    raise AssertionError("no schedule may be learnt")


def test_the_checks_of_lines_come_first_and_the_costly_ones_are_known() -> None:
    assert tuple(check.name for check in checks.CHECKS[: len(LINES)]) == LINES
    assert {check.name for check in checks.CHECKS if check.work == "lines"} == set(LINES)
    costly = {check.name for check in checks.CHECKS if check.is_costly}
    assert {
        "order",
        "rounds",
        "completeness",
        "headers",
        "messages-recomputed",
        "keys",
        "distribution",
    } <= costly
    assert not costly & {*LINES, "session", "sizes", "files", "shares", "release", "mechanism"}


BROKEN: dict[str, tuple[Callable[[Path, Path], Path], str]] = {
    "a line that is none": (lambda run, to: f.rewritten(run, to, 3, lambda line: line.update(note="x")), "schema"),
    "a digest": (lambda run, to: f.rewritten(run, to, 3, lambda line: line.update(digest="00" * 32)), "hash-chain"),
    "a letter left out": (lambda run, to: f.forge(run, to, f.drop(f.read_record(run).place("Relay"))), "sender-chain"),
    "nobody's signature": (lambda run, to: f.forge(run, to, f.flip(0, -1), f.linked), "signatures"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_nothing_costly_is_done_beside_loose_lines(
    name: str, honest: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No role runs, neither for the schedule nor on a view; each check that would need one says why it was not made."""
    make, check = BROKEN[name]
    evidence = Folders(make(honest.run, tmp_path / "broken"), honest.views).evidence()
    monkeypatch.setattr(expected_schedule, "DryRun", refused)
    monkeypatch.setattr("smc_dp.audit.run.evidence.recompute", refused)
    expected_schedule._learn.cache_clear()
    found = {finding.check.name: finding for finding in audit_evidence(evidence, checks.CHECKS).findings}
    assert found[check].outcome.status == "failed"
    for finding in found.values():
        if finding.check.is_costly:
            assert finding.outcome.status == "not possible"
            assert finding.outcome.code == "transcript.loose_lines"
            assert finding.outcome.fault.fields["checks"] == [check]
        else:
            assert finding.outcome.code != "transcript.loose_lines"
    expected_schedule._learn.cache_clear()


# Processor time.


def busy(seconds: float) -> Callable[[Evidence], CheckOutcome]:
    """A check that computes for so long."""

    def run(evidence: Evidence) -> CheckOutcome:
        end = time.process_time() + seconds
        while time.process_time() < end:
            try:
                sum(range(1000))
            except Exception:  # no check may take the signal for an error of its own
                continue
        return passed("busy.computed")

    return run


def audited(evidence: Evidence, *seconds: float, allowed: float) -> AuditReport:
    made = [Check("conformity", f"busy-{i}", "Is it?", busy(s)) for i, s in enumerate(seconds)]
    return audit_evidence(evidence, made, allowance=Allowance(allowed))


def test_a_check_is_given_up_and_then_no_audit_passes(honest: Folders) -> None:
    evidence, before = honest.evidence(views=False), signal.getsignal(signal.SIGPROF)
    start = time.process_time()
    report = audited(evidence, 0.01, 30.0, 30.0, 0.1, allowed=0.2)  # a signal may come a hundredth early
    assert time.process_time() - start < 1.0
    assert [finding.outcome.status for finding in report.findings] == ["passed", *["not possible"] * 3]
    assert report.unfinished == ("busy-1", "busy-2", "busy-3")
    assert not report.passed
    assert report.first_fault is None
    given_up = report.findings[1].outcome
    assert (given_up.code, given_up.fault.fields["seconds"]) == ("check.not_finished", 0.2)
    assert signal.getsignal(signal.SIGPROF) == before
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    assert audited(evidence, 0.01, 0.1, allowed=20.0).passed


def test_off_the_main_thread_work_is_done_all_the_same() -> None:
    found: list[int] = []
    worker = threading.Thread(target=lambda: found.append(Allowance(0.01).spend(lambda: sum(range(10)))))
    worker.start()
    worker.join()
    assert found == [45]
    with pytest.raises(TakesTooLongError):
        Allowance(-1.0).spend(lambda: None)


def test_reading_is_bounded_too(honest: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "load_evidence", lambda *_: busy(30.0)(honest.evidence(views=False)))
    with expect_refusal("audit.reading_takes_too_long", seconds=0.1):
        audit_run(honest.run, seconds=0.2)


def test_the_command_says_so_and_takes_more_seconds(
    honest: Folders, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from smc_dp.cli.main import main

    slow = tuple(replace(check, run=busy(0.5)) if check.name == "sizes" else check for check in checks.CHECKS[:9])
    monkeypatch.setattr(checks, "CHECKS", slow)
    assert main(["audit", str(honest.run), "--seconds", "0.4"]) == 1
    out = capsys.readouterr().out
    assert re.match(r"NOT FINISHED: .* sizes\.", out.splitlines()[-1])
    assert "--seconds allows more" in " ".join(out.split())
    assert main(["audit", str(honest.run), "--seconds", "9"]) == 0
    assert "PASSED" in capsys.readouterr().out


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1000))


class Lingering:
    """Takes a while to go, and nothing can be raised meanwhile."""

    def __del__(self) -> None:
        burn(0.4)


def test_a_signal_where_nothing_can_be_raised_says_nothing_and_the_next_one_ends_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reached = []

    def linger() -> None:
        Lingering()
        reached.append(True)
        burn(30)

    before = sys.unraisablehook
    with pytest.raises(TakesTooLongError):
        Allowance(0.2).spend(linger)
    assert reached  # the first signals were lost
    assert capsys.readouterr().err == ""
    assert sys.unraisablehook is before
