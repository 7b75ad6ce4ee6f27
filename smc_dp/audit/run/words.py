"""What a person reads of the audit of a run."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from smc_dp.audit.run.check import CheckOutcome
from smc_dp.audit.run.report import AuditReport
from smc_dp.errors import one_line

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
        text = f"{finding.check.name:<{longest}}  {outcome.status:<12}  {finding.check.asks} {line}{_found(outcome)}"
        yield from _hanging(text, width, "  ", longest + _HANGING)
    yield from _verdict(report, width)


def _verdict(report: AuditReport, width: int) -> Iterator[str]:
    names: dict[str, list[str]] = {"passed": [], "failed": [], "not possible": []}
    for finding in report.findings:
        names[finding.outcome.status].append(finding.check.name)
    yield ", ".join(f"{len(found)} {status}" for status, found in names.items())
    if not_possible := names["not possible"]:
        wanting = f"Not checked, for want of what these need: {', '.join(not_possible)}."
        yield from _hanging(wanting, width, "", 2)
    if first := report.first_fault:
        where = "" if first.outcome.line is None else f" at line {first.outcome.line} of the record"
        yield f"FAILED: {first.check.name}{where}: {_found(first.outcome)}"
    elif report.unfinished:
        given_up = ", ".join(report.unfinished)
        yield f"NOT FINISHED: {given_up} would take too long, so that nothing is known of them; no other check failed."
    else:
        yield "PASSED: no check failed. An audit can refute what a run claims; it proves none of it."


def _found(outcome: CheckOutcome) -> str:
    culprit = outcome.culprit
    who = f" [{one_line(culprit.name)}]" if culprit is not None and culprit.pinned else ""
    return one_line(outcome.detail) + who  # the holder of a key that nobody vouches for stands in the detail


def _hanging(text: str, width: int, first: str, rest: int) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=" " * rest, break_long_words=False)
