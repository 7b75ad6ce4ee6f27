"""The report of an audit as a page to file and to sign: the first sheet for everybody, every check and digest after it.

All of it comes from the report. What a stranger wrote stands there as text, cut where it would fill a sheet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

import numpy as np

from smc_dp.audit.run import page_details, words
from smc_dp.audit.run.budget_words import alike
from smc_dp.audit.run.budgets import PartyBudget
from smc_dp.audit.run.levels import Assurance, Rung
from smc_dp.audit.run.report import AuditReport
from smc_dp.audit.run.run_summary import AuditedRun
from smc_dp.pages.blocks import Banner, Blanks, Bullets, FactList, Page, PageBlock, Prose, Section, Verbatim
from smc_dp.pages.shortening import cut, some
from smc_dp.run.release import RELEASE, PublishedRelease

_SHORT, _VERDICT, _LONG = 60, 200, 280  # characters of a name, of what failed, of a sentence on the first sheet
_FEW = 6  # names in a row
_REASONS = 3  # of what keeps a level away
_ROWS = 4  # of parties whose budgets are not alike
NO_LEDGERS = "Nothing is known of anybody's budget: no ledgers, and no exports of them, were handed over."
NO_STATEMENT = "What stands in release.json as the statement of privacy cannot be read as one."


def audit_page(report: AuditReport) -> Page:
    """Return the page of an audit, to file and to sign."""
    audited = report.audited
    return Page(
        title=f"Audit of the run {cut(PurePath(report.run).name, _SHORT)}",
        notices=tuple(_notices(report)),
        sections=(
            Section("What was released", tuple(_released(report))),
            Section(_heading(report), tuple(_guaranteed(audited))),
            Section("Three levels of assurance", tuple(_assured(report))),
            Section("Budget before and after", tuple(_budget(report.budgets))),
            Section("Signature", (_signed(report), Blanks(("Name", "Function", "Date", "Signature")))),
            *page_details.sections(report),
        ),
        made=tuple(_made(report)),
    )


def _notices(report: AuditReport) -> Iterator[Banner]:
    """What nobody may overlook, the worst first."""
    if report.first_fault or report.unfinished:
        yield Banner(cut(words.verdict(report), _VERDICT), "failed")
    stated, release = report.audited.statement, report.audited.release
    said = [f"INSECURE: {some(release.insecure, _REASONS, _LONG, '; ')}."] if release and release.insecure else []
    if stated is not None and stated.kind == "none":
        said.append(stated.promise)
    if said:
        yield Banner(cut(" ".join(said), 2 * _LONG), "insecure")


def _released(report: AuditReport) -> Iterator[PageBlock]:
    audited = report.audited
    if audited.release is None:
        yield Prose("What stands in release.json cannot be read as a release of this run; the checks say why.")
    facts = () if audited.release is None else _of_release(audited.release)
    yield FactList((*facts, ("Parties", _parties(audited)), ("Run", _how_it_ran(report))))


def _parties(audited: AuditedRun) -> str:
    gone = "; letters of some did not come, and their rows may not be in it" if audited.missing else ""
    return f"{len(audited.parties)}: {some(audited.parties, _FEW, _SHORT)}{gone}"


def _how_it_ran(report: AuditReport) -> str:
    """Whose machines it was made on, as far as a record can tell."""
    asked = next((f.outcome for f in report.findings if f.check.name == "approvals"), None)
    if asked is not None and asked.holds:
        return "for a study that all approved of by signature; that each ran its part itself, no file shows"
    if asked is not None and asked.by_nature:
        return "a simulation: one process played all participants, and had the rows of all parties"
    return "whether all participants approved of it is not known"


def _of_release(release: PublishedRelease) -> Sequence[tuple[str, str]]:
    agreement, bounds = release.agreement, release.bounds
    several = f", for each of {len(bounds.classes)} classes" if len(bounds.classes) > 2 else ""
    columns = [column.name for column in bounds.columns]
    return (
        (
            "Model",
            f"linear, {np.size(release.weights):,} weights{several}; {agreement.method.name} by {agreement.protocol}",
        ),
        ("Classes", f"of {cut(str(bounds.label), _SHORT)}: {some(bounds.classes, _FEW, _SHORT)}"),
        ("Columns", f"{len(columns)}: {some(columns, _FEW, _SHORT)}"),
    )


def _heading(report: AuditReport) -> str:
    if report.assurance.level is None:
        return "What it claims to guarantee, and against whom"
    return "What it guarantees, and against whom"


def _guaranteed(audited: AuditedRun) -> Iterator[PageBlock]:
    stated = audited.statement
    if stated is None:
        yield Prose(NO_STATEMENT)
        return
    count = len(stated.caveats)
    more = f" What it does not cover stands on the next sheet ({count})." if count else ""
    said = f"As the release states it: {cut(stated.promise, 4 * _LONG)}"
    yield Prose(("Nothing, as said above." if stated.kind == "none" else said) + more)


def _assured(report: AuditReport) -> Iterator[PageBlock]:
    """What is missing for the next level, then the levels, then the verdict."""
    found = report.assurance
    if rung := found.next:
        missing = f"Missing for level {rung.number} of 3, {rung.name}: {_reasons(rung)}."
        yield Banner(missing) if report.passed else Prose(missing)
    yield Bullets(tuple(f"{rung.name.capitalize()}: {_said(rung, found)}" for rung in found.rungs), True)
    yield Prose(words.verdict(report) if report.passed else f"It did not pass: see above. {words.NO_PROOF}")


def _said(rung: Rung, of: Assurance) -> str:
    if rung.reached:
        return f"reached. {rung.reached.words}"
    if rung is of.next:
        return "not reached; it takes what is missing above."
    if of.level is None or not rung.missing:
        return "not reached; it takes the level before."
    return f"not reached; it takes the level before, and {_reasons(rung, 1)}."


def _reasons(rung: Rung, most: int = _REASONS) -> str:
    return some(rung.missing_in_words, most, _LONG, "; ")


def _budget(budgets: Sequence[PartyBudget] | None) -> Iterator[PageBlock]:
    if budgets is None:
        yield Prose(NO_LEDGERS)
        return
    lines = [f"{some(parties, _FEW, _SHORT)}: {said}" for parties, said in alike(budgets)]
    yield Bullets((*lines[:_ROWS], *([f"{len(lines) - _ROWS:,} lines more, below."] if len(lines) > _ROWS else [])))


def _signed(report: AuditReport) -> Verbatim:
    """What a signature is about."""
    lines = (
        f"audited       {report.date.isoformat()} (UTC) by smc-dp {report.version}",
        f"session       {report.audited.session}",
        f"{RELEASE}  {report.audited.files[RELEASE]}",
    )
    return Verbatim("\n".join(lines), "What is signed: date, session and SHA-256 of the release")


def _made(report: AuditReport) -> Iterator[str]:
    yield f"Made by smc-dp {report.version} on {report.date.isoformat()} (UTC)."
    given = [repr(cut(PurePath(report.run).name, _SHORT))]
    kinds = {name.partition("/")[0] for name in report.audited.handed_over}
    beside = [kind for kind in ("identities", "views") if kind in kinds] + ["ledgers"] * (report.budgets is not None)
    given += [f"{kind}={kind.upper()}" for kind in beside]
    yield f"Made in Python as audit_page(audit_run({', '.join(given)})), where capitals stand for what was handed over."
