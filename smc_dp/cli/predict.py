"""The command `predict`: new rows classified with a published release."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from smc_dp.cli.options import AsJson, refuse
from smc_dp.errors import one_line


def predict(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    data: Annotated[Path, typer.Option(help="CSV or Parquet file of rows to classify.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Write them to a new CSV file, with an id and a score.")
    ] = None,
    id_column: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="What rows are called in it [default: their number].")
    ] = None,
    receipt: Annotated[
        Path | None, typer.Option(metavar="FILE", help="An auditor's receipt for this release; goes with --auditor.")
    ] = None,
    auditor: Annotated[
        str | None,
        typer.Option(metavar="PUBLIC", help="Whose receipt: NAME.pub, or its key. Without a receipt nothing is said."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add the published shares and classify new rows, one class a line.

    The shares must add up to the weights of the release and be those that were signed in the record (of a secure sum,
    which has none, the published sum must be the one that was signed), and what was signed must be what the release
    states: classes, bounds, parameters, privacy. Without a record that is not
    known, and a line on standard error says so. Whose identities signed, `smc-dp audit` says.

    With --auditor, a release is used only with a receipt (`smc-dp audit --receipt`) that this auditor signed for
    exactly these files; how far the audit went is a line on standard error, and with --json a key.

    Standard output has one line for each row and nothing else. If the file has the column of classes, the accuracy is
    a line on standard error (with --json a key of its own). A score is above 0 for the second class; of
    three or more classes each has a score, a column of its own in FILE.csv, and the largest wins. Rows that
    the bounds leave out have neither.

    \b
    Examples:
      smc-dp predict runs/first --data new.csv
      smc-dp predict runs/first --data new.csv --out predictions.csv --id patient
      smc-dp predict runs/first --data new.csv | sort | uniq -c
      smc-dp predict runs/first --data new.parquet --json --id patient
      smc-dp predict runs/first --data new.csv --receipt receipt.json --auditor auditor.pub
    """
    from smc_dp.run import prediction

    if out is None and not as_json:
        refuse({"--id": id_column}, "goes with --out or --json, and neither was given")
    refuse({"--out": out if as_json else None}, "does not go with --json")
    found = prediction.predict(run_folder, data, id_column, receipt=receipt, auditor=auditor)
    if found.receipt:
        print(f"audited {found.receipt.words}", file=sys.stderr)
    if found.unaudited:
        print(f"not audited: {one_line(found.unaudited)}", file=sys.stderr)
    for reason in found.insecure:
        print(f"warning: this release is insecure: {one_line(reason)}", file=sys.stderr)
    if as_json:
        more: dict[str, object] = {"classes": found.classes} if len(found.classes) > 2 else {}
        more |= {} if id_column is None else {"ids": found.ids}
        more |= {} if found.receipt is None else {"receipt": found.receipt.model_dump()}
        print(json.dumps({"predictions": found.labels, "scores": found.scores, "accuracy": found.accuracy, **more}))
        return
    if out is None:
        print("\n".join(found.labels))
    else:
        found.write(out, id_column or "row")
        print(f"Written to {out}: {len(found.labels)} predictions.")
    if found.accuracy is not None:
        print(f"accuracy {found.accuracy:.3f} on {found.tested} rows", file=sys.stderr)
