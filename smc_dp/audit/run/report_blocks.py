"""Report of an audit as one list of sections: a page has all, a screen those without details.

The first sheet is for everybody; every check and digest comes after it. What a stranger wrote stands there as text, cut
where it would fill a sheet, for a page has to fit into its 2 MB.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import PurePath
from types import MappingProxyType
from typing import get_args

import numpy as np

from smc_dp.audit.run.assessment import AssessmentFact
from smc_dp.audit.run.budget_report import (
    BUDGET_HEADINGS,
    LEDGER_NOTE,
    budget_row,
    budget_sentence,
    budget_share,
    group_budgets,
)
from smc_dp.audit.run.budgets import PartyBudget
from smc_dp.audit.run.check import CheckOutcome, Finding, Status
from smc_dp.audit.run.levels import Assurance, AssuranceLevel
from smc_dp.audit.run.report import AuditReport
from smc_dp.audit.run.run_summary import AuditedRun
from smc_dp.core.errors import one_line
from smc_dp.pages.blocks import (
    Banner,
    Blanks,
    Bullets,
    FactList,
    Page,
    PageBlock,
    PageTable,
    Prose,
    Section,
    Verbatim,
    coded_prose,
    rest_of,
)
from smc_dp.pages.shortening import join_first, shorten
from smc_dp.run.privacy_summary import plain_lines, summary_lines
from smc_dp.run.release import RELEASE, PublishedRelease
from smc_dp.run.release_report import NO_PROOF

NO_LEDGERS = "No ledgers were given (`ledgers`), so no budget is known."
UNREADABLE_STATEMENT = "The privacy statement in release.json cannot be read."
VIEWS = "Some checks need views. A view is a participant's own record of its messages and secrets."
_NO_VIEWS, _FEW_VIEWS, _OTHER_CODE = (
    "no views were given",
    "too few views were given",
    "no result is stored for this code",
)
_NOT_CHECKED: Mapping[str, str] = MappingProxyType(
    {
        "identities.not_given": "no public keys were given",
        "views.not_given": _NO_VIEWS,
        **dict.fromkeys(
            ("views.no_party", "views.no_party_noise", "views.no_party_model"), "no view of a party was given"
        ),
        "masks.slack_without_views": _NO_VIEWS,
        "canaries.too_few_views": _FEW_VIEWS,
        "structure_together.too_few_views": _FEW_VIEWS,
        "check.not_finished": "the time was up",
        "transcript.loose_lines": "an earlier check did not pass",
        "role_code.differs": _OTHER_CODE,
        "role_code.no_result": _OTHER_CODE,
    }
)
_OTHER_REASONS = "of what the table of checks says"
_NOTHING_TO_CHECK = "this run has nothing that they check"
_SHORT, _VERDICT, _LONG, _DETAIL = 60, 400, 280, 3000  # characters of a name, a verdict, a sentence, a detail
_FEW, _REASONS, _ROWS = 6, 3, 4  # names in a row, reasons that keep a level away, budgets that are not alike
_MOST, _NAMED = 1200, 40  # rows of a table, sentences in a list


def audit_sections(report: AuditReport) -> tuple[Section, ...]:
    """Return the report of an audit: a first sheet without symbols or formulas, and an annex with the figures."""
    audited, budgets, found = report.audited, report.budgets, report.findings
    ledgers = () if budgets is None else (Section("Ledgers", tuple(_ledgers(budgets)), details=True),)
    facts = tuple(_assessment(report.assessment))
    claimed = "What it claims to guarantee" if report.assurance.level is None else "What it guarantees"
    digests = tuple((shorten(name), digest) for name, digest in list(audited.read.items())[:_MOST])
    files = (PageTable("Digests (SHA-256)", ("file", "digest"), digests), *rest_of(len(audited.read), _MOST))
    signed = (
        f"audited       {report.date.isoformat()} (UTC) by smc-dp {report.version}",
        f"session       {audited.session}",
        f"{RELEASE}  {audited.files[RELEASE]}",
    )
    signature = Verbatim("\n".join(signed), "What is signed: date, session and SHA-256 of the release")
    return (
        Section("What was released", tuple(_released(report)), details=True),
        Section(f"{claimed}, and against whom", tuple(_guaranteed(audited)), details=True),
        Section("Three levels of assurance", tuple(_assured(report))),
        Section("Budget before and after", tuple(_budget(budgets, budget_share)), details=True),
        Section("Signature", (signature, Blanks(("Name", "Function", "Date", "Signature"))), details=True),
        Section("Annex: the privacy statement", tuple(_figures(audited)), new_sheet=True, details=True),
        Section("The guarantee in full, and what it does not cover", tuple(_caveats(audited)), details=True),
        Section("Budget in figures", tuple(_budget(budgets, budget_sentence))),
        Section("Facts for a data-protection assessment", facts, new_sheet=True, details=True),
        Section("Every check", (*_tables(found), *_counts(found)), new_sheet=True, details=True),
        Section("Who took part", tuple(_participants(audited)), details=True),
        *ledgers,
        Section("Files, as they were audited", files, details=True),
    )


def blocks(report: AuditReport) -> tuple[PageBlock, ...]:
    """Return what a command prints: the checks first, for the end of a text, the verdict, stays in sight.

    A check that was not possible is only named: the levels say which files are missing, and a page has its question.
    """
    done = [f for f in report.findings if f.outcome.status != "not possible" or not f.outcome.finished]
    checks = Section("Checks", (*_tables(done), *_counts(report.findings)))
    *rest, levels = (section for section in reversed(audit_sections(report)) if not section.details)
    return (checks, *rest, replace(levels, blocks=levels.blocks[:-1]), audit_verdict(report))


def audit_page(report: AuditReport) -> Page:
    """Return the page of an audit, to file and to sign."""
    return Page(
        title=f"Audit of the run {shorten(PurePath(report.run).name, _SHORT)}",
        notices=tuple(_notices(report)),
        sections=audit_sections(report),
        made=tuple(_made(report)),
    )


def audit_verdict(report: AuditReport) -> Prose:
    """Return which checks failed, first what the files' digests and the earliest fault say; else whether all ended."""
    if first := report.first_fault:
        failed = {f.check.name: f for f in report.findings if f.outcome.status == "failed"}
        told = {f.check.name: _fault(f) for f in (failed.get("files", first), first)}
        others = tuple(name for name in failed if name not in told)
        more = f"; also failed: {join_first(others, _FEW, _SHORT)}" if others else ""
        return coded_prose("audit.failed", faults="; ".join(told.values()), more=more)
    if report.unfinished:
        return coded_prose("audit.not_finished", names=report.unfinished)
    counts = Counter(finding.outcome.status for finding in report.findings)
    return coded_prose("audit.passed", passed=counts["passed"], undone=counts["not possible"], no_proof=NO_PROOF)


def _fault(failed: Finding) -> str:
    line = failed.outcome.line
    counted = " (its first line is line 0)" if line else ""
    where = "" if line is None else f" at line {line} of the transcript{counted}"
    return f"{failed.check.name}{where}: {shorten(_found(failed.outcome), _DETAIL)}"


def _notices(report: AuditReport) -> Iterator[Banner]:
    """Yield what nobody may overlook, the worst first."""
    if report.first_fault or report.unfinished:
        found = audit_verdict(report)
        yield Banner(shorten(found.text, _VERDICT), "failed", found.code)
    stated, release = report.audited.statement, report.audited.release
    said = [f"INSECURE: {join_first(release.insecure, _REASONS, _LONG, '; ')}."] if release and release.insecure else []
    if stated is not None and stated.kind == "none":
        said.append(stated.promise)
    if said:
        yield Banner(shorten(" ".join(said), 2 * _LONG), "insecure", "audit.run_insecure")


def _released(report: AuditReport) -> Iterator[PageBlock]:
    audited = report.audited
    if audited.release is None:
        yield Prose("release.json cannot be read as a release of this run. The checks say why.")
    facts = () if audited.release is None else _of_release(audited.release)
    incomplete = "; messages of some did not come, and their rows may not be in it" if audited.missing else ""
    parties = f"{len(audited.parties)}: {join_first(audited.parties, _FEW, _SHORT)}{incomplete}"
    yield FactList((*facts, ("Parties", parties), ("Run", _how_it_ran(report))))


def _how_it_ran(report: AuditReport) -> str:
    """Return whose machines the run was made on, as far as a transcript can tell."""
    approvals = next((f.outcome for f in report.findings if f.check.name == "approvals"), None)
    if approvals is not None and approvals.holds:
        return "for a study that all approved of by signature; no file shows that each ran its own part"
    if approvals is not None and approvals.inapplicable:
        return "a simulation: one process played all participants, and had the rows of all parties"
    return "whether all participants approved of it is not known"


def _of_release(release: PublishedRelease) -> Sequence[tuple[str, str]]:
    agreement, bounds = release.agreement, release.bounds
    several = f", for each of {len(bounds.classes)} classes" if len(bounds.classes) > 2 else ""
    found = release.description
    columns = [column.name for column in bounds.columns]
    may_be = bounds.label_range or join_first(bounds.classes, _FEW, _SHORT)
    label = f"of {shorten(str(bounds.label), _SHORT)}: {may_be}"
    how = f"method {agreement.method.name}, protocol {agreement.protocol}"
    how = how if agreement.features is None else f"features {agreement.features.setting}, {how}"
    return (
        ("Model", f"linear, {np.size(release.weights):,} weights{several}; {how}")
        if found is None
        else ("Description", f"{agreement.method.figures}, of {len(found.sums):,} noisy sums; {how}"),
        *([("Outcome" if bounds.outcome else "Classes", label)] if bounds.has_label else []),
        ("Columns", f"{len(columns)}: {join_first(columns, _FEW, _SHORT)}"),
    )


def _guaranteed(audited: AuditedRun) -> Iterator[PageBlock]:
    stated = audited.statement
    if stated is None:
        yield Prose(UNREADABLE_STATEMENT)
        return
    more = "The annex has the privacy statement in figures, and all that it does not cover."
    if stated.kind == "none":
        yield Prose(f"Nothing, as said above. {more}")
    elif audited.release is not None and audited.release.agreement.statement == stated:
        yield FactList(tuple(plain_lines(audited.release.agreement)))
        yield Prose(more)
    else:  # a check fails
        yield Prose(f"Nothing is known: the statement in the release does not follow from its settings. {more}")


def _figures(audited: AuditedRun) -> Iterator[PageBlock]:
    """Yield the privacy statement with its figures; nothing but its own words where it does not follow."""
    stated = audited.statement
    if stated is None:
        yield Prose(UNREADABLE_STATEMENT)
    elif audited.release is not None and audited.release.agreement.statement == stated:
        yield FactList(tuple(summary_lines(audited.release.agreement)))
    else:
        yield Prose(f"As the release states it: {shorten(stated.promise, 4 * _LONG)}")


def missing_for_next_level(report: AuditReport) -> str:
    """Return what the next level of assurance needs; nothing where the last one was reached."""
    level = report.assurance.next
    if level is None:
        return ""
    if any(fault.code == "level.check_failed" for fault in level.missing):
        return f"Level {level.number} of 3 ({level.name}) was not reached, because checks failed."
    return f"For level {level.number} of 3 ({level.name}) the audit lacks: {_reasons(level)}."


def _assured(report: AuditReport) -> Iterator[PageBlock]:
    """Yield what is missing for the next level, then the levels, then the verdict."""
    found = report.assurance
    if said := missing_for_next_level(report):
        yield Banner(said, code="audit.level_missing") if report.passed else Prose(said, "audit.level_missing")
    yield Bullets(tuple(f"{level.name.capitalize()}: {_said(level, found)}" for level in found.levels), True)
    if not report.passed:
        yield Prose(NO_PROOF)
    yield audit_verdict(report)


def _said(level: AssuranceLevel, of: Assurance) -> str:
    if level.reached:
        return f"reached. {level.meaning}"
    if level is of.next:
        return "not reached. The reason stands above."
    before = f"not reached. It needs level {level.number - 1}"
    return f"{before}." if of.level is None or not level.missing else f"{before}, and {_reasons(level, 1)}."


def _reasons(level: AssuranceLevel, most: int = _REASONS) -> str:
    return join_first(list(map(str, level.missing)), most, _LONG, "; ")


def _budget(budgets: Sequence[PartyBudget] | None, tell: Callable[[PartyBudget], str]) -> Iterator[PageBlock]:
    if budgets is None:
        yield Prose(NO_LEDGERS)
        return
    lines = [f"{join_first(parties, _FEW, _SHORT)}: {said}" for parties, said in group_budgets(budgets, tell)]
    yield Bullets((*lines[:_ROWS], *([f"{len(lines) - _ROWS:,} lines more, below."] if len(lines) > _ROWS else [])))


def _made(report: AuditReport) -> Iterator[str]:
    yield f"Made by smc-dp {report.version} on {report.date.isoformat()} (UTC)."
    kinds = {name.partition("/")[0] for name in report.audited.handed_over}
    beside = [kind for kind in ("identities", "views") if kind in kinds] + ["ledgers"] * (report.budgets is not None)
    given = (repr(shorten(PurePath(report.run).name, _SHORT)), *(f"{kind}={kind.upper()}" for kind in beside))
    capitals = " Names in capitals stand for the files that were given." if beside else ""
    call = f"audit_page(audit_run({', '.join(given)}))"
    imports = "from smc_dp import audit_run; from smc_dp.audit.run.report_blocks import audit_page"
    yield f"In Python, in the folder that contains this run: {imports}; {call}.{capitals}"


def _caveats(audited: AuditedRun) -> Iterator[PageBlock]:
    caveats = audited.statement.caveats if audited.statement else ()
    if audited.statement is not None and audited.statement.kind != "none":
        yield Prose(shorten(audited.statement.promise, 4 * _LONG))
    yield Prose("Limits that the privacy statement names:" if caveats else "The privacy statement names no limits.")
    if caveats:
        yield Bullets(tuple(shorten(text, _DETAIL) for text in caveats[:_NAMED]))
    yield Prose("Several releases of the same rows add up. A ledger records the cost of each.")


def _assessment(facts: Sequence[AssessmentFact]) -> Iterator[PageBlock]:
    held = (f"{f.status}: {', '.join(f.checks)}" if f.checks else f.status for f in facts)
    rows = tuple(
        (f.topic, shorten(f.fact, _DETAIL), f.source, said) for f, said in zip(facts[:_MOST], held, strict=False)
    )
    yield PageTable("Facts, each with its source and its check", ("topic", "fact", "source", "check"), rows)
    yield Prose(
        "'Checked' means only: the fact agrees with the other files of this run. Controller, legal basis and "
        "recipients are in no file."
    )


def _tables(findings: Sequence[Finding]) -> Iterator[PageBlock]:
    for group, found in groupby(findings, key=lambda finding: finding.check.group):
        rows = tuple((f.check.name, f.outcome.status, f"{f.check.asks} {_detail(f)}") for f in found)
        yield PageTable(group.capitalize(), ("check", "outcome", "question, and what was found"), rows)


def _counts(findings: Sequence[Finding]) -> Iterator[PageBlock]:
    """Yield how many checks had which outcome, and the names of those that were not possible."""
    counts = Counter(finding.outcome.status for finding in findings)
    yield Prose(", ".join(f"{counts[status]} {status}" for status in get_args(Status)) + f". {VIEWS}")
    undone: dict[str, list[str]] = {why: [] for why in (*_NOT_CHECKED.values(), _OTHER_REASONS, _NOTHING_TO_CHECK)}
    for finding in (one for one in findings if one.outcome.status == "not possible"):
        why = _NOT_CHECKED.get(finding.outcome.code, _OTHER_REASONS)
        undone[_NOTHING_TO_CHECK if finding.outcome.inapplicable else why].append(finding.check.name)
    for why, names in undone.items():
        if names:
            yield Prose(f"Not checked, because {why}: {', '.join(names)}.")


def _detail(finding: Finding) -> str:
    line = finding.outcome.line
    where = "" if line is None else f"line {line} of the transcript: "
    return shorten(f"{where}{_found(finding.outcome)}", _DETAIL)


def _found(outcome: CheckOutcome) -> str:
    """Return what a check found, on one line, and who is to blame where that is known."""
    culprit = outcome.culprit
    who = f" [{one_line(culprit.name)}]" if culprit is not None and culprit.pinned else ""
    return one_line(outcome.detail) + who  # the holder of a key that nobody vouches for stands in the detail


def _participants(audited: AuditedRun) -> Iterator[PageBlock]:
    headings = ("participant", "rows", "identity on line 0 of the transcript", "known from elsewhere", "view given")
    rows = tuple(_participant(audited, name) for name in audited.participants[:_MOST])
    yield PageTable("Participants and their public identity keys", headings, rows)
    yield from rest_of(len(audited.participants), _MOST)


def _participant(audited: AuditedRun, name: str) -> tuple[str, ...]:
    stated = audited.identities.get(name, "none")
    known = "not checked" if audited.pinned is None else _known(audited.pinned.get(name), stated)
    rows, viewed = ("yes" if name in names else "no" for names in (audited.parties, audited.viewed))
    return shorten(name), rows, stated, known, viewed


def _known(pinned: str | None, stated: str) -> str:
    if pinned is None:
        return "no"
    return "yes, the same" if pinned == stated else f"another: {pinned}"


def _ledgers(budgets: Sequence[PartyBudget]) -> Iterator[PageBlock]:
    yield PageTable("Epsilon, by party", BUDGET_HEADINGS, tuple(map(budget_row, budgets[:_MOST])))
    heads = tuple(
        (shorten(b.party), *(str(n or "none") for n in (b.charged and b.charged.entry, b.signed, b.head)))
        for b in budgets[:_MOST]
    )
    yield PageTable("Entries", ("party", "entry", "entries in a signed head", "head of the ledger (SHA-256)"), heads)
    yield from rest_of(len(budgets), _MOST)
    yield Prose(LEDGER_NOTE)
    if doubts := [f"{shorten(b.party)}: {doubt}" for b in budgets if b.charged for doubt in b.charged.doubts]:
        yield Prose("Entries that differ from the release:")
        yield Bullets(tuple(doubts[:_NAMED]))
        yield from rest_of(len(doubts), _NAMED)
