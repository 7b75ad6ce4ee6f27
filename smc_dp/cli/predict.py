"""The command `predict`: new rows classified with a published release."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from smc_dp.cli.options import AsJson
from smc_dp.errors import InputError, one_line


def predict(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    data: Annotated[Path, typer.Option(help="CSV or Parquet file of rows to classify.")],
    as_json: AsJson = False,
) -> None:
    """Add the published shares and classify new rows, one class a line.

    The shares must add up to the weights of the release. If the file has the column of classes, the last line
    is the accuracy.

    \b
    Examples:
      smc-dp predict runs/first --data new.csv
      smc-dp predict runs/first --data new.parquet --json
    """
    from smc_dp.data.preprocess import encode, labels
    from smc_dp.data.tables import read_table
    from smc_dp.methods.pathak2010.curator import accuracy, classify
    from smc_dp.run import folder

    published = folder.read(run_folder)
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
