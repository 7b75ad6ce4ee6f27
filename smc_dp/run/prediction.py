"""What Dave, a stranger, does with a run folder: add the published shares, if they are not added up already, and
classify rows (the testing phase).
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from smc_dp.arrays import Array
from smc_dp.data.preprocess import class_numbers, encode
from smc_dp.data.tables import read_table
from smc_dp.errors import InputError
from smc_dp.methods.model import classify, scores
from smc_dp.run.checked import checked


@dataclass(frozen=True)
class Predictions:
    """One class for each row, by its name; `accuracy` is None where the rows have no label.

    scores: of two classes w.x of each row, above 0 for the second; of more, one for each class, in the order of
    `classes`, the largest wins. ids: what each row is called, its number in the file or the
    text in the column that was named.
    `insecure` holds the reasons why the run protects nobody, if any; `unaudited` says what was missing to hold the
    release against its record, None where nothing was.
    """

    labels: tuple[str, ...]
    accuracy: float | None
    insecure: tuple[str, ...]
    unaudited: str | None = None
    scores: tuple[float, ...] | tuple[tuple[float, ...], ...] = ()
    ids: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()


def predict(
    run_folder: str | PathLike[str], rows: str | PathLike[str] | Array, id_column: str | None = None
) -> Predictions:
    """Add the published shares of a run, where there are any, and classify rows.

    rows: a CSV or Parquet file, or an array (n, d) of rows as `smc_dp.data.preprocess.encode` makes them. `id_column`:
    the column of the file that says what its rows are called. Raises InputError when the folder holds no release, when
    one of its files contradicts another (the shares do not add up to the weights, they or the published sum were not
    signed in the record; classes, bounds or the privacy statement are others), or when rows do not fit. Whose
    identities signed, `audit_run` says.
    """
    found = checked(Path(run_folder))
    published = found.release
    bounds, known = published.bounds, None
    if isinstance(rows, np.ndarray):
        X, ids = rows, tuple(str(i) for i in range(1, len(rows) + 1))
        if X.ndim != 2 or X.shape[1] != bounds.dimension:
            raise InputError(f"rows: wanted an array of width {bounds.dimension}, got shape {X.shape}")
    else:
        table = read_table(Path(rows), f"data file {rows}")
        if not table.rows:
            raise InputError(f"{table.source}: has no rows, wanted at least one")
        X = encode(table, bounds)
        ids = tuple(map(str, table.row_numbers) if id_column is None else table.texts(id_column))
        if bounds.label is not None and bounds.label in table.columns:
            known = class_numbers(table, bounds, bounds.label)
    classes = classify(published.weights, X)
    accuracy = None if known is None else float(np.mean(classes == known))
    labels = tuple(bounds.classes[k] for k in classes)
    found_scores = scores(published.weights, X).tolist()
    each = tuple(found_scores if len(bounds.classes) == 2 else map(tuple, found_scores))
    return Predictions(labels, accuracy, published.insecure, found.unaudited, each, ids, bounds.classes)
