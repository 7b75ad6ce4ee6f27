"""Report of an audit: all checks of a run, one after the other, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any

from protocols.errors import ProtocolError
from smc_dp.audit.run import levels
from smc_dp.audit.run.assessment import AssessmentFact, assess
from smc_dp.audit.run.budgets import PartyBudget
from smc_dp.audit.run.check import Check, CheckOutcome, Finding, failed, make_fault, not_possible, unfinished
from smc_dp.audit.run.documents import (
    AuditDocument,
    AuditVerdict,
    BudgetDocument,
    FactDocument,
    FileDigest,
    FindingDocument,
    LevelDocument,
)
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.levels import Assurance
from smc_dp.audit.run.run_summary import AuditedRun
from smc_dp.audit.run.time_budget import MORE_TIME, Allowance, TakesTooLongError
from smc_dp.core.errors import InputError
from smc_dp.core.version import __version__


@dataclass(frozen=True)
class AuditReport:
    """Report of an audit of the folder `run`, on this day, by this version; `budgets` is None where none were given."""

    run: str
    findings: tuple[Finding, ...]
    audited: AuditedRun
    date: date
    budgets: tuple[PartyBudget, ...] | None = None
    version: str = __version__

    @property
    def passed(self) -> bool:
        """Return whether no check failed, and none was given up because it took too long."""
        return all(f.outcome.status != "failed" and f.outcome.finished for f in self.findings)

    @property
    def verdict(self) -> AuditVerdict:
        """Code of the verdict."""
        if self.first_fault:
            return "audit.failed"
        return "audit.not_finished" if self.unfinished else "audit.passed"

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Checks that were given up."""
        return tuple(f.check.name for f in self.findings if not f.outcome.finished)

    @property
    def first_fault(self) -> Finding | None:
        """Failed check that names the earliest line, or the first failed one when none names a line."""
        faults = [f for f in self.findings if f.outcome.status == "failed"]
        named = [f for f in faults if f.outcome.line is not None]
        return min(named, key=lambda f: f.outcome.line or 0) if named else next(iter(faults), None)

    @property
    def assurance(self) -> Assurance:
        """Three levels of assurance, and what is missing for each."""
        return levels.assurance(self.findings, self.audited)

    @property
    def assessment(self) -> tuple[AssessmentFact, ...]:
        """Facts for a data-protection assessment, those first that nobody may overlook."""
        return assess(self.audited, self.findings, self.budgets)

    @property
    def document(self) -> AuditDocument:
        """Report as a JSON document."""
        first = self.first_fault
        return AuditDocument(
            run=self.run,
            date=self.date.isoformat(),
            version=self.version,
            session=self.audited.session,
            level=_level(self),
            passed=self.passed,
            verdict=self.verdict,
            first_fault=FindingDocument.of(first) if first else None,
            unfinished=list(self.unfinished),
            findings=[FindingDocument.of(f) for f in self.findings],
            files=[FileDigest(file=name, sha256=digest) for name, digest in self.audited.read.items()],
            budgets=None if self.budgets is None else [BudgetDocument.of(found) for found in self.budgets],
            assessment=[FactDocument.of(fact) for fact in self.assessment],
        )

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return self.document.model_dump()


def _level(report: AuditReport) -> LevelDocument:
    found, viewed, pinned = report.assurance, list(report.audited.viewed), report.audited.pinned is not None
    number, name = (found.level.number, found.level.name) if found.level else (0, levels.NO_LEVEL)
    missing = list(map(str, found.next.missing)) if found.next else []
    return LevelDocument(number=number, name=name, missing=missing, views=viewed, identities=pinned)


def today() -> date:
    """Return the day in UTC: asked where a command or a function of the library begins, and nowhere else."""
    return datetime.now(UTC).date()


def audit_evidence(
    evidence: Evidence,
    checks: Sequence[Check],
    progress: Callable[[str], None] | None = None,
    allowance: Allowance | None = None,
    *,
    on: date | None = None,
) -> AuditReport:
    """Run every check; a check that cannot work with the evidence has failed, for honest evidence never does that.

    `on`: the day of the report, today's where none is given; no check sees it. Where the transcript's lines are not
    tied together, costly checks are not made: they would only be about lines that anybody can have written.
    """
    allowed = Allowance() if allowance is None else allowance
    findings = run_checks(evidence, checks, allowed, progress)
    audited = _audited(evidence, _refuted_readers(findings), allowed)
    return AuditReport(str(evidence.folder), findings, audited, today() if on is None else on)


def run_checks(
    evidence: Evidence, checks: Sequence[Check], allowed: Allowance, progress: Callable[[str], None] | None = None
) -> tuple[Finding, ...]:
    """Return the outcome of each check, within the time that is left."""
    findings: list[Finding] = []
    for check in checks:
        if progress:
            progress(f"{check.group}: {check.name}")
        loose = [f.check.name for f in findings if f.check.work == "lines" and not f.outcome.holds]
        if check.is_costly and loose:
            outcome = not_possible("transcript.loose_lines", checks=loose)
        else:
            outcome = _bounded(check, evidence, allowed)
        findings.append(Finding(check, _told_once(outcome, findings)))
    return tuple(findings)


def _told_once(outcome: CheckOutcome, before: Sequence[Finding]) -> CheckOutcome:
    """Return a failed outcome whose fault names the earlier check that failed in the same way, if one did."""
    # The words of a library can be the same by chance.
    if outcome.status != "failed" or outcome.code == "evidence.not_workable":
        return outcome
    first = next((f.check.name for f in before if f.outcome == outcome), None)
    return outcome if first is None else replace(outcome, fault=make_fault("check.same_fault", name=first))


def _refuted_readers(findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return the readers whose absences were refuted; a second search for them could take too long or fail."""
    names = next((f.outcome.fault.fields["names"] for f in findings if f.outcome.code == "absences.refuted"), None)
    return tuple(map(str, names)) if isinstance(names, Sequence) else ()


def _audited(evidence: Evidence, refuted: tuple[str, ...], allowed: Allowance) -> AuditedRun:
    """Return the facts, without those of the release where they would take too long."""
    try:
        return allowed.spend(lambda: AuditedRun.of(evidence, refuted))
    except TakesTooLongError:
        return AuditedRun.of(evidence, refuted, with_release=False)


def _bounded(check: Check, evidence: Evidence, allowed: Allowance) -> CheckOutcome:
    try:
        return allowed.spend(lambda: _outcome(check, evidence))
    except TakesTooLongError:
        return unfinished("check.not_finished", seconds=allowed.seconds, more_time=MORE_TIME)


def _outcome(check: Check, evidence: Evidence) -> CheckOutcome:
    try:
        return check.run(evidence)
    except (ProtocolError, InputError) as error:
        return failed(error.fault)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        return failed("evidence.not_workable", name=type(error).__name__, error=str(error))
