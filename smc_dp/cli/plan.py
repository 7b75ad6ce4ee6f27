"""Command `plan`: expected accuracy and cost of learning together, and advice, before anything is spent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import AsJson, read_count, read_integer
from smc_dp.cli.setting_options import with_settings
from smc_dp.core.errors import InputError, shown


@with_settings("plan")
def plan_learning(
    said: Mapping[str, Any],
    sizes: Annotated[
        str, typer.Option(metavar="5000,800,30|NAME=5000,...", help="How many rows each party has, by name or without.")
    ],
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="INTEGER",
            help="Number of features of an encoded row; do not count the constant feature. Each category of a "
            "column is one feature.",
        ),
    ] = None,
    classes: Annotated[str | None, typer.Option(metavar="INTEGER", help="Number of classes [default: 2].")] = None,
    bounds: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TOML file of public bounds, in place of --columns and --classes."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Picture to write: the loss over epsilon (png, svg, pdf)."),
    ] = None,
    cost: Annotated[
        bool,
        typer.Option(
            "--cost",
            help="Show the cost by stage and by role, at the protocol's default settings, and estimate its time.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Predict what noise costs in accuracy, and recommend a method, from public numbers alone. No budget is spent.

    The plan says which method to use, and why. It gives an interval for the accuracy that is lost to noise; in nine
    of ten trials the loss was in it. It names parties that have too few rows, and who must not collude. It counts
    the messages, bytes and rounds of a run in which nobody drops out. No row is read: the sizes are what you type.

    \b
    Examples:
      smc-dp plan --sizes 5000,800,30 --columns 12
      smc-dp plan --sizes north=5000,south=800,clinic=30 --columns 12 --method prr_mean
      smc-dp plan --sizes 300,300,300,300 --bounds bounds.toml --epsilon 0.5 --dropouts 1 --plot plan.png
      smc-dp plan --sizes 2000,2000,900 --columns 40 --classes 6 --cost
    """
    from smc_dp.core.documents import validate_document
    from smc_dp.core.writing import refuse_existing, write_new
    from smc_dp.planning import report
    from smc_dp.planning.plan import plan_for as made
    from smc_dp.run.settings import RunSettings

    if columns is None and bounds is None:
        raise InputError("columns.missing")
    if plot is not None:
        from smc_dp.planning import figure  # half a second, which a plan without a picture should not pay

        kind = figure.picture_format(plot)
        refuse_existing(plot)
    with screen.spinner() as hear:
        hear("planning")
        found = made(
            _sizes(sizes), read_count("--columns", columns), classes=read_count("--classes", classes, 2), bounds=bounds,
            settings=validate_document(RunSettings, said, "options"), cost=cost,
        )  # fmt: skip
    if plot is not None:
        write_new(plot, found.picture(kind), f"picture {plot}")
    if as_json:
        answer = list(report.recommendation_blocks(found))
        said = {"answer": [one.text for one in answer], "codes": [one.code for one in answer]}
        print(json.dumps({**found.as_dict(), **said}, allow_nan=False))
    else:
        screen.print_blocks(report.blocks(found, cost=cost))


def _sizes(text: str) -> list[int] | dict[str, int]:
    """Read numbers of rows, all with names or all without."""
    parts = [part.strip() for part in text.split(",")]
    named = [part.partition("=") for part in parts]
    if not any(equals for _, equals, _ in named):
        return [read_integer("--sizes", part) for part in parts]
    found: dict[str, int] = {}
    for name, equals, number in named:
        if not equals or name in found:
            raise InputError("sizes.not_named", got=f"{shown(name)} again" if equals else shown(name))
        found[name] = read_integer("--sizes", number)
    return found
