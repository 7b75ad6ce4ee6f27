"""The one class that a release answers for every row that its bounds allow, if there is one.

The score of a row is the weight of the constant times that constant, and s times what the columns add, where s is below
1 for a row that is shortened. A column of levels or bins adds the weight of one of its features, so at most the largest
and at least the smallest; a number or date adds at most the sum of its absolute weights. Nothing is estimated here: a
class that is named is the answer for each of these rows. That none is named says little, because few rows reach the
ends of all columns.
"""

from __future__ import annotations

import math

import numpy as np

from smc_dp.core.arrays import Array
from smc_dp.core.errors import Fault, InputFault
from smc_dp.data.bounds import Bounds, CategoricalColumn
from smc_dp.data.columns import BinnedColumn
from smc_dp.methods.model import FourierFeatures, Weights
from smc_dp.pages.shortening import shorten
from smc_dp.run.release import PublishedRelease
from smc_dp.run.threshold import Threshold

_ROUNDING = 1e-9
"""Margin for rounding, in parts of the absolute weights of the scores that are compared.

A prediction compares rounded scores, so a class has to be ahead by more than what rounding moves both. With u = 2^-53
and d <= 100,000 features (`smc_dp.data.bounds`), let e = d u/(1 - d u) < 1.2e-11.

* A score w.x, added up in any order, is within e sum |w_i||x_i| of the exact one (Higham, Accuracy and stability of
  numerical algorithms, 2002, section 3.1). A row is encoded into the unit ball with |x_i| < 1.001, so that is
  1.001 e |w|_1 for each of the two scores.
* Features are divided, rounded and shortened by 2^-39 (`into_ball`, `with_bias`): each is within 10 e of the one in
  reals, so the score moves by 10 e |w|_1 at most.
* A difference of two weights is rounded by u (|a| + |b|), and `_least` adds up at most d numbers of this kind, times
  factors that are rounded a few times: 10 e (|a|_1 + |b|_1) at most.

Together that is below 25 e < 3e-10 in parts of |a|_1 + |b|_1. The difference of the weights alone does not bound it:
weights of two classes that are large and nearly equal have a small one.
"""


def only_class(weights: Weights, bounds: Bounds, threshold: Threshold, features: FourierFeatures | None) -> str | None:
    """Return the name of the class that the release answers everywhere; None where there may be two, or no classes.

    Nothing is known here of weights of Fourier `features`.
    """
    W = np.array(weights, dtype=np.float64)
    if features is not None or not bounds.classes or W.shape[-1] != bounds.dimension:
        return None
    if W.ndim == 1:
        nothing = np.zeros_like(W)
        if _least(W, nothing, bounds) > threshold.score:
            return bounds.classes[1]
        return bounds.classes[0] if _least(nothing, W, bounds) >= -threshold.score else None
    for c, name in enumerate(bounds.classes):
        if all(_least(W[c], other, bounds) > 0 for other in np.delete(W, c, axis=0)):
            return name
    return None


def one_class_faults(release: PublishedRelease, threshold: Threshold) -> tuple[Fault, ...]:
    """Return the remark that a classifier answers one class everywhere, if it does."""
    made = release.agreement
    name = None if made.describes else only_class(release.weights, release.bounds, threshold, made.features)
    return () if name is None else (InputFault("run.one_class", {"method": made.method.name, "name": shorten(name)}),)


def _least(ahead: Array, other: Array, bounds: Bounds) -> float:
    """Return a number that the score of `ahead` less that of `other`, both as rounded, is not below for any row."""
    w, total = ahead - other, float(np.abs(ahead).sum() + np.abs(other).sum())
    features = w[:-1] if bounds.bias else w
    least, at = 0.0, 0
    for column in bounds.columns:
        own = features[at : at + column.width]
        exactly_one = isinstance(column, CategoricalColumn | BinnedColumn)
        least += float(own.min()) if exactly_one else -float(np.abs(own).sum())
        at += column.width
    # A row that is shortened to the norm `clip` was no longer than the root of the number of columns.
    shortest = min(1.0, bounds.clip / math.sqrt(len(bounds.columns)))
    added = min(least, shortest * least) / (bounds.clip * math.hypot(1.0, bounds.bias))
    return (float(w[-1]) * bounds.constant if bounds.bias else 0.0) + added - _ROUNDING * total
