"""Commands `lab compare` and `lab reproduce`: methods side by side, on one data set or as in a paper's figure."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import (
    DataDir,
    read_choice,
    read_choices,
    read_count,
    read_integer,
    read_list,
    read_positive,
    refuse_options,
)
from smc_dp.cli.setting_options import with_settings
from smc_dp.core.errors import InputError
from smc_dp.privacy.target import Calibration, NoiseName

if TYPE_CHECKING:
    from smc_dp.experiments.compare.study import Study

FIGURES = "pathak-fig2|hamm-fig2|hamm-fig3|feature-fig1..3|collaborative-fig2..5|sums"

Out = Annotated[
    Path | None,
    typer.Option(help="Folder of results [default: a new one in runs/]. A stopped run in it continues."),
]
Jobs = Annotated[str | None, typer.Option(metavar="INTEGER", help="Worker processes [default: all cores].")]
Seed = Annotated[
    str | None, typer.Option(metavar="INTEGER", help="Reproducible and INSECURE: all noise from this number.")
]


@with_settings("compare")
def compare_methods(
    said: Mapping[str, Any],
    methods: Annotated[str, typer.Option(metavar="NAME,...", help="Methods to compare.")],
    dataset: Annotated[
        str, typer.Option(metavar="NAME", help="Data set; `smc-dp lab data list` has all.")
    ] = "breast_cancer",
    epsilons: Annotated[
        str, typer.Option(metavar="NUMBER,...", help="Epsilons to ask for; inf is no noise.")
    ] = "0.1,1,10,inf",
    calibrations: Annotated[
        str,
        typer.Option(
            "--calibrations",
            "--calibration",
            metavar="proven,paper",
            help="Noise as proven here, as published, or both.",
        ),
    ] = "proven",
    noise: Annotated[
        str | None,
        typer.Option(
            metavar="knorm|laplace|gauss|ddg|vg|self",
            help="The distribution of the noise; of the last three each party draws a share [default: each method's "
            "own; ddg where nobody is trusted].",
        ),
    ] = None,
    delta: Annotated[str, typer.Option(help="For noise gauss and ddg: the delta of (epsilon, delta).")] = "1e-5",
    trust: Annotated[
        str | None,
        typer.Option(
            metavar="aggregator,secure",
            help="Who computes a release: somebody whom all trust, or a secure sum among parties who trust nobody "
            "[default: both, where a method has both].",
        ),
    ] = None,
    lam: Annotated[
        str | None,
        typer.Option(
            "--lambda",
            help="Regularisation [default: each method's own]: the factor of |w|^2 in methods for records (prr_mean, "
            "wsum, feat_agg, ofpa, ...), of |w|^2/2 in methods for parties (soft, avg, ...) and baselines.",
        ),
    ] = None,
    repeats: Annotated[str, typer.Option(metavar="INTEGER", help="Partitions of the rows among parties.")] = "10",
    draws: Annotated[str, typer.Option(metavar="INTEGER", help="Draws of the noise for each partition.")] = "1",
    parties: Annotated[str | None, typer.Option(metavar="INTEGER", help="Number of parties.")] = None,
    per_party: Annotated[str | None, typer.Option(metavar="INTEGER", help="Rows of each party.")] = None,
    split: Annotated[str | None, typer.Option(metavar="15,20,...", help="Each party's percentage of the rows.")] = None,
    auxiliary: Annotated[
        str | None, typer.Option(metavar="INTEGER", help="Public rows without labels; 0 for none.")
    ] = None,
    labelled: Annotated[
        str | None, typer.Option(metavar="INTEGER", help="Public rows with labels; 0 for none.")
    ] = None,
    components: Annotated[
        str | None, typer.Option(metavar="INTEGER", help="Columns after a PCA of public rows.")
    ] = None,
    data_dir: DataDir = None,
    out: Out = None,
    jobs: Jobs = None,
    insecure_seed: Seed = None,
) -> int | None:
    """Compare methods on one data set. Write results.csv, figures and a page.

    Rows are partitioned as in the paper that uses the data set, unless options say otherwise. To continue a stopped
    run, give the same command with the same folder. If a secure sum computes a method there are two curves: with a
    trusted aggregator, and with nobody trusted and noise that the parties draw in shares. Epsilons are the requested
    ones. The noise of a paper is proved to give another, or none; tables, axes and sentences have that one beside it.
    Nothing here is a release: it reads test labels, and budgets add up over epsilons, repeats and draws.

    \b
    Examples:
      smc-dp lab compare --methods wsum,prr_mean,local --lambda 0.1 --out runs/first
      smc-dp lab compare --dataset har --methods soft,vote,avg,soft_ss,avg_clip,batch,indiv \\
                     --epsilons 0.1,1,10,inf --repeats 10 --data-dir DIR --out runs/har
      smc-dp lab compare --dataset a9a --methods wsum,prr_mean --calibrations proven,paper \\
                     --split 10,20,20,20,30 --lambda 1e-3 --draws 20
      smc-dp lab compare --methods wsum,local --lambda 0.1 --parties 10 --trust secure --colluders 2
    """
    from smc_dp.data.load_pool import DATASET_NAMES
    from smc_dp.experiments.compare import defaults, study
    from smc_dp.experiments.compare.plan import GridPlan, GridSetting
    from smc_dp.methods.method import Trust
    from smc_dp.methods.registry import METHODS
    from smc_dp.methods.sums.threat_model import ThreatModel

    number = {"parties": parties, "per_party": per_party, "auxiliary": auxiliary}
    number |= {"labelled": labelled, "components": components}
    least = {"auxiliary": 0, "labelled": 0}
    counts = {
        name: read_count("--" + name.replace("_", "-"), text, least.get(name, 1)) for name, text in number.items()
    }
    partition = defaults.default_partition(read_choice("--dataset", dataset, DATASET_NAMES), split, **counts)
    trusts = [] if trust is None else read_choices("--trust", trust, get_args(Trust))
    if trusts == ["aggregator"]:
        beside = {f"--{name}": value for name, value in said.get("protocol", {}).items()}
        refuse_options(beside, "option.without_secure_sum")
    entries, skipped = defaults.make_entries(
        read_choices("--methods", methods, tuple(METHODS)),
        read_choices("--calibrations", calibrations, get_args(Calibration)),
        _epsilons(epsilons),
        noise=None if noise is None else read_choice("--noise", noise, get_args(NoiseName)),
        delta=read_positive("--delta", delta),
        draws=read_count("--draws", draws) or 1,
        lam=None if lam is None else float(read_positive("--lambda", lam)),
        trusts=trusts,
        threat_model=ThreatModel(partition.parties, **said.get("protocol", {})),
    )
    if not entries:
        raise InputError("options.no_method_left", skipped="; ".join(map(str, skipped)))
    setting = GridSetting(dataset, dataset, partition)
    plan = GridPlan((setting,), tuple(entries), read_count("--repeats", repeats) or 1, _seed(insecure_seed))
    shown = study.plan_study("compare", f"Methods on {dataset}", _introduction(dataset), plan, tuple(map(str, skipped)))
    code = _run(shown, out, data_dir, read_count("--jobs", jobs))
    for why in skipped:
        print(f"note: {why}", file=sys.stderr)
    return code


def reproduce_figure(
    figure: Annotated[str, typer.Argument(metavar=FIGURES, help="A figure of a paper; sums: learning by secure sums.")],
    repeats: Annotated[
        str | None, typer.Option(metavar="INTEGER", help="Partitions of the rows [default: as in the paper].")
    ] = None,
    draws: Annotated[
        str | None,
        typer.Option(metavar="INTEGER", help="Draws of the noise for each partition [default: as in the paper]."),
    ] = None,
    data_dir: DataDir = None,
    out: Out = None,
    jobs: Jobs = None,
    insecure_seed: Seed = None,
) -> int | None:
    """Run a figure of a paper with its parameters. Say what came out as stated and what did not.

    \b
    Examples:
      smc-dp lab reproduce hamm-fig2 --data-dir DIR --out runs/hamm-fig2
      smc-dp lab reproduce pathak-fig2 --repeats 2 --draws 5
    """
    from smc_dp.experiments.reproduce import papers

    shown = papers.ready_study(
        figure, read_count("--repeats", repeats), read_count("--draws", draws), insecure_seed=_seed(insecure_seed)
    )
    return _run(shown, out, data_dir, read_count("--jobs", jobs))


def _introduction(dataset: str) -> str:
    return (
        f"Every method on the same partitions of the data set {dataset}. Test accuracy against the guaranteed "
        "epsilon, mean and standard deviation over the repeats; baselines without noise are horizontal lines."
    )


def _epsilons(text: str) -> tuple[Fraction | None, ...]:
    return tuple(None if part == "inf" else read_positive("--epsilons", part) for part in read_list("--epsilons", text))


def _seed(text: str | None) -> int | None:
    return None if text is None else read_integer("--insecure-seed", text)


def _run(shown: Study, out: Path | None, data_dir: Path | None, jobs: int | None) -> int | None:
    from smc_dp.core.writing import fresh_folder
    from smc_dp.experiments.compare import report, runner

    folder = fresh_folder() if out is None else out
    start = time.perf_counter()
    runner.check_folder(shown.plan, folder)
    with _going_on(folder), screen.cell_progress() as hear:
        made = (lambda: print(f"results go to {folder}", file=sys.stderr)) if out is None else None
        grid = runner.run_grid(shown.plan, folder, data_dir, jobs, hear, made)
    written = report.write_report(shown, grid, folder, time.perf_counter() - start)
    screen.print_blocks(report.report_sections(shown, grid))
    print(f"Written to {folder}: results.csv, statements.json, figures, and the page {written}")
    for line in report.failures(grid):
        print(f"error: {line}", file=sys.stderr)
    return 1 if grid.failures else None


@contextmanager
def _going_on(folder: Path) -> Iterator[None]:
    """Say how to go on when the block is stopped and a plan is there."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        if (folder / "plan.json").exists():
            print(f"stopped: the same command with --out {folder} goes on", file=sys.stderr)
        raise
