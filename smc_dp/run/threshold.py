"""Threshold of the probability above which a row gets the second of two classes.

It is public, or chosen on labelled rows that are not those it is then judged on. A threshold that was chosen on private
rows is private, and so are the classes that follow from it: no noise is in them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError, shown

_DIGITS = 6  # so that a printed threshold is the one that was used


@dataclass(frozen=True)
class Threshold:
    """Threshold in (0, 1); `chosen_on`: the file of labelled rows that it was chosen on, None for a public one.

    shared: number of the rows it is judged on that stand, with the same features, among those that it was chosen on.
    """

    probability: float
    chosen_on: str | None = None
    shared: int = 0

    def __post_init__(self) -> None:
        known = isinstance(self.probability, float | int) and not isinstance(self.probability, bool)
        if not known or not 0 < self.probability < 1:
            raise InputError("threshold.not_inside", got=shown(self.probability))

    def passed(self, scores: Array) -> NDArray[np.bool_]:
        """Return which rows get the second class, (n,), by the scores w.x of rows; at 1/2 exactly where w.x > 0."""
        return np.asarray(scores > math.log(self.probability / (1 - self.probability)), dtype=np.bool_)


HALF = Threshold(0.5)
"""Threshold of a release: the class that is more probable."""


def choose_threshold(y: NDArray[np.int64], scores: Array) -> float:
    """Return the threshold with the largest sum of sensitivity and specificity (Youden 1950) on rows of both classes.

    Of equal ones it is the one nearest to 1/2. It lies between two scores that occur, and has six decimals.

    Raises InputError where all rows have one class.
    """
    from scipy.special import expit
    from sklearn.metrics import roc_curve

    if len(np.unique(y)) < 2:
        raise InputError("threshold.one_class")
    false, right, at = roc_curve(y, scores, pos_label=1, drop_intermediate=False)
    below = np.append(at[1:], at[-1] - 1)
    cuts = np.where(np.isinf(at), below + 1, (at + below) / 2)  # the first is above all scores
    gain = right - false
    best = cuts[gain >= gain.max() - 1e-12]
    cut = float(best[np.argmin(np.abs(best))])
    least = 10.0**-_DIGITS
    return min(max(round(float(expit(cut)), _DIGITS), least), 1 - least)
