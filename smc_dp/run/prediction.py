"""Prediction with a release (the testing phase): Dave verifies the release, and classifies rows with its weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError, shown
from smc_dp.core.spreadsheet import format_csv, holds_formula
from smc_dp.core.writing import write_file
from smc_dp.data.bounds import Bounds
from smc_dp.data.preprocess import EncodedTable, encode_classes, examine_table
from smc_dp.data.table import Table
from smc_dp.data.table_reader import read_table
from smc_dp.data.validation_errors import UnfitTableError
from smc_dp.methods.model import classify, scores
from smc_dp.run.run_files import RunPlace
from smc_dp.run.verify_release import verify_release


@dataclass(frozen=True)
class Predictions:
    """Predicted classes by name, one for each row; `accuracy`: on the `tested` rows with a label, None without any.

    `scores`: for two classes w.x of each row, above 0 for the second; for more one for each class, in the order of
    `classes`, of which the largest wins. A row that the bounds leave out has the label "" and the score None, and does
    not count in the accuracy. `ids`: number of each row in the file, or the text in the named column. `insecure`:
    reasons why the run protects nobody; `missing_files_text`: sentence about the files that were
    missing to verify the release, None without any; `level`: assurance level that an audit reached, None without one.
    """

    labels: tuple[str, ...]
    accuracy: float | None
    insecure: tuple[str, ...]
    missing_files_text: str | None = None
    scores: tuple[float | None, ...] | tuple[tuple[float, ...] | None, ...] = ()
    ids: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    tested: int = 0
    level: int | None = None

    def write(self, out: str | PathLike[str], called: str = "row") -> None:
        """Write a new CSV file with a line for each row: id (in a column of the name `called`), class, and scores.

        A text that a spreadsheet would take for a formula, or that begins with an apostrophe, gets an apostrophe in
        front. Raises InputError for classes that hold formulas, and for a file that exists or cannot be written.
        """
        several = len(self.classes) > 2
        heading = [f"score {name}" for name in self.classes] if several else ["score"]
        if called in ("prediction", *heading):
            raise InputError("prediction.column_twice", called=shown(called))
        if formulas := [name for name in self.classes if holds_formula(name)]:
            raise InputError("prediction.class_is_formula", name=shown(formulas[0]))
        none = ("",) * len(heading)
        each = (none if score is None else score if isinstance(score, tuple) else (score,) for score in self.scores)
        rows = [(name, label, *score) for name, label, score in zip(self.ids, self.labels, each, strict=True)]
        try:
            write_file(Path(out), format_csv([(called, "prediction", *heading), *rows]).encode(), 0o644)
        except FileExistsError:
            raise InputError("prediction.file_exists", out=str(out)) from None
        except OSError as error:
            raise InputError("prediction.not_written", out=str(out), strerror=error.strerror) from None


def predict_rows(place: RunPlace, rows: str | PathLike[str] | Array, id_column: str | None = None) -> Predictions:
    """Verify the release of a run, and classify the rows of a file or of an array with it.

    Raises InputError for a release that is malformed or contradicts its transcript, and for rows that do not fit.
    """
    found = verify_release(place)
    published = found.release
    bounds, known = published.bounds, None
    if isinstance(rows, np.ndarray):
        found_rows, ids = EncodedTable(rows, np.arange(len(rows))), tuple(str(i) for i in range(1, len(rows) + 1))
        if rows.ndim != 2 or rows.shape[1] != bounds.dimension:
            raise InputError("prediction.other_width", dimension=bounds.dimension, shape=str(rows.shape))
    else:
        table = read_table(Path(rows), f"data file {rows}")
        if not table.rows:
            raise InputError("prediction.no_rows", source=table.source)
        ids = tuple(map(str, table.row_numbers) if id_column is None else table.texts(id_column))
        found_rows, known = _encoded(table, bounds)
    classes = classify(published.weights, found_rows.X)
    right = np.zeros(0, dtype=bool) if known is None else (classes == known)[known >= 0]
    accuracy = float(np.mean(right)) if len(right) else None
    labels = _placed([bounds.classes[k] for k in classes], found_rows, len(ids), "")
    of_rows: list[Any] = scores(published.weights, found_rows.X).tolist()
    several = len(bounds.classes) > 2
    each = _placed([tuple(score) if several else score for score in of_rows], found_rows, len(ids), None)
    return Predictions(
        labels, accuracy, published.insecure, found.missing_files_text, each, ids, bounds.classes, len(right)
    )


def _encoded(table: Table, bounds: Bounds) -> tuple[EncodedTable, NDArray[np.int64] | None]:
    """Return the rows that are not left out, and their classes where the table has them, -1 for a row without one."""
    try:
        found = examine_table(table, bounds).checked(table.source)
        if bounds.label is None or bounds.label not in table.columns:
            return found, None
        kept = table if len(found.kept) == table.rows else table.take(found.kept, table.source)
        return found, encode_classes(kept, bounds, bounds.label, some=True)
    except UnfitTableError as error:
        raise InputError(error.table_fault.placed(table.source, released=True)) from None


def _placed(made: Sequence[Any], found: EncodedTable, rows: int, left_out: Any) -> tuple[Any, ...]:
    """Return the results of the kept rows, each in its row's place among all rows."""
    every = [left_out] * rows
    for i, one in zip(found.kept.tolist(), made, strict=True):
        every[i] = one
    return tuple(every)
