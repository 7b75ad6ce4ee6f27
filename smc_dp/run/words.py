"""What a person reads of a run."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING

from protocols.curator import CURATOR_NAME
from protocols.runtime.network import LINKS
from smc_dp.methods.method import SumForm
from smc_dp.privacy.ledger.history import Account
from smc_dp.privacy.ledger.words import budgets
from smc_dp.run.protocols.cost import Cost

if TYPE_CHECKING:
    from smc_dp.methods.expected_accuracy import Outlook
    from smc_dp.run.local_evaluation import OwnComparison
    from smc_dp.run.report import Comparison, Report

_NAMED = 20  # of more parties those are named who are missing
HEADINGS = ("stage", "messages", "bytes", "rounds", f"{CURATOR_NAME} s", "party s", "slowest s")


def warnings(report: Report) -> list[str]:
    """A line for each reason why this run protects nobody."""
    return [f"INSECURE: {reason}." for reason in report.insecure]


def costs(cost: Cost) -> Iterator[tuple[str, ...]]:
    """A row of text under `HEADINGS` for every stage, and one for all."""
    for stage in cost.by_stage:
        parties = [seconds for role, seconds in stage.seconds.items() if role != CURATOR_NAME] or [0.0]
        seconds = (stage.seconds.get(CURATOR_NAME, 0.0), mean(parties), max(parties))
        yield stage.stage, *_figures(stage.messages, stage.bytes, stage.rounds), *(f"{s:.2f}" for s in seconds)
    yield "all", *_figures(cost.messages, cost.bytes, cost.rounds), "", "", f"{cost.seconds:.2f}"


def legend(simulated: Mapping[str, str]) -> list[str]:
    """What the seconds of the table mean."""
    return [
        "party s: the parties' mean; slowest s: the slowest party, in the last row from start to end, all",
        f"participants computing at the same time, {_described(simulated)}.",
        "",
    ]


def result(report: Report, width: int) -> Iterator[str]:
    """Privacy, accuracy, what was written and what is left, in lines of at most this width where they are prose."""
    yield "Privacy"
    words = report.privacy.plain_words()
    yield from textwrap.wrap(words, width, initial_indent="  ", subsequent_indent="  ")
    yield ""
    yield from _presence(report)
    yield from compared(report.comparison, report.planned)
    yield ""
    files = ["release.json", "transcript.jsonl", "timings.json"]
    if report.agreement.publishes_shares:
        files.insert(0, "shares.json")
    if report.agreement.auxiliary is not None:
        files.append("auxiliary.json")
    yield f"Written to {report.run_dir}: {', '.join(files)}"
    yield from budgets(report.standings, Account(report.privacy.unit, report.privacy.adjacency))
    yield from report.remarks


def _presence(report: Report) -> Iterator[str]:
    """Who took part, where somebody did not to the end."""
    found = report.present
    if found is not None and (found.vanished or len(found.took_part) < len(report.agreement.parties)):
        form = report.agreement.form
        where = "some of the sums, or all" if isinstance(form, SumForm) and len(form.sums) > 1 else "the sum"
        there = _who(found.took_part, report.agreement.parties)
        yield f"In {where}: {there}. Vanished: {', '.join(found.vanished) or 'nobody'}."
        yield ""


def _who(some: Sequence[str], everybody: Sequence[str]) -> str:
    """Some of all, by name; of a crowd those who are not among them."""
    missing = [name for name in everybody if name not in some]
    if len(some) <= _NAMED or len(missing) > _NAMED:
        return ", ".join(some)
    return f"all {len(everybody)} parties but {', '.join(missing)}" if missing else f"all {len(everybody)} parties"


def _figures(messages: int, size: int, rounds: int) -> tuple[str, str, str]:
    return f"{messages:,}", f"{size:,}", f"{rounds:,}"


def _described(simulated: Mapping[str, str]) -> str:
    name = simulated["link"]
    link = LINKS[name]
    if name == "none":
        return "no time on the links"
    relayed = ", all mail through Charlie" if simulated["topology"] == "star" else ""
    speed = f"{link.latency * 1000:g} ms one way, {link.bandwidth / 1e6:g} MB/s"
    return f"over simulated links ({name}: {speed}{relayed})"


def compared(found: Comparison | None, planned: Outlook | None = None) -> Iterator[str]:
    """The accuracies, and what to think of them."""
    if found is None:
        yield "No rows to test on were given, so no accuracy is known."
        return
    yield f"Test accuracy of the release: {found.accuracy:.3f}"
    yield "Comparison of a simulation, needs everyone's data in one place; not part of the release:"
    width = max(len("pooled, no privacy"), *(len(name) + len(" alone") for name in found.individual))
    for name, value in found.individual.items():
        yield f"  {name + ' alone':<{width}}  {value:.3f}"
    yield f"  {'pooled, no privacy':<{width}}  {found.pooled:.3f}"
    if found.without_noise is not None:
        yield f"  {'without noise':<{width}}  {found.without_noise:.3f}"
    yield f"  {'majority class':<{width}}  {found.majority:.3f}"
    if found.stated_lambda is not None:
        yield f"The method has no lambda; the models that it is compared with have {found.stated_lambda:g}."
    if found.lost is not None and planned is not None:
        yield _lost(found.lost, planned)
    yield from _remark(found)


def on_own_rows(found: OwnComparison) -> Iterator[str]:
    """What a site reads of a release and its own rows; it stays there."""
    yield (
        f"On the own {found.rows:,} rows, for this site alone to know: the release {found.release:.3f}, the own model "
        f"alone {found.alone:.3f}, each row by a model that has not seen it."
    )
    if found.worse_than_planned:
        planned = (
            "" if found.planned is None else f", {found.planned.band.high:.3f} if all had as many rows as this site"
        )
        yield (
            f"The release does worse than the own model alone, by more than noise was to cost{planned}, and chance may "
            "add: others have fewer rows, or rows of another kind. Ask them how many, and let `smc-dp plan` say who is "
            "worth having, before you take part again."
        )


def _lost(lost: float, planned: Outlook) -> str:
    """How much of the accuracy noise cost, beside what was planned."""
    band = planned.band
    told = f"Lost to noise: {lost:.3f}, planned {max(0.0, band.low):.3f} to {band.high:.3f}"
    if lost <= band.high:
        return f"{told}."
    return (
        f"{told}: worse than planned. At most one in ten of the settings that plans were tried on was; where others "
        "are too, the parties' rows differ more from each other, or one class is rarer, than in their data."
    )


def _remark(found: Comparison) -> Iterator[str]:
    """What to think of a release that some parties could do without; nothing where none could."""
    better = sum(value > found.accuracy for value in found.individual.values())
    larger = "epsilon or lambda" if found.stated_lambda is None else "epsilon"
    if better and found.smallest is None:
        yield (
            f"The release is worse than {better} of the parties alone. A larger {larger}, fewer columns, or more rows "
            "in all make the noise count less."
        )
    elif better:
        yield (
            f"The release is worse than {better} of the parties alone: the smallest party's {found.smallest} rows "
            "set the noise. A larger epsilon or lambda, fewer columns, or more rows in the smallest party make it less."
        )
