"""`release_all`: every local classifier, each with noise (Hamm, Cao and Belkin 2016, section 3.2).

The noise is for a change of its party's whole data set: a sensitivity that does not shrink with the number of parties.
The paper argues against it; here it can be measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from typing_extensions import override

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.data.federation import Public, Rows
from smc_dp.methods.functionality import EachPublishes, Vector
from smc_dp.methods.hamm2016.ensemble import (
    Ensemble,
    OfParties,
    train_weights,
)
from smc_dp.methods.hamm2016.weights import clipped
from smc_dp.methods.method import TrainedParts, Trust
from smc_dp.methods.model import Release, area_under_curve
from smc_dp.methods.neighbours import STRONG_LAMBDA, NeighbourPair, party_pair
from smc_dp.methods.training.classes import coordinate_count
from smc_dp.methods.training.votes import count_votes
from smc_dp.privacy.output import (
    GRID,
    Calibrated,
    calibrate_noise,
    noise_statement,
    on_grid,
    with_noise,
)
from smc_dp.privacy.sensitivity import largest_softmax_norm
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.privacy.target import Calibration, Target


@dataclass(frozen=True)
class ReleaseAll(OfParties):
    """Release of every local model; they classify by majority."""

    name: ClassVar[str] = "release_all"
    colour: ClassVar[str] = "#a89c18"

    @classmethod
    @override
    def audit_pair(cls, calibration: Calibration) -> NeighbourPair:
        return party_pair(cls(STRONG_LAMBDA), several=True)

    def sensitivity(self, classes: int) -> Fraction:
        """Return the L2 sensitivity of each model: 2 W, as each is clipped to the largest norm W of a minimiser."""
        return 2 * Fraction(largest_softmax_norm(classes, self.lam))

    def noise(self, public: Public, target: Target) -> Calibrated | None:
        """Return the noise of one model."""
        if target.epsilon is None:
            return None
        return calibrate_noise(
            target, coordinate_count(public.classes) * public.dimension, self.sensitivity(public.classes)
        )

    @override
    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        # Parallel composition: a party's rows reach its own model only.
        who = "anyone who sees all the noisy models, the other parties among them"
        return noise_statement(self.noise(public, target), target, "party", "party", who)

    @override
    def functionality(self, public: Public, target: Target) -> EachPublishes:
        return EachPublishes()

    @override
    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Vector:
        V = self.clipped(train_weights(rows, public, self.lam)[np.newaxis], public.classes)
        return with_noise(on_grid(V), self.noise(public, target), rng)

    @override
    def finish(self, value: Sequence[Vector], public: Public, target: Target) -> Release:
        V = np.array([GRID.decode(model) for model in value])
        shape = len(value), coordinate_count(public.classes), public.dimension
        return Release(Committee(V.reshape(shape), public.classes), self.statement(public, target))

    def clipped(self, V: Array, classes: int) -> Array:
        """Clip models (M, p, d) to the length W."""
        return clipped(V, largest_softmax_norm(classes, self.lam))

    @override
    def train_from(self, ensemble: Ensemble) -> TrainedParts[Release]:
        public = ensemble.federation.public
        V = self.clipped(ensemble.models(self), public.classes)

        def parts(target: Target, rng: Stream) -> list[Vector]:
            noise = self.noise(public, target)
            return [with_noise(on_grid(v), noise, rng) for v in V]

        return TrainedParts(self, public, V, parts)


@dataclass(frozen=True, eq=False)
class Committee:
    """Linear models V: (M, p, d) that classify by majority, the lowest class of equals."""

    V: Array
    classes: int

    def accuracy(self, test: Rows) -> float:
        """Return the fraction of rows that the majority classifies correctly."""
        return float(np.mean(count_votes(self.V, test.X, self.classes).argmax(axis=1) == test.y))

    def accuracy_and_auc(self, test: Rows) -> tuple[float, float]:
        """Return the accuracy, and the area under the ROC curve of the shares of the votes."""
        counts = count_votes(self.V, test.X, self.classes)
        return float(np.mean(counts.argmax(axis=1) == test.y)), area_under_curve(counts / len(self.V), test.y)
