"""An auditor's receipt, made of what an audit found: there is none of an audit that did not pass."""

from __future__ import annotations

from protocols.crypto.identity import Signer
from smc_dp.audit.run.report import AuditReport
from smc_dp.errors import InputError
from smc_dp.run.receipt import Receipt


def receipt(report: AuditReport, auditor: Signer) -> Receipt:
    """What this audit found, signed by the auditor; InputError, which says why, where it did not pass."""
    if (first := report.first_fault) is not None:
        raise InputError(f"receipt: there is none, for the check {first.check.name} failed")
    if report.unfinished:
        raise InputError(f"receipt: there is none, for {', '.join(report.unfinished)} was not finished")
    return Receipt.made(
        auditor,
        session=report.session,
        files=dict(report.files),
        passed=report.passed,
        level=report.document.level.number,
        date=report.date.isoformat(),
        version=report.version,
    )
