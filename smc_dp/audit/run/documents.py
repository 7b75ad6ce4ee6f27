"""What an audit found, as a document: what is printed as JSON and what others keep, as a type."""

from __future__ import annotations

from smc_dp.audit.run.check import Group, Status
from smc_dp.files.documents import Document


class FindingDocument(Document):
    """A check and its outcome. `line` is the first offending line of the record. `party` is who is to blame, where its
    identity is known from elsewhere; `pinned` says whether it is, and is null where nobody can be named.
    """

    group: Group
    check: str
    asks: str
    status: Status
    detail: str
    line: int | None
    party: str | None
    pinned: bool | None


class AuditDocument(Document):
    """All that an audit found of the run folder `run`. `passed`: no check failed, and none was given up; those that
    were are `unfinished`. `first_fault` is the failed check with the earliest line.
    """

    run: str
    passed: bool
    first_fault: FindingDocument | None
    unfinished: list[str]
    findings: list[FindingDocument]
