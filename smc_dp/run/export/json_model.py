"""Model as JSON: names, units and numbers, for a program of one's own in any language."""

from __future__ import annotations

import json
from typing import Any

from smc_dp.core.arrays import Array
from smc_dp.data.columns import LEAVE_OUT, BinnedColumn, CategoricalColumn, Column, DateColumn
from smc_dp.run.export.exported_model import ExportedModel, empty_features, number_of, texts_of

MODEL_FORMAT, WITH_WAVES = "smc-dp model 1", "smc-dp model 2"


def write_json_model(model: ExportedModel) -> bytes:
    """Return the model as a JSON document."""
    is_class = model.bounds.outcome is None
    document = {
        "format": MODEL_FORMAT if model.waves is None else WITH_WAVES,
        "release": model.release,
        "privacy": dict(model.privacy),
        "insecure": list(model.insecure),
        "label": model.bounds.label,
        "classes": list(model.bounds.classes),
        **({} if is_class else {"outcome": list(model.bounds.outcome or ())}),
        "scored": list(model.scored),
        "gives_probabilities": model.gives_probabilities,
        "threshold": model.threshold.probability if is_class else None,
        "constant": model.constants.tolist(),
        **({} if model.waves is None else {"waves": _waves(model.waves)}),
        "clip": model.bounds.clip,
        "columns": [_column(column, weights, center=model.bounds.center) for column, weights in model.parts],
    }
    return (json.dumps(document, indent=2, allow_nan=False) + "\n").encode()


def _waves(weights: Array) -> list[dict[str, list[float]]]:
    """Return for each phase what its cosine and its sine add to each score."""
    half = weights.shape[1] // 2
    pairs = zip(weights[:, :half].T.tolist(), weights[:, half:].T.tolist(), strict=True)
    return [{"cosine": cosine, "sine": sine} for cosine, sine in pairs]


def _column(column: Column, weights: Array, *, center: bool) -> dict[str, Any]:
    each = weights.T.tolist()
    found: dict[str, Any] = {"name": column.name}
    if isinstance(column, CategoricalColumn):
        texts = texts_of(column)
        levels = [
            {"level": level, "texts": [text for text, place in texts if place == i], "weights": each[i]}
            for i, level in enumerate(column.categories)
        ]
        found |= {"type": "levels", "levels": levels}
    elif isinstance(column, BinnedColumn):
        edges = zip(column.edges, column.edges[1:], strict=False)
        bins = [{"from": low, "to": high, "weights": each[i]} for i, (low, high) in enumerate(edges)]
        found |= {"type": "bins", "bins": bins}
    else:
        number = number_of(column)
        offset, scale = number.scale(center=center)
        days = {"first": column.first.isoformat()} if isinstance(column, DateColumn) else {}
        found |= {"type": "days" if days else "number", **days, "low": number.low, "high": number.high}
        found |= {"offset": offset, "scale": scale, "weights": each[0]}
    return found | {"empty": _empty(column, each, center=center)}


def _empty(column: Column, weights: list[list[float]], *, center: bool) -> Any:
    """Return what an empty cell means: "refuse", "leave out", or features and what they add to each score."""
    features = empty_features(column, center=center)
    if features is None:
        return LEAVE_OUT if column.missing == LEAVE_OUT else "refuse"
    added = [sum(f * w for f, w in zip(features, of, strict=True)) for of in zip(*weights, strict=True)]
    return {"squared_length": sum(feature * feature for feature in features), "adds": added}
