"""What Dave, a stranger, does with a run folder: add the published shares and classify rows (the testing phase)."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from smc_dp.arrays import Array
from smc_dp.data.preprocess import class_numbers, encode
from smc_dp.data.tables import read_table
from smc_dp.errors import InputError
from smc_dp.methods.model import classify
from smc_dp.run import folder


@dataclass(frozen=True)
class Predictions:
    """One class for each row, by its name; `accuracy` is None where the rows have no label.

    `insecure` holds the reasons why the run protects nobody, if any.
    """

    labels: tuple[str, ...]
    accuracy: float | None
    insecure: tuple[str, ...]


def predict(run_folder: str | PathLike[str], rows: str | PathLike[str] | Array) -> Predictions:
    """Add the published shares of a run and classify rows.

    rows: a CSV or Parquet file, or an array (n, d) of rows as `smc_dp.data.preprocess.encode` makes them. Raises
    InputError when the folder does not hold a whole release whose shares add up to its weights, or rows do not fit.
    """
    published = folder.read(Path(run_folder))
    bounds, known = published.bounds, None
    if isinstance(rows, np.ndarray):
        X = rows
        if X.ndim != 2 or X.shape[1] != bounds.dimension:
            raise InputError(f"rows: wanted an array of width {bounds.dimension}, got shape {X.shape}")
    else:
        table = read_table(Path(rows), f"data file {rows}")
        if not table.rows:
            raise InputError(f"{table.source}: has no rows, wanted at least one")
        X = encode(table, bounds)
        if bounds.label is not None and bounds.label in table.columns:
            known = class_numbers(table, bounds, bounds.label)
    found = classify(published.weights, X)
    accuracy = None if known is None else float(np.mean(found == known))
    return Predictions(tuple(bounds.classes[k] for k in found), accuracy, published.insecure)
