"""`batch` and `indiv`: what private aggregation is compared with; neither is private (Hamm, Cao and Belkin 2016).

`batch` trains on all rows in one place. `indiv` is the mean quality of the parties' own classifiers, which is what a
party has that does not take part. Both exist in simulations only, and take no epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.data.federation import Federation, Rows
from smc_dp.errors import InputError
from smc_dp.learning.classes import code
from smc_dp.learning.softmax import certified, one_hot
from smc_dp.methods.hamm2016.ensemble import Ensemble, Learner, ensemble
from smc_dp.methods.method import Method, check_modulus
from smc_dp.methods.model import LinearModel, Release, ReleasedModel, area_under_curve
from smc_dp.privacy.output import nothing
from smc_dp.privacy.target import Calibration, NoiseName, Target

MOST_SCORES = 2**26
"""Above this number of parties times test rows the mean area under the curve of all parties is not computed."""


@dataclass(frozen=True)
class Batch:
    """One model of all rows, with regulariser (lam/2) |V|^2, lam in [2^-29, 1e6]."""

    lam: float = 1e-4
    name: ClassVar[str] = "batch"
    calibrations: ClassVar[tuple[Calibration, ...]] = ()
    noises: ClassVar[tuple[NoiseName, ...]] = ()

    def __post_init__(self) -> None:
        check_modulus(self.lam)

    def train(self, federation: Federation) -> WithoutNoise:
        """The minimiser over all parties' rows."""
        rows = federation.pooled()
        V = certified(rows.X, one_hot(rows.y, federation.classes), self.lam)
        model = LinearModel.from_coordinates(V, federation.classes)
        return WithoutNoise(self, model, "The model is trained on everybody's rows in one place, without noise.")


@dataclass(frozen=True)
class Individual:
    """The parties' own classifiers; lam in [2^-29, 1e6], of logistic regression; learner: see `ensemble.Learner`."""

    lam: float = 1e-4
    learner: Learner = None
    name: ClassVar[str] = "indiv"
    calibrations: ClassVar[tuple[Calibration, ...]] = ()
    noises: ClassVar[tuple[NoiseName, ...]] = ()

    def __post_init__(self) -> None:
        check_modulus(self.lam)

    def train(self, federation: Federation) -> WithoutNoise:
        """Every party's classifier."""
        return self.train_from(ensemble(federation, self.lam, self.learner))

    def train_from(self, ensemble: Ensemble) -> WithoutNoise:
        """Classifiers that are there already."""
        why = "Each party keeps its own classifier; the figures over all of them are published without noise."
        return WithoutNoise(self, Each(ensemble), why)


@dataclass(frozen=True, eq=False)
class Each:
    """All the parties' classifiers: every figure is the mean over the parties."""

    ensemble: Ensemble

    def accuracy(self, test: Rows) -> float:
        """The mean over the parties of the fraction of rows that are classified correctly."""
        counts = self.ensemble.votes(test.X)
        right = counts[np.arange(len(test)), test.y].sum()
        return float(right) / (len(test) * len(self.ensemble.classifiers))

    def auc(self, test: Rows) -> float:
        """The mean area under the ROC curve; nan for black boxes, which have no scores, and above MOST_SCORES."""
        V = self.ensemble.classifiers
        if not isinstance(V, np.ndarray) or len(V) * len(test) > MOST_SCORES:
            return float("nan")
        B = code(self.ensemble.federation.classes)
        return float(np.mean([area_under_curve(test.X @ v.T @ B.T, test.y) for v in V]))


@dataclass(frozen=True, eq=False, repr=False)
class WithoutNoise:
    """A model that is not private, and why."""

    method: Method
    model: ReleasedModel
    why: str

    def release(self, target: Target, rng: Stream) -> Release:
        """The model as it is; InputError for a target that wants privacy."""
        if target.epsilon is not None:
            raise InputError(
                f"epsilon: {self.method.name} is not private, wanted inf (no noise), got {float(target.epsilon):g}"
            )
        return Release(self.model, nothing("party", "party", self.why))
