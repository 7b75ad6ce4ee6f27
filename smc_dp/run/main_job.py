"""The main job: the paper's curator protocol and then newton among the same parties, whose results stand side by side.

It is the run of somebody who names neither rows of their own nor a method. Both releases are of the same records, so
their guarantees add up, and every party is charged for both before the first message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from statistics import mean
from types import MappingProxyType
from typing import Any

from smc_dp.data.sources import PreparedData
from smc_dp.pages.blocks import Banner, PageBlock, PageTable, Prose, Section
from smc_dp.privacy.ledger.history import account_of
from smc_dp.privacy.ledger.numbers import digits_rounded_up
from smc_dp.privacy.ledger.report import budget_blocks
from smc_dp.privacy.statement import round_up, short_delta
from smc_dp.run.agreement import Agreement
from smc_dp.run.budget_charge import charge_together
from smc_dp.run.metrics import Metrics
from smc_dp.run.metrics_report import figures_by_release
from smc_dp.run.personal_comparison import personal_gain_blocks
from smc_dp.run.preparation import prepare_runs, usual_classes
from smc_dp.run.privacy_summary import summary_blocks
from smc_dp.run.regression_metrics import RegressionMetrics
from smc_dp.run.report import Report
from smc_dp.run.settings import MethodSettings, RunRequest

MAIN_METHODS = ("prr_mean", "newton")
"""Methods of the main job, in the order of its releases."""
_NAMES: Mapping[str, str] = MappingProxyType(
    {"pathak2010": "the paper's protocol", "linear": "the linear path", "secure_sum": "secure sums"}
)
_NAMED = 10  # of more parties the table has the mean alone


def is_main_job(request: RunRequest) -> bool:
    """Return whether these settings name no rows, no method and no protocol, and the data set has two classes."""
    data, how = request.data, request.simulation
    named = [data.study, data.party, data.auxiliary, how.drop_out, how.as_published_insecure or None]
    named += [request.target.noise, request.target.calibration, request.insecure_test_keys or None]
    own = [request.method.given(), request.method.name, request.protocol.given(), request.protocol.name]
    return all(value is None for value in named) and not any(own) and usual_classes(data) == 2


def prepare_both(request: RunRequest) -> tuple[PreparedData, list[Agreement]]:
    """Return everybody's rows and the agreement of each method; raise an InputError before any row is read."""
    requests = []
    for name in MAIN_METHODS:
        target = request.target if name == "newton" else request.target.model_copy(update={"delta": None})
        own = {"method": MethodSettings(name=name), "target": target}
        requests.append(request.model_copy(update=own))
    return prepare_runs(*requests)


def computed_by(agreement: Agreement) -> str:
    """Return what computes the method of this agreement: with many parties prr_mean does not take the paper's way."""
    return _NAMES[agreement.protocol]


def both_as_dict(reports: Sequence[Report]) -> dict[str, Any]:
    """Return plain values for JSON: the report of each method, and what both releases cost together."""
    together = _together(reports)
    cost = None if together is None else {"epsilon": round_up(together[0]), "delta": round_up(together[1])}
    return {"runs": {report.agreement.method.name: report.as_dict() for report in reports}, "together": cost}


def both_blocks(reports: Sequence[Report], details: Callable[[Path], str]) -> Iterator[PageBlock]:
    """Yield one table of accuracies, the privacy of each release and of both, written files and remaining budgets.

    `details`: the command that prints the privacy statement of this run folder in full.
    """
    yield from (Banner(f"INSECURE: {reason}.", "insecure", "run.insecure") for reason in reports[0].insecure)
    yield PageTable("Test accuracy", ("model", "accuracy"), tuple(_accuracies(reports)), numbers=(1,))
    yield from _reading(reports)
    if (last_compared := reports[-1].comparison) is not None and last_compared.personalised:
        yield from personal_gain_blocks(last_compared.personalised)
    each = metrics_by_release(reports).items()
    if measured := {name: one for name, one in each if isinstance(one, Metrics)}:
        yield figures_by_release(measured)
    for report in reports:
        name = report.agreement.method.name
        yield Section(
            f"Privacy of {name}, {computed_by(report.agreement)}",
            tuple(summary_blocks(report.agreement, details(report.run_dir))),
        )
    if (together := _together(reports)) is not None:
        epsilon, delta = digits_rounded_up(together[0]), short_delta(round_up(together[1]))
        yield Prose(
            f"Both releases together cost epsilon {epsilon} and delta {delta}. This total holds "
            "only against an attacker that both statements above cover, such as the curator alone if all follow the "
            "protocol."
        )
    yield Prose(f"Written to {reports[0].run_dir.parent}: {', '.join(f'{r.run_dir.name}/' for r in reports)}")
    last = reports[-1]
    yield from budget_blocks(last.standings, account_of(last.privacy))
    yield from (Prose(str(remark), remark.code) for remark in dict.fromkeys(r for x in reports for r in x.remarks))


def metrics_by_release(reports: Sequence[Report]) -> dict[str, Metrics | RegressionMetrics]:
    """Return the metrics of each release on the test rows, by the name of its method."""
    compared = ((report.agreement.method.name, report.regression or report.comparison) for report in reports)
    return {name: one.metrics for name, one in compared if one is not None and one.metrics is not None}


def _together(reports: Sequence[Report]) -> tuple[Fraction, Fraction] | None:
    """Return epsilon and delta of all releases by basic composition; None where one of them has no guarantee."""
    if any(report.privacy.kind == "none" for report in reports):
        return None
    return charge_together(report.agreement for report in reports)


def _reading(reports: Sequence[Report]) -> Iterator[Prose]:
    """Yield how to read the table: what of it is private, and which differences are chance."""
    yield Prose("The lines 'alone' and 'pooled' have no noise. Only a simulation has all rows to compute them.")
    last = reports[-1].comparison
    if last is not None and last.rows:
        better, worse = last.compared_beyond_chance()
        yield Prose(
            f"With {last.rows:,} test rows, a difference below {last.margin:.3f} can be chance. Newton is "
            f"{_clearly('better', better)} of the {len(last.individual)} parties alone, and {_clearly('worse', worse)}."
        )


def _clearly(how: str, count: int) -> str:
    return f"clearly {how} than {count}" if count else f"not clearly {how} than any"


def _accuracies(reports: Sequence[Report]) -> Iterator[tuple[str, str]]:
    """Yield the rows of the table; `alone` and `pooled` are models that nobody releases, with newton's lambda."""
    compared = [(report.agreement, report.comparison) for report in reports if report.comparison is not None]
    last = compared[-1][1]
    if len(last.individual) <= _NAMED:
        yield from ((f"{name} alone", f"{value:.3f}") for name, value in last.individual.items())
    yield "each alone, mean", f"{mean(last.individual.values()):.3f}"
    for agreement, found in compared:
        yield f"together by {computed_by(agreement)} ({agreement.method.name})", f"{found.accuracy:.3f}"
    yield "all rows pooled, no privacy", f"{last.pooled:.3f}"
    yield "majority class", f"{last.majority:.3f}"
