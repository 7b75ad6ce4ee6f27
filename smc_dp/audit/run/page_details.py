"""What stands after the first sheet of a report: every check, who took part, ledgers, the digests of all files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from smc_dp.audit.run import words
from smc_dp.audit.run.assessment import AssessmentFact
from smc_dp.audit.run.budget_words import HEADINGS, OF_LEDGERS, row
from smc_dp.audit.run.budgets import PartyBudget
from smc_dp.audit.run.check import Finding
from smc_dp.audit.run.report import AuditReport
from smc_dp.audit.run.run_summary import AuditedRun
from smc_dp.pages.blocks import Bullets, PageBlock, PageTable, Prose, Section
from smc_dp.pages.shortening import cut

# A page has to fit into its 2 MB, whatever a stranger wrote.
_DETAIL = 3000  # characters
_MOST = 1200  # rows of a table
_NAMED = 40  # sentences in a list


def sections(report: AuditReport) -> Iterator[Section]:
    """One after the other, on new sheets."""
    yield Section("What the guarantee does not cover", tuple(_caveats(report.audited)), new_sheet=True)
    yield Section("Facts for a data-protection assessment", tuple(_assessment(report.assessment)), new_sheet=True)
    yield Section("Every check", tuple(_checks(report.findings)), new_sheet=True)
    yield Section("Who took part", tuple(_participants(report.audited)))
    if report.budgets is not None:
        yield Section("Ledgers", tuple(_ledgers(report.budgets)))
    yield Section("Files, as they were audited", tuple(_files(report.audited)))


def _caveats(audited: AuditedRun) -> Iterator[PageBlock]:
    stated = audited.statement
    if stated is None or not stated.caveats:
        yield Prose("The statement of privacy names nothing.")
    else:
        yield Prose("Of the statement of privacy:")
        yield Bullets(tuple(cut(text, _DETAIL) for text in stated.caveats[:_NAMED]))
    yield Prose("Several releases of the same rows add up: what each costs, a ledger keeps.")


def _assessment(facts: Sequence[AssessmentFact]) -> Iterator[PageBlock]:
    rows = tuple((f.topic, cut(f.fact, _DETAIL), f.source, _held(f)) for f in facts[:_MOST])
    yield PageTable("Facts, each with its source and its check", ("topic", "fact", "source", "check"), rows)
    yield Prose(
        "A checked fact agrees with the other files of this run. Controller, legal basis and recipients are in no file."
    )


def _held(fact: AssessmentFact) -> str:
    return f"{fact.status}: {', '.join(fact.checks)}" if fact.checks else fact.status


def _checks(findings: Sequence[Finding]) -> Iterator[PageBlock]:
    for group, found in groupby(findings, key=lambda finding: finding.check.group):
        rows = tuple((f.check.name, f.check.asks, f.outcome.status, _detail(f)) for f in found)
        yield PageTable(group.capitalize(), ("check", "question", "outcome", "what was found"), rows)


def _detail(finding: Finding) -> str:
    line = finding.outcome.line
    where = "" if line is None else f"line {line} of the record: "
    return cut(f"{where}{words.found(finding.outcome)}", _DETAIL)


def _participants(audited: AuditedRun) -> Iterator[PageBlock]:
    headings = ("participant", "rows", "identity on line 0 of the record", "known from elsewhere", "view given")
    rows = tuple(_participant(audited, name) for name in audited.participants[:_MOST])
    yield PageTable("Participants and their public identity keys", headings, rows)
    yield from _more(len(audited.participants))


def _participant(audited: AuditedRun, name: str) -> tuple[str, ...]:
    stated = audited.identities.get(name, "none")
    known = "not asked" if audited.pinned is None else _known(audited.pinned.get(name), stated)
    rows, viewed = ("yes" if name in names else "no" for names in (audited.parties, audited.viewed))
    return cut(name), rows, stated, known, viewed


def _known(pinned: str | None, stated: str) -> str:
    if pinned is None:
        return "no"
    return "yes, the same" if pinned == stated else f"another: {pinned}"


def _ledgers(budgets: Sequence[PartyBudget]) -> Iterator[PageBlock]:
    yield PageTable("Epsilon, by party", HEADINGS, tuple(map(row, budgets[:_MOST])))
    heads = tuple((cut(b.party), _entry(b), b.head or "none") for b in budgets[:_MOST])
    yield PageTable("Entries", ("party", "entry", "head of the ledger (SHA-256)"), heads)
    yield from _more(len(budgets))
    yield Prose(OF_LEDGERS)
    doubts = [f"{cut(b.party)}: {doubt}" for b in budgets if b.charged for doubt in b.charged.doubts]
    if doubts:
        yield Prose("What of the entries is not as the release has it:")
        yield Bullets(tuple(doubts[:_NAMED]))
        yield from _more(len(doubts), _NAMED)


def _entry(found: PartyBudget) -> str:
    return "none" if found.charged is None else str(found.charged.entry)


def _files(audited: AuditedRun) -> Iterator[PageBlock]:
    rows = tuple((cut(name), digest) for name, digest in list(audited.read.items())[:_MOST])
    yield PageTable("Digests (SHA-256)", ("file", "digest"), rows)
    yield from _more(len(audited.read))


def _more(count: int, most: int = _MOST) -> Iterator[PageBlock]:
    if count > most:
        yield Prose(f"And {count - most:,} more.")
