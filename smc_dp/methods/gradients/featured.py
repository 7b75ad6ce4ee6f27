"""Learning from rows, or from rows with their Fourier features, by the same sums: what `newton` and `gd` share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from typing_extensions import override

from smc_dp.data.federation import Public, Rows
from smc_dp.methods.functionality import Vector
from smc_dp.methods.gradients.gradient_sums import GradientMethod, GradientSums
from smc_dp.methods.model import FourierModel
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.methods.training.fourier import FourierFeatures
from smc_dp.methods.training.integer_rows import IntegerRows
from smc_dp.privacy.target import Target


@dataclass(frozen=True)
class FourierSums(GradientSums):
    """Sums of what single records with their Fourier features contribute; `public` has the dimension of these."""

    fourier: FourierFeatures

    @override
    def model(self, value: Sequence[Vector]) -> FourierModel:
        return FourierModel(super().linear_model(value), self.fourier)


@dataclass(frozen=True)
class FeaturedMethod(GradientMethod):
    """Method that learns from rows, or from rows with their public random Fourier features.

    features: as `FourierFeatures.of` reads them, None for the rows alone. With features a row is another integer row of
    the unit ball, so that protocol, sensitivity and proofs are those of rows.
    """

    features: str | None = None

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        self.fourier  # noqa: B018  a setting that names no features is refused

    @cached_property
    def fourier(self) -> FourierFeatures | None:
        """Features beside the rows, None where it learns from the rows alone."""
        return None if self.features is None else FourierFeatures.of(self.features)

    @override
    def shared(
        self, public: Public, target: Target, threat_model: ThreatModel, announced: AnnouncedRows
    ) -> GradientSums:
        if self.fourier is None:
            return super().shared(public, target, threat_model, announced)
        learnt = replace(public, dimension=self.fourier.dimension(public.dimension), box=None)
        made = super().shared(learnt, target, threat_model, announced)
        return FourierSums(self, made.public, made.target, made.threat_model, made.announced, self.fourier)

    @override
    def prepare(self, rows: Rows, public: Public) -> IntegerRows:
        if self.fourier is None:
            return super().prepare(rows, public)
        self.check_weights(rows, public)
        return IntegerRows.on_grid(self.fourier.integers(rows.X), rows.y, public.classes, rows.weights)
