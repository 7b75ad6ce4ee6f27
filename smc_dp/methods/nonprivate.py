"""`batch` and `indiv`: what private aggregation is compared with; neither is private (Hamm, Cao and Belkin 2016).

`batch` trains on all rows in one place. `indiv` is the mean quality of the parties' own classifiers, which is what a
party has that does not take part. Both exist in simulations only, and take no epsilon.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.functionality import Trusted
from smc_dp.methods.hamm2016.ensemble import Classifiers, Ensemble, Voting, join_classifiers, train_classifier, votes
from smc_dp.methods.method import Method, TrainedParts, Trust, check_no_weights
from smc_dp.methods.model import LinearModel, Release, area_under_curve
from smc_dp.methods.neighbours import STRONG_LAMBDA, NeighbourPair, party_pair
from smc_dp.methods.pathak2010.models import binary, binary_weights
from smc_dp.methods.training.black_box import PredictFunction
from smc_dp.methods.training.classes import code
from smc_dp.methods.training.softmax import SoftLabelObjective, certified, one_hot, statistic
from smc_dp.privacy.output import no_guarantee
from smc_dp.privacy.statement import PrivacyStatement, Unit
from smc_dp.privacy.target import Calibration, NoiseName, Target

BASELINE_LAMBDA = 1e-4
"""Regularisation of the compared models where the released method has no lambda: that of `Batch`."""
MOST_SCORES = 2**26
"""Above this number of parties times test rows the mean area under the curve of all parties is not computed."""


@dataclass(frozen=True)
class Batch(Method):
    """One model of all rows, with regulariser (lam/2) |V|^2, lam in [2^-29, 1e6]."""

    lam: float = BASELINE_LAMBDA
    name: ClassVar[str] = "batch"
    protects: ClassVar[Unit] = "party"
    calibrations: ClassVar[tuple[Calibration, ...]] = ()
    noises: ClassVar[tuple[NoiseName, ...]] = ()
    lambda_multiplies: ClassVar[str] = "|V|²/2"
    colour: ClassVar[str] = "#222222"

    @classmethod
    @override
    def audit_pair(cls, calibration: Calibration) -> NeighbourPair:
        return party_pair(cls(STRONG_LAMBDA))

    @override
    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        return no_guarantee("party", "party", "The model is trained on everybody's rows in one place, without noise.")

    @override
    def functionality(self, public: Public, target: Target) -> Trusted:
        return Trusted(lambda parts, _: self._minimiser(parts, public.classes))

    @override
    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Rows:
        check_no_weights(rows)
        return rows

    @override
    def finish(self, value: Array, public: Public, target: Target) -> Release:
        return Release(LinearModel.from_coordinates(value, public.classes), self.statement(public, target))

    @override
    def train(self, federation: Federation) -> TrainedParts[Release]:
        for rows in federation.parties:
            check_no_weights(rows)
        return _published(self, self._minimiser(federation.parties, federation.classes), federation.public)

    def _minimiser(self, parts: Sequence[Rows], classes: int) -> Array:
        X, y = np.concatenate([rows.X for rows in parts]), np.concatenate([rows.y for rows in parts])
        return certified(X, one_hot(y, classes), self.lam)


@dataclass(frozen=True)
class Individual(Voting):
    """The parties' own classifiers; lam in [2^-29, 1e6], of logistic regression; learner: see `ensemble.Learner`."""

    name: ClassVar[str] = "indiv"
    calibrations: ClassVar[tuple[Calibration, ...]] = ()
    noises: ClassVar[tuple[NoiseName, ...]] = ()
    colour: ClassVar[str] = "#90609c"

    @override
    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        why = "Each party keeps its own classifier; the figures over all of them are published without noise."
        return no_guarantee("party", "party", why)

    @override
    def functionality(self, public: Public, target: Target) -> Trusted:
        return Trusted(lambda parts, _: Each(join_classifiers(parts), public))

    @override
    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Array | PredictFunction:
        return train_classifier(rows, public, self.lam, self.learner)

    @override
    def finish(self, value: Each, public: Public, target: Target) -> Release:
        return Release(value, self.statement(public, target))

    @override
    def train_from(self, ensemble: Ensemble) -> TrainedParts[Release]:
        public = ensemble.federation.public
        return _published(self, Each(ensemble.classifiers, public), public)


@dataclass(frozen=True, eq=False)
class Each:
    """Classifiers of all parties: every figure is the mean over the parties."""

    classifiers: Classifiers
    public: Public

    def accuracy(self, test: Rows) -> float:
        """Return the mean over the parties of the fraction of rows that are classified correctly."""
        counts = votes(self.classifiers, test.X, self.public)
        right = counts[np.arange(len(test)), test.y].sum()
        return float(right) / (len(test) * len(self.classifiers))

    def accuracy_and_auc(self, test: Rows) -> tuple[float, float]:
        """Return both means; the area is nan for black boxes, without scores, and above MOST_SCORES."""
        V, accuracy = self.classifiers, self.accuracy(test)
        if not isinstance(V, np.ndarray) or len(V) * len(test) > MOST_SCORES:
            return accuracy, float("nan")
        B = code(self.public.classes)
        return accuracy, float(np.mean([area_under_curve(test.X @ v.T @ B.T, test.y) for v in V]))


def _published(method: Batch | Individual, value: Any, public: Public) -> TrainedParts[Release]:
    """Return the model of all rows, or every party's classifier, which is published as it is."""
    return TrainedParts(method, public, value, lambda *_: [None], lambda _: Trusted(lambda *_: value))


def accuracy_alone(rows: Rows, lam: float, test: Rows, classes: int = 2) -> float:
    """Return the test accuracy of a model of these rows alone, minimising mean log-loss plus lam |w|^2, without noise.

    For more than two classes the log-loss is that of softmax, and the minimiser is not certified: no noise is for it.
    """
    model = _softmax(rows, lam, classes) if classes > 2 else binary(binary_weights(rows.X, rows.y, lam))
    return model.accuracy(test)


def _softmax(rows: Rows, lam: float, classes: int) -> LinearModel:
    """Minimise by L-BFGS: seconds where a certified minimiser takes a minute (265 columns, 6 classes)."""
    from scipy.optimize import minimize  # most of a second, which a command that compares nothing should not pay

    alpha = one_hot(rows.y, classes)
    objective = SoftLabelObjective(rows.X, statistic(rows.X, alpha), classes, 2 * lam)
    found = minimize(
        lambda v: (objective.value(v.reshape(objective.T.shape)), objective.gradient(v)),
        np.zeros(objective.T.size), jac=True, method="L-BFGS-B", options={"gtol": 1e-5, "maxiter": 10_000},
    )  # fmt: skip
    return LinearModel.from_coordinates(found.x.reshape(objective.T.shape), classes)


def majority_accuracy(federation: Federation, test: Rows) -> float:
    """Return the test accuracy of always answering the class of most training rows; of equals, the first."""
    counts = sum(np.bincount(rows.y, minlength=federation.classes) for rows in federation.parties)
    return float(np.mean(test.y == np.argmax(counts)))
