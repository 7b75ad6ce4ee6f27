"""Facts for a data-protection assessment: what a run says, with the file and the checks behind each fact.

A rule makes the text of a fact from the audited run, and from nothing else. It has a text only where it applies. No
file of a run says who the controller is, or on which legal basis it was made; these are left to the assessment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

from protocols.curator import CURATOR_NAME
from protocols.programs import PROTOCOLS
from smc_dp.audit.run.budget_report import budget_sentence, group_budgets
from smc_dp.audit.run.budgets import PartyBudget
from smc_dp.audit.run.check import Finding
from smc_dp.audit.run.levels import NO_LEVEL, assurance
from smc_dp.audit.run.run_summary import AuditedRun, SentCount
from smc_dp.core.errors import one_line
from smc_dp.pages.shortening import join_first
from smc_dp.privacy.statement import PrivacyStatement, short_delta, short_figure
from smc_dp.run.release import RELEASE, SHARES, PublishedRelease

FactStatus: TypeAlias = Literal["checked", "failed", "not checked"]
_LISTED = 20  # names in a row; of more the rest is counted
_SAID_BESIDES = "the columns, their ranges, the names and the transcript."
_ASSUMED, _INSECURE = "It assumes ", "INSECURE: "
_SHARES = {
    "ddg": "the share of each party is a discrete Gaussian",
    "vg": "the share of each party is a discrete Gaussian with a variance from a Gamma distribution",
    "self": "the share of each party is K-norm noise, which is enough alone",
}
_NEIGHBOURS = {
    "replace": "one record of one party is replaced by any other record",
    "addremove": "one record of one party is added or removed",
    "party": "all records of one party are replaced by any others",
}


@dataclass(frozen=True)
class AssessmentFact:
    """Fact of a run: its topic, sentence, source, and the checks that hold it: "checked" if all passed."""

    topic: str
    fact: str
    source: str
    checks: tuple[str, ...]
    status: FactStatus


@dataclass(frozen=True)
class _Known:
    """Run whose release can be read, as an audit knows it."""

    audited: AuditedRun
    findings: Sequence[Finding]
    budgets: Sequence[PartyBudget] | None
    release: PublishedRelease
    statement: PrivacyStatement

    @property
    def settings(self) -> Mapping[str, Any]:
        return self.release.parameters

    @property
    def guaranteed(self) -> bool:
        return self.statement.kind != "none"


@dataclass(frozen=True)
class FactRule:
    """Rule for one kind of fact: `texts` gives one sentence, several, or none where the fact does not apply."""

    topic: str
    source: str
    checks: tuple[str, ...]
    texts: Callable[[_Known], str | Sequence[str] | None]


def assess(
    audited: AuditedRun, findings: Sequence[Finding], budgets: Sequence[PartyBudget] | None
) -> tuple[AssessmentFact, ...]:
    """Return the facts of an audited run, those that nobody may overlook first."""
    if audited.release is None or audited.statement is None:
        why = f"{RELEASE} cannot be read as a release; no fact of this run is known."
        return (AssessmentFact("No release", why, RELEASE, ("release",), _status(("release",), findings)),)
    known = _Known(audited, findings, budgets, audited.release, audited.statement)
    return tuple(fact for rule in FACT_RULES for fact in _facts(rule, known))


def _facts(rule: FactRule, known: _Known) -> Iterator[AssessmentFact]:
    found = rule.texts(known)
    for text in (found,) if isinstance(found, str) else found or ():
        yield AssessmentFact(rule.topic, one_line(text), rule.source, rule.checks, _status(rule.checks, known.findings))


def _status(checks: Sequence[str], findings: Sequence[Finding]) -> FactStatus:
    made = {finding.check.name: finding.outcome.status for finding in findings}
    if any(made.get(name) == "failed" for name in checks):
        return "failed"
    return "checked" if checks and all(made.get(name) == "passed" for name in checks) else "not checked"


def _not_confirmed(known: _Known) -> str | None:
    bad = [f.check.name for f in known.findings if f.outcome.status == "failed" or not f.outcome.finished]
    return f"The audit did not pass ({', '.join(bad)}): the facts below are claims of the files." if bad else None


def _participants(known: _Known) -> str:
    parties = known.release.agreement.parties
    curator = f" The curator {CURATOR_NAME} has no rows." if CURATOR_NAME in known.audited.participants else ""
    return f"{len(parties)} parties were set up: {_listed(parties)}.{curator}"


def _kind_of_run(known: _Known) -> str:
    count = len(known.audited.participants)
    if known.audited.simulated:
        return f"This was a simulation: one process played all {count} participants and held all rows, keys and noise."
    if known.audited.study is None:
        return f"The study of these {count} participants cannot be read."
    return f"All {count} participants approved the study by signature. No file shows where each of them ran its part."


def _study(known: _Known) -> str | None:
    if (study := known.audited.study) is None:
        return None
    return f'The study "{study.title}" states its purpose: "{study.purpose}" (SHA-256 {study.digest}).'


def _rows_stay(known: _Known) -> str:
    protocol, _, version = known.audited.protocol.rpartition(" ")
    said = f"Protocol {protocol}, version {version}, sends no row to another participant; messages have public sizes."
    here = " In this simulation one process read the rows of all parties." if known.audited.simulated else ""
    return f"{said}{here}"


def _record_fact(known: _Known) -> str:
    bounds = known.release.bounds
    columns = [column.name for column in bounds.columns]
    label = f" and a class of {bounds.label} ({_listed(bounds.classes)})" if bounds.classes else ""
    if bounds.outcome is not None:
        label = f" and {bounds.label}, {bounds.label_range}"
    return f"A record is a row of {len(columns)} columns ({_listed(columns)}){label}."


def _rows_left_out(known: _Known) -> str | None:
    leaving = known.release.bounds.leaving
    return f"Each party leaves out its rows without a value in {_listed(leaving)}." if leaving else None


def _public_rows(known: _Known) -> str | None:
    rows = known.release.agreement.auxiliary
    said = "public rows were used as well; they are published and unprotected."
    return None if rows is None else f"{len(rows.X):,} {said}"


def _row_counts(known: _Known) -> str | None:
    settings = known.settings
    if "rows" in settings:
        return f"The number of all rows together, {settings['rows']}, was announced and is not protected."
    if settings.get("sizes") == "released":
        return "The number of all rows together is released and not protected."
    most = settings.get("most_rows")
    return None if most is None else f"No number of rows is released; each party has at most {most:,} rows."


def _computation(known: _Known) -> str:
    agreement = known.release.agreement
    what = agreement.method.figures if agreement.describes else "a linear model"
    return f"The parties computed {what} by method {agreement.method.name} in protocol {agreement.protocol}."


def _released(known: _Known) -> str:
    if (found := known.release.description) is not None:
        return f"{len(found.sums):,} noisy sums are released, with what follows from them, {_SAID_BESIDES}"
    weights = sum(len(row) if isinstance(row, tuple) else 1 for row in known.release.weights)
    shares = "each participant's share of their sum, " if SHARES in known.audited.files else ""
    return f"{weights:,} weights are released, with {shares}{_SAID_BESIDES}"


def _sent(known: _Known) -> Sequence[str]:
    alike: dict[SentCount, list[str]] = {}
    for name, count in known.audited.sent.items():
        alike.setdefault(count, []).append(name)
    said = [
        f"{_listed(names)}{' (each)' if len(names) > 1 else ''}: {count.sealed:,} encrypted messages, "
        f"each to one reader, {count.public:,} signed messages to everybody, {count.size:,} bytes."
        for count, names in alike.items()
    ]
    more = [f"{len(said) - _LISTED:,} groups of participants more."] if len(said) > _LISTED else []
    return [*said[:_LISTED], *more]


def _dropped_out(known: _Known) -> str | None:
    names = known.audited.missing
    said = "dropped out during the session: messages did not arrive, and the others went on without them"
    return f"{_listed(names)} {said}." if names else None


def _left_out(known: _Known) -> str | None:
    names = known.settings.get("left_out", ())
    return f"{_listed(names)} dropped out before the session and did not take part." if names else None


def _guarantee(known: _Known) -> str | None:
    stated = known.statement
    return stated.promise.removesuffix(f" This holds against {stated.adversary}.") if known.guaranteed else None


def _unit(known: _Known) -> str:
    stated = known.statement
    return f"The unit is one {stated.unit}. Data sets are neighbours if {_NEIGHBOURS[stated.adjacency]}."


def _adversary(known: _Known) -> str | None:
    against = f"The guarantee holds against {known.statement.adversary}."
    said = (
        f"{against} It holds too against anybody who sees only the release. It is claimed against no other coalition."
    )
    return said if known.guaranteed else None


def _caveats(known: _Known, *, assumed: bool = False) -> Sequence[str]:
    stated = (text for text in known.statement.caveats if not text.startswith(_INSECURE))
    return [text for text in stated if text.startswith(_ASSUMED) == assumed]


def _not_claimed(known: _Known) -> Sequence[str]:
    agreement = known.release.agreement
    claim = PROTOCOLS[agreement.protocol].claim
    return () if claim is None else claim.limitations_of(agreement.program_parameters(""))


def _noise(known: _Known) -> str:
    settings = known.settings
    scale = "that the proof requires" if settings["calibration"] == "proven" else "of the paper"
    noise = settings["noise"]
    what = f"{noise} ({_SHARES[noise]})" if noise in _SHARES else noise
    return f"The noise has the distribution {what}, at the scale {scale}. No transcript shows the draws."


def _tolerance(known: _Known) -> str | None:
    colluders, count = known.settings.get("colluders"), len(known.release.agreement.parties)
    if colluders is None:
        return None
    dropouts = known.settings.get("dropouts")
    return f"The protocol is set up for {colluders} of {count} parties that collude, and {dropouts} drop-outs."


def _charge(known: _Known) -> str | None:
    if (stated := known.statement).epsilon is None:
        return None
    figures = f"epsilon {short_figure(stated.epsilon)}, delta {short_delta(stated.delta)}"
    return f"This release costs the records of each party {figures}. Releases of the same rows add up."


def _ledgers(known: _Known) -> Sequence[str]:
    return [f"{_listed(parties)}: {said}" for parties, said in group_budgets(known.budgets or (), budget_sentence)][
        :_LISTED
    ]


def _identities(known: _Known) -> str:
    if (pinned := known.audited.pinned) is None:
        return "Nothing shows who the participants are: no public keys from elsewhere were given to the audit."
    count = len(set(pinned) & set(known.audited.identities))
    return f"The audit compared {count} public keys of participants with keys known from elsewhere."


def _views(known: _Known) -> str:
    viewed, count = known.audited.viewed, len(known.audited.participants)
    return f"The audit replayed the views of {len(viewed)} of {count} participants."


def _level(known: _Known) -> str:
    found = assurance(known.findings, known.audited)
    reached = f"Level {found.level.number} of 3: {found.level.name}." if found.level else f"Level 0 of 3: {NO_LEVEL}."
    missing = f" Missing for the next level: {'; '.join(map(str, found.next.missing))}." if found.next else ""
    return reached + missing


def _listed(names: Sequence[str]) -> str:
    return join_first(names, _LISTED)


_AGREED = ("agreed",)
_STATEMENT = ("statement",)
FACT_RULES: tuple[FactRule, ...] = (
    FactRule(
        "Insecure",
        "release.json: insecure",
        ("insecure-markers",),
        lambda known: [f"{_INSECURE}{why}." for why in known.release.insecure],
    ),
    FactRule(
        "No guarantee",
        "release.json: privacy.kind",
        _STATEMENT,
        lambda known: None if known.guaranteed else known.statement.promise,
    ),
    FactRule("Audit did not pass", "the audit", (), _not_confirmed),
    FactRule("Participants", "release.json: parameters.parties", ("agreed", "session"), _participants),
    FactRule("Kind of run", "transcript.jsonl: line 0, approvals", ("approvals",), _kind_of_run),
    FactRule("Study", "study.json: title, purpose", ("approvals",), _study),
    FactRule("Where rows stay", "transcript.jsonl: line 0, protocol", ("session", "sizes"), _rows_stay),
    FactRule("Records", "release.json: columns, classes", _AGREED, _record_fact),
    FactRule("Rows left out", "release.json: missing", _AGREED, _rows_left_out),
    FactRule("Public rows", "auxiliary.json: rows", _AGREED, _public_rows),
    FactRule("Numbers of rows", "release.json: parameters.rows, sizes, most_rows", _AGREED, _row_counts),
    FactRule("Computation", "release.json: parameters.method, protocol", _AGREED, _computation),
    FactRule("Released", "release.json: weights, description", ("release",), _released),
    FactRule("Sent", "transcript.jsonl: messages", ("sizes", "completeness"), _sent),
    FactRule("Drop-outs", "transcript.jsonl: absences", ("completeness",), _dropped_out),
    FactRule("Dropped out before", "release.json: parameters.left_out", _AGREED, _left_out),
    FactRule("Guarantee", "release.json: privacy.epsilon, delta", _STATEMENT, _guarantee),
    FactRule("Unit", "release.json: privacy.unit, adjacency", _STATEMENT, _unit),
    FactRule("Against whom", "release.json: privacy.adversary", _STATEMENT, _adversary),
    FactRule("Not covered", "release.json: privacy.caveats", _STATEMENT, _caveats),
    FactRule("Rests on", "release.json: privacy.caveats", _STATEMENT, partial(_caveats, assumed=True)),
    FactRule("Not claimed by the protocol", "release.json: parameters.protocol", _AGREED, _not_claimed),
    FactRule("Noise", "release.json: parameters.noise, calibration", _AGREED, _noise),
    FactRule("Collusion and drop-outs", "release.json: parameters.colluders, dropouts", _AGREED, _tolerance),
    FactRule("Cost in privacy", "release.json: privacy.epsilon, delta", _STATEMENT, _charge),
    FactRule("Budget before and after", "ledgers given to the audit", (), _ledgers),
    FactRule("Identities", "identities given to the audit", ("identities",), _identities),
    FactRule("Views", "views given to the audit", ("view-agrees",), _views),
    FactRule("Assurance", "the audit", (), _level),
)
"""Rules of all kinds of facts, in the order of the table."""
