"""Public threshold of the probability above which a row gets the second of two classes."""

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


@dataclass(frozen=True)
class Threshold:
    """Threshold in (0, 1)."""

    probability: float

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
