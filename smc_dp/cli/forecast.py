"""The command `forecast`: what a run will cost, without one."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import AsJson, choice, count, positive, whole
from smc_dp.cli.run import LINKS, METHODS, named_settings
from smc_dp.errors import InputError


def forecast(
    parties: Annotated[str, typer.Option(metavar="INTEGER", help="Number of parties K.")],
    dimension: Annotated[
        str,
        typer.Option(
            "--dim",
            "--dimension",
            metavar="INTEGER",
            help="Number of columns d, the constant one among them; with --protocol alone, of the numbers of a vector.",
        ),
    ],
    protocol: Annotated[
        str | None,
        typer.Option(
            metavar="pathak2010|linear|secure_sum",
            help="The protocol, on vectors of d numbers; with --method, another than the usual one [default: the one "
            "that `run` would take].",
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(METHODS),
            help="What is learned, as in `run` [default: prr_mean; of three or more classes newton].",
        ),
    ] = None,
    link: Annotated[str, typer.Option(metavar="none|lan|wan", help="The network whose delays are counted.")] = "none",
    key_bits: Annotated[
        str | None, typer.Option(metavar="INTEGER", help="pathak2010: length of the keys [default: 3072].")
    ] = None,
    comparison: Annotated[
        str | None,
        typer.Option(
            metavar="all-pairs|tournament",
            help="pathak2010: how the smallest party is found [default: tournament].",
        ),
    ] = None,
    exponents: Annotated[
        str | None,
        typer.Option(metavar="short|full", help="pathak2010: of what is encrypted [default: short]."),
    ] = None,
    colluders: Annotated[
        str | None,
        typer.Option(metavar="INTEGER", help="secure_sum: parties that may deviate, with Charlie [default: 1]."),
    ] = None,
    dropouts: Annotated[
        str | None,
        typer.Option(metavar="INTEGER", help="secure_sum: parties that may vanish on the way [default: 0]."),
    ] = None,
    verifiable: Annotated[
        bool, typer.Option("--verifiable", help="secure_sum: what is added up is published.")
    ] = False,
    output: Annotated[
        str | None,
        typer.Option(metavar="curator|shares", help="secure_sum: who gets masked inputs [default: curator]."),
    ] = None,
    rounds: Annotated[
        str | None,
        typer.Option("--rounds", metavar="INTEGER", help="secure_sum, without a method: how many sums [default: 1]."),
    ] = None,
    classes: Annotated[str, typer.Option(metavar="INTEGER", help="Number of classes.")] = "2",
    epsilon: Annotated[str, typer.Option(help="Privacy, which sets the ring of a secure sum's method.")] = "1",
    delta: Annotated[str | None, typer.Option(metavar="NUMBER", help="As in `run`.")] = None,
    holder: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Parties are called NAME-1, NAME-2 ...: `run` says hospital of its own data set, and party of others.",
        ),
    ] = "hospital",
    no_seconds: Annotated[bool, typer.Option("--no-seconds", help="Counts alone, without a calibration.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say what a run will cost: messages, bytes and rounds exactly, and seconds by a calibration on this machine.

    The counts are equal to those of the record of a run in which nobody vanishes. The calibration takes about two
    seconds; other work on the machine shows in it.

    \b
    Examples:
      smc-dp forecast --parties 5 --dim 31
      smc-dp forecast --parties 1000 --dim 1000 --link wan
      smc-dp forecast --parties 50 --dim 124 --protocol pathak2010 --no-seconds
      smc-dp forecast --parties 20 --dim 31 --method newton --dropouts 2 --json
      smc-dp forecast --parties 20 --dim 1000 --protocol secure_sum --rounds 3
    """
    from smc_dp.forecasts import forecast as made
    from smc_dp.privacy.target import LEAST_DELTA

    numbers = {"key_bits": key_bits, "colluders": colluders, "dropouts": dropouts}
    named: dict[str, Any] = named_settings(
        numbers, {"comparison": comparison, "exponents": exponents, "output": output}
    )
    known = ("--parties", parties, 2), ("--dim", dimension, 1), ("--classes", classes, 2)
    K, d, several = (_least(*given) for given in known)
    with screen.status() as hear:
        hear("measuring what operations cost")
        found = made(
            K, d, protocol=protocol, method=method, link=choice("--link", link, LINKS),
            **named, verifiable=verifiable or None, rounds=count("--rounds", rounds), classes=several,
            epsilon=positive("--epsilon", epsilon),
            delta=None if delta is None else positive("--delta", delta, LEAST_DELTA),
            holder=holder, seconds=not no_seconds,
        )  # fmt: skip
    if as_json:
        print(json.dumps(found.as_dict(), allow_nan=False))
    else:
        screen.show_forecast(found)


def _least(option: str, text: str, least: int) -> int:
    value = whole(option, text)
    if value < least:
        raise InputError(f"{option}: wanted at least {least}, got {value}")
    return value
