"""Report what taking part in a study means, from the study alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from protocols.curator import CURATOR_NAME
from smc_dp.core.errors import InputError
from smc_dp.data.columns import LEAVE_OUT
from smc_dp.data.report import column_table
from smc_dp.deploy.study import MOST_WITNESSES, JointStudy
from smc_dp.pages.blocks import Bullets, FactList, Prose, Section
from smc_dp.pages.shortening import join_first
from smc_dp.privacy.ledger.numbers import delta_rounded_up, digits_rounded_up
from smc_dp.privacy.statement import CHANGED
from smc_dp.run.agreement import REASONS, Agreement
from smc_dp.run.budget_charge import charge_of_run
from smc_dp.run.privacy_summary import graph_sentence, statement_section, summary_lines
from smc_dp.run.release_report import setting_text

_SHOWN = 40  # classes
_ELSEWHERE = ("parties", "auxiliary")  # settings that have sentences of their own
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def blocks(study: JointStudy, agreement: Agreement) -> Iterator[Section]:
    """Yield what taking part means: who, what leaves the site, the guarantee, the cost, and how long it takes."""
    yield _section(study.title, [f"Purpose: {study.purpose}.", f"Digest of the study: {study.digest}."])
    if agreement.marks:
        yield _section("INSECURE", [f"{REASONS[mark]}." for mark in agreement.marks])
    yield _section("Who takes part", map(_participant, study.identities.items()))
    learned = Bullets(tuple(_learned(study, agreement)))
    yield Section("What is learned", (learned, *column_table(study.bounds)))
    yield Section("Settings", (Prose(_settings(study, agreement)),), details=True)
    yield _section("What leaves the site", _leaving(study, agreement))
    yield _section("What the release tells about one record", [agreement.statement.example])
    yield Section("Privacy statement of the release", (FactList(tuple(summary_lines(agreement))),))
    yield statement_section(agreement)
    yield _section("Charge", _cost(agreement))
    yield _section("Deadlines", _waiting(study, agreement))


def _section(heading: str, sentences: Iterable[str]) -> Section:
    return Section(heading, (Bullets(tuple(sentences)),))


def duration(seconds: float) -> str:
    """Return seconds in the largest unit of which they are a whole number."""
    for size, unit in _UNITS:
        if seconds >= size and seconds % size == 0:
            return f"{seconds // size:.0f} {unit}{'' if seconds == size else 's'}"
    return f"{seconds:g} seconds"


def _participant(named: tuple[str, bytes]) -> str:
    name, key = named
    return f"{name}{', the curator, who has no rows' if name == CURATOR_NAME else ''}, public key {key.hex()}"


def _settings(study: JointStudy, agreement: Agreement) -> str:
    parameters = agreement.parameters.items()
    settings = (f"{name} {setting_text(x, len(study.identities))}" for name, x in parameters if name not in _ELSEWHERE)
    return f"Agreed: {', '.join(settings)}."


def _learned(study: JointStudy, agreement: Agreement) -> Iterator[str]:
    classes = study.bounds.label_range or f"with classes {join_first(study.bounds.classes, _SHOWN)}"
    if agreement.describes:
        yield f"A description of the rows, with noise: {agreement.method.figures}. It covers all columns."
    else:
        yield f"One linear model that predicts column {study.bounds.label}, {classes}."
    if study.threshold is not None:
        second = study.bounds.classes[1]
        yield f"A row is taken for {second} where its probability is above {float(Fraction(study.threshold)):g}."
    if study.bounds.missing == LEAVE_OUT:
        yield "A row without a class is left out."
    if study.auxiliary is not None:
        yield f"All participants have public rows of digest {study.auxiliary}, which are published."


def _leaving(study: JointStudy, agreement: Agreement) -> Iterator[str]:
    share = "" if agreement.parameters.get("output") == "curator" else ", and its share of the result"
    yield "No row leaves the site, and no name of a file. Its ledger and its policy stay there."
    yield (
        f"By protocol {agreement.protocol} it sends messages to other participants, each sealed to its addressee. "
        f"It sends signed public messages: greetings and the ends of stages{share}."
    )
    yield (
        f"{min(len(study.names) - 1, MOST_WITNESSES)} other participants see how many entries and charges its ledger "
        f"has. At least {study.witnesses_needed} of them must confirm these numbers before the site sends its "
        "first message of the session, so that an old copy of a ledger is noticed."
    )
    yield "All participants and the relay see the sender, addressee, time and length of each message."
    if agreement.threat_model.has_sparse_graph:
        yield graph_sentence(agreement)
    if agreement.parameters.get("sizes") == "released":
        yield "The total number of rows is released."
    what = "description" if agreement.describes else "model"
    others = "the columns with their bounds, the participants, and the privacy statement below"
    yield f"The release has the {what}, {others}."


def _cost(agreement: Agreement) -> Iterator[str]:
    try:
        cost = charge_of_run(agreement)
    except InputError as error:
        yield f"No ledger accepts this release: {error}."
        return
    yield (
        f"Each party's own ledger is charged epsilon {digits_rounded_up(cost.epsilon)}, "
        f"delta {delta_rounded_up(cost.delta)} "
        f"for {CHANGED[cost.adjacency]}, before its first message."
    )
    yield "A study runs once. Another run needs new approvals and is charged again."


def _waiting(study: JointStudy, agreement: Agreement) -> Iterator[str]:
    greetings, messages = duration(study.deadlines.greetings), duration(study.deadlines.messages)
    yield f"All must start within {greetings}. If one has not started by then, the session ends, and nobody is charged."
    missing = agreement.threat_model.parties - agreement.threat_model.remaining
    going = f"the others go on without it, up to {missing} missing parties"
    rest = going if missing else "the session ends"
    yield f"Each message after that: {messages} from the last progress. If a participant is silent for longer, {rest}."
    yield f"Address of the relay: {study.relay}."
