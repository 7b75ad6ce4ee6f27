"""Check of a run and its outcome: passed, failed, or not possible with what was given. None is silently skipped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from smc_dp.audit.run.blame import Culprit, line_signer, malicious_sender
from smc_dp.audit.run.evidence import Evidence
from smc_dp.core.errors import Fault, FieldValue, InputFault
from smc_dp.run.release_consistency import Contradiction

Status: TypeAlias = Literal["passed", "failed", "not possible"]
Group: TypeAlias = Literal["conformity", "privacy", "hygiene", "replay", "statements", "leakage"]
Work: TypeAlias = Literal["lines", "little", "much"]
Takes: TypeAlias = Literal["folder", "identities", "views"]
VIEW_GROUPS = ("hygiene", "replay", "statements", "leakage")
"""Groups whose checks need views, or the protocol's code."""


@dataclass(frozen=True)
class CheckOutcome:
    """Outcome of a check: a fault with a stable code; an outcome that passed has a code and figures too.

    `line`: the first offending line of the transcript. `culprit`: named by its own signature only. `why_nobody`: why
    nobody is named for a view. Not `finished`: the check was given up, and no audit passes with it. `inapplicable`: the
    given evidence has nothing that the check is about; other views may have.
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
        """Stable code of the outcome."""
        return self.fault.code

    @property
    def detail(self) -> str:
        """Sentence of the outcome, with who answers for it where that takes more than a name."""
        answers = str(self.why_nobody or "")
        if self.culprit is not None and not self.culprit.pinned:
            answers = f"{self.culprit.label} answers for this; identities known from elsewhere would settle who that is"
        return f"{str(self.fault).rstrip('.')}; {answers}" if answers else str(self.fault)

    @property
    def party(self) -> str | None:
        """Name of the culprit."""
        return None if self.culprit is None else self.culprit.name

    @property
    def holds(self) -> bool:
        """Return whether the check was made and passed."""
        return self.status == "passed"


def make_fault(code: str, /, **fields: FieldValue) -> Fault:
    """Return the fault with this code and these fields."""
    return InputFault(code, fields)


def passed(code: str, /, **fields: FieldValue) -> CheckOutcome:
    """Return an outcome that passed; the sentence says what was checked, with figures."""
    return CheckOutcome("passed", InputFault(code, fields))


def failed(
    code: str | Fault, /, *, line: int | None = None, culprit: Culprit | None = None, why_nobody: Fault | None = None,
    **fields: FieldValue,
) -> CheckOutcome:  # fmt: skip
    """Return an outcome that failed, by a fault, or by its code and fields."""
    fault = code if isinstance(code, Fault) else InputFault(code, fields)
    return CheckOutcome("failed", fault, line, culprit, why_nobody)


def failed_line(evidence: Evidence, line: int, code: str, /, **fields: FieldValue) -> CheckOutcome:
    """Return the failed outcome for a line; its sender is named if its own view refutes it."""
    return failed(InputFault(code, fields), line=line, culprit=malicious_sender(evidence, line))


def refuted_outcome(evidence: Evidence, wrong: Contradiction) -> CheckOutcome:
    """Return the outcome of a broken rule; the culprit signed the line by itself."""
    line = wrong.line
    return failed(wrong.fault, line=line, culprit=line_signer(evidence, line) if line and wrong.name else None)


def not_possible(code: str, /, **fields: FieldValue) -> CheckOutcome:
    """Return the outcome of a check whose evidence was not given, or does not let it be made."""
    return CheckOutcome("not possible", InputFault(code, fields))


def not_applicable(code: str, /, **fields: FieldValue) -> CheckOutcome:
    """Return the outcome of a check that this run has nothing for, whatever is handed over: it blocks no level."""
    return CheckOutcome("not possible", InputFault(code, fields), inapplicable=True)


def unfinished(code: str, /, **fields: FieldValue) -> CheckOutcome:
    """Return the outcome of a check that was given up."""
    return CheckOutcome("not possible", InputFault(code, fields), finished=False)


@dataclass(frozen=True)
class Check:
    """Question to the evidence: `name` is short and unique, `asks` the question as a person would put it.

    `work`: whether the check ties the lines of the transcript together, which comes first, costs little, or runs the
    protocol's code, which is done only beside a transcript whose lines are tied. `takes`: what the check needs beside
    a run folder, where not all of its group need the same.
    """

    group: Group
    name: str
    asks: str
    run: Callable[[Evidence], CheckOutcome]
    work: Work = "little"
    takes: Takes = "folder"

    @property
    def needs(self) -> Takes:
        """Evidence that the check needs to say all that it can."""
        return "views" if self.group in VIEW_GROUPS else self.takes

    @property
    def is_costly(self) -> bool:
        """Return whether the check runs the protocol's code, on views or to learn from it."""
        return self.work == "much" or self.group in VIEW_GROUPS


@dataclass(frozen=True)
class Finding:
    """Check and its outcome."""

    check: Check
    outcome: CheckOutcome
