"""All checks of a run, one after the other, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from protocols.errors import ProtocolError
from smc_dp.audit.run.check import Check, CheckOutcome, failed
from smc_dp.audit.run.evidence import Evidence
from smc_dp.errors import InputError


@dataclass(frozen=True)
class Finding:
    """A check and its outcome."""

    check: Check
    outcome: CheckOutcome

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        check, outcome = self.check, self.outcome
        return {
            "group": check.group,
            "check": check.name,
            "asks": check.asks,
            "status": outcome.status,
            "detail": outcome.detail,
            "line": outcome.line,
            "party": outcome.party,
        }


@dataclass(frozen=True)
class AuditReport:
    """What an audit found."""

    run: str
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return all(f.outcome.status != "failed" for f in self.findings)

    @property
    def first_fault(self) -> Finding | None:
        """The failed check that names the earliest line, or the first failed one when none names a line."""
        faults = [f for f in self.findings if f.outcome.status == "failed"]
        named = [f for f in faults if f.outcome.line is not None]
        return min(named, key=lambda f: f.outcome.line or 0) if named else next(iter(faults), None)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        first = self.first_fault
        return {
            "run": self.run,
            "passed": self.passed,
            "first_fault": first.as_dict() if first else None,
            "findings": [f.as_dict() for f in self.findings],
        }


def audit_evidence(
    evidence: Evidence, checks: Sequence[Check], progress: Callable[[str], None] | None = None
) -> AuditReport:
    """Run every check; a check that cannot work with the evidence has failed, for honest evidence never does that."""
    findings = []
    for check in checks:
        if progress:
            progress(f"{check.group}: {check.name}")
        findings.append(Finding(check, _outcome(check, evidence)))
    return AuditReport(str(evidence.folder), tuple(findings))


def _outcome(check: Check, evidence: Evidence) -> CheckOutcome:
    try:
        return check.run(evidence)
    except (ProtocolError, InputError) as error:
        return failed(str(error))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        return failed(f"the evidence cannot be worked with: {type(error).__name__}: {error}")
