"""`central` and `local`: what the mean of Pathak, Rane and Raj (NIPS 2010) is compared with.

`central` is one model of all rows in one place, `local` the mean of models that each party publishes with its own
noise, which needs no cryptography at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from typing_extensions import override

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.functionality import EachPublishes, Trusted, Vector
from smc_dp.methods.method import Method, TrainedParts, Trust, check_own_rows, require_two_classes
from smc_dp.methods.model import Release
from smc_dp.methods.neighbours import STRONG_LAMBDA, NeighbourPair, own_noise_pair
from smc_dp.methods.pathak2010.models import SIZES_CAVEAT, binary, model_noise, model_of, models_of
from smc_dp.privacy.output import GRID, noise_statement, on_grid, perturb, with_noise
from smc_dp.privacy.statement import PrivacyStatement, Unit
from smc_dp.privacy.target import Calibration, NoiseName, Target

_AGAINST_ALL_OTHERS = (
    "anyone who sees the published models and the release, except the party whose record it is: each party adds its "
    "noise itself and trusts nobody"
)
AGAINST_OUTSIDERS = "anyone who sees the release, but not the one who computed it and had all rows of all parties"
"""Adversary in the statements of methods that pool all rows."""


@dataclass(frozen=True)
class Central(Method):
    """One model of all rows in one place: the private w* of the paper's Figure 2; lam in [2^-29, 1e6].

    `paper`: scale 2/(n epsilon lam). `proven`: G/(mu n). A part is the party's rows.
    """

    lam: float = 1e-3
    name: ClassVar[str] = "central"
    protects: ClassVar[Unit] = "record"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven", "paper")
    noises_as_published: ClassVar[tuple[NoiseName, ...]] = ("knorm", "laplace")
    lambda_multiplies: ClassVar[str] = "|w|²"
    colour: ClassVar[str] = "#004890"

    @classmethod
    @override
    def audit_pair(cls, calibration: Calibration) -> NeighbourPair:
        return own_noise_pair(cls(STRONG_LAMBDA), several=False)

    @override
    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        noise = model_noise(target, sum(public.sizes or ()), public.dimension, self.lam)
        return noise_statement(noise, target, "record", "replace", AGAINST_OUTSIDERS, (SIZES_CAVEAT,))

    @override
    def functionality(self, public: Public, target: Target) -> Trusted:
        return Trusted(lambda parts, rng: self.noisy(self._model(parts, public.classes), public, target, rng))

    @override
    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Rows:
        check_own_rows(rows)
        return rows

    @override
    def finish(self, value: Array, public: Public, target: Target) -> Release:
        return Release(binary(value), self.statement(public, target))

    @override
    def train(self, federation: Federation) -> TrainedParts[Release]:
        public, w = federation.public, self._model(federation.parties, federation.classes)
        noisy = partial(self.noisy, w, public)
        return TrainedParts(self, public, w, lambda *_: [w], lambda target: Trusted(lambda _, rng: noisy(target, rng)))

    def _model(self, parts: Sequence[Rows], classes: int) -> Array:
        one = Federation((Federation(tuple(parts), classes).pooled(),), classes, names=("of all rows",))
        model: Array = models_of(one, self, self.lam)[0]
        return model

    def noisy(self, w: Array, public: Public, target: Target, rng: Stream) -> Array:
        """Return the model of all rows, plus the noise of the target."""
        noise = model_noise(target, sum(public.sizes or ()), public.dimension, self.lam)
        return perturb(on_grid(w), noise, rng)


@dataclass(frozen=True)
class Local(Method):
    """The mean of models that the parties publish themselves, each with noise for its own rows; lam in [2^-29, 1e6].

    Sensitivity G/(mu n_j). The parties' records are disjoint, so what each model spends is what all of them spend.
    """

    lam: float = 1e-3
    name: ClassVar[str] = "local"
    protects: ClassVar[Unit] = "record"
    lambda_multiplies: ClassVar[str] = "|w|²"
    colour: ClassVar[str] = "#249c84"

    @classmethod
    @override
    def audit_pair(cls, calibration: Calibration) -> NeighbourPair:
        return own_noise_pair(cls(STRONG_LAMBDA), several=False)

    @override
    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        # Each party spends exactly the target, so any party's noise stands for all.
        noise = model_noise(target, 1, public.dimension, self.lam)
        return noise_statement(noise, target, "record", "replace", _AGAINST_ALL_OTHERS, (SIZES_CAVEAT,))

    @override
    def functionality(self, public: Public, target: Target) -> EachPublishes:
        return EachPublishes()

    @override
    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Vector:
        require_two_classes(public.classes, self)
        check_own_rows(rows)
        return self.noisy(model_of(rows, self.lam), len(rows), target, rng)

    def noisy(self, weights: Sequence[int], n: int, target: Target, rng: Stream) -> Vector:
        """Return one party's model of n rows, plus its noise."""
        return with_noise(weights, model_noise(target, n, len(weights), self.lam), rng)

    @override
    def finish(self, value: Sequence[Vector], public: Public, target: Target) -> Release:
        published = np.array([GRID.decode(model) for model in value])
        return Release(binary(published.mean(axis=0)), self.statement(public, target))

    @override
    def train(self, federation: Federation) -> TrainedParts[Release]:
        public, w = federation.public, models_of(federation, self, self.lam)
        each = list(zip(map(on_grid, w), public.sizes or (), strict=True))
        return TrainedParts(self, public, w, lambda target, rng: [self.noisy(v, n, target, rng) for v, n in each])
