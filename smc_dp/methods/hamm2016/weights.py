"""Weights with noise: the last step of every method of Hamm, Cao and Belkin (2016) that releases a linear model.

The mean of m models goes on the grid as the sum of their integers, noise is added to the sum, and the sum is divided by
m. Under `proven` this happens in the coordinates of `smc_dp.methods.training.classes`. Under `paper` with more than two
classes it happens to the C weight vectors stacked, as published: the same distances, in C d dimensions.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from typing_extensions import override

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.data.federation import Public, Rows
from smc_dp.methods.functionality import Sum, Vector
from smc_dp.methods.hamm2016.ensemble import Ensemble, OfParties, train_weights
from smc_dp.methods.method import AGAINST_ALL_BUT_AGGREGATOR, Method, Trust, check_target, release_parts
from smc_dp.methods.model import LinearModel, Release
from smc_dp.methods.training.classes import code, coordinate_count
from smc_dp.methods.training.solver import PUBLIC_TAU
from smc_dp.privacy.output import GRID, Calibrated, calibrate_as_published, calibrate_noise, noise_statement
from smc_dp.privacy.sensitivity import largest_softmax_norm
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.privacy.target import Target

_TAU = Fraction(PUBLIC_TAU) * (1 + Fraction(1, 2**10))
_HALF_BITS = 32
_TINY = 2.0**-900


@dataclass(frozen=True)
class WeightNoise:
    """Noise of the sum of m models.

    `sensitivity`: of the sum, in L2, when one party is replaced. `nominal`: the published scale of its noise, times
    epsilon; None where nothing is published. `lam`: what the models were trained with.
    """

    classes: int
    lam: float
    sensitivity: Fraction
    nominal: Fraction | None = None

    def is_stacked(self, target: Target) -> bool:
        """Tell whether the C weight vectors of a model get the noise, in place of its p coordinates."""
        return target.calibration == "paper" and self.classes > 2

    def calibrated(self, target: Target, d: int) -> Calibrated | None:
        """Return the noise for models of d features; None for no noise."""
        if target.epsilon is None:
            return None
        dimension = (self.classes if self.is_stacked(target) else coordinate_count(self.classes)) * d
        if target.calibration == "proven" or self.nominal is None:
            return calibrate_noise(target, dimension, self.sensitivity)
        true = self.sensitivity + stacking_error(self.classes, self.lam)
        return calibrate_as_published(target, dimension, true, self.nominal / target.wanted)

    def remaining_functionality(self, target: Target, d: int) -> Sum:
        """Return the functionality that is left where the sum of the models is known."""
        noise = self.calibrated(target, d)
        return Sum(None if noise is None else noise.distribution)

    def integers(self, V: Array, target: Target) -> Vector:
        """Return the sum of models V: (m, p, d), entries below 2^22, on the grid."""
        return tuple(sum_on_grid(np.einsum("cp,mpd->mcd", code(self.classes), V) if self.is_stacked(target) else V))

    def mean(self, value: Vector, m: int, d: int, target: Target) -> LinearModel:
        """Return the model that the sum of m models gives."""
        weights = np.array(GRID.decode(value, m)).reshape(-1, d)
        return LinearModel(weights) if self.is_stacked(target) else LinearModel.from_coordinates(weights, self.classes)

    def statement(self, target: Target, d: int, caveats: tuple[str, ...]) -> PrivacyStatement:
        """State the guarantee of the noise."""
        return noise_statement(
            self.calibrated(target, d), target, "party", "party", AGAINST_ALL_BUT_AGGREGATOR, caveats
        )


@dataclass(frozen=True, eq=False, repr=False)
class TrainedWeights:
    """Models V: (m, p, d), secret, entries below 2^22, and the noise of their sum."""

    method: Method
    V: Array
    public: Public
    noise: WeightNoise

    def release(self, target: Target, rng: Stream) -> Release:
        """Return the mean of the models with noise."""
        check_target(target, self.method)
        total, noisy = self.noise.integers(self.V, target), self.noise.remaining_functionality(target, self.V.shape[2])
        return release_parts(self.method, [total], self.public, target, rng, noisy)


@dataclass(frozen=True)
class MeanOfModels(OfParties):
    """Mean of local logistic or softmax models, each clipped."""

    caveats: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def noise(self, public: Public) -> WeightNoise:
        """Return the noise of the sum of the models."""

    @abstractmethod
    def clipped(self, V: Array, public: Public) -> Array:
        """Clip models V: (M, p, d), each as it enters the sum."""

    def prepare(self, rows: Rows, public: Public) -> Array:
        """Train the party's local model, V: (p, d)."""
        return train_weights(rows, public, self.lam)

    @override
    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        return self.noise(public).statement(target, public.dimension, self.caveats)

    @override
    def functionality(self, public: Public, target: Target) -> Sum:
        return self.noise(public).remaining_functionality(target, public.dimension)

    @override
    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Vector:
        V = self.prepare(rows, public)
        return self.noise(public).integers(self.clipped(V[np.newaxis], public), target)

    @override
    def finish(self, value: Vector, public: Public, target: Target) -> Release:
        model = self.noise(public).mean(value, public.parties, public.dimension, target)
        return Release(model, self.statement(public, target))

    @override
    def train_from(self, ensemble: Ensemble) -> TrainedWeights:
        public = ensemble.federation.public
        return TrainedWeights(self, self.clipped(ensemble.models(self), public), public, self.noise(public))


def minimiser_sensitivity(gradient: Fraction, lam: float, classes: int) -> Fraction:
    """Bound how far a certified minimiser moves, in L2, when its objective's gradient moves by at most `gradient`.

    min(gradient/lam, 2 W) + 2 tau/lam. Proof. The objective is lam-strongly convex, and at the minimiser of one data
    set its gradient on the other is at most `gradient` long, which gives the first bound; both minimisers have norm
    at most W (`largest_softmax_norm`), which gives the second. Each stored model is within tau/lam of its minimiser.
    tau is the solver's, and 2^-43 for what floats do outside of it: votes divided by M err by sqrt(C) 2^-54 at most,
    and the code of the classes by less than 2^-50.
    """
    mu = Fraction(lam)
    return min(gradient / mu, 2 * Fraction(largest_softmax_norm(classes, mu))) + 2 * _TAU / mu


def stacking_error(classes: int, lam: float) -> Fraction:
    """Bound what W = B V in floats adds to the distance of two models: 2 C^2 2^-51 (W + tau/lam); 0 for C = 2.

    p products are added in each entry, so the error is below p^(3/2) 2^-52 |V|, that of B's own entries included.
    """
    if classes == 2:
        return Fraction(0)
    norm = Fraction(largest_softmax_norm(classes, lam)) + _TAU / Fraction(lam)
    return 2 * Fraction(classes**2, 2**51) * norm


def clipped(V: Array, radius: float) -> Array:
    """Scale models V: (M, p, d), so that surely no norm exceeds the radius; NaN or infinity becomes 0.

    Floats err in a norm of k numbers and in the division by less than k + 8 units of 2^-52.
    """
    flat = V.reshape(len(V), -1)
    flat = np.where(np.isfinite(flat).all(axis=1, keepdims=True), flat, 0.0)
    largest = np.abs(flat).max(axis=1, keepdims=True).clip(min=_TINY)
    with np.errstate(over="ignore"):  # an infinite norm makes the model 0
        norms = largest * np.linalg.norm(flat / largest, axis=1, keepdims=True).clip(min=1.0)
    bound = radius * (1 - (flat.shape[1] + 8) * 2.0**-52)
    inside: Array = flat * np.minimum(1.0, bound / norms)
    return inside.reshape(V.shape)


def sum_on_grid(models: Array) -> list[int]:
    """Add over the first axis the entries rounded to the grid: exact integers, in the order of the entries.

    The entries are below 2^22; they are added in two halves, which cannot overflow below 2^31 models.
    """
    units = np.rint(np.ldexp(models.reshape(len(models), -1), GRID.fraction_bits)).astype(np.int64)
    high = (units >> _HALF_BITS).sum(axis=0)
    low = (units & ((1 << _HALF_BITS) - 1)).sum(axis=0)
    return [(h << _HALF_BITS) + part for h, part in zip(high.tolist(), low.tolist(), strict=True)]
