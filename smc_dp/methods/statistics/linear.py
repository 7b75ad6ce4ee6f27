"""`linear`: coefficients of least squares with robust intervals, by three sums.

Per record: its part of the Gram matrix of rows and outcome, in the public box and then centred; and its residual,
clipped, with its meat (`smc_dp.privacy.distributed.least_squares_sums`). The sums get 1, 8 and 11 parts of mu^2.

As for `logistic`, the first level of each column is the reference, bounds have to shorten no row, and rows that lie far
from the others are left out and counted. An outcome outside of its range is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from typing_extensions import override

from smc_dp.core.errors import InputError
from smc_dp.data.columns import NumericColumn
from smc_dp.data.federation import Public
from smc_dp.methods.gradients.gradient_sums import GradientSums
from smc_dp.methods.neighbours import NeighbourPair, outcome_pair
from smc_dp.methods.statistics.coefficient_inference import CoefficientInference
from smc_dp.methods.statistics.coefficient_sums import (
    CoefficientMethod,
    CoefficientSums,
    InferredModel,
    kept_features,
)
from smc_dp.methods.statistics.inference_steps import Inquiry
from smc_dp.methods.statistics.least_squares_steps import GramNoise, LeastSquaresNoise, LeastSquaresSteps, ResidualNoise
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.privacy.distributed import GramBound, ResidualBound, sums_signal
from smc_dp.privacy.target import Calibration, Target


class LinearSums(CoefficientSums):
    """Sums of `linear`: weights and inference are in the units of the outcome."""

    counting: ClassVar[int] = 1

    @override
    def signal(self, n: int) -> float:
        among = self.threat_model
        return sums_signal(n, self.noisy.mu, self.public.dimension, 2, among.honest, among.parties)

    @override
    def model_after(self, last: Inquiry) -> InferredModel:
        middle, half = _scale(self.public)
        made = super().model_after(last)
        W = made.W * half
        W[:, -1] += 0.0 if self.public.box is None else middle / self.public.box.constant
        return replace(made, W=W)

    @override
    def inference_after(self, last: Inquiry) -> CoefficientInference | None:
        found = super().inference_after(last)
        if found is None or found.residual is None:
            return None
        half = _scale(self.public)[1]
        scaled = found.transformed(half * np.eye(len(found.estimate)))
        return replace(scaled, inverse=found.inverse, residual=half * found.residual, clip=half * (found.clip or 0.0))


@dataclass(frozen=True)
class LinearRegression(CoefficientMethod):
    """Least squares by a secure sum for the place of rows, one for the Gram matrix, and one of clipped residuals."""

    name: ClassVar[str] = "linear"
    colour: ClassVar[str] = "#00006c"
    regresses: ClassVar[bool] = True
    sums_class: ClassVar[type[GradientSums]] = LinearSums
    parts: ClassVar[tuple[int, ...]] = (1, 8, 11)

    @classmethod
    @override
    def audit_pair(cls, calibration: Calibration) -> NeighbourPair:
        return outcome_pair(cls())

    @override
    def shared(
        self, public: Public, target: Target, threat_model: ThreatModel, announced: AnnouncedRows
    ) -> GradientSums:
        if public.classes:
            raise InputError("classes.of_no_number", method=self.name, got=public.classes)
        return super().shared(public, target, threat_model, announced)

    @override
    def round_bounds(self, sums: GradientSums) -> tuple[GramBound, GramBound, ResidualBound]:
        p = self.coefficients(sums.public)
        gram = GramBound(self.adjacency, p)
        return gram, gram, ResidualBound(self.adjacency, p)

    @override
    def steps(self, sums: GradientSums) -> LeastSquaresSteps:
        public, (first, second, last) = sums.public, sums.noise.deviations(sums.threat_model.parties)
        noise = LeastSquaresNoise((GramNoise(*first), GramNoise(*second)), ResidualNoise(*last))
        return LeastSquaresSteps(kept_features(public), public.dimension, public.box, noise)


def _scale(public: Public) -> tuple[float, float]:
    """Return the middle of the range of the outcome, and half of its length."""
    return public.label.scale(center=True) if isinstance(public.label, NumericColumn) else (0.0, 1.0)
