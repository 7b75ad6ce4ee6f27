"""Model as a pipeline of scikit-learn, kept by skops: standard transformers alone, and nothing that is run on reading.

The encoding is exact. Columns of numbers hold numbers, of dates days since 1970-01-01, of levels texts. Standard
transformers can shorten a row: `Normalizer` divides (1, x / clip, |x| / clip) by its largest entry, which is
max(1, |x| / clip), and `KMeans` with one centre in the origin gives |x|.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.impute import KNNImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import LinearSVC
from skops import io

from smc_dp.core.arrays import Array
from smc_dp.data.columns import INDICATOR, BinnedColumn, CategoricalColumn, Column
from smc_dp.run.export.exported_model import (
    ExportedModel,
    empty_features,
    first_day,
    model_properties,
    number_of,
    texts_of,
)
from smc_dp.run.threshold import HALF

_NOTHING = ("", None, np.nan)  # cells of texts in which nothing stands; NaN has to be the last


def write_skops_model(model: ExportedModel) -> bytes:
    """Return the pipeline as the content of a file."""
    content: bytes = io.dumps(make_pipeline(model), compression=zipfile.ZIP_DEFLATED)
    return content


def make_pipeline(model: ExportedModel) -> Pipeline:
    """Return the fitted pipeline; its attribute `smc_dp_` has the properties of the release."""
    center = model.bounds.center
    encoders = [_encoder(column, of, center=center) for column, of in model.parts]
    weights = np.concatenate([encoder.weights for encoder in encoders], axis=1) * model.bounds.clip
    width = weights.shape[1]
    pipeline = Pipeline(
        [
            ("columns", _by_column([column.name for column in model.bounds.columns], encoders)),
            ("clip", _set_scale(StandardScaler().fit(np.zeros((1, width))), 0.0, model.bounds.clip)),
            ("length", _with_length(width)),
            ("shorten", Normalizer("max").fit(np.ones((1, width + 2)))),
            _last_step(model, weights),
        ]
    )
    pipeline.smc_dp_ = model_properties(model)
    return pipeline


@dataclass(frozen=True, eq=False)
class _Encoder:
    """Fitted steps for one column; `weights`: (k, columns of the result)."""

    steps: list[tuple[str, Any]]
    weights: Array


def _encoder(column: Column, weights: Array, *, center: bool) -> _Encoder:
    empty = empty_features(column, center=center)
    if isinstance(column, CategoricalColumn):
        return _levels(column, weights, empty)
    if isinstance(column, BinnedColumn):
        return _bins(column, weights, empty)
    number, start = number_of(column), first_day(column)
    offset, scale = number.scale(center=center)
    steps = [
        ("scale", _set_scale(StandardScaler().fit([[0.0]]), offset + start, scale)),
        ("bounds", _clip_to((number.low - offset) / scale, (number.high - offset) / scale)),
    ]
    if empty is not None:
        steps.append(("empty", _fill_in(empty[0], mark=column.missing == INDICATOR)))
    return _Encoder(steps, weights)


def _bins(column: BinnedColumn, weights: Array, empty: list[float] | None) -> _Encoder:
    """Return an encoder with one bin more, below all others, which only an empty cell can reach."""
    edges = [column.edges[0] - max(1.0, abs(column.edges[0])), *column.edges]
    steps, by_itself = [("bounds", _clip_to(column.edges[0], column.edges[-1]))], np.zeros((len(weights), 1))
    if empty is not None:
        own = column.width > column.bins
        steps.append(("empty", _fill_in(edges[empty.index(1.0) + 1] if not own else edges[0])))
        by_itself = weights[:, column.bins :] if own else by_itself
    bins = KBinsDiscretizer(column.bins + 1, encode="ordinal", strategy="uniform").fit([[0.0], [1.0]])
    bins.bin_edges_[0] = np.array(edges)
    places = OneHotEncoder(categories=[np.arange(column.bins + 1.0)], sparse_output=False).fit([[0.0]])
    each = np.concatenate([by_itself, weights[:, : column.bins]], axis=1)
    return _Encoder([*steps, ("bins", bins), ("places", places)], each)


def _levels(column: CategoricalColumn, weights: Array, empty: list[float] | None) -> _Encoder:
    """Return an encoder in which each text is a category of its own, aliases and what stands for nothing, too."""
    texts: list[tuple[str | float | None, int]] = [*texts_of(column)]
    if empty is not None:
        texts += [(nothing, empty.index(1.0)) for nothing in _NOTHING]
    known = _objects([text for text, _ in texts])
    levels = OneHotEncoder(categories=[known], sparse_output=False).fit(known[:1, np.newaxis])
    return _Encoder([("levels", levels)], weights[:, [place for _, place in texts]])


def _by_column(names: list[str], encoders: list[_Encoder]) -> ColumnTransformer:
    """Return the encoders side by side, fitted; they find the columns of a table by their names."""
    parts = [(f"column {i}", Pipeline(encoder.steps), [i]) for i, encoder in enumerate(encoders)]
    unfitted = [(name, "passthrough", at) for name, _, at in parts]
    whole = ColumnTransformer(unfitted, sparse_threshold=0.0).fit(np.zeros((1, len(parts))))
    for name, encoder in zip(names, encoders, strict=True):
        encoder.steps[0][1].feature_names_in_ = _objects([name])
    whole.transformers = whole.transformers_ = parts  # fitted to public numbers already
    whole.feature_names_in_ = _objects(names)
    return whole


def _objects(values: Sequence[object]) -> Any:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _clip_to(low: float, high: float) -> MinMaxScaler:
    return MinMaxScaler((low, high), clip=True).fit([[low], [high]])


def _fill_in(value: float, *, mark: bool = False) -> KNNImputer:
    """Return what replaces NaN; a simple imputer would hold a type that is not trusted by its reader."""
    return KNNImputer(n_neighbors=1, add_indicator=mark).fit([[value], [np.nan]])


def _set_scale(made: StandardScaler, mean: float, scale: float) -> StandardScaler:
    """Set the public numbers, to the last digit, where fitting would round them; return the scaler."""
    made.mean_, made.scale_ = np.full_like(made.mean_, mean), np.full_like(made.scale_, scale)
    made.var_ = made.scale_**2
    return made


def _with_length(width: int) -> FeatureUnion:
    origin = np.zeros((1, width))
    row = PolynomialFeatures(1).fit(origin)
    length = KMeans(1, n_init=1, random_state=0).fit(origin)
    return FeatureUnion([("row", row), ("length", length)])


def _last_step(model: ExportedModel, weights: Array) -> tuple[str, Any]:
    if model.bounds.outcome is None:
        return "classes", _classifier(model, weights)
    made = LinearRegression()
    made.coef_, made.intercept_ = np.concatenate([[0.0], weights[0], [0.0]]), float(model.constants[0])
    made.n_features_in_ = len(made.coef_)
    return "number", made


def _classifier(model: ExportedModel, weights: Array) -> Any:
    """Return the last step; without probabilities it is of a kind that offers none, and has no threshold."""
    made, zero = LogisticRegression() if model.gives_probabilities else LinearSVC(), np.zeros((len(weights), 1))
    made.coef_ = np.concatenate([zero, weights, zero], axis=1)
    made.intercept_ = model.constants
    made.classes_ = np.array(model.bounds.classes)
    made.n_features_in_ = made.coef_.shape[1]
    made.n_iter_ = np.zeros(1, dtype=np.int32)
    if model.threshold == HALF:
        return made
    said = {"threshold": model.threshold.probability, "pos_label": model.bounds.classes[1]}
    with_threshold = FixedThresholdClassifier(made, response_method="predict_proba", **said)
    with_threshold.estimator_ = made
    return with_threshold
