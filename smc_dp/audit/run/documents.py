"""Document of an audit: what is printed as JSON and what others keep, as a type."""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field

from smc_dp.audit.run.assessment import AssessmentFact, FactStatus
from smc_dp.audit.run.budgets import PartyBudget
from smc_dp.audit.run.check import Finding, Group, Status
from smc_dp.core.documents import Document
from smc_dp.core.kinds import DigestText
from smc_dp.run.documents import DayText

AuditVerdict: TypeAlias = Literal["audit.passed", "audit.failed", "audit.not_finished"]


class FindingDocument(Document):
    """Check and its outcome: a stable `code`, its `fields`, and the sentence `detail`.

    `line` is the first offending line of the transcript. `party` is the culprit, where its identity is known from
    elsewhere; `pinned` says whether it is, and is null where nobody can be named.
    """

    group: Group
    check: str
    asks: str
    status: Status
    code: str
    detail: str
    fields: dict[str, str | int | float | bool | list[str] | list[int] | None]
    line: int | None
    party: str | None
    pinned: bool | None

    @classmethod
    def of(cls, finding: Finding) -> Self:
        """Return the document of a finding; only a culprit whose identity is known from elsewhere is named."""
        check, outcome = finding.check, finding.outcome
        culprit = outcome.culprit
        return cls(
            group=check.group,
            check=check.name,
            asks=check.asks,
            status=outcome.status,
            code=outcome.code,
            detail=outcome.detail,
            fields=outcome.fault.as_dict()["fields"],
            line=outcome.line,
            party=culprit.name if culprit is not None and culprit.pinned else None,
            pinned=None if culprit is None else culprit.pinned,
        )


class FileDigest(Document):
    """Digest of a file that was read. Those beside the run folder bear the name of their kind, as in `views/1.view`."""

    file: str
    sha256: DigestText


class LevelDocument(Document):
    """Level of assurance that was reached, 0 for none, what the next one needs, and whose views were given."""

    number: Annotated[int, Field(ge=0, le=3)]
    name: str
    missing: list[str]
    views: list[str]
    identities: bool


class BudgetDocument(Document):
    """Budget of a party when the run was charged, as exact fractions in text; null where there are none."""

    party: str
    head: str | None
    entry: int | None
    outcome: str | None
    limit: str | None
    spent_before: str | None
    spent_after: str | None
    left_before: str | None
    left_after: str | None
    doubts: list[str]
    signed: int | None

    @classmethod
    def of(cls, found: PartyBudget) -> Self:
        """Return the document of a party's budget."""
        charged = found.charged
        before, after = (charged.before.as_dict(), charged.after.as_dict()) if charged else ({}, {})
        return cls(
            party=found.party,
            head=found.head,
            entry=charged.entry if charged else None,
            outcome=charged.outcome if charged else None,
            limit=before.get("limit"),
            spent_before=before.get("spent"),
            spent_after=after.get("spent"),
            left_before=before.get("left"),
            left_after=after.get("left"),
            doubts=[str(doubt) for doubt in charged.doubts] if charged else [],
            signed=found.signed,
        )


class FactDocument(Document):
    """Fact for a data-protection assessment: the file and key it was read from, and the checks that hold it."""

    topic: str
    fact: str
    source: str
    checks: list[str]
    status: FactStatus

    @classmethod
    def of(cls, fact: AssessmentFact) -> Self:
        """Return the document of a fact."""
        return cls(topic=fact.topic, fact=fact.fact, source=fact.source, checks=list(fact.checks), status=fact.status)


class AuditDocument(Document):
    """Report of an audit by this `version` on this `date` (UTC) of the run folder `run`, whose session has this id.

    `passed`: no check failed, and none was given up; those that were are `unfinished`; `verdict` is its code.
    `first_fault` is the failed check with the earliest line. `budgets` is null where no ledgers were given.
    `assessment`: facts for a data-protection assessment, those first that nobody may overlook.
    """

    run: str
    date: DayText
    version: str
    session: DigestText
    level: LevelDocument
    passed: bool
    verdict: AuditVerdict
    first_fault: FindingDocument | None
    unfinished: list[str]
    findings: list[FindingDocument]
    files: list[FileDigest]
    budgets: list[BudgetDocument] | None
    assessment: list[FactDocument]
