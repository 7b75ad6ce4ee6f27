"""Command `personalise`: a model of one site for itself, from a release and the site's own rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import AsJson, MostCells, cells_allowed, check_beside, options_in_backquotes
from smc_dp.cli.predict import read_form


def personalise_model(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    data: Annotated[Path, typer.Option(help="CSV or Parquet file of your own rows, with their classes.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The model: a new file, outside of every run folder.")],
    test: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Own rows that took no part in the release, to measure accuracy on [default: --data]."
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            metavar="own.toml",
            help="Site policy whose [file] states the format of the files [default: own.toml beside DATA, if it is "
            "there].",
        ),
    ] = None,
    most_cells: MostCells = None,
    as_json: AsJson = False,
) -> None:
    """Make a model for your own site from a release and your own rows. It must not be published.

    The release is verified first, as `smc-dp predict` does it. Candidates are the release, models of your rows that are
    drawn towards it, and models of your rows alone. Cross-validation on your rows chooses one.

    Nothing leaves this machine, so no budget is charged. Records of other sites have the guarantee of the release. Your
    own records have none: the model and its predictions are as private as the rows.

    Accuracy is measured on the rows of --test. They must have taken no part in the release, and only you know that.
    Without --test it is measured by cross-validation on your rows. That is optimistic if the release was made from
    them.

    `smc-dp predict` reads the model in place of RUN. FILE can be read by you alone. It is no release, so no other
    command reads it.

    \b
    Examples:
      smc-dp personalise runs/first --data own.csv --out own.model
      smc-dp personalise runs/first --data own.csv --test kept_out.csv --out own.model
      smc-dp predict own.model --data new.csv
    """
    from smc_dp.run.personalisation import personal_blocks, personalise

    check_beside(run_folder, "--out", out)
    with cells_allowed(most_cells):
        found = personalise(run_folder, data, test=test, form=read_form(policy, data))
    screen.warn_of_release(found.missing_files_text, found.insecure)
    found.write(out)
    if as_json:
        print(json.dumps(found.as_dict(), allow_nan=False))
        return
    screen.print_blocks(personal_blocks(found), lambda text: options_in_backquotes(text, {"test": "--test"}))
    print(f"Written to {out}.")
