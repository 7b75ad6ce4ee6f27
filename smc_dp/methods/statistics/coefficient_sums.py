"""Sums from which coefficients follow with their covariances: what `logistic` and `linear` share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from typing_extensions import override

from smc_dp.data.federation import Public
from smc_dp.methods.functionality import Vector
from smc_dp.methods.gradients.gradient_sums import GradientSums
from smc_dp.methods.model import LinearModel
from smc_dp.methods.statistics.coefficient_inference import CoefficientInference

MOST_COEFFICIENTS = 500
"""Features at most: p (p + 1) numbers of matrices are released in a sum."""


@dataclass(frozen=True, eq=False)
class InferredModel(LinearModel):
    """Linear model with the inference on its weights of features that are no reference; None for rows without a box."""

    inference: CoefficientInference | None = None


class CoefficientSums(GradientSums):
    """Sums of a method that says how sure its coefficients are, and the inference that follows from them."""

    @override
    def model(self, value: Sequence[Vector]) -> LinearModel:
        return InferredModel(super().model(value).W, self.inference(value))

    def inference(self, value: Sequence[Vector]) -> CoefficientInference | None:
        """Return the inference on the weights of features that are no reference; None for rows without a box."""
        last = reduce(self.steps.after, value, self.steps.begin())
        found: CoefficientInference | None = last.found
        return None if found is None or last.centring is None else found.transformed(last.centring.matrix)


def kept_features(public: Public) -> tuple[int, ...]:
    """Return the places of the features that are no reference level."""
    references = () if public.box is None else public.box.references
    return tuple(j for j in range(public.dimension) if j not in references)
