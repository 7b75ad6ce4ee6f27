"""Rows with public bounds: tables as files have them, encoded in the unit ball as a run encodes them."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import scipy

from smc_dp.core.errors import InputError
from smc_dp.data.bounds import Bounds, read_bounds
from smc_dp.data.file_format import FileFormat
from smc_dp.data.frames import DataFrame, is_frame, read_frame, without_index
from smc_dp.data.preprocess import EncodedTable, examine_table
from smc_dp.data.table import Table
from smc_dp.estimators.validation import LabelArray, as_array, describe_value

BoundsParameter: TypeAlias = Bounds | str | PathLike[str] | None
"""Parameter of an estimator: public bounds, a TOML file of them, or none."""


def public_bounds(given: BoundsParameter, *, labelled: bool = True) -> Bounds | None:
    """Return the bounds; raise InputError for what is none, and for bounds by which an estimator cannot encode rows.

    `labelled`: whether they need a label.
    """
    if given is None:
        return None
    if not isinstance(given, Bounds | str | PathLike):
        raise InputError("bounds.no_bounds", got=describe_value(given))
    found = given if isinstance(given, Bounds) else read_bounds(Path(given))
    if labelled:
        found.require_label()
    elif found.has_label and found.label is None:
        raise InputError("bounds.label_in_no_column")
    if leaving := [name for name in found.leaving if name != (found.label or "label")]:
        raise InputError("bounds.leave_rows_out", column=leaving[0])
    if found.weights is not None:
        raise InputError("bounds.with_weights")
    return found


def encode_table(X: Any, bounds: Bounds, source: str, *, labelled: bool = False) -> EncodedTable:
    """Return the rows of a data frame, or of an array of the columns of the bounds in their order; raise InputError.

    `labelled`: with the classes of the label, if the bounds name one.
    """
    return examine_table(_table(X, bounds, source), bounds, bounds.label if labelled else None).checked(source)


def _table(X: Any, bounds: Bounds, source: str) -> Table:
    if is_frame(X):
        return read_frame(X, source)
    wanted = f"a data frame, or rows of the {len(bounds.columns)} columns of the bounds"
    if scipy.sparse.issparse(X):
        raise InputError("array.wrong_shape", name=source, wanted=wanted, shape=str(X.shape))
    rows = as_array(source, X, wanted)
    if rows.ndim != 2 or rows.shape[1] != len(bounds.columns):
        raise InputError("array.wrong_shape", name=source, wanted=wanted, shape=str(rows.shape))
    cells = {column.name: rows[:, i].tolist() for i, column in enumerate(bounds.columns)}
    return Table(source, cells, range(1, len(rows) + 1), FileFormat(is_text=False))


def named_classes(bounds: Bounds | None, labels: LabelArray) -> Sequence[str] | None:
    """Return the classes of the bounds where labels are texts, which then have to be among them; else None."""
    is_text = labels.dtype.kind in "UT" or all(isinstance(label, str) for label in labels.tolist())
    return bounds.classes if bounds is not None and is_text else None


def row_width(bounds: Bounds) -> int:
    """Return the number of features of an encoded row, without the bias."""
    return sum(column.width for column in bounds.columns)


def join_frames(frames: Sequence[DataFrame]) -> Any:
    """Return the rows of several data frames as one; raise InputError where their columns differ."""
    import pyarrow as pa

    try:
        tables: list[Any] = [without_index(pa.table(frame)) for frame in frames]
        return pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowException, TypeError, ValueError):
        raise InputError("parties.other_columns") from None
