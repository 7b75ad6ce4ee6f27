"""Command `predict`: classification of new rows with a published release."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import AsJson, check_new, read_choice, read_positive, refuse_options
from smc_dp.core.errors import one_line


def classify_rows(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    data: Annotated[Path, typer.Option(help="CSV or Parquet file of rows to classify.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Write them to a new CSV file, with an id and a score.")
    ] = None,
    id_column: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="What rows are called in it [default: their number].")
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(metavar="1|2|3", help="Audit the run first, and predict only if it reaches this level."),
    ] = None,
    identities: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --level: public identity keys, known from elsewhere.")
    ] = None,
    views: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --level: views (*.view) of all participants, for level 3.")
    ] = None,
    seconds: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="With --level: processor time that the audit may use [default: 40]."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Classify new rows with the model of a run, one class a line.

    The command first verifies the release. Published shares must be those that were signed in the transcript, and add
    up to the weights. A secure sum has no shares: its published sum must be the one that was signed. The signed
    classes, bounds, parameters and privacy must be those of the release. Without a transcript none of that is known,
    and a line on standard error says so. `smc-dp audit` says whose identities signed.

    With --level, the folder is read once, audited as `smc-dp audit` does it, and used only if no check fails and the
    audit reaches this level of assurance: 1, the transcript is whole; 2, it is authentic (needs --identities); 3, every
    message was replayed (needs --views of all participants). If not, one line says what is missing.

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
      smc-dp predict runs/first --data new.csv --level 2 --identities identities.json
    """
    from smc_dp.audit.run.audited_prediction import predict as predict_with

    if out is None and not as_json:
        refuse_options({"--id": id_column}, "option.without_table")
    refuse_options({"--out": out if as_json else None}, "option.not_with_json")
    check_new({"--out": out})
    wanted = None if level is None else int(read_choice("--level", level, ("1", "2", "3")))
    allowed = None if seconds is None else float(read_positive("--seconds", seconds))
    with nullcontext() if wanted is None else screen.spinner() as hear:
        found = predict_with(
            run_folder, data, id_column, level=wanted, identities=identities, views=views, seconds=allowed,
            progress=hear,
        )  # fmt: skip
    if found.level is not None:
        print(f"audited: the run reaches level {found.level} of 3", file=sys.stderr)
    if found.missing_files_text:
        print(f"not verified against the transcript: {one_line(found.missing_files_text)}", file=sys.stderr)
    for reason in found.insecure:
        print(f"warning: this release is insecure: {one_line(reason)}", file=sys.stderr)
    if as_json:
        more: dict[str, object] = {"classes": found.classes} if len(found.classes) > 2 else {}
        more |= {} if id_column is None else {"ids": found.ids}
        more |= {} if found.level is None else {"level": found.level}
        print(json.dumps({"predictions": found.labels, "scores": found.scores, "accuracy": found.accuracy, **more}))
        return
    if out is None:
        print("\n".join(found.labels))
    else:
        found.write(out, id_column or "row")
        print(f"Written to {out}: {len(found.labels)} predictions.")
    if found.accuracy is not None:
        print(f"accuracy {found.accuracy:.3f} on {found.tested} rows", file=sys.stderr)
