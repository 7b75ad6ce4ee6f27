"""Command `predict`: classification of new rows with a published release."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import (
    AsJson,
    MostCells,
    cells_allowed,
    check_beside,
    check_new,
    read_choice,
    read_positive,
    refuse_options,
)
from smc_dp.core.errors import InputError

if TYPE_CHECKING:
    from smc_dp.data.file_format import FileFormat
    from smc_dp.run.prediction import Predictions


def classify_rows(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, or a personalised model.")],
    data: Annotated[Path, typer.Option(help="CSV or Parquet file of rows to classify.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Write classes, ids and scores to a new CSV file.")
    ] = None,
    id_column: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="Column that names the rows [default: their number].")
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="Take a row for the second of two classes where its probability is above this [default: 0.5].",
        ),
    ] = None,
    threshold_from: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Choose this threshold on other rows with classes. It is as private as they are."
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            metavar="own.toml",
            help="Site policy whose [file] states the format of the file [default: own.toml beside DATA, if it is "
            "there].",
        ),
    ] = None,
    metrics: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the metrics as a page, a new file for you alone; --data needs classes."
        ),
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(metavar="1|2|3", help="Audit the run first, and predict only if it reaches this level."),
    ] = None,
    identities: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --level: identities.json, known from elsewhere, or its folder."),
    ] = None,
    views: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --level: views (*.view) of all participants, for level 3.")
    ] = None,
    seconds: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="With --level: processor time that the audit may use [default: 40]."),
    ] = None,
    most_cells: MostCells = None,
    as_json: AsJson = False,
) -> int:
    """Classify new rows with the model of a run, one class a line.

    The command first verifies the release. Published shares must be those that were signed in the transcript, and add
    up to the weights. Without shares, the published sum must be the one that was signed. The signed
    classes, bounds, parameters and privacy must be those of the release. Without a transcript none of that is known,
    and a line on the screen (stderr) says so. `smc-dp audit` says whose identities signed.

    With --level, the run is audited first, and used only if no check fails and the audit reaches this level of
    assurance: 1, the transcript is whole; 2, it is authentic (needs --identities); 3, every message was replayed (needs
    --views of all participants). If not, one line says what is missing. The files are read once for both.

    Without --out, standard output is one line for each row. A score over 0 favours the second class; of three or more
    classes each has a score, and the largest wins. FILE.csv has the scores, and the probabilities of the released
    model: 1/(1 + e^-score) of the second of two classes, softmax of the scores of more. The model has noise, and nobody
    calibrated it. Releases of wsum, wsum_ar and ofpa that hide the number of rows have no probabilities.

    A row that does not fit the bounds gets no class. FILE.csv and --json say why, and the screen (stderr)
    how many there are. Then the exit code is 1. Rows that the bounds leave out have no class either.

    If the file has the column of classes, the screen (stderr) shows metrics (--json has them as a key): accuracy
    beside that of the majority class, balanced accuracy, area under the ROC curve, sensitivity and specificity at the
    threshold, Brier score, confusion matrix and calibration. They are exact figures of your rows: private. The page of
    --metrics can be read by you alone. --threshold-from takes the threshold with the largest sum of sensitivity and
    specificity on rows of another file.

    RUN may be the file that `smc-dp personalise` wrote. Nothing is verified then, and predictions are as private as the
    rows that it was made from.

    \b
    Examples:
      smc-dp predict runs/first --data new.csv
      smc-dp predict runs/first --data new.csv --out predictions.csv --id patient
      smc-dp predict runs/first --data new.csv | sort | uniq -c
      smc-dp predict runs/first --data test.csv --out predictions.csv --metrics metrics.html
      smc-dp predict runs/first --data test.csv --threshold-from other.csv --out predictions.csv
      smc-dp predict runs/first --data new.parquet --json --id patient
      smc-dp predict own.model --data new.csv
      smc-dp predict study.north.state/run --data new.csv --policy own.toml --out predictions.csv
      smc-dp predict runs/first --data new.csv --level 2 --identities identities.json
    """
    from smc_dp.audit.run.audited_prediction import predict as predict_with
    from smc_dp.run.prediction_report import prediction_blocks, unfit_blocks

    if out is None and not as_json:
        refuse_options({"--id": id_column}, "option.without_table")
    refuse_options({"--out": out if as_json else None}, "option.not_with_json")
    check_new({"--out": out})
    check_beside(run_folder, "--metrics", metrics)
    wanted = None if level is None else int(read_choice("--level", level, ("1", "2", "3")))
    allowed = None if seconds is None else float(read_positive("--seconds", seconds))
    limit = None if threshold is None else float(read_positive("--threshold", threshold))
    with cells_allowed(most_cells), nullcontext() if wanted is None else screen.spinner() as hear:
        found = predict_with(
            run_folder, data, id_column, threshold=limit, threshold_from=threshold_from, form=read_form(policy, data),
            level=wanted, identities=identities, views=views, seconds=allowed, progress=hear,
        )  # fmt: skip
    if metrics is not None:
        _write_metrics(metrics, found, data)
    _say_what_was_verified(found)
    if as_json:
        print(json.dumps(_as_dict(found, with_ids=id_column is not None), allow_nan=False))
    elif out is None:
        print("\n".join(found.labels))
    else:
        found.write(out, id_column or "row")
        print(f"Written to {out}: {len(found.labels)} rows.")
    screen.print_blocks(unfit_blocks(found) if as_json else prediction_blocks(found, data.name), to=sys.stderr)
    return 1 if found.refused else 0


def read_form(policy: Path | None, data: Path) -> FileFormat | None:
    """Return the format that the site's own file states; one in FILE.toml beside FILE goes before that of own.toml."""
    from smc_dp.data.file_format import OWN_SETTINGS_FILE
    from smc_dp.deploy.site_policy import read_own_format

    if policy is None:
        if not data.name or data.with_name(f"{data.name}.toml").exists():
            return None
        policy = data.with_name(OWN_SETTINGS_FILE)
        if not policy.exists():
            return None
    return read_own_format(policy)


def _as_dict(found: Predictions, *, with_ids: bool) -> dict[str, object]:
    """Return plain values for JSON."""
    from smc_dp.run.personal_model import privacy_sentences

    more: dict[str, object] = {"classes": found.classes} if len(found.classes) > 2 else {}
    more |= {"ids": found.ids} if with_ids else {}
    more |= {} if found.level is None else {"level": found.level}
    more |= {} if found.one_class is None else {"one_class": found.one_class}
    if found.personal is not None:
        more["personalised"] = {"release_sha256": found.personal.release_sha256, "privacy": privacy_sentences()}
    return {
        "predictions": found.labels,
        "scores": found.scores,
        "probabilities": found.probabilities,
        "reasons": [[fault.as_dict() for fault in faults] for faults in found.reasons],
        "accuracy": found.accuracy,
        "metrics": None if found.metrics is None else found.metrics.as_dict(),
        **more,
    }


def _write_metrics(page: Path, found: Predictions, data: Path) -> None:
    """Write the page of metrics, which only its owner may read."""
    from smc_dp.pages.html import write_page
    from smc_dp.run.metrics_report import metrics_page

    if found.metrics is None:
        raise InputError("option.page_without_classes", option="--metrics", file=str(data))
    write_page(page, metrics_page({"": found.metrics}, data.name), f"--metrics: {page}", 0o600)


def _say_what_was_verified(found: Predictions) -> None:
    if found.level is not None:
        print(f"audited: the run reaches level {found.level} of 3", file=sys.stderr)
    if found.personal is not None:
        print(found.personal.notice, file=sys.stderr)
    screen.warn_of_release(found.missing_files_text, found.insecure)
