"""Report what taking part in a study means, from what the study itself says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from smc_dp.core.errors import InputError
from smc_dp.data.columns import LEAVE_OUT
from smc_dp.data.report import column_table
from smc_dp.deploy.study import JointStudy
from smc_dp.pages.blocks import Bullets, Section
from smc_dp.pages.shortening import join_first
from smc_dp.privacy.ledger.numbers import digits_rounded_up
from smc_dp.run.agreement import REASONS, Agreement
from smc_dp.run.budget_charge import charge_of_run
from smc_dp.run.release_report import setting_text

_SHOWN = 40  # classes
_ELSEWHERE = ("parties", "auxiliary")  # settings that have sentences of their own
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def blocks(study: JointStudy, agreement: Agreement) -> Iterator[Section]:
    """Yield what taking part means: who, what leaves the site, the guarantee, the cost, and how long it takes."""
    yield _section(study.title, [f"Purpose: {study.purpose}.", f"Digest of the study: {study.digest}."])
    if agreement.marks:
        yield _section("INSECURE", [f"{REASONS[mark]}." for mark in agreement.marks])
    yield _section("Who takes part", [f"{name}, public key {key.hex()}" for name, key in study.identities.items()])
    learned = Bullets(tuple(_learned(study, agreement)))
    yield Section("What is learned", (learned, *column_table(study.bounds)))
    yield _section("What leaves the site", _leaving(study, agreement))
    yield _section("What the release guarantees, against whom, and what not", [agreement.statement.plain_words()])
    yield _section("What it costs", _cost(agreement))
    yield _section("How long anybody waits", _waiting(study, agreement))


def _section(heading: str, sentences: Iterable[str]) -> Section:
    return Section(heading, (Bullets(tuple(sentences)),))


def duration(seconds: float) -> str:
    """Return seconds in the largest unit of which they are a whole number."""
    for size, unit in _UNITS:
        if seconds >= size and seconds % size == 0:
            return f"{seconds // size:.0f} {unit}{'' if seconds == size else 's'}"
    return f"{seconds:g} seconds"


def _learned(study: JointStudy, agreement: Agreement) -> Iterator[str]:
    parameters = agreement.parameters.items()
    settings = (f"{name} {setting_text(x, len(study.identities))}" for name, x in parameters if name not in _ELSEWHERE)
    classes = join_first(study.bounds.classes, _SHOWN)
    yield f"One linear model that tells {classes} apart in column {study.bounds.label}."
    yield f"Agreed: {', '.join(settings)}."
    if study.bounds.missing == LEAVE_OUT:
        yield "A row without a class is left out."
    if study.auxiliary is not None:
        yield f"All have public rows besides, of digest {study.auxiliary}; they are published."


def _leaving(study: JointStudy, agreement: Agreement) -> Iterator[str]:
    share = "" if agreement.parameters.get("output") == "curator" else ", and in the end its share of the result"
    yield "No row leaves the site, and no name of a file; its ledger and its own terms stay there too."
    yield (
        f"By protocol {agreement.protocol}: letters to the others, each sealed to the one that it is for; and, signed "
        f"and open to all, greetings and the ends of stages{share}."
    )
    yield "Everybody, and the relay, sees who writes to whom, when, and how long each letter is; all of it is recorded."
    if agreement.parameters.get("sizes") == "released":
        yield "The number of all rows together is released."
    yield "Released: the weights of the model, the columns with their bounds, who took part, and the statement below."


def _cost(agreement: Agreement) -> Iterator[str]:
    try:
        cost = charge_of_run(agreement)
    except InputError as error:
        yield f"No ledger takes it: {error}."
        return
    yield (
        f"Each party's own ledger is charged epsilon {digits_rounded_up(cost.epsilon)}, "
        f"delta {digits_rounded_up(cost.delta)} "
        f"(unit {cost.unit}, adjacency {cost.adjacency}), before anything leaves that cannot be called back."
    )
    yield "A study runs once: to run it again takes new approvals, and costs as much again."


def _waiting(study: JointStudy, agreement: Agreement) -> Iterator[str]:
    greetings, messages = duration(study.deadlines.greetings), duration(study.deadlines.messages)
    yield f"Until all have greeted: {greetings}. If somebody has not by then, the session ends, and nobody is charged."
    missing = agreement.threat_model.parties - agreement.threat_model.remaining
    going = f"the others go on without it, as long as no more than {missing} of the parties are missing"
    rest = going if missing else "the session ends"
    yield f"For any message after that: {messages} from the last event. If somebody is silent for longer, {rest}."
    yield f"The mail goes by {study.relay}."
