"""Sums from which coefficients follow with their covariances: what `logistic` and `linear` share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

from typing_extensions import override

from smc_dp.core.errors import InputError
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.functionality import Vector
from smc_dp.methods.gradients.gradient_sums import GradientMethod, GradientSums
from smc_dp.methods.method import check_no_weights, check_rows_of_parties
from smc_dp.methods.model import LinearModel
from smc_dp.methods.statistics.coefficient_inference import CoefficientInference
from smc_dp.methods.statistics.inference_steps import Inquiry
from smc_dp.methods.training.integer_rows import IntegerRows

MOST_COEFFICIENTS = 500
"""Features at most: p (p + 1) numbers of matrices are released in a sum."""


@dataclass(frozen=True, eq=False)
class InferredModel(LinearModel):
    """Linear model with the inference on its weights of features that are no reference; None for rows without a box."""

    inference: CoefficientInference | None = None


class CoefficientSums(GradientSums):
    """Sums of a method that says how sure its coefficients are, and the inference that follows from them.

    `counting`: number of the sum whose rows are counted, and thought to be in the last one.
    """

    counting: ClassVar[int] = 0

    @override
    def model(self, value: Sequence[Vector]) -> InferredModel:
        return self.model_after(reduce(self.steps.after, value, self.steps.begin()))

    @override
    def model_after(self, last: Inquiry) -> InferredModel:
        return InferredModel(super().model_after(last).W, self.inference_after(last))

    def inference_after(self, last: Inquiry) -> CoefficientInference | None:
        """Return the inference on the weights of features that are no reference; None for rows without a box."""
        found = last.found
        return None if found is None or last.centring is None else found.transformed(last.centring.matrix)


class CoefficientMethod(GradientMethod):
    """Method whose coefficients have intervals: of whole rows without weights, and without reference levels."""

    whole_rows: ClassVar[bool] = True
    sums_class: ClassVar[type[GradientSums]] = CoefficientSums

    @override
    def prepare(self, rows: Rows, public: Public) -> IntegerRows:
        check_no_weights(rows)
        return IntegerRows.of(rows.X[:, list(kept_features(public))], rows.y, public.classes)

    def coefficients(self, public: Public) -> int:
        """Return the number of coefficients; raise InputError for rows of too many features."""
        if public.dimension > MOST_COEFFICIENTS:
            raise InputError("features.too_many", name=self.name, most=MOST_COEFFICIENTS, got=public.dimension)
        return len(kept_features(public))

    @override
    def check_federation(self, federation: Federation) -> None:
        check_rows_of_parties(federation)


def kept_features(public: Public) -> tuple[int, ...]:
    """Return the places of the features that are no reference level."""
    references = () if public.box is None else public.box.references
    return tuple(j for j in range(public.dimension) if j not in references)
