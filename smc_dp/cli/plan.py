"""Command `plan`: expected accuracy and cost of learning together, and advice, before anything is spent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import AsJson, read_by_column, read_count, read_integer, read_positive
from smc_dp.cli.setting_options import with_settings
from smc_dp.core.errors import InputError, shown

if TYPE_CHECKING:
    from smc_dp.pages.blocks import PageBlock, Prose


@with_settings("plan")
def plan_learning(
    said: Mapping[str, Any],
    sizes: Annotated[
        str,
        typer.Option(
            metavar="5000,800,30|NAME=5000,...",
            help="Number of rows of each party: 5000,800,30 or, with names, north=5000,south=800.",
        ),
    ],
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="INTEGER",
            help="Number of columns. Count a column of categories once for each category.",
        ),
    ] = None,
    classes: Annotated[str | None, typer.Option(metavar="INTEGER", help="Number of classes [default: 2].")] = None,
    bounds: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TOML file of public bounds, in place of --columns and --classes."),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="logistic: expected fraction of rows of the second class, such as 0.1."),
    ] = None,
    residual: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="linear: expected standard deviation of the residuals; without --bounds, as a fraction of half the "
            "range of the outcome.",
        ),
    ] = None,
    deviation: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=NUMBER",
            help="logistic, linear, describe: expected standard deviation of a column, as in age=16, of dates in days "
            "[default: a seventh of the range]. Repeat the option for other columns.",
        ),
    ] = None,
    width: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="logistic, linear, describe: the width that all intervals should have (the NUMBER in `estimate ± "
            "NUMBER`), where a number counts in its standard deviations. The plan says which epsilon and how many "
            "rows this needs.",
        ),
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
    Of logistic, linear and describe it says how wide the intervals will be, in place of accuracy.

    \b
    Examples:
      smc-dp plan --sizes 5000,800,30 --columns 12
      smc-dp plan --sizes north=5000,south=800,clinic=30 --columns 12 --method prr_mean
      smc-dp plan --sizes 300,300,300,300 --bounds bounds.toml --epsilon 0.5 --dropouts 1
      smc-dp plan --sizes 2000,2000,900 --columns 40 --classes 6 --cost
      smc-dp plan --sizes 9000,6000,5000 --bounds bounds.toml --method logistic --rate 0.2 --width 0.1
    """
    if columns is None and bounds is None:
        raise InputError("columns.missing")
    from smc_dp.core.documents import validate_document
    from smc_dp.planning import report
    from smc_dp.planning.expected_intervals import METHODS_WITH_INTERVALS
    from smc_dp.planning.plan import plan_for as made
    from smc_dp.run.settings import RunSettings

    figures = {"rate": rate, "residual": residual, "width": width, "deviation": deviation}
    has_intervals = said.get("method", {}).get("name") in METHODS_WITH_INTERVALS
    if not has_intervals and (unused := [name for name, text in figures.items() if text is not None and text != []]):
        raise InputError("plan.of_no_intervals", name=unused[0])
    known: dict[str, Any] = {
        "sizes": _sizes(sizes), "columns": read_count("--columns", columns),
        "classes": read_count("--classes", classes, 2), "bounds": bounds, "cost": cost,
        "settings": validate_document(RunSettings, said, "options"),
    }  # fmt: skip
    if has_intervals:
        _plan_intervals(known, figures, as_json=as_json)
        return
    with screen.spinner() as hear:
        hear("planning")
        found = made(**known)
    _print(found, report.recommendation_blocks(found), report.blocks(found, cost=cost), as_json=as_json)


def _plan_intervals(known: Mapping[str, Any], figures: Mapping[str, Any], *, as_json: bool) -> None:
    from smc_dp.planning.expected_intervals import Expectations
    from smc_dp.planning.interval_plan import plan_intervals
    from smc_dp.planning.interval_report import expectation_blocks, planned_interval_blocks

    said = {
        name: float(read_positive(f"--{name}", figures[name]))
        for name in ("rate", "residual", "width")
        if figures[name] is not None
    }
    with screen.spinner() as hear:
        hear("planning")
        found = plan_intervals(
            **known, expectations=Expectations(**said, deviations=read_by_column("--deviation", figures["deviation"]))
        )
    _print(found, expectation_blocks(found), planned_interval_blocks(found, cost=known["cost"]), as_json=as_json)


def _print(found: Any, answer: Iterable[Prose], blocks: Iterable[PageBlock], *, as_json: bool) -> None:
    """Print a plan as JSON, with its sentences, or as a report."""
    if as_json:
        sentences = list(answer)
        said = {"answer": [one.text for one in sentences], "codes": [one.code for one in sentences]}
        print(json.dumps({**found.as_dict(), **said}, allow_nan=False))
    else:
        screen.print_blocks(blocks)


def _sizes(text: str) -> list[int] | dict[str, int]:
    """Read numbers of rows, all with names or all without."""
    parts = [part.strip() for part in text.split(",")]
    named = [part.partition("=") for part in parts]
    if not any(equals for _, equals, _ in named):
        if word := next((part for part in parts if not part.strip("+-").isdecimal()), None):
            raise InputError("sizes.not_named", got=shown(word))
        return [read_integer("--sizes", part) for part in parts]
    found: dict[str, int] = {}
    for name, equals, number in named:
        if not equals or name in found:
            raise InputError("sizes.not_named", got=f"{shown(name)} again" if equals else shown(name))
        found[name] = read_integer("--sizes", number)
    return found
