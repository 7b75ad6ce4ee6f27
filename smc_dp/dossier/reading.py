"""The facts of a run folder, once an audit of it has passed: where it fails, or is not finished, there are none."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from protocols.curator import CURATOR_NAME
from smc_dp.audit.run.checks import audit_run
from smc_dp.audit.run.evidence import Evidence, load
from smc_dp.audit.run.levels import NONE, Assurance
from smc_dp.audit.run.report import AuditReport
from smc_dp.dossier.facts import ApprovedStudy, AssuranceReached, LedgerCost, LetterCount, NoiseBy, RunFacts
from smc_dp.errors import InputError
from smc_dp.files import reading
from smc_dp.ledger.numbers import at_most
from smc_dp.methods.method import SumForm
from smc_dp.run.agreement import Agreement
from smc_dp.run.charge import price_of
from smc_dp.run.line_zero import APPROVALS
from smc_dp.run.release import RELEASE, STUDY, PublishedRelease


def read_facts(
    run: Path,
    identities: Path | None,
    views: Path | None,
    progress: Callable[[str], None] | None,
    seconds: float,
) -> RunFacts:
    """The facts of this run, as `audit_run` found it to be; InputError where that fails or does not come to an end."""
    report = audit_run(run, identities=identities, views=views, progress=progress, seconds=seconds)
    _refuse(report)
    evidence = load(run)
    if any(report.files.get(name) != hashlib.sha256(content).hexdigest() for name, content in evidence.files.items()):
        raise InputError(f"{run}: was changed while it was audited")
    return facts_of(evidence, report)


def facts_of(evidence: Evidence, report: AuditReport) -> RunFacts:
    """What this evidence says, of which the audit found no check to fail."""
    found = evidence.opened
    return RunFacts(
        **_of_data(found.agreement),
        **_of_release(found),
        **_of_noise(found.agreement),
        **_of_settings(found.parameters),
        **_of_record(evidence),
        **_of_audit(report),
    )


def _refuse(report: AuditReport) -> None:
    if (first := report.first_fault) is not None:
        raise InputError(
            f"{report.run}: the audit failed, there is no dossier: {first.check.name}: {first.outcome.detail}"
        )
    if report.unfinished:
        raise InputError(
            f"{report.run}: the audit did not finish, there is no dossier: {', '.join(report.unfinished)}; give it "
            "more processor time (`seconds`)"
        )


def _of_data(agreement: Agreement) -> dict[str, Any]:
    bounds, rows = agreement.bounds, agreement.auxiliary
    return {
        "parties": agreement.parties,
        "columns": tuple(column.name for column in bounds.columns),
        "label": str(bounds.label),
        "classes": tuple(bounds.classes),
        "left_out_for": tuple(bounds.leaving),
        "public_rows": None if rows is None else len(rows.X),
    }


def _of_release(found: PublishedRelease) -> dict[str, Any]:
    agreement = found.agreement
    return {
        "method": agreement.method.name,
        "protocol": agreement.protocol,
        "weights": sum(len(row) if isinstance(row, tuple) else 1 for row in found.weights),
        "shares_published": agreement.publishes_shares,
        "guarantee": agreement.statement,
        "marks": found.insecure,
        "charged": _charged(agreement),
    }


def _of_noise(agreement: Agreement) -> dict[str, Any]:
    form, target = agreement.form, agreement.target
    return {
        "sums": len(form.sums) if isinstance(form, SumForm) else 1,
        "noise": target.noise,
        "noise_by": _noise_by(form),
        "calibration": target.calibration,
    }


def _of_settings(stated: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{name: stated.get(name) for name in ("colluders", "dropouts", "most_rows", "key_bits")},
        "rows_known": int(stated["rows"]) if "rows" in stated else None,
        "rows_released": stated.get("sizes") == "released",
        "gone_before": tuple(stated.get("left_out", ())),
    }


def _noise_by(form: Any) -> NoiseBy:
    if form.smallest_sets_noise:
        return "the smallest party"
    return "each party by itself" if form.noise is None else "shares of all"


def _charged(agreement: Agreement) -> LedgerCost | None:
    if agreement.statement.kind == "none":
        return None
    price = price_of(agreement)
    return LedgerCost(at_most(price.epsilon), at_most(price.delta))


def _of_record(evidence: Evidence) -> dict[str, Any]:
    claim = evidence.protocol.claim
    sent = list(evidence.envelopes.values())
    public = sum(envelope.is_public for envelope in sent)
    return {
        "curator": CURATOR_NAME in evidence.session.names,
        "unclaimed": () if claim is None else tuple(unclaimed.sentence for unclaimed in claim.not_claimed),
        "letters": LetterCount(len(sent) - public, public, sum(len(envelope.body) for envelope in sent)),
        "vanished": tuple(sorted({absent.sender for _, absent in evidence.absences.values()})),
        "study": _study(evidence),
        "session": evidence.session.id.hex(),
        "release_digest": hashlib.sha256(evidence.files[RELEASE]).hexdigest(),
    }


def _study(evidence: Evidence) -> ApprovedStudy | None:
    if APPROVALS not in evidence.head:
        return None
    content = evidence.files[STUDY]
    stated = reading.parse_object(content, STUDY)
    title, purpose = (reading.text(name, stated.get(name)) for name in ("title", "purpose"))
    return ApprovedStudy(title, purpose, hashlib.sha256(content).hexdigest())


def _of_audit(report: AuditReport) -> dict[str, Any]:
    made = [(f.check.name, f.outcome.status) for f in report.findings]
    return {
        "pinned": len(set(report.audited.pinned or ()) & set(report.audited.identities)),
        "views": len(report.audited.viewed),
        "assurance": _assurance(report.assurance),
        "checks_passed": tuple(name for name, status in made if status == "passed"),
        "checks_open": tuple(name for name, status in made if status == "not possible"),
    }


def _assurance(found: Assurance) -> AssuranceReached:
    level, following = found.level, found.next
    return AssuranceReached(
        *((level.number, level.name, level.words) if level else (0, NONE, "")),
        following.name if following else "",
        following.missing_in_words if following else (),
    )
