"""What a person reads of a study: what taking part means, in plain words, of what the study itself says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smc_dp.core.errors import InputError
from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import CATEGORY, INDICATOR, LEAVE_OUT, BinnedColumn, CategoricalColumn, Column, DateColumn
from smc_dp.deploy.study import JointStudy
from smc_dp.privacy.ledger.numbers import at_most
from smc_dp.run.agreement import REASONS, Agreement
from smc_dp.run.budget_charge import price_of

_SHOWN = 40  # columns, or categories of one
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def meaning(study: JointStudy, agreement: Agreement) -> Iterator[tuple[str, list[str]]]:
    """Headings, and the sentences under each."""
    yield study.title, [f"Purpose: {study.purpose}.", f"Digest of the study: {study.digest}."]
    if agreement.marks:
        yield "INSECURE", [f"{REASONS[mark]}." for mark in agreement.marks]
    yield "Who takes part", [f"{name}, public key {key.hex()}" for name, key in study.identities.items()]
    yield "What is learned", list(_learned(study, agreement))
    yield "What leaves the site", list(_leaving(study, agreement))
    yield "What the release guarantees, against whom, and what not", [agreement.statement.plain_words()]
    yield "What it costs", list(_cost(agreement))
    yield "How long anybody waits", list(_waiting(study, agreement))


def duration(seconds: float) -> str:
    """Seconds in the largest unit of which they are a whole number."""
    for size, unit in _UNITS:
        if seconds >= size and seconds % size == 0:
            count = int(seconds // size)
            return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
    return f"{seconds:g} seconds"


def _learned(study: JointStudy, agreement: Agreement) -> Iterator[str]:
    settings = {name: value for name, value in agreement.parameters.items() if name not in ("parties", "auxiliary")}
    yield f"One linear model that tells {_listed(study.bounds.classes)} apart in column {study.bounds.label}."
    yield "Agreed: " + ", ".join(f"{name} {_plain(value)}" for name, value in settings.items()) + "."
    yield f"Columns: {_columns(study.bounds)}."
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
        cost = price_of(agreement)
    except InputError as error:
        yield f"No ledger takes it: {error}."
        return
    yield (
        f"Each party's own ledger is charged epsilon {at_most(cost.epsilon)}, delta {at_most(cost.delta)} "
        f"(unit {cost.unit}, adjacency {cost.adjacency}), before anything leaves that cannot be called back."
    )
    yield "A study runs once: to run it again takes new approvals, and costs as much again."


def _waiting(study: JointStudy, agreement: Agreement) -> Iterator[str]:
    greetings, letters = duration(study.deadlines.greetings), duration(study.deadlines.letters)
    yield f"Until all have greeted: {greetings}. If somebody has not by then, the session ends, and nobody is charged."
    dropouts = agreement.parameters.get("dropouts", 0)
    rest = (
        f"the others go on without it, as long as no more than {dropouts} of the parties are missing"
        if dropouts
        else "the session ends"
    )
    yield f"For any letter after that: {letters} from the last event. If somebody is silent for longer, {rest}."
    yield f"The mail goes by {study.relay}."


def _columns(bounds: Bounds) -> str:
    return _listed([f"{column.name} ({_values(column)}{_missing(column)})" for column in bounds.columns])


def _values(column: Column) -> str:
    if isinstance(column, CategoricalColumn):
        others = dict(column.aliases)
        return _listed([" or ".join((level, *others.get(level, ()))) for level in column.categories])
    if isinstance(column, DateColumn):
        return f"{column.first} to {column.last}, in days"
    if isinstance(column, BinnedColumn):
        return f"{column.bins} bins from {column.edges[0]:g} to {column.edges[-1]:g}"
    return f"{column.low:g} to {column.high:g}"


def _missing(column: Column) -> str:
    rule = column.missing
    if rule is None:
        return ""
    if rule == LEAVE_OUT:
        return "; a row without is left out"
    said = {CATEGORY: "a category of its own", INDICATOR: "a mark of its own"}.get(str(rule))
    return f"; an empty cell is {said or (rule if isinstance(rule, str) else f'{rule:g}')}"


def _listed(said: Sequence[str]) -> str:
    left = len(said) - _SHOWN
    return ", ".join(said[:_SHOWN]) + (f", and {left:,} more" if left > 0 else "")


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)
