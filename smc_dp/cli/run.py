"""Command `run`: a simulated run, written to a run folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from smc_dp.cli import screen
from smc_dp.cli.identities import load_with_warning
from smc_dp.cli.ledger import read_limit
from smc_dp.cli.options import AsJson, check_beside
from smc_dp.cli.setting_options import with_settings
from smc_dp.core.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from smc_dp.data.sources import PreparedData
    from smc_dp.run.agreement import Agreement
    from smc_dp.run.ledgers import Ledgers
    from smc_dp.run.metrics import Metrics
    from smc_dp.run.regression_metrics import RegressionMetrics
    from smc_dp.run.settings import DataRoles, Simulation
    from smc_dp.run.simulation import SimulationOptions

_NEWTON_INSTEAD = (
    "One malicious party removes this noise, and the smallest party can subtract it. Use `--method newton`: nobody "
    "knows its noise, it tolerates malicious parties, and it is usually as accurate."
)


@with_settings("run")
def train_together(said: Mapping[str, Any], as_json: AsJson = False) -> None:
    """Train together and write a run folder.

    This program plays all parties. They exchange encrypted messages over a simulated channel.

    Without options, `smc-dp run` simulates five hospitals with the rows of a built-in data set. The rows are dealt in
    the order of tumour area, so that each hospital has other patients. With --parties or --split they are dealt at
    random. The hospitals run prr_mean, the paper's curator protocol, and then newton on the same rows. Tables compare
    the results. Each release has the given epsilon, so together they cost twice that. Give --method to run a single
    method. Any of the following also makes the command run a single method: --party, --study, --protocol, --noise, a
    --dataset with more than two classes, or an option that does not apply to both prr_mean and newton. Without
    --method, that single method is newton, or prr_mean if the options fit only prr_mean.

    newton is recommended, for any number of classes. With more than 2,000 columns use gd. Both train one model of all
    rows: in each round, secure sums add up the parties' gradients. For two classes and enough rows newton is nearly as
    accurate as pooling the data. logistic releases coefficients with intervals for two classes, linear for a label that
    is a number. describe releases counts, means and standard deviations with intervals. wsum adds up the parties'
    models; wsum_ar protects their numbers of rows, too. In ofpa each party adds noise to its own model, and then the
    models are added up. ofaa adds up polynomials that approximate the parties' loss functions. In soft_ss the parties'
    models vote on the classes of public rows. avg_clip scales down each party's model to an agreed length of its
    vector of weights (norm), and averages the models. soft_ss and avg_clip protect all records of a party together.

    In all methods except prr_mean the privacy guarantee holds against a malicious curator, as many malicious parties as
    --colluders says, and as many drop-outs as --dropouts says. Exception: with drop-outs and more than 200 parties, all
    participants must follow the protocol. A malicious participant sees only the sums, which contain the noise of the
    honest parties. There is no promise that a run gives a result, or that the result is correct.

    prr_mean needs participants who follow the protocol: one malicious party removes all noise. The party with the
    fewest records knows the noise. With only two parties, that party obtains the other's model exactly.

    `smc-dp run --help-all` lists all options. Some of the examples use options that are not listed here.

    \b
    Examples:
      smc-dp run
      smc-dp run --epsilon 0.5 --split 15,20,20,20,25 --out runs/first
      smc-dp run --party north.csv --party south=data.parquet --label outcome \\
                 --bounds bounds.toml --test held_out.csv
      smc-dp run --party all.csv --parties-by hospital --bounds bounds.toml
      smc-dp run --method prr_mean --dataset a9a --data-dir DIR --lambda 0.001 --json
      smc-dp run --dataset digits --epsilon 3
      smc-dp run --method soft_ss --auxiliary 100 --epsilon 5
      smc-dp run --epsilon 0.5 --ledgers ledgers --budget 2 --budget-delta 1e-4 --identities identities
      smc-dp run --parties 50 --protocol pathak2010 --exponents full
      smc-dp run --parties 5 --protocol linear
      smc-dp run --method newton
      smc-dp run --method newton --colluders 1 --dropouts 1 --drop-out hospital-2:20
      smc-dp run --method wsum --noise vg --sizes hidden
      smc-dp run --study study.toml
      smc-dp run --method newton --metrics metrics.html
      smc-dp run --method logistic --epsilon 3
      smc-dp run --method linear --party north.csv --party south.csv --bounds bounds.toml --test held_out.csv
      smc-dp run --method describe --party north.csv --party south.csv --bounds bounds.toml
      smc-dp run --method describe --by sex --party north.csv --party south.csv --bounds bounds.toml
    """
    from protocols.arithmetic.rng import Stream
    from smc_dp.core.documents import validate_document
    from smc_dp.core.writing import fresh_folder, refuse_existing
    from smc_dp.data.limits import allow_cells
    from smc_dp.deploy.rehearsal import rehearse
    from smc_dp.planning.report import expected_in_simulation
    from smc_dp.run import main_job
    from smc_dp.run.preparation import parse_drop_outs, prepare_run
    from smc_dp.run.report_blocks import blocks
    from smc_dp.run.settings import RunRequest
    from smc_dp.run.shared_rows import shared_test_rows
    from smc_dp.run.simulation import check_parties, local_parties, simulate_each, simulate_run

    request = validate_document(RunRequest, said, "options")
    how, ledgers = request.simulation, _ledgers(request.simulation)
    folder = fresh_folder() if how.out is None else how.out
    refuse_existing(folder)
    check_beside(folder, "--metrics", how.metrics)
    seed = how.insecure_seed
    rng = Stream.from_system() if seed is None else Stream.insecure_from_seed(seed)
    simulated: SimulationOptions = {
        **{"topology": how.topology or "mesh", "link": how.link or "none"},
        **{"views": how.record_views, "ledgers": None},
    }
    if main_job.is_main_job(request):
        found, agreed = main_job.prepare_both(request)
        simulated["ledgers"] = ledgers and ledgers.for_runs(agreed)
        _check_test_rows(how.metrics, found, agreed[0])
        if how.identities is not None:
            simulated["identities"] = load_with_warning(how.identities, agreed[0].participants)
        by_folder = {folder / one.method.name: one for one in agreed}
        with screen.progress_bar(quiet=as_json) as hear:
            reports = simulate_each(found, by_folder, rng, hear, **simulated)
        _write_metrics(how.metrics, main_job.metrics_by_release(reports), request.data)
        if as_json:
            print(json.dumps(main_job.both_as_dict(reports), allow_nan=False))
        else:
            screen.print_blocks(main_job.both_blocks(reports, screen.full_statement))
        return
    found, agreement = prepare_run(request) if request.data.study is None else rehearse(request, rng)
    simulated["ledgers"] = ledgers and ledgers.for_runs([agreement])
    _check_test_rows(how.metrics, found, agreement)
    if how.identities is not None:
        simulated["identities"] = load_with_warning(how.identities, agreement.participants)
    drop_outs = parse_drop_outs(how.drop_out or [])
    if not as_json:
        with allow_cells(how.most_cells):
            check_parties(local_parties(found, agreement, rng))  # a party that cannot take part is refused first
        having = {name: len(own) for name, own in found.federation.by_name.items()}
        screen.print_blocks(expected_in_simulation(agreement, having))
        if request.data.party is not None:
            screen.print_blocks(shared_test_rows(found))
    with allow_cells(how.most_cells), screen.progress_bar(quiet=as_json) as hear:
        report = simulate_run(found, agreement, rng, folder, hear, drop_out=drop_outs, **simulated)
    _write_metrics(how.metrics, main_job.metrics_by_release([report]), request.data)
    if as_json:
        print(json.dumps(report.as_dict(), allow_nan=False))
        return
    screen.print_blocks(blocks(report, screen.full_statement(folder)))
    if report.agreement.spec.smallest_sets_noise:
        print(screen.fold(_NEWTON_INSTEAD))


def _check_test_rows(page: Path | None, found: PreparedData, agreed: Agreement) -> None:
    if page is not None and agreed.describes:
        raise InputError("option.page_of_no_classifier", option="--metrics", name=agreed.method.name)
    if page is not None and found.test is None:
        raise InputError("option.page_without_test_rows", option="--metrics")


def _write_metrics(page: Path | None, found: Mapping[str, Metrics | RegressionMetrics], data: DataRoles) -> None:
    """Write the page of metrics; only its owner may read it, of whichever rows it is."""
    from smc_dp.pages.html import write_page
    from smc_dp.run.metrics_report import metrics_page
    from smc_dp.run.preparation import USUAL_DATASET

    if page is None:
        return
    public = data.party is None and data.study is None
    of = f"the data set {data.dataset or USUAL_DATASET}" if public else str(data.test)
    write_page(page, metrics_page(found, of, public=public), f"--metrics: {page}", 0o600)


def _ledgers(how: Simulation) -> Ledgers | None:
    from smc_dp.run.ledgers import Ledgers

    wanting = (("budget", how.budget, "ledgers", how.ledgers), ("budget_delta", how.budget_delta, "budget", how.budget))
    for name, value, other, needed in wanting:
        if value is not None and needed is None:
            raise InputError("option.alone", name=name, other=other)
    if how.ledgers is None:
        return None
    limit = None if how.budget is None else read_limit(how.budget, how.budget_delta, "--budget-delta")
    return Ledgers(how.ledgers, limit, has_usual_delta=how.budget_delta is None)
