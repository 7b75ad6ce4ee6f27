"""How good models are on the test rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from smc_dp.data.federation import Rows
from smc_dp.methods.model import LinearModel, ReleasedModel, area_under_curve

_TOGETHER = 16
"""Linear models whose scores are computed in one product: reading a large test set takes longer than the arithmetic."""


def qualities(models: Sequence[ReleasedModel], test: Rows) -> list[tuple[float, float]]:
    """Accuracy and area under the ROC curve of each model, as its own methods give them."""
    found = list[tuple[float, float]]()
    for linear, some in groupby(models, key=lambda model: type(model) is LinearModel):
        if linear:
            found += _linear([model for model in some if isinstance(model, LinearModel)], test)
        else:
            found += [(model.accuracy(test), model.auc(test)) for model in some]
    return found


def _linear(models: Sequence[LinearModel], test: Rows) -> Iterator[tuple[float, float]]:
    for start in range(0, len(models), _TOGETHER):
        W = np.stack([model.W for model in models[start : start + _TOGETHER]])
        scores = (W.reshape(-1, W.shape[-1]) @ test.X.T).reshape(*W.shape[:2], len(test))
        for each in scores:
            yield float(np.mean(each.argmax(axis=0) == test.y)), area_under_curve(each.T, test.y)
