"""The command line: `run`, `predict`, `bench` here, and the experiments of `smc_dp.cli.experiments`.

A command only reads its options and returns the job to be done. `main` does it, so that whatever goes wrong,
in the options or in the work, ends in the same place: one plain line on standard error and exit code 2.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, get_args

import typer

from protocols.arithmetic.rng import Stream
from protocols.errors import ProtocolError
from smc_dp.aggregation import ComparisonName, LinkName, ProtocolSettings, TopologyName
from smc_dp.bench import protocol as benchmark
from smc_dp.cli import attack, audit, epsilon, experiments, ledger, screen
from smc_dp.cli import identities as cli_identities
from smc_dp.cli.options import Job, choice, new_run_folder, positive, refuse, whole
from smc_dp.data import datasets, sources
from smc_dp.data.preprocess import encode, labels
from smc_dp.data.sources import Case
from smc_dp.data.tables import read_table
from smc_dp.errors import InputError, one_line
from smc_dp.methods.pathak2010.curator import RING_BITS, Settings, accuracy, classify
from smc_dp.privacy.pathak2010 import Calibration, PureNoiseName
from smc_dp.run import folder as published_folder
from smc_dp.run.ledgers import Ledgers
from smc_dp.run.simulation import simulate_run

app = typer.Typer(
    help="Learn one differentially private classifier together, without showing anyone your data.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
_TERMINATED = 128 + signal.SIGTERM
_UsageError: Any = typer.BadParameter.__base__  # typer carries its own copy of click, or uses click: either way


@app.command()
def run(
    party: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME=]FILE", help="CSV or Parquet file of one party; repeat it."),
    ] = None,
    parties_by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The single --party is one table; this column says whose row it is."),
    ] = None,
    label: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of classes.")] = None,
    bounds: Annotated[Path | None, typer.Option(help="TOML file of public bounds, categories and classes.")] = None,
    test: Annotated[Path | None, typer.Option(help="CSV or Parquet file to measure the accuracy on.")] = None,
    strict_bounds: Annotated[
        bool, typer.Option("--strict-bounds", help="Refuse rows outside their bounds instead of clipping.")
    ] = False,
    dataset: Annotated[
        str | None,
        typer.Option(metavar="|".join(datasets.NAMES), help="A data set [default: breast_cancer]."),
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(envvar="SMC_DP_DATA", help="Folder with the papers' data sets.")
    ] = None,
    parties: Annotated[
        str | None,
        typer.Option(metavar="INTEGER", help="Number of parties that share a data set [default: 5]."),
    ] = None,
    split: Annotated[
        str | None, typer.Option(metavar="15,20,...", help="Each party's percentage of a data set.")
    ] = None,
    epsilon: Annotated[str, typer.Option(help="Privacy: smaller is more private.")] = "1",
    lam: Annotated[str, typer.Option("--lambda", help="Regularisation of the local classifiers.")] = "0.1",
    calibration: Annotated[
        str | None,
        typer.Option(
            metavar="proven|paper", help="Noise as proven here, or as printed in the paper [default: proven]."
        ),
    ] = None,
    noise: Annotated[str, typer.Option(metavar="knorm|laplace", help="The law of the noise.")] = "knorm",
    comparison: Annotated[
        str, typer.Option(metavar="all-pairs|tournament", help="How the smallest party is found.")
    ] = "tournament",
    key_bits: Annotated[str, typer.Option(metavar="INTEGER", help="Length of the Paillier keys.")] = "3072",
    topology: Annotated[
        str, typer.Option(metavar="mesh|star", help="Direct links, or all mail through Charlie.")
    ] = "mesh",
    link: Annotated[str, typer.Option(metavar="lan|wan|none", help="The network whose delays are simulated.")] = "none",
    out: Annotated[Path | None, typer.Option(help="The run folder to make [default: a new one in runs/].")] = None,
    record_views: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="SECRET: a folder to make for what each participant could read, for audits."),
    ] = None,
    ledgers: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder with each party's ledger: a run that would pass a budget is refused."),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="With --ledgers: the limit, an epsilon, of a ledger that is made now; it never changes.",
        ),
    ] = None,
    identities: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder made by `smc-dp identities new`, a key for each party by its name."),
    ] = None,
    insecure_seed: Annotated[
        str | None,
        typer.Option(metavar="INTEGER", help="Reproducible and INSECURE: all randomness from this number."),
    ] = None,
    insecure_test_keys: Annotated[
        bool, typer.Option("--insecure-test-keys", help="INSECURE: allow keys below 2048 bits.")
    ] = False,
    as_printed_insecure: Annotated[
        bool, typer.Option("--as-printed-insecure", help="INSECURE: the paper's steps with their leaks.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> Job:
    """Train together and write a run folder.

    \b
    Examples:
      smc-dp run
      smc-dp run --epsilon 0.5 --split 15,20,20,20,25 --out runs/first
      smc-dp run --party north.csv --party south=data.parquet --label outcome \\
                 --bounds bounds.toml --test held_out.csv
      smc-dp run --party all.csv --parties-by hospital --bounds bounds.toml
      smc-dp run --dataset a9a --data-dir DIR --lambda 0.001 --json
      smc-dp run --epsilon 0.5 --ledgers ledgers --budget 2 --identities identities
    """
    named = None if calibration is None else choice("--calibration", calibration, get_args(Calibration))
    settings = Settings(
        epsilon=positive("--epsilon", epsilon),
        lam=positive("--lambda", lam),
        calibration=named or ("paper" if as_printed_insecure else "proven"),
        noise=choice("--noise", noise, get_args(PureNoiseName)),
        as_printed=as_printed_insecure,
    )

    def protocol(dimension: int) -> ProtocolSettings:
        return ProtocolSettings(
            dimension=dimension,
            ring_bits=settings.grid.ring_bits,
            key_bits=whole("--key-bits", key_bits),
            comparison=choice("--comparison", comparison, get_args(ComparisonName)),
            topology=choice("--topology", topology, get_args(TopologyName)),
            link=choice("--link", link, get_args(LinkName)),
            as_printed=as_printed_insecure,
            insecure_test_keys=insecure_test_keys,
        )

    protocol(dimension=1)  # refuses bad options before any file is read
    seed = None if insecure_seed is None else whole("--insecure-seed", insecure_seed)
    folder = new_run_folder() if out is None else out
    if ledgers is None:
        refuse({"--budget": budget}, "goes with --ledgers, and none was given")
    books = None if ledgers is None else Ledgers(ledgers, None if budget is None else ledger.limit(budget, None))
    own = {"--label": label, "--bounds": bounds, "--test": test, "--parties-by": parties_by}
    dealt = {"--dataset": dataset, "--parties": parties, "--split": split}

    def case() -> Case:
        if party:
            refuse(dealt, "does not go with --party: there, the files say who has which rows")
            if bounds is None:
                raise InputError("--bounds: is missing, wanted a TOML file of public bounds for the parties' files")
            return sources.own_files(party, bounds, label=label, test=test, parties_by=parties_by, strict=strict_bounds)
        refuse(own, "goes with --party, and none was given")
        name = "breast_cancer" if dataset is None else dataset
        count = None if parties is None else whole("--parties", parties)
        return sources.dataset(name, data_dir, parties=count, split=split, strict=strict_bounds)

    def job() -> None:
        published_folder.refuse_existing(folder)
        found = case()
        rng = Stream.from_system() if seed is None else Stream.insecure_from_seed(seed)
        known = None if identities is None else cli_identities.of_run(identities, list(found.parties))
        with screen.progress(quiet=as_json) as callback:
            report = simulate_run(
                found,
                settings,
                protocol(found.bounds.dimension),
                rng,
                folder,
                callback,
                identities=known,
                views=record_views,
                ledgers=books,
            )
        if as_json:
            print(json.dumps(report.as_dict(), allow_nan=False))
        else:
            screen.show(report)
            ledger.show_standings(report.standings)

    return job


@app.command()
def predict(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    data: Annotated[Path, typer.Option(help="CSV or Parquet file of rows to classify.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> Job:
    """Add the published shares and classify new rows, one class a line.

    The shares must add up to the weights of the release. If the file has the column of classes, the last line
    is the accuracy.

    \b
    Examples:
      smc-dp predict runs/first --data new.csv
      smc-dp predict runs/first --data new.parquet --json
    """

    def job() -> None:
        published = published_folder.read(run_folder)
        table = read_table(data, f"data file {data}")
        if not table.rows:
            raise InputError(f"{table.source}: has no rows, wanted at least one")
        signs = classify(published.weights, encode(table, published.bounds))
        names = [published.bounds.classes[int(sign > 0)] for sign in signs]
        for reason in published.insecure:
            print(f"warning: this release is insecure: {one_line(reason)}", file=sys.stderr)
        if as_json:
            print(json.dumps({"predictions": names}))
            return
        label = published.bounds.label
        known = labels(table, published.bounds, label) if label is not None and label in table.columns else None
        print("\n".join(names))
        if known is not None:
            print(f"accuracy {accuracy(signs, known):.3f} on {table.rows} rows")

    return job


@app.command()
def bench(
    parties: Annotated[str, typer.Option(metavar="INTEGER", help="Number of parties K.")] = "5",
    dimension: Annotated[str, typer.Option(metavar="INTEGER", help="Number of weights d.")] = "124",
    key_bits: Annotated[str, typer.Option(metavar="INTEGER", help="Length of the Paillier keys.")] = "3072",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> Job:
    """Measure the cryptography against a straightforward port on phe, in one run.

    Processor seconds, key generation apart. The port has one ciphertext per coordinate, re-randomises, and uses the
    same comparison. Ratios are what to quote: seconds differ from machine to machine.

    \b
    Examples:
      smc-dp bench
      smc-dp bench --parties 3 --dimension 31 --key-bits 2048 --json
    """
    K, d, bits = whole("--parties", parties), whole("--dimension", dimension), whole("--key-bits", key_bits)
    if not 2 <= K <= 1000 or not 1 <= d <= 100_000:
        raise InputError(f"--parties, --dimension: wanted 2 to 1000 and 1 to 100000, got {K} and {d}")
    ProtocolSettings(dimension=d, ring_bits=RING_BITS, key_bits=bits)  # refuses keys that nobody should time

    def job() -> None:
        with screen.status() as hear:
            measured = benchmark.bench_protocol(K, d, bits, hear)
        if as_json:
            print(json.dumps(measured.as_dict(), allow_nan=False))
        else:
            screen.show_bench(measured)

    return job


app.command()(audit.audit)
app.command("audit-epsilon")(epsilon.audit_epsilon)
app.command()(attack.attack)
app.add_typer(ledger.ledger, name="ledger")
app.add_typer(cli_identities.identities, name="identities")
app.command()(experiments.compare)
app.command()(experiments.reproduce)
app.command("bench-training")(experiments.bench_training)
app.add_typer(experiments.data, name="data")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. Exit code: 0; 1, something failed; 2, wrong options or files; 130, Ctrl-C; 143, SIGTERM."""
    arguments = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name that the terminal has no letters for must not end it all
            stream.reconfigure(errors="backslashreplace")
    try:
        with _terminable():
            job = app(args=arguments, prog_name="smc-dp", standalone_mode=False)
            return (job() or 0) if callable(job) else 0  # no job after --help
    except _UsageError as error:
        return _fail(error.format_message())
    except (InputError, ProtocolError) as error:
        return _fail(_said(str(error), error))
    except BrokenPipeError:  # whoever reads our output has seen enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _fail(_said(str(error), error))
    except KeyboardInterrupt as error:
        print(_said("interrupted", error), file=sys.stderr)
        return 130
    except SystemExit as error:
        if error.code == _TERMINATED:
            print(_said("terminated", error), file=sys.stderr)
        raise


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM ends the program as Ctrl-C does, so that worker processes are ended too."""
    if threading.current_thread() is not threading.main_thread():  # the only one that may set it
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(number: int, frame: FrameType | None) -> None:
    sys.exit(_TERMINATED)


def _said(message: str, error: BaseException) -> str:
    """With the notes of the error, such as what it cost."""
    return "; ".join([message, *getattr(error, "__notes__", ())])


def _fail(message: str) -> int:
    print(f"error: {one_line(message)}", file=sys.stderr)
    return 2
