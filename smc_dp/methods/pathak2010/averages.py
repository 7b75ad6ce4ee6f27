"""`prr_mean`, `central`, `local`: the averaged models of Pathak, Rane and Raj (NIPS 2010), and what they compare with.

All minimise their objective (2), the mean log-loss plus lam |w|^2, so mu = 2 lam. One record replaced moves a model of
n records by at most G/(mu n). `prr_mean` is the plain mean of all parties' models with the noise of the smallest party,
`central` one model of all rows in one place, `local` the mean of models that each party publishes with its own noise,
which needs no cryptography at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import ClassVar

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.aggregation.functionality import (
    Contribution,
    EachPublishes,
    Sum,
    SumWithSmallestNoise,
    Trusted,
    Vector,
    added,
)
from smc_dp.arrays import Array
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.errors import InputError, shown
from smc_dp.learning.batch import train_all
from smc_dp.learning.objective import RegularisedLogistic
from smc_dp.learning.solver import PUBLIC_TAU, minimise
from smc_dp.methods.method import (
    Method,
    Trust,
    check_modulus,
    check_own_size,
    check_sizes,
    check_target,
    released,
    two_classes,
)
from smc_dp.methods.model import LinearModel, Release
from smc_dp.methods.neighbours import STRONG, NeighbourPair, one_record, own_noise
from smc_dp.privacy.output import GRID, Calibrated, Law, on_grid, perturb, proven, stated
from smc_dp.privacy.pathak2010 import LARGEST_N, guarantee, noise_for
from smc_dp.privacy.sensitivity import largest_norm, replace_one
from smc_dp.privacy.statement import PrivacyStatement, Unit
from smc_dp.privacy.target import Calibration, NoiseName, Target

SIZES = "The sizes of the data sets are constants of the neighbourhood: they are not protected."
COMPUTED = (
    "anyone who sees the release, except the one who computed it from the models of all parties and whoever drew the "
    "noise"
)
IN_ONE_PLACE = (
    "Whoever computed this release had all models and is trusted with them.",
    "The noise is made for the smallest party; whoever draws it knows it, can subtract it, and so has the exact mean.",
    "The sizes of the data sets are not protected: the smallest one sets the scale of the noise and can be estimated "
    "from the release.",
)
EVERYBODY = (
    "anyone who sees the published models and the release, except the party whose record it is: each party adds its "
    "noise itself and trusts nobody"
)
OWNER = "anyone who sees the release, but not the one who computed it and had all rows of all parties"
_LOWEST, _HIGHEST = Fraction(1, 10**9), Fraction(10**6)


def model_of(rows: Rows, lam: float) -> list[int]:
    """One party's model on the grid: d integers."""
    return GRID.encode(minimise(RegularisedLogistic(lam), rows.X, 2.0 * rows.y - 1).weights.tolist())


def models_of(federation: Federation, method: Method, lam: float) -> Array:
    """Every party's model: (K, d); InputError for other than two classes, or for more rows than tolerances allow."""
    two_classes(federation, method)
    check_sizes(federation)
    return train_all([(rows.X, rows.y) for rows in federation.parties], 2, 2 * lam)[:, 0]


def noise_of(target: Target, n: int, dimension: int, lam: float, parties: int = 1) -> Calibrated | None:
    """The noise of a sum of so many models when one record of a model of n rows is replaced; None for no noise."""
    if target.epsilon is None:
        return None
    delta = replace_one(n, 2 * Fraction(lam), PUBLIC_TAU)
    calibrated = proven(target, dimension, delta)
    if target.noise == "gauss":
        return calibrated
    law = noise_for(
        n, parties=parties, dimension=dimension, epsilon=target.epsilon, lam=Fraction(lam),
        calibration=target.calibration, noise=target.noise, grid=GRID, tau=PUBLIC_TAU,
    )  # fmt: skip
    return Calibrated(law, calibrated.sensitivity)


@dataclass(frozen=True)
class PathakMean:
    """The mean of the parties' models with noise for the smallest party; lam in [1e-9, 1e6].

    `paper`: the printed scale 2/(n_(1) epsilon lam), whichever the noise. `proven`: G/(mu K n_(1)), because the mean
    of K models moves K times less than one. The sizes of the parties set the scale, so neighbours have equal sizes:
    were a record added to the smallest party, the two scales would differ and no epsilon would bound the ratio.
    `as_printed`: for the printed steps, which multiply the noise by K themselves, so that it is drawn for the mean.
    """

    lam: float = 1e-3
    as_printed: bool = False
    name: ClassVar[str] = "prr_mean"
    protects: ClassVar[Unit] = "record"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven", "paper")
    noises: ClassVar[tuple[NoiseName, ...]] = ("knorm", "laplace", "gauss")
    printed_noises: ClassVar[tuple[NoiseName, ...]] = ("knorm", "laplace")
    lambda_multiplies: ClassVar[str] = "|w|²"
    colour: ClassVar[str] = "#1f77b4"

    def __post_init__(self) -> None:
        if not isinstance(self.lam, int | float) or not _LOWEST <= self.lam <= _HIGHEST:
            raise InputError(f"lambda: wanted a number from 1e-09 to 1e+06, got {shown(self.lam)}")

    @classmethod
    def neighbours(cls, calibration: Calibration) -> NeighbourPair:
        """A record of the smaller party."""
        return one_record(cls(STRONG))

    def noise(self, target: Target, n: int, public: Public) -> Calibrated | None:
        """What a party with n rows would add to the sum of all models if it were the smallest."""
        return noise_of(target, n, public.dimension, self.lam, 1 if self.as_printed else public.parties)

    def law(self, target: Target, n: int, public: Public) -> Law:
        """The law of that noise; ValueError when no noise was asked for."""
        noise = self.noise(target, n, public)
        if noise is None:
            raise ValueError("no noise was asked for, so it has no law")
        return noise.law

    def largest(self, n: int, public: Public, target: Target) -> int:
        """What no entry of the sum exceeds on the grid, whatever the rows say, if a party of n rows adds its noise."""
        if n > LARGEST_N:
            raise InputError(f"wanted at most {LARGEST_N} rows, got {n}")
        noise, mu = self.noise(target, n, public), 2 * Fraction(self.lam)
        tail = 0 if noise is None else noise.law.tail() * self.functionality(public, target).times
        longest = Fraction(largest_norm(mu)) + Fraction(PUBLIC_TAU) / mu
        return public.parties * (ceil(longest * (1 << GRID.fraction_bits)) + 1) + tail

    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        """For the announced sizes; `secure`, by the curator protocol, holds whatever they are.

        The protocol's statement has no Gaussian noise: InputError.
        """
        if trust == "secure" and target.epsilon is not None:
            if target.noise == "gauss":
                raise InputError(f"noise: {self.name} by a protocol has knorm and laplace, got gauss")
            return guarantee(
                parties=public.parties, dimension=public.dimension, epsilon=target.epsilon, lam=Fraction(self.lam),
                calibration=target.calibration, noise=target.noise, grid=GRID, tau=PUBLIC_TAU,
            )  # fmt: skip
        noise = self.noise(target, min(public.sizes or (LARGEST_N,)), public)
        return stated(noise, target, "record", "replace", COMPUTED, IN_ONE_PLACE)

    def functionality(self, public: Public, target: Target) -> SumWithSmallestNoise:
        """The sum of all models and the noise of the smallest party."""
        return SumWithSmallestNoise(public.parties if self.as_printed else 1)

    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Contribution:
        """Section 3.1: train, put the weights on the grid, draw the noise of the sum."""
        two_classes(public, self)
        check_own_size(rows)
        noise = self.noise(target, len(rows), public)
        drawn = [0] * public.dimension if noise is None else noise.law.sample(rng)
        return Contribution(len(rows), tuple(model_of(rows, self.lam)), tuple(drawn))

    def finish(self, value: Vector, public: Public, target: Target) -> Release:
        """Section 3.3: the sum over the number of parties."""
        return Release(_binary(np.array(GRID.decode(value, public.parties))), self.statement(public, target))

    def train(self, federation: Federation) -> TrainedMean:
        """Each party's model; a party with one class only is of use too."""
        return TrainedMean(self, models_of(federation, self, self.lam), federation.public)


@dataclass(frozen=True, eq=False, repr=False)
class TrainedMean:
    """w: (K, d), every party's model."""

    method: PathakMean
    w: Array
    public: Public

    def release(self, target: Target, rng: Stream) -> Release:
        """In the clear, what a protocol would compute without a trusted party.

        Only the noise of the smallest party is ever used, so that it alone is drawn; and one party may be on its own.
        """
        check_target(target, self.method)
        noise = self.method.noise(target, min(self.public.sizes or ()), self.public)
        times = self.method.functionality(self.public, target).times
        drawn = [] if noise is None else [[times * e for e in noise.law.sample(rng)]]
        return released(self.method, [self._total, *drawn], self.public, target, rng, Sum())

    @cached_property
    def _total(self) -> Vector:
        return added([on_grid(w) for w in self.w])


@dataclass(frozen=True)
class Central:
    """One model of all rows in one place: the private w* of the paper's Figure 2; lam in [2^-29, 1e6].

    `paper`: scale 2/(n epsilon lam). `proven`: G/(mu n). A part is the party's rows.
    """

    lam: float = 1e-3
    name: ClassVar[str] = "central"
    protects: ClassVar[Unit] = "record"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven", "paper")
    noises: ClassVar[tuple[NoiseName, ...]] = ("knorm", "laplace", "gauss")
    printed_noises: ClassVar[tuple[NoiseName, ...]] = ("knorm", "laplace")
    lambda_multiplies: ClassVar[str] = "|w|²"
    colour: ClassVar[str] = "#222222"

    def __post_init__(self) -> None:
        check_modulus(self.lam)

    @classmethod
    def neighbours(cls, calibration: Calibration) -> NeighbourPair:
        """A record of the only party."""
        return own_noise(cls(STRONG), several=False)

    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        """For the announced number of rows."""
        noise = noise_of(target, sum(public.sizes or ()), public.dimension, self.lam)
        return stated(noise, target, "record", "replace", OWNER, (SIZES,))

    def functionality(self, public: Public, target: Target) -> Trusted:
        """Somebody has all rows, trains and adds the noise."""
        return Trusted(lambda parts, rng: self.noisy(self._model(parts, public.classes), public, target, rng))

    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Rows:
        """The rows themselves."""
        return rows

    def finish(self, value: Array, public: Public, target: Target) -> Release:
        """The weights as they are."""
        return Release(_binary(value), self.statement(public, target))

    def train(self, federation: Federation) -> TrainedCentral:
        """The model of all rows."""
        return TrainedCentral(self, self._model(federation.parties, federation.classes), federation.public)

    def _model(self, parts: Sequence[Rows], classes: int) -> Array:
        pooled = Rows(np.concatenate([rows.X for rows in parts]), np.concatenate([rows.y for rows in parts]))
        one = Federation((pooled,), classes, names=("of all rows",))
        model: Array = models_of(one, self, self.lam)[0]
        return model

    def noisy(self, w: Array, public: Public, target: Target, rng: Stream) -> Array:
        """The model of all rows as it may be shown."""
        noise = noise_of(target, sum(public.sizes or ()), public.dimension, self.lam)
        return perturb(on_grid(w), noise, rng)


@dataclass(frozen=True, eq=False, repr=False)
class TrainedCentral:
    """w: (d,), the model of all rows."""

    method: Central
    w: Array
    public: Public

    def release(self, target: Target, rng: Stream) -> Release:
        """The model with noise."""
        noisy = Trusted(lambda _, rng: self.method.noisy(self.w, self.public, target, rng))
        return released(self.method, [self.w], self.public, target, rng, noisy)


@dataclass(frozen=True)
class Local:
    """The mean of models that the parties publish themselves, each with noise for its own rows; lam in [2^-29, 1e6].

    Sensitivity G/(mu n_j). The parties' records are disjoint, so what each model spends is what all of them spend.
    """

    lam: float = 1e-3
    name: ClassVar[str] = "local"
    protects: ClassVar[Unit] = "record"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven",)
    noises: ClassVar[tuple[NoiseName, ...]] = ("knorm", "laplace", "gauss")
    printed_noises: ClassVar[tuple[NoiseName, ...]] = ()
    lambda_multiplies: ClassVar[str] = "|w|²"
    colour: ClassVar[str] = "#2ca02c"

    def __post_init__(self) -> None:
        check_modulus(self.lam)

    @classmethod
    def neighbours(cls, calibration: Calibration) -> NeighbourPair:
        """A record of the only party."""
        return own_noise(cls(STRONG), several=False)

    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        """Any party's noise stands for all: each spends exactly what was asked for."""
        noise = noise_of(target, 1, public.dimension, self.lam)
        return stated(noise, target, "record", "replace", EVERYBODY, (SIZES,))

    def functionality(self, public: Public, target: Target) -> EachPublishes:
        """Every party publishes its own model."""
        return EachPublishes()

    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Vector:
        """The party's model on the grid with its own noise."""
        two_classes(public, self)
        check_own_size(rows)
        return self.noisy(model_of(rows, self.lam), len(rows), target, rng)

    def noisy(self, weights: Sequence[int], n: int, target: Target, rng: Stream) -> Vector:
        """A model of n rows as it may leave its owner."""
        noise = noise_of(target, n, len(weights), self.lam)
        return tuple(weights) if noise is None else added([weights, noise.law.sample(rng)])

    def finish(self, value: Sequence[Vector], public: Public, target: Target) -> Release:
        """The mean of the published models."""
        published = np.array([GRID.decode(model) for model in value])
        return Release(_binary(published.mean(axis=0)), self.statement(public, target))

    def train(self, federation: Federation) -> TrainedLocal:
        """Each party's model; a party with one class only is of use too."""
        return TrainedLocal(self, models_of(federation, self, self.lam), federation.public)


@dataclass(frozen=True, eq=False, repr=False)
class TrainedLocal:
    """w: (K, d), every party's model."""

    method: Local
    w: Array
    public: Public

    def release(self, target: Target, rng: Stream) -> Release:
        """Noise on every model, then their mean."""
        check_target(target, self.method)
        sizes = self.public.sizes or ()
        parts = [self.method.noisy(on_grid(w), n, target, rng) for w, n in zip(self.w, sizes, strict=True)]
        return released(self.method, parts, self.public, target, rng)


def _binary(w: Array) -> LinearModel:
    return LinearModel.from_coordinates(w[np.newaxis], 2)
