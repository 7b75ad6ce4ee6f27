"""What a person reads of the audit of a run."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator
from typing import get_args

from smc_dp.audit.run.budget_words import OF_LEDGERS, alike
from smc_dp.audit.run.check import CheckOutcome, Status
from smc_dp.audit.run.report import AuditReport
from smc_dp.core.errors import one_line, plain_name

NO_PROOF = "An audit can refute what a run claims; it proves none of it."
_HANGING = 18  # columns of name and outcome, beside the longest name


def lines(report: AuditReport, width: int) -> Iterator[str]:
    """Every finding, the question with what was found, and the verdict, in lines of at most this width."""
    longest = max((len(f.check.name) for f in report.findings), default=0)
    group = ""
    for finding in report.findings:
        if finding.check.group != group:
            group = finding.check.group
            yield f"{group.capitalize()}"
        outcome = finding.outcome
        line = "" if outcome.line is None else f"line {outcome.line}: "
        text = f"{finding.check.name:<{longest}}  {outcome.status:<12}  {finding.check.asks} {line}{found(outcome)}"
        yield from _hanging(text, width, "  ", longest + _HANGING)
    yield from _ending(report, width)


def _ending(report: AuditReport, width: int) -> Iterator[str]:
    counts = Counter(finding.outcome.status for finding in report.findings)
    yield ", ".join(f"{counts[status]} {status}" for status in get_args(Status))
    undone = [finding for finding in report.findings if finding.outcome.status == "not possible"]
    kinds = (("Not checked, for want of what these need", False), ("Nothing to ask in what was given", True))
    for said, by_nature in kinds:
        if names := [finding.check.name for finding in undone if finding.outcome.by_nature == by_nature]:
            yield from _hanging(f"{said}: {', '.join(names)}.", width, "", 2)
    for line in (*_budgets(report), *assured(report)):
        yield from _hanging(line, width, "", 2)
    yield verdict(report)


def verdict(report: AuditReport) -> str:
    """Whether a check failed, and the first that did; else whether all came to an end."""
    if first := report.first_fault:
        where = "" if first.outcome.line is None else f" at line {first.outcome.line} of the record"
        return f"FAILED: {first.check.name}{where}: {found(first.outcome)}"
    if report.unfinished:
        given_up = ", ".join(report.unfinished)
        return f"NOT FINISHED: {given_up} would take too long, so that nothing is known of them; no other check failed."
    return f"PASSED: no check failed. {NO_PROOF}"


def _budgets(report: AuditReport) -> Iterator[str]:
    """How the parties' budgets stood before and after, if ledgers were given."""
    if report.budgets is not None:
        yield from (f"Budget of {', '.join(map(plain_name, names))}: {said}" for names, said in alike(report.budgets))
        yield OF_LEDGERS


def assured(report: AuditReport) -> Iterator[str]:
    """What is missing for the next level of assurance, and then which one was reached."""
    reached = report.assurance
    if rung := reached.next:
        yield f"Missing for level {rung.number} of 3 ({rung.name}): {'; '.join(rung.missing)}."
    if (level := reached.level) is None:
        yield "Level 0 of 3: not even the record is seen to be whole."
    else:
        yield f"Level {level.number} of 3: {level.name}. {level.words}"


def found(outcome: CheckOutcome) -> str:
    """What a check found, on one line, and who is to blame where that is known."""
    culprit = outcome.culprit
    who = f" [{one_line(culprit.name)}]" if culprit is not None and culprit.pinned else ""
    return one_line(outcome.detail) + who  # the holder of a key that nobody vouches for stands in the detail


def _hanging(text: str, width: int, first: str, rest: int) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=" " * rest, break_long_words=False)
