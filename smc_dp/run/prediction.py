"""Prediction with a release (the testing phase): Dave verifies the release, and classifies rows with its weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from smc_dp.core.arrays import Array
from smc_dp.core.errors import Fault, InputError, InputFault, LinesFault, shown
from smc_dp.core.spreadsheet import format_csv, holds_formula
from smc_dp.core.writing import write_file
from smc_dp.data.bounds import Bounds
from smc_dp.data.file_format import FileFormat
from smc_dp.data.frames import DataFrame, is_frame, read_file_or_frame, read_frame
from smc_dp.data.preprocess import EncodedTable
from smc_dp.data.refused_input import advise
from smc_dp.data.row_faults import FittingRows, encode_fitting_rows, known_labels, texts_or_nothing
from smc_dp.data.table import Table
from smc_dp.data.validation_errors import TableFault
from smc_dp.methods.model import FourierFeatures, Weights, choose_classes, probabilities, scores
from smc_dp.run.metrics import Metrics, has_probabilities, measure_release
from smc_dp.run.one_class import only_class
from smc_dp.run.personal_model import PersonalModel, read_personal_model
from smc_dp.run.regression_metrics import RegressionMetrics, measure_regression
from smc_dp.run.run_files import RunPlace, is_personal_model
from smc_dp.run.shared_rows import are_all_shared, count_shared
from smc_dp.run.threshold import HALF, Threshold, choose_threshold, stated_threshold
from smc_dp.run.verify_release import verify_release

OfRows: TypeAlias = tuple[float | None, ...] | tuple[tuple[float, ...] | None, ...]
"""A number for each row, or of three or more classes one for each; None for a row without a class."""


@dataclass(frozen=True)
class Predictions:
    """Predicted classes by name, one for each row; `accuracy`: on the `tested` rows with a label, None without any.

    `scores`: for two classes w.x of each row, above 0 for the second; for more one for each class, in the order of
    `classes`, of which the largest wins. `probabilities`: of the second of two classes, 1/(1 + e^-w.x); of each of
    more, softmax of the scores. They are those of the released model, with its noise, and nobody calibrated them; None
    for a release that hides the number of rows by which a sum is to be divided. `threshold`: of the second of two
    classes. `metrics`: figures on the rows with a label, which are private if the rows are; None without any.

    A row that does not fit the bounds, or that they leave out, has the label "" and the score None, and does not count
    in the figures: `reasons` says for each row why it has no class. `refused`: numbers of rows that do not fit, and
    `kinds`: one fault for each kind of them. `unlabelled_rows`: number of rows whose label is no class of the release,
    `unlabelled`: one fault for each kind of them. `lines_for_site`: lines of the file's format to which these faults
    refer, None where at most one has any.

    `are_numbers`: the release predicts a number. Then `labels` are the numbers as text, `scores` the numbers, `classes`
    is empty, and there are no accuracy, probabilities and threshold.

    `one_class`: the class that the model answers for every row that the bounds allow, None where there may be more.

    `ids`: number of each row in the file, or the text in the named column. `insecure`: reasons why the run protects
    nobody; `missing_files_text`: sentence about the files that were missing to verify the release, None without any;
    `level`: assurance level that an audit reached, None without one. `personal`: the personalised model that predicted,
    with whose owner the predictions stay; None for a release.
    """

    labels: tuple[str, ...]
    accuracy: float | None
    insecure: tuple[str, ...]
    missing_files_text: str | None = None
    scores: OfRows = ()
    ids: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    tested: int = 0
    level: int | None = None
    personal: PersonalModel | None = None
    probabilities: OfRows | None = None
    reasons: tuple[tuple[Fault, ...], ...] = ()
    refused: int = 0
    kinds: tuple[Fault, ...] = ()
    unlabelled_rows: int = 0
    unlabelled: tuple[Fault, ...] = ()
    lines_for_site: LinesFault | None = None
    threshold: Threshold | None = None
    metrics: Metrics | RegressionMetrics | None = None
    are_numbers: bool = False
    one_class: str | None = None

    def write(self, out: str | PathLike[str], called: str = "row") -> None:
        """Write a new CSV file with a line for each row: id (column `called`), class, scores, probabilities, reason.

        A text that a spreadsheet would take for a formula, or that begins with an apostrophe, gets an apostrophe in
        front. Raises InputError for classes that hold formulas, and for a file that exists or cannot be written.
        """
        several = len(self.classes) > 2
        heading = [f"score {name}" for name in self.classes] if several else [] if self.are_numbers else ["score"]
        if self.probabilities is not None:
            heading += [f"probability {name}" for name in (self.classes if several else self.classes[1:])]
        if called in ("prediction", *heading, "reason"):
            raise InputError("prediction.column_twice", called=shown(called))
        if formulas := [name for name in self.classes if holds_formula(name)]:
            raise InputError("prediction.class_is_formula", name=shown(formulas[0]))
        lines = [(called, "prediction", *heading, "reason"), *self._lines(len(heading))]
        try:
            write_file(Path(out), format_csv(lines).encode(), 0o600)
        except FileExistsError:
            raise InputError("prediction.file_exists", out=str(out)) from None
        except OSError as error:
            raise InputError("prediction.not_written", out=str(out), strerror=error.strerror) from None

    def _lines(self, numbers: int) -> Iterator[tuple[object, ...]]:
        given: Sequence[Any] = self.scores if self.probabilities is None else list(
            zip(self.scores, self.probabilities, strict=True)
        )  # fmt: skip
        reasons = self.reasons or ((),) * len(self.labels)
        for name, label, found, why in zip(self.ids, self.labels, given, reasons, strict=True):
            if self.are_numbers:
                yield name, "" if found is None else found, "; ".join(map(str, why))
                continue
            flat = tuple(_flat(found))
            none = flat[0] is None
            yield name, label, *(("",) * numbers if none else flat), "; ".join(map(str, why))


def _flat(found: Any) -> Iterator[Any]:
    if isinstance(found, tuple):
        for one in found:
            yield from _flat(one)
    else:
        yield found


def predict_rows(
    place: RunPlace,
    rows: str | PathLike[str] | DataFrame | Array,
    id_column: str | None = None,
    *,
    threshold: float | None = None,
    threshold_from: str | PathLike[str] | DataFrame | None = None,
    form: FileFormat | None = None,
) -> Predictions:
    """Verify the release of a run, and classify the rows of a file, a data frame or an array with it.

    threshold: None is that of the study of the release, else 1/2.
    form: the format of files where stated elsewhere than beside them.

    Raises InputError for a release that is malformed or contradicts its transcript, for a column that is missing, and
    for a threshold that does not fit. A single row that does not fit gets no class.
    """
    model = _classifier(place)
    table, known = None, None
    unlabelled: tuple[TableFault, ...] = ()
    if isinstance(rows, np.ndarray):
        made, ids = _of_array(rows, model.bounds), tuple(str(i) for i in range(1, len(rows) + 1))
    else:
        table = _read(rows, form)
        ids = tuple(map(str, table.row_numbers)) if id_column is None else texts_or_nothing(table, id_column)
        made, known, unlabelled = _encoded(table, model.bounds)
    limit = _threshold(model, table, made.encoded.X, threshold, threshold_from, form)
    return _predictions(model, made, known, limit, ids, unlabelled)


@dataclass(frozen=True)
class _Classifier:
    """Weights of a verified release, or of a personalised model, with what a prediction needs beside them."""

    weights: Weights
    bounds: Bounds
    has_probabilities: bool
    agreed: Threshold
    insecure: tuple[str, ...]
    missing_files_text: str | None = None
    personal: PersonalModel | None = None
    features: FourierFeatures | None = None

    def scores(self, X: Array) -> Array:
        """Return the scores of encoded rows."""
        return scores(self.weights, X, self.features)


def _classifier(place: RunPlace) -> _Classifier:
    if isinstance(place, Path) and is_personal_model(place):
        own = read_personal_model(place)
        return _Classifier(
            own.weights, own.bounds, True, Threshold(own.threshold), own.insecure, personal=own, features=own.features
        )
    found = verify_release(place)
    published = found.release
    return _Classifier(
        published.weights, published.bounds, has_probabilities(published.agreement.spec),
        stated_threshold(found.folder), published.insecure, found.missing_files_text,
        features=published.agreement.features,
    )  # fmt: skip


def _predictions(
    model: _Classifier,
    made: FittingRows,
    known: Array | None,
    limit: Threshold | None,
    ids: tuple[str, ...],
    unlabelled: tuple[TableFault, ...],
) -> Predictions:
    names, encoded = model.bounds.classes, made.encoded
    of_rows = model.scores(encoded.X)
    is_number = model.bounds.outcome is not None
    sure = probabilities(of_rows) if model.has_probabilities else None
    if is_number:
        labels = [repr(number) for number in of_rows.tolist()]
    elif limit is None or limit == HALF:
        labels = [names[k] for k in choose_classes(of_rows).tolist()]
    else:
        labels = [names[k] for k in limit.passed(of_rows).astype(int).tolist()]
    metrics: Metrics | RegressionMetrics | None = None
    if known is not None and not np.isnan(known).all():
        tested = ~np.isnan(known)
        if is_number:
            metrics = measure_regression(known[tested], of_rows[tested])
        else:
            classes = known[tested].astype(np.int64)
            metrics = measure_release(
                classes, of_rows[tested], None if sure is None else sure[tested], names, limit or HALF
            )
    faults, lines = advise([*map(_counted, (*made.kinds, *unlabelled))])
    return Predictions(
        labels=_placed(labels, encoded, len(ids), ""),
        accuracy=metrics.accuracy if isinstance(metrics, Metrics) else None,
        insecure=model.insecure,
        missing_files_text=model.missing_files_text,
        personal=model.personal,
        scores=_placed(_numbers(of_rows), encoded, len(ids), None),
        ids=ids,
        classes=names,
        tested=0 if metrics is None else metrics.rows,
        probabilities=None if sure is None else _placed(_numbers(sure), encoded, len(ids), None),
        reasons=tuple(made.reasons.get(i, ()) for i in range(len(ids))),
        refused=len(made.refused),
        kinds=tuple(faults[: len(made.kinds)]),
        unlabelled_rows=sum(kind.count for kind in unlabelled),
        unlabelled=tuple(faults[len(made.kinds) :]),
        lines_for_site=lines,
        threshold=limit,
        metrics=metrics,
        are_numbers=is_number,
        one_class=only_class(model.weights, model.bounds, limit or HALF, model.features),
    )


def _read(rows: str | PathLike[str] | DataFrame, form: FileFormat | None) -> Table:
    if isinstance(rows, str | PathLike):
        table = read_file_or_frame(Path(rows), f"data file {rows}", form)
    elif is_frame(rows):
        table = read_frame(rows, "rows")
    else:
        raise InputError("table.no_file_or_frame", name="rows", got=type(rows).__name__)
    if not table.rows:
        raise InputError("prediction.no_rows", source=table.source)
    return table


def _of_array(rows: Array, bounds: Bounds) -> FittingRows:
    """Return encoded rows as they were given; those with a number that is not finite get no class."""
    if rows.ndim != 2 or rows.shape[1] != bounds.dimension:
        raise InputError("prediction.other_width", dimension=bounds.dimension, shape=str(rows.shape))
    finite = np.isfinite(rows).all(axis=1)
    kept, others = np.flatnonzero(finite), np.flatnonzero(~finite).tolist()
    reasons = {i: (InputFault("prediction.not_finite"),) for i in others}
    return FittingRows(EncodedTable(rows[kept], kept), reasons, frozenset(others))


def _encoded(table: Table, bounds: Bounds) -> tuple[FittingRows, Array | None, tuple[TableFault, ...]]:
    """Return the rows that fit, their labels where the table has them, NaN for a row without, and faults of labels."""
    found = encode_fitting_rows(table, bounds)
    if bounds.label is None or bounds.label not in table.columns:
        return found, None, ()
    kept = found.encoded.kept
    known, wrong = known_labels(
        table if len(kept) == table.rows else table.take(kept, table.source), bounds, bounds.label
    )
    return found, known, wrong


def _counted(kind: TableFault) -> Fault:
    """Return a kind of refused cells with its first row, what can be done, and the number of its rows."""
    return kind.placed("", released=True).followed_by(f" ({kind.count:,} rows)" if kind.count > 1 else "")


def _threshold(
    model: _Classifier,
    table: Table | None,
    X: Array,
    public: float | None,
    file: str | PathLike[str] | DataFrame | None,
    form: FileFormat | None,
) -> Threshold | None:
    """Return the threshold of two classes, None for more; InputError for one that does not fit."""
    classes = len(model.bounds.classes)
    for name, value in {"threshold": public, "threshold_from": file}.items():
        if value is not None and model.bounds.outcome is not None:
            raise InputError("threshold.of_number", name=name)
        if value is not None and classes != 2:
            raise InputError("threshold.several_classes", name=name, classes=classes)
        if value is not None and not model.has_probabilities:
            raise InputError("threshold.no_probabilities", name=name)
    if public is not None and file is not None:
        raise InputError("threshold.two")
    if file is None:
        return None if classes != 2 else model.agreed if public is None else Threshold(public)
    others = _read(file, form)
    called = str(file) if isinstance(file, str | PathLike) else "a data frame"
    made, known, _ = _encoded(others, model.bounds)
    if known is None or np.isnan(known).all():
        raise InputError("threshold.no_labels", file=called, label=shown(model.bounds.label))
    labelled = made.encoded.X[~np.isnan(known)]
    shared = count_shared(X, labelled)
    if are_all_shared(X, shared, table, others):
        raise InputError("threshold.same_rows", file=called)
    chosen = choose_threshold(known[~np.isnan(known)].astype(np.int64), model.scores(labelled))
    return Threshold(chosen, called, shared)


def _numbers(found: Array) -> list[Any]:
    return [tuple(one) if isinstance(one, list) else one for one in found.tolist()]


def _placed(made: Sequence[Any], found: EncodedTable, rows: int, left_out: Any) -> tuple[Any, ...]:
    """Return the results of the kept rows, each in its row's place among all rows."""
    every = [left_out] * rows
    for i, one in zip(found.kept.tolist(), made, strict=True):
        every[i] = one
    return tuple(every)
