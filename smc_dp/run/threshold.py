"""Threshold of the probability above which a row gets the second of two classes.

It is public, or chosen on labelled rows that are not those it is then judged on. A threshold that was chosen on private
rows is private, and so are the classes that follow from it: no noise is in them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from smc_dp.core import reading
from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError, shown
from smc_dp.core.kinds import parse_ratio
from smc_dp.run.folder import read_release_file, read_study_bytes
from smc_dp.run.release import STUDY
from smc_dp.run.run_files import RunFiles

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

    @property
    def score(self) -> float:
        """Score w.x of a row with this probability; 0 for 1/2."""
        return math.log(self.probability / (1 - self.probability))

    def passed(self, scores: Array) -> NDArray[np.bool_]:
        """Return which rows get the second class, (n,), by the scores w.x of rows; at 1/2 exactly where w.x > 0."""
        return np.asarray(scores > self.score, dtype=np.bool_)


HALF = Threshold(0.5)
"""Threshold of a release: the class that is more probable."""


def stated_threshold(files: RunFiles) -> Threshold:
    """Return the public threshold in the study of a verified release; 1/2 without a study, or where it states none."""
    content = read_study_bytes(files, read_release_file(files))
    stated = None if content is None else reading.parse_object(content, STUDY).get("threshold")
    return HALF if stated is None else Threshold(float(Fraction(parse_ratio(stated))))


def choose_threshold(y: NDArray[np.int64], scores: Array) -> float:
    """Return the threshold with the largest sum of sensitivity and specificity (Youden 1950) on rows of both classes.

    Of equal ones it is the one nearest to 1/2. It lies between two scores that occur, as far as the six decimals tell
    these apart: probabilities within 1e-6 of 0 or 1 are not told from each other.

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
