"""All checks of a run, one after the other, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from protocols.errors import ProtocolError
from smc_dp.audit.run.check import Check, CheckOutcome, failed, not_possible, unfinished
from smc_dp.audit.run.documents import AuditDocument, FindingDocument
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.work import MORE_TIME, Allowance, TakesTooLongError
from smc_dp.errors import InputError


@dataclass(frozen=True)
class Finding:
    """A check and its outcome."""

    check: Check
    outcome: CheckOutcome

    @property
    def document(self) -> FindingDocument:
        """As it is printed. `party` is a name only where the identity is known from elsewhere."""
        check, outcome = self.check, self.outcome
        culprit = outcome.culprit
        return FindingDocument(
            group=check.group,
            check=check.name,
            asks=check.asks,
            status=outcome.status,
            detail=outcome.detail,
            line=outcome.line,
            party=culprit.name if culprit is not None and culprit.pinned else None,
            pinned=None if culprit is None else culprit.pinned,
        )


@dataclass(frozen=True)
class AuditReport:
    """What an audit found."""

    run: str
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether no check failed, and none was given up because it took too long."""
        return all(f.outcome.status != "failed" and f.outcome.finished for f in self.findings)

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The checks that were given up."""
        return tuple(f.check.name for f in self.findings if not f.outcome.finished)

    @property
    def first_fault(self) -> Finding | None:
        """The failed check that names the earliest line, or the first failed one when none names a line."""
        faults = [f for f in self.findings if f.outcome.status == "failed"]
        named = [f for f in faults if f.outcome.line is not None]
        return min(named, key=lambda f: f.outcome.line or 0) if named else next(iter(faults), None)

    @property
    def document(self) -> AuditDocument:
        """As it is printed."""
        first = self.first_fault
        return AuditDocument(
            run=self.run,
            passed=self.passed,
            first_fault=first.document if first else None,
            unfinished=list(self.unfinished),
            findings=[f.document for f in self.findings],
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return self.document.model_dump()


def audit_evidence(
    evidence: Evidence,
    checks: Sequence[Check],
    progress: Callable[[str], None] | None = None,
    allowance: Allowance | None = None,
) -> AuditReport:
    """Run every check; a check that cannot work with the evidence has failed, for honest evidence never does that.

    Where the record's lines do not hang together nothing that is costly is done: it would only be about lines that
    anybody can have written.
    """
    allowed = Allowance() if allowance is None else allowance
    findings: list[Finding] = []
    for check in checks:
        if progress:
            progress(f"{check.group}: {check.name}")
        loose = [f.check.name for f in findings if f.check.work == "lines" and not f.outcome.holds]
        if check.is_costly and loose:
            outcome = not_possible(f"the lines of the record do not hang together: see {', '.join(loose)}")
        else:
            outcome = _bounded(check, evidence, allowed)
        findings.append(Finding(check, outcome))
    return AuditReport(str(evidence.folder), tuple(findings))


def _bounded(check: Check, evidence: Evidence, allowed: Allowance) -> CheckOutcome:
    try:
        return (allowed.exempt if check.of_code else allowed.spend)(lambda: _outcome(check, evidence))
    except TakesTooLongError:
        return unfinished(f"not finished: an audit may use {allowed.seconds:g} s of processor time; {MORE_TIME}")


def _outcome(check: Check, evidence: Evidence) -> CheckOutcome:
    try:
        return check.run(evidence)
    except (ProtocolError, InputError) as error:
        return failed(str(error))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        return failed(f"the evidence cannot be worked with: {type(error).__name__}: {error}")
