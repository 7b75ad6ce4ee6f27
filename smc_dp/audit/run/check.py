"""A check, and what comes out of it: passed, failed, or not possible with what was given. Never silently skipped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from smc_dp.audit.run.blame import Culprit, line_signer
from smc_dp.audit.run.evidence import Evidence
from smc_dp.core.errors import Fault, FieldValue, InputFault
from smc_dp.run.release_consistency import Refuted

Status: TypeAlias = Literal["passed", "failed", "not possible"]
Group: TypeAlias = Literal["conformity", "privacy", "hygiene", "replay", "statements", "leakage"]
Work: TypeAlias = Literal["lines", "little", "much"]
Takes: TypeAlias = Literal["folder", "identities", "views"]
VIEW_GROUPS = ("hygiene", "replay", "statements", "leakage")
"""Groups whose checks ask of views, or of the protocol's code."""


@dataclass(frozen=True)
class CheckOutcome:
    """What a check found, as a fault with a stable code; one that passed has a code too, and figures as its fields.

    `line` is the first offending line of the wire record, `culprit` who is to blame, if anybody can be named: only a
    signature makes one. `why_nobody` says why nobody is named for what a view shows.

    A check that would have taken too long is not `finished`: then it was not possible, and no audit passes with it.
    `inapplicable`: it was not possible because what was given has nothing that could be asked; other views may have.
    """

    status: Status
    fault: Fault
    line: int | None = None
    culprit: Culprit | None = None
    why_nobody: Fault | None = None
    finished: bool = True
    inapplicable: bool = False

    @property
    def code(self) -> str:
        """Stable code of what was found."""
        return self.fault.code

    @property
    def detail(self) -> str:
        """What was found in a sentence, and who answers for it where that takes more than a name."""
        answers = str(self.why_nobody or "")
        if self.culprit is not None and not self.culprit.pinned:
            answers = f"{self.culprit.said} answers for this; identities known from elsewhere would settle who that is"
        return f"{str(self.fault).rstrip('.')}; {answers}" if answers else str(self.fault)

    @property
    def party(self) -> str | None:
        """The name of the culprit."""
        return None if self.culprit is None else self.culprit.name

    @property
    def holds(self) -> bool:
        """Whether the check was made and did not fail."""
        return self.status == "passed"


def passed(code: str, /, **fields: FieldValue) -> CheckOutcome:
    """Return that the check holds; the sentence says what was looked at, with figures."""
    return CheckOutcome("passed", InputFault(code, fields))


def failed(
    code: str | Fault,
    /,
    *,
    line: int | None = None,
    culprit: Culprit | None = None,
    why_nobody: Fault | None = None,
    **fields: FieldValue,
) -> CheckOutcome:
    """Return that the check does not hold: a fault, or the code, sentence and fields of one."""
    fault = code if isinstance(code, Fault) else InputFault(code, fields)
    return CheckOutcome("failed", fault, line, culprit, why_nobody)


def refuted_outcome(evidence: Evidence, wrong: Refuted) -> CheckOutcome:
    """Return the outcome of a rule that does not hold; whoever is to blame signed the line by itself."""
    line = wrong.line
    return failed(wrong.fault, line=line, culprit=line_signer(evidence, line) if line and wrong.name else None)


def not_possible(code: str, /, **fields: FieldValue) -> CheckOutcome:
    """Return that the check needs what was not given, or that what is there does not let it be made."""
    return CheckOutcome("not possible", InputFault(code, fields))


def not_applicable(code: str, /, **fields: FieldValue) -> CheckOutcome:
    """Return that this run has nothing that the check is about, whatever is handed over: no level is kept away."""
    return CheckOutcome("not possible", InputFault(code, fields), inapplicable=True)


def unfinished(code: str, /, **fields: FieldValue) -> CheckOutcome:
    """Return that the check was given up; the sentence says after what."""
    return CheckOutcome("not possible", InputFault(code, fields), finished=False)


@dataclass(frozen=True)
class Check:
    """One question to the evidence. `name` is short and unique, `asks` is the question as a person would put it.

    `work`: whether it asks if the record's lines hang together, which is asked first, costs little, or runs the
    protocol's code; that is done only beside a record whose lines do. `takes`: what it cannot be made without, beside a
    run folder, where not all of its group is of one kind.
    """

    group: Group
    name: str
    asks: str
    run: Callable[[Evidence], CheckOutcome]
    work: Work = "little"
    takes: Takes = "folder"

    @property
    def needs(self) -> Takes:
        """What has to be handed over for the check to say all that it can."""
        return "views" if self.group in VIEW_GROUPS else self.takes

    @property
    def is_costly(self) -> bool:
        """Whether the protocol's code is run, on views or to learn from it."""
        return self.work == "much" or self.group in VIEW_GROUPS


@dataclass(frozen=True)
class Finding:
    """A check and its outcome."""

    check: Check
    outcome: CheckOutcome
