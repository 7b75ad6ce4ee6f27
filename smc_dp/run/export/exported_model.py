"""Released model from raw columns on: how each column becomes features, and what each feature adds to each score.

The features of a column are what `smc_dp.data.preprocess` makes of it before the row is shortened. With f the features
of a row, a score is constant + s (weights . f), s = min(1, clip / |f|).
"""

from __future__ import annotations

import datetime
import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from smc_dp.core.arrays import Array, in_columns
from smc_dp.core.errors import InputError
from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import LEAVE_OUT, CategoricalColumn, Column, DateColumn, NumericColumn
from smc_dp.data.preprocess import fill_features
from smc_dp.run.coefficients import scored_classes
from smc_dp.run.folder import read_content, read_run_files
from smc_dp.run.metrics import has_probabilities
from smc_dp.run.release import RELEASE
from smc_dp.run.threshold import HALF, Threshold, stated_threshold
from smc_dp.run.verify_release import verify_release

_DAY_ZERO = datetime.date(1970, 1, 1)
_PREFIX = "smc_dp_"


@dataclass(frozen=True, eq=False)
class ExportedModel:
    """Model of a verified release.

    `weights`: (k, d), what a feature adds to each score; `constants`: (k,). The scores are those of `scored`: the
    second of two classes, each of three or more, or the label that is a number. `release`: SHA-256 of release.json;
    `privacy`: its statement; `insecure`: reasons why the run protects nobody; `missing_files_text` as in
    `VerifiedRelease`. Without `gives_probabilities` scores are as long as the hidden number of rows makes them, and
    only their order counts. `threshold`: public probability above which a row gets the second of two classes.

    `waves`: (k, D), of a release on Fourier features: what the cosine, and then the sine, of each phase adds to each
    score. Phases are in turns, and their rows follow those of the k scores in `weights` and `constants`.
    """

    bounds: Bounds
    weights: Array
    constants: Array
    release: str
    privacy: Mapping[str, Any]
    insecure: tuple[str, ...] = ()
    missing_files_text: str | None = None
    gives_probabilities: bool = True
    threshold: Threshold = HALF
    waves: Array | None = None

    @property
    def scored(self) -> tuple[str, ...]:
        """Classes that have a score."""
        return scored_classes(self.bounds)

    @property
    def parts(self) -> Iterator[tuple[Column, Array]]:
        """Columns with the weights of their features, (k, width)."""
        at = 0
        for column in self.bounds.columns:
            yield column, self.weights[:, at : at + column.width]
            at += column.width


def read_model(run: Path) -> ExportedModel:
    """Verify the release of a run, and return its model; raise InputError where it cannot be used."""
    files = read_run_files(run)
    found = verify_release(files)
    made, digest = found.release, hashlib.sha256(read_content(files, RELEASE)).hexdigest()
    rows, features = np.atleast_2d(np.array(made.weights, dtype=np.float64)), made.agreement.features
    waves = None
    if features is not None:
        d = made.bounds.dimension
        waves = rows[:, d:] / math.sqrt(features.count)
        rows = np.concatenate([rows[:, :d] * math.sqrt(0.5), features.turns(d)])
    weights, constants = column_weights(rows, made.bounds)
    sure = has_probabilities(made.agreement.spec)
    about = (digest, made.privacy, made.insecure, found.missing_files_text, sure, stated_threshold(files))
    return ExportedModel(made.bounds, weights, constants, *about, waves=waves)


def column_weights(rows: Array, bounds: Bounds) -> tuple[Array, Array]:
    """Return `weights` and `constants` of `ExportedModel`; raise InputError where they are too large for float64."""
    with np.errstate(over="ignore"):
        found, constants = in_columns(rows, bounds.clip, bounds.bias)
    if not np.isfinite(found).all():
        raise InputError("export.not_finite", clip=bounds.clip)
    return found, constants


def number_of(column: NumericColumn | DateColumn) -> NumericColumn:
    """Return the numeric column itself, or that of the days since the first date."""
    return column.days if isinstance(column, DateColumn) else column


def first_day(column: NumericColumn | DateColumn) -> float:
    """Return the first date in days since 1970-01-01; 0 for a column of numbers, which counts from 0."""
    return float((column.first - _DAY_ZERO).days) if isinstance(column, DateColumn) else 0.0


def empty_features(column: Column, *, center: bool) -> list[float] | None:
    """Return the features of an empty cell; None where it has none: it is refused, or the row is left out."""
    if column.missing in (None, LEAVE_OUT):
        return None
    found = np.empty((1, column.width))
    fill_features(found, np.array([np.nan]), column, center=center)
    features: list[float] = found[0].tolist()
    return features


def texts_of(column: CategoricalColumn) -> list[tuple[str, int]]:
    """Return each text that means a level, levels and then aliases, with the place of the level."""
    others = [(text, column.categories.index(level)) for level, texts in column.aliases for text in texts]
    return [*((text, i) for i, text in enumerate(column.categories)), *others]


def new_prefix(bounds: Bounds) -> str:
    """Return a beginning for the names of results, which no column has, in any case of its letters."""
    prefix = _PREFIX
    while any(column.name.casefold().startswith(prefix) for column in bounds.columns):
        prefix += "_"
    return prefix


def model_properties(model: ExportedModel) -> dict[str, Any]:
    """Return what a file says of its release, as plain values, for formats without a place of their own for it."""
    dates = [column.name for column in model.bounds.columns if isinstance(column, DateColumn)]
    outcome = model.bounds.outcome
    predicted: dict[str, Any] = {"classes": list(model.bounds.classes), "threshold": model.threshold.probability}
    return {
        "release": model.release,
        **(predicted if outcome is None else {"label": model.bounds.label, "outcome": list(outcome)}),
        "days_since_1970_01_01": dates,
        "privacy": dict(model.privacy),
        "insecure": list(model.insecure),
    }
