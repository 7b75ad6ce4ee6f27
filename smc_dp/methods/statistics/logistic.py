"""`logistic`: coefficients of logistic regression of two classes with intervals, by five sums.

Per record and sum: its gradient, which nothing clips, its Hessian and its meat at the coefficients so far, in one
vector. Both matrices, and a count of rows that are left out, are free beside the gradient
(`smc_dp.privacy.distributed.inference_sum`). Each sum gives one of Newton's steps, and the first centres the rows; what
the last says of the coefficients is their inference (`coefficient_inference`). The sums get 1, 1, 1, 2 and 4 parts of
mu^2: of the earlier ones nothing is left in the result but that they came near.

Of each column of levels or bins the first is the reference: with a constant, one of them says nothing. Bounds have to
shorten no row, for a short row would have another score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from smc_dp.data.federation import Public
from smc_dp.methods.gradients.gradient_sums import GradientSums
from smc_dp.methods.method import require_two_classes
from smc_dp.methods.statistics.coefficient_inference import InferenceNoise
from smc_dp.methods.statistics.coefficient_sums import CoefficientMethod, kept_features
from smc_dp.methods.statistics.inference_steps import InferenceSteps
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.privacy.distributed import InferenceBound
from smc_dp.privacy.target import Target


@dataclass(frozen=True)
class LogisticCoefficients(CoefficientMethod):
    """Logistic regression of two classes by five sums of gradients, Hessians and meats, with intervals."""

    name: ClassVar[str] = "logistic"
    colour: ClassVar[str] = "#600030"
    binary: ClassVar[bool] = True
    parts: ClassVar[tuple[int, ...]] = (1, 1, 1, 2, 4)

    @override
    def shared(
        self, public: Public, target: Target, threat_model: ThreatModel, announced: AnnouncedRows
    ) -> GradientSums:
        require_two_classes(public.classes, self)
        return super().shared(public, target, threat_model, announced)

    @override
    def round_bounds(self, sums: GradientSums) -> tuple[InferenceBound, ...]:
        return (InferenceBound(self.adjacency, self.coefficients(sums.public)),) * len(self.parts)

    @override
    def steps(self, sums: GradientSums) -> InferenceSteps:
        each = tuple(InferenceNoise(*found) for found in sums.noise.deviations(sums.threat_model.parties))
        return InferenceSteps(kept_features(sums.public), sums.public.dimension, sums.public.box, each)
