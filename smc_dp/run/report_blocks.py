"""Blocks of the report of a finished run, for the person who started it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING

from protocols.curator import CURATOR_NAME
from protocols.runtime.network import LINK_MODELS
from smc_dp.methods.method import SumSpec
from smc_dp.pages.blocks import Banner, FactList, PageBlock, PageTable, Prose, Section, coded_prose, format_counts
from smc_dp.privacy.ledger.history import account_of
from smc_dp.privacy.ledger.report import budget_blocks
from smc_dp.run.coefficient_intervals_table import interval_blocks
from smc_dp.run.description_table import description_blocks
from smc_dp.run.metrics_report import brief_blocks, regression_comparison_blocks
from smc_dp.run.personal_comparison import personal_gain_blocks
from smc_dp.run.privacy_summary import summary_blocks
from smc_dp.run.protocols.cost import Cost
from smc_dp.run.threshold import HALF

if TYPE_CHECKING:
    from smc_dp.methods.expected_accuracy import ExpectedAccuracy
    from smc_dp.run.report import Comparison, Report

_NAMED = 20  # of more parties those are named who are missing
_HEADINGS = ("stage", "messages", "bytes", "rounds", f"{CURATOR_NAME} (s)", "party (s)", "slowest (s)")


def blocks(report: Report, details: str) -> Iterator[PageBlock]:
    """Yield insecure markers, cost, privacy, accuracy, written files and remaining budgets of a run.

    `details`: the command that prints the privacy statement in full.
    """
    yield from (Banner(f"INSECURE: {reason}.", "insecure", "run.insecure") for reason in report.insecure)
    if report.cost:
        yield PageTable("Cost", _HEADINGS, tuple(_costs(report.cost)), numbers=tuple(range(1, len(_HEADINGS))))
        yield Prose(
            "Times are in seconds. Party: mean of all parties; slowest: the slowest party. The last row shows the time "
            f"of the whole run, if all participants compute in parallel and {_described(report.simulated)}."
        )
    yield Section("Privacy", tuple(summary_blocks(report.agreement, details)))
    if (lam := getattr(report.agreement.method, "lam", None)) is not None:
        yield coded_prose("run.regularised", lam=lam)
    yield from _presence(report)
    if report.inference is not None:
        inferred = tuple(interval_blocks(report.inference, report.agreement.bounds))
        yield Section("Coefficients with intervals", inferred)
    if report.regression is not None:
        yield from regression_comparison_blocks(report.regression)
    elif report.described is None:
        yield from accuracy_blocks(report.comparison, report.planned)
    else:
        yield from description_blocks(report.described, report.agreement.bounds)
    files = ["shares.json"] if report.agreement.publishes_shares else []
    files += ["release.json", "transcript.jsonl", "timings.json"]
    files += ["auxiliary.json"] if report.agreement.auxiliary is not None else []
    yield Prose(f"Written to {report.run_dir}: {', '.join(files)}")
    yield from budget_blocks(report.standings, account_of(report.privacy))
    yield from (Prose(str(remark), remark.code) for remark in report.remarks)


def _costs(cost: Cost) -> Iterator[tuple[str, ...]]:
    """Yield a row of text under `_HEADINGS` for every stage, and one for all stages."""
    for stage in cost.by_stage:
        parties = [seconds for role, seconds in stage.seconds.items() if role != CURATOR_NAME] or [0.0]
        seconds = (stage.seconds.get(CURATOR_NAME, 0.0), mean(parties), max(parties))
        yield stage.stage, *format_counts(stage.messages, stage.bytes, stage.rounds), *(f"{s:.2f}" for s in seconds)
    yield "all", *format_counts(cost.messages, cost.bytes, cost.rounds), "", "", f"{cost.seconds:.2f}"


def _presence(report: Report) -> Iterator[Prose]:
    """Yield the parties that took part, where somebody dropped out."""
    found = report.present
    if found is not None and (found.dropped_out or len(found.took_part) < len(report.agreement.parties)):
        spec = report.agreement.spec
        where = "at least one sum" if isinstance(spec, SumSpec) and len(spec.sums) > 1 else "the sum"
        there = _who(found.took_part, report.agreement.parties)
        yield coded_prose("run.parties_missing", where=where, there=there, dropped_out=found.dropped_out or "nobody")


def _who(some: Sequence[str], everybody: Sequence[str]) -> str:
    """Return some of all parties by name; of many the missing ones."""
    missing = [name for name in everybody if name not in some]
    if len(some) <= _NAMED or len(missing) > _NAMED:
        return ", ".join(some)
    return f"all {len(everybody)} parties but {', '.join(missing)}" if missing else f"all {len(everybody)} parties"


def _described(simulated: Mapping[str, str]) -> str:
    if (name := simulated["link"]) == "none":
        return "messages take no time"
    link = LINK_MODELS[name]
    relayed = ", all messages through Charlie" if simulated["topology"] == "star" else ""
    speed = f"{link.latency * 1000:g} ms one way, {link.bandwidth / 1e6:g} MB/s"
    return f"messages take the time of simulated links ({name}: {speed}{relayed})"


def accuracy_blocks(found: Comparison | None, planned: ExpectedAccuracy | None = None) -> Iterator[PageBlock]:
    """Yield the accuracies, and what they mean."""
    if found is None:
        yield Prose("No rows to test on were given, so no accuracy is known.")
        return
    of = "" if found.rows is None else f" ({found.rows:,} rows; two standard errors: {found.margin:.3f})"
    yield Prose(f"Test accuracy of the release: {found.accuracy:.3f}{of}")
    others = {f"{name} alone": value for name, value in found.individual.items()} | {"pooled, no privacy": found.pooled}
    others |= {} if found.without_noise is None else {"this method, no noise": found.without_noise}
    others["majority class"] = found.majority
    yield Prose("Only a simulation can compare these: it has the rows of all. They are not part of the release:")
    yield FactList(tuple((name, f"{value:.3f}") for name, value in others.items()))
    if found.metrics is not None:
        yield Prose("Other figures of the release on the test rows:")
        yield from brief_blocks(found.metrics)
        if found.metrics.threshold not in (None, HALF):
            yield coded_prose("metrics.threshold_not_kept", threshold=f"{found.metrics.threshold.probability:g}")
    if found.baseline_lambda is not None:
        yield Prose(f"'Alone' and 'pooled' are regularised (lambda = {found.baseline_lambda:g}), the release is not.")
    if found.personalised:
        yield from personal_gain_blocks(found.personalised)
    if found.weighted:
        yield coded_prose("run.compared_without_weights")
        return
    if found.lost is not None and planned is not None:
        yield _lost(found, planned)
    yield from _remark(found)


def _lost(found: Comparison, planned: ExpectedAccuracy) -> Prose:
    """Return the accuracy lost to noise, beside the planned loss."""
    lost = found.lost or 0.0
    said = f"{lost:.3f}" if lost >= 0 else f"none; it is {-lost:.3f} higher than without noise"
    low, high = max(0.0, planned.interval.low), planned.interval.high
    worse = found.loses_more_than(high)
    code = "run.lost_more_than_planned" if worse else "run.lost_as_planned"
    return coded_prose(code, lost=said, low=low, high=high)


def _remark(found: Comparison) -> Iterator[Prose]:
    """Yield a warning about a release that is worse than what some parties could do alone, beyond chance."""
    _, better = found.compared_beyond_chance()
    larger = "epsilon or lambda" if found.baseline_lambda is None else "epsilon"
    if found.lost is not None and found.lost <= found.margin:
        why = f", and noise is not the cause: without noise the same method has {found.without_noise:.3f}."
    elif found.smallest_rows is None:
        why = f". A larger {larger}, fewer columns, or more rows in total reduce the effect of the noise."
    else:
        why = (
            f": the smallest party's {found.smallest_rows} rows set the noise. A larger epsilon or lambda, fewer "
            "columns, or more rows in the smallest party make it less."
        )
    if better:
        yield Prose(
            f"Beyond chance, the release is worse than {better} of the parties alone{why}",
            "run.worse_than_parties_alone",
        )
