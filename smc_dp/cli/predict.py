"""The command `predict`: new rows classified with a published release."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from smc_dp.cli.options import AsJson
from smc_dp.errors import one_line


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
    from smc_dp.run import prediction

    found = prediction.predict(run_folder, data)
    for reason in found.insecure:
        print(f"warning: this release is insecure: {one_line(reason)}", file=sys.stderr)
    if as_json:
        print(json.dumps({"predictions": list(found.labels)}))
        return
    print("\n".join(found.labels))
    if found.accuracy is not None:
        print(f"accuracy {found.accuracy:.3f} on {len(found.labels)} rows")
