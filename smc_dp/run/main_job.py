"""The main job: the paper's curator protocol and then newton among the same parties, whose results stand side by side.

It is the run of somebody who names neither rows of their own nor a method. Both releases are of the same records, so
their guarantees add up, and every party is charged for both before the first message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from types import MappingProxyType
from typing import Any

from smc_dp.data.sources import PreparedData
from smc_dp.pages.blocks import Banner, PageBlock, PageTable, Prose, Section
from smc_dp.privacy.ledger.history import account_of
from smc_dp.privacy.ledger.report import budget_blocks
from smc_dp.run.agreement import Agreement
from smc_dp.run.preparation import prepare_run, usual_classes
from smc_dp.run.privacy_summary import summary_blocks
from smc_dp.run.report import Report
from smc_dp.run.settings import MethodSettings, RunRequest

MAIN_METHODS: Mapping[str, str] = MappingProxyType({"prr_mean": "the paper's protocol", "newton": "secure sums"})
"""Methods of the main job, each with what computes it."""
_NAMED = 10  # of more parties the table has the mean alone


def is_main_job(request: RunRequest) -> bool:
    """Return whether these settings name no rows, no method and no protocol, and the data set has two classes."""
    data, how = request.data, request.simulation
    named = [data.study, data.party, data.auxiliary, how.drop_out, how.as_published_insecure or None]
    named += [request.target.noise, request.target.calibration, request.insecure_test_keys or None]
    own = [request.method.given(), request.method.name, request.protocol.given(), request.protocol.name]
    return all(value is None for value in named) and not any(own) and usual_classes(data) == 2


def prepare_both(request: RunRequest) -> tuple[PreparedData, tuple[Agreement, ...]]:
    """Return everybody's rows and the agreement of each method; raise an InputError before any row is read."""
    found = []
    for name in MAIN_METHODS:
        target = request.target if name == "newton" else request.target.model_copy(update={"delta": None})
        own = {"method": MethodSettings(name=name), "target": target}
        found.append(prepare_run(request.model_copy(update=own)))
    return found[0][0], tuple(agreement for _, agreement in found)


def both_as_dict(reports: Sequence[Report]) -> dict[str, Any]:
    """Return plain values for JSON: the report of each method, and what both releases cost together."""
    together = _together(reports)
    cost = None if together is None else {"epsilon": together[0], "delta": together[1]}
    return {"runs": {report.agreement.method.name: report.as_dict() for report in reports}, "together": cost}


def both_blocks(reports: Sequence[Report], details: Callable[[Path], str]) -> Iterator[PageBlock]:
    """Yield one table of accuracies, the privacy of each release and of both, written files and remaining budgets.

    `details`: the command that prints the privacy statement of this run folder in full.
    """
    yield from (Banner(f"INSECURE: {reason}.", "insecure", "run.insecure") for reason in reports[0].insecure)
    yield PageTable("Test accuracy", ("model", "accuracy"), tuple(_accuracies(reports)), numbers=(1,))
    yield Prose(
        "The lines alone and pooled need everybody's rows in one place, as a simulation has them; they are not private."
    )
    for report in reports:
        name = report.agreement.method.name
        yield Section(
            f"Privacy of {name}, {MAIN_METHODS[name]}", tuple(summary_blocks(report.agreement, details(report.run_dir)))
        )
    if (together := _together(reports)) is not None:
        delta = f" and delta {together[1]:g}" if together[1] else ""
        yield Prose(f"Both releases together cost epsilon {together[0]:g}{delta}.")
    yield Prose(f"Written to {reports[0].run_dir.parent}: {', '.join(f'{r.run_dir.name}/' for r in reports)}")
    last = reports[-1]
    yield from budget_blocks(last.standings, account_of(last.privacy))
    yield from (Prose(str(remark), remark.code) for remark in dict.fromkeys(r for x in reports for r in x.remarks))


def _together(reports: Sequence[Report]) -> tuple[float, float] | None:
    """Return epsilon and delta of all releases by basic composition; None where one of them has no guarantee."""
    found = [report.privacy.epsilon for report in reports]
    if None in found:
        return None
    return sum(e for e in found if e is not None), sum(report.privacy.delta for report in reports)


def _accuracies(reports: Sequence[Report]) -> Iterator[tuple[str, str]]:
    """Yield the rows of the table. Models that nobody releases are the least regularised ones, of the last method."""
    compared = {r.agreement.method.name: r.comparison for r in reports if r.comparison is not None}
    last = compared["newton"]
    if len(last.individual) <= _NAMED:
        yield from ((f"{name} alone", f"{value:.3f}") for name, value in last.individual.items())
    yield "each alone, mean", f"{mean(last.individual.values()):.3f}"
    for name, found in compared.items():
        yield f"together by {MAIN_METHODS[name]} ({name})", f"{found.accuracy:.3f}"
    yield "all rows pooled, no privacy", f"{last.pooled:.3f}"
    yield "majority class", f"{last.majority:.3f}"
