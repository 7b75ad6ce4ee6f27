"""The commands `bench` and `bench-training`: processor seconds against straightforward code, in one run."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import AsJson, whole
from smc_dp.errors import InputError

_SIZES, _LARGEST = ("parties", "rows", "dimension"), 100_000
_HELP = ("-m", "smc_dp.cli", "--help")


def bench(
    parties: Annotated[str, typer.Option(metavar="INTEGER", help="Number of parties K.")] = "5",
    dimension: Annotated[str, typer.Option(metavar="INTEGER", help="Number of weights d.")] = "124",
    key_bits: Annotated[str, typer.Option(metavar="INTEGER", help="Length of the Paillier keys.")] = "3072",
    as_json: AsJson = False,
) -> None:
    """Measure the cryptography against a straightforward port on phe, in one run.

    Processor seconds, key generation apart. The port has one ciphertext per coordinate, re-randomises, and uses the
    same comparison. Ratios are what to quote: seconds differ from machine to machine.

    \b
    Examples:
      smc-dp bench
      smc-dp bench --parties 3 --dimension 31 --key-bits 2048 --json
    """
    from smc_dp.bench.greetings import greeting_seconds
    from smc_dp.bench.protocol import bench_protocol
    from smc_dp.bench.start import start_seconds
    from smc_dp.run.terms.curator import check_keys, shortest_keys

    K, d, bits = whole("--parties", parties), whole("--dimension", dimension), whole("--key-bits", key_bits)
    if not 2 <= K <= 1000 or not 1 <= d <= 100_000:
        raise InputError(f"--parties, --dimension: wanted 2 to 1000 and 1 to 100000, got {K} and {d}")
    if bits < (least := shortest_keys("pathak2010")):  # nobody should time them
        raise InputError(f"--key-bits: wanted at least {least}, got {bits}")
    check_keys("pathak2010", bits)
    with screen.status() as hear:
        measured = bench_protocol(K, d, bits, hear)
        hear("greeting on a star of 1,000 parties")
        greetings = greeting_seconds()
        hear("starting the command line")
        start = start_seconds(_HELP)
    if as_json:
        print(
            json.dumps(
                {**measured.as_dict(), "greeting_cpu_seconds": greetings, "help_cpu_seconds": start}, allow_nan=False
            )
        )
    else:
        screen.show_bench(measured, greetings, start)


def bench_training(
    parties: Annotated[str, typer.Option(metavar="INTEGER", help="Number of parties.")] = "2000",
    rows: Annotated[str, typer.Option(metavar="INTEGER", help="Rows of each party.")] = "22",
    dimension: Annotated[str, typer.Option(metavar="INTEGER", help="Number of features.")] = "123",
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
