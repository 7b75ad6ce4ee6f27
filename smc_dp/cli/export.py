"""Command `export`: the model of a run as a file that classifies raw rows without this program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import check_beside, read_choice

EXPORT_FORMATS = ("json", "sql", "onnx")
"""Formats that the command offers, without loading what writes them."""


def export_model(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    to: Annotated[str, typer.Option(metavar="|".join(EXPORT_FORMATS), help="Format of the file.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file: a new one outside of RUN.")],
) -> None:
    """Write the model of a run for other programs: it takes raw rows, and gives probabilities or a number.

    The release is verified first, as `smc-dp predict` does it. The file has the encoding of each column, the rules for
    empty cells, other texts for levels, the clipping of rows, and the weights.

    \b
    json     names, units and numbers, for a program of your own in any language
    sql      one SELECT statement for SQLite and DuckDB
    onnx     a graph in float64 for ONNX runtimes; needs the extra `export`

    \b
    Examples:
      smc-dp export runs/first --to json --out model.json
      smc-dp export runs/first --to sql --out model.sql
      smc-dp export runs/first --to onnx --out model.onnx
    """
    from smc_dp.run.export.export_run import export_run

    chosen = read_choice("--to", to, EXPORT_FORMATS)
    check_beside(run_folder, "--out", out)
    model = export_run(run_folder, chosen, out)
    screen.warn_of_release(model.missing_files_text, model.insecure)
    print(f"Written to {out}.")
