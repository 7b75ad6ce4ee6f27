"""The commands `bench` and `bench-training`: processor seconds against straightforward code, in one run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import AsJson, check_new, refuse, several, whole
from smc_dp.errors import InputError

_SIZES, _LARGEST = ("parties", "rows", "dimension"), 100_000
_HELP = ("-m", "smc_dp.cli", "--help")
_DEFAULTS = ("5", "124", "3072")  # K, d, bits
_GROUPS = ("whole", "scale", "argmin", "encrypt", "sum", "growth", "workers")  # help says them without looking


def bench(
    parties: Annotated[
        str | None, typer.Option(metavar="INTEGER", help="Number of parties K of the comparison by stage [default: 5].")
    ] = None,
    dimension: Annotated[
        str | None, typer.Option("--dim", "--dimension", metavar="INTEGER", help="Number of weights d [default: 124].")
    ] = None,
    key_bits: Annotated[
        str | None, typer.Option(metavar="INTEGER", help="Length of the Paillier keys [default: 3072].")
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Of the goals only these, with commas: " + ", ".join(_GROUPS) + "."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Goals at small sizes, which says nothing of them.")] = False,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="A new CSV file for the goals.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="A new PNG file for the goals.")] = None,
    as_json: AsJson = False,
) -> int:
    """Measure the cryptography against straightforward code and against peers, in one run.

    Processor seconds. First the curator protocol by stage against a port on phe, which has one ciphertext per
    coordinate, re-randomises, and uses the same comparison (key generation apart); with a size given, this alone. Then
    every goal that the project has set itself: what is wanted, what is measured, whether it is met. All of it takes
    some ten minutes. Ratios are what to quote: seconds differ from machine to machine. MPyC, which one of them is
    about, comes with the extra `peers`.

    \b
    Examples:
      smc-dp bench
      smc-dp bench --parties 3 --dim 31 --key-bits 2048 --json
      smc-dp bench --only argmin,encrypt
      smc-dp bench --quick --csv goals.csv --plot goals.png
    """
    sizes = {"--parties": parties, "--dim": dimension, "--key-bits": key_bits}
    of_goals = {"--only": only, "--quick": quick or None, "--csv": csv, "--plot": plot}
    sized = any(value is not None for value in sizes.values())
    if sized:
        refuse(of_goals, f"is about the goals, whose sizes are set; {', '.join(sizes)} are of the comparison by stage")
    check_new({"--csv": csv, "--plot": plot})
    K, d, bits = (whole(name, text or default) for (name, text), default in zip(sizes.items(), _DEFAULTS, strict=True))
    names = () if sized else _names(only)
    plain = {} if only or quick else _by_stage(K, d, bits, quiet=as_json)
    found = _goals(names, quick, csv, plot, quiet=as_json) if names else None
    if as_json:
        print(json.dumps({**plain, **({} if found is None else found)}, allow_nan=False))
    return 1 if found and any(row["passed"] is False and row["measured"] is None for row in found["goals"]) else 0


def _names(only: str | None) -> tuple[str, ...]:
    from smc_dp.bench import groups

    return groups.chosen(None if only is None else several("--only", only))


def _by_stage(K: int, d: int, bits: int, *, quiet: bool) -> dict[str, Any]:
    """The curator protocol against the port, shown unless `quiet`; as plain values."""
    from smc_dp.bench.greetings import greeting_seconds
    from smc_dp.bench.protocol import bench_protocol
    from smc_dp.bench.start import start_seconds
    from smc_dp.run.terms.curator import check_keys, shortest_keys

    if not 2 <= K <= 1000 or not 1 <= d <= 100_000:
        raise InputError(f"--parties, --dim: wanted 2 to 1000 and 1 to 100000, got {K} and {d}")
    if bits < (least := shortest_keys("pathak2010")):  # nobody should time them
        raise InputError(f"--key-bits: wanted at least {least}, got {bits}")
    check_keys("pathak2010", bits)
    with screen.status() as hear:
        measured = bench_protocol(K, d, bits, hear)
        hear("greeting on a star of 1,000 parties")
        greetings = greeting_seconds()
        hear("starting the command line")
        start = start_seconds(_HELP)
    if not quiet:
        screen.show_bench(measured, greetings, start)
    return {**measured.as_dict(), "greeting_cpu_seconds": greetings, "help_cpu_seconds": start}


def _goals(names: tuple[str, ...], quick: bool, csv: Path | None, plot: Path | None, *, quiet: bool) -> dict[str, Any]:
    """The rows of these groups, shown unless `quiet` and written where wanted; as plain values."""
    from smc_dp.bench import groups, tables
    from smc_dp.bench.machine import machine, versions
    from smc_dp.files.writing import write_new

    where, what = machine(), versions()
    with screen.steps(quiet) as hear:
        rows = list(groups.measured(names, quick, hear))
    if csv is not None:
        write_new(csv, tables.as_csv(rows, where, what).encode(), f"--csv: {csv}")
    if plot is not None:
        from smc_dp.bench.figure import as_png

        write_new(plot, as_png(rows, where, quick), f"--plot: {plot}")
    if not quiet:
        screen.show_goals(rows, where, what)
    return tables.as_json(rows, where, what)


def bench_training(
    parties: Annotated[str, typer.Option(metavar="INTEGER", help="Number of parties.")] = "2000",
    rows: Annotated[str, typer.Option(metavar="INTEGER", help="Rows of each party.")] = "22",
    dimension: Annotated[
        str, typer.Option("--dimension", "--dim", metavar="INTEGER", help="Number of features.")
    ] = "123",
    as_json: AsJson = False,
) -> None:
    """Measure training many small parties and counting their votes against straightforward code, in one run.

    Processor seconds on one thread, against a loop with scikit-learn and one product of matrices, each on a sample and
    scaled up by count. Both have to give the same weights and votes.

    \b
    Examples:
      smc-dp bench-training
      smc-dp bench-training --parties 20000 --json
    """
    sizes = [whole(f"--{name}", text) for name, text in zip(_SIZES, (parties, rows, dimension), strict=True)]
    for name, size, least in zip(_SIZES, sizes, (1, 2, 1), strict=True):
        if not least <= size <= _LARGEST:
            raise InputError(f"--{name}: wanted {least} to {_LARGEST}, got {size}")

    from smc_dp.bench import training

    with screen.status() as hear:
        measured = training.bench_training(*sizes, hear=hear)
    if as_json:
        print(json.dumps(measured.as_dict(), allow_nan=False))
    else:
        screen.show_training(measured)
