"""`wsum` and `wsum_ar`: every party's model times its number of rows, added up: as private as training in one place.

The sum S = sum of n_j w_j moves by at most G/mu when one record is replaced, whoever holds it and whatever the sizes
(theory of one model: G/(mu n_j), times n_j). So the noise needs no smallest size, nobody has to be found, and the
mean S/n has the noise that a trusted party with all n rows would add. Sizes are constants under `replace`.

When a record is added or taken away S moves by at most sqrt(sigmoid(W)^2 + (mu W)^2)/mu, again whatever the sizes. The
number of rows n is then protected too: `wsum_ar` does not divide by it.

Of three or more classes the models are softmax ones, and what moves S is bounded in the same way
(`smc_dp.privacy.sensitivity`): two gradients of up to sqrt 2 in place of up to 1.

In the clear here, by a protocol among parties who trust nobody in `secure_sum`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.functionality import Sum, Vector, added
from smc_dp.methods.method import (
    TRUSTED,
    Trust,
    announced_sizes,
    check_modulus,
    check_sizes,
    released,
)
from smc_dp.methods.model import LinearModel, Release
from smc_dp.methods.neighbours import STRONG, NeighbourPair, one_more, one_record
from smc_dp.methods.pathak2010.models import SIZES
from smc_dp.methods.sums.among import Among, AnnouncedRows, RowCounts
from smc_dp.methods.sums.noisy_sum import hidden_only
from smc_dp.methods.sums.secure_sum import OwnModel, SharedWeightedSum
from smc_dp.methods.training.batch import train_all
from smc_dp.methods.training.classes import coordinates
from smc_dp.methods.training.solver import PUBLIC_TAU
from smc_dp.privacy.output import GRID, Calibrated, proven, stated
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.sensitivity import add_remove, replace_one
from smc_dp.privacy.statement import Adjacency, PrivacyStatement, Unit
from smc_dp.privacy.target import Calibration, NoiseName, Target

CAVEATS = (SIZES,)
ANY_SIZE = (
    f"That a release takes place at all, because each party has from 1 to {LARGEST_N} rows, is not covered.",
    f"The weights are the sum over all rows divided by {LARGEST_N}, a public constant, because the number of rows is "
    "protected: labels depend on their direction only, and their length says nothing about how sure the model is.",
)


@dataclass(frozen=True)
class WeightedSum:
    """Size-weighted sum of logistic or softmax models with regulariser lam |w|^2 (mu = 2 lam), lam in [2^-29, 1e6]."""

    lam: float = 1e-3
    name: ClassVar[str] = "wsum"
    by_protocols: ClassVar[tuple[str, ...]] = ("secure_sum",)
    secure_noises: ClassVar[tuple[NoiseName, ...]] = ("vg", "ddg", "self")
    binary: ClassVar[bool] = False
    needs_two_classes: ClassVar[bool] = False
    protects: ClassVar[Unit] = "record"
    adjacency: ClassVar[Adjacency] = "replace"
    sizes: ClassVar[RowCounts] = "released"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven",)
    noises: ClassVar[tuple[NoiseName, ...]] = ("knorm", "laplace", "gauss")
    printed_noises: ClassVar[tuple[NoiseName, ...]] = ()
    lambda_multiplies: ClassVar[str] = "|w|²"
    colour: ClassVar[str] = "#b400d8"

    def __post_init__(self) -> None:
        check_modulus(self.lam)

    @classmethod
    def neighbours(cls, calibration: Calibration) -> NeighbourPair:
        """A record of the smaller party."""
        return one_record(cls(STRONG))

    @property
    def sensitivity(self) -> Fraction:
        """Of the sum of models of two classes, in L2, whatever the sizes are."""
        return self.sensitivity_to(LARGEST_N)

    def sensitivity_to(self, most_rows: int, classes: int = 2) -> Fraction:
        """Of the sum, in L2, to replacing one record: G/mu, and what the solver's tolerance adds for so many rows."""
        return most_rows * replace_one(most_rows, 2 * Fraction(self.lam), PUBLIC_TAU, classes)

    def shared(self, public: Public, target: Target, among: Among, announced: AnnouncedRows) -> SharedWeightedSum:
        """The same by a protocol that adds up."""
        return SharedWeightedSum(self, public, target, among, announced)

    def at_home(self, rows: Rows, public: Public) -> OwnModel:
        """The party's model, which no target has a say in."""
        return OwnModel.of(self, rows, public)

    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        """What was asked for, whatever the sizes are."""
        return stated(_noise(self, public, target), target, "record", "replace", TRUSTED, CAVEATS)

    def functionality(self, public: Public, target: Target) -> Sum:
        """The sum over all rows, with noise."""
        return _noisy_sum(self, public, target)

    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Vector:
        """The party's model times its number of rows, on the grid."""
        return _part(self, rows, public)

    def finish(self, value: Vector, public: Public, target: Target) -> Release:
        """The sum over the number of all rows."""
        privacy = self.statement(public, target)
        return Release(_model(value, sum(announced_sizes(public, self)), public), privacy)

    def train(self, federation: Federation) -> TrainedSum:
        """Each party's model; a party with one class only is of use too."""
        return TrainedSum(self, _models_of(federation, self.lam), federation.public)


@dataclass(frozen=True)
class WeightedSumAddRemove:
    """`WeightedSum` for neighbours with one record more or less, which protects the number of rows as well."""

    lam: float = 1e-3
    name: ClassVar[str] = "wsum_ar"
    by_protocols: ClassVar[tuple[str, ...]] = ("secure_sum",)
    secure_noises: ClassVar[tuple[NoiseName, ...]] = ("vg", "ddg", "self")
    binary: ClassVar[bool] = False
    needs_two_classes: ClassVar[bool] = False
    protects: ClassVar[Unit] = "record"
    adjacency: ClassVar[Adjacency] = "addremove"
    sizes: ClassVar[RowCounts] = "hidden"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven",)
    noises: ClassVar[tuple[NoiseName, ...]] = ("knorm", "laplace", "gauss")
    printed_noises: ClassVar[tuple[NoiseName, ...]] = ()
    lambda_multiplies: ClassVar[str] = "|w|²"
    colour: ClassVar[str] = "#e478d8"

    def __post_init__(self) -> None:
        check_modulus(self.lam)

    @classmethod
    def neighbours(cls, calibration: Calibration) -> NeighbourPair:
        """A record more of the only party."""
        return one_more(cls(STRONG))

    @property
    def sensitivity(self) -> Fraction:
        """Of the sum of models of two classes, in L2, whatever the sizes are."""
        return self.sensitivity_to(LARGEST_N)

    def sensitivity_to(self, most_rows: int, classes: int = 2) -> Fraction:
        """Of the sum, in L2, to one record more or less, and what the solver's tolerance adds for so many rows."""
        return add_remove(2 * Fraction(self.lam), most_rows * PUBLIC_TAU, classes)

    def shared(self, public: Public, target: Target, among: Among, announced: AnnouncedRows) -> SharedWeightedSum:
        """The same by a protocol that adds up; InputError for a number of rows that is to be released."""
        hidden_only(self, announced, "protects the number of rows")
        return SharedWeightedSum(self, public, target, among, announced)

    def at_home(self, rows: Rows, public: Public) -> OwnModel:
        """The party's model, which no target has a say in."""
        return OwnModel.of(self, rows, public)

    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        """What was asked for; nothing here looks at the sizes."""
        return stated(_noise(self, public, target), target, "record", "addremove", TRUSTED, ANY_SIZE)

    def functionality(self, public: Public, target: Target) -> Sum:
        """The sum over all rows, with noise."""
        return _noisy_sum(self, public, target)

    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Vector:
        """The party's model times its number of rows, on the grid."""
        return _part(self, rows, public)

    def finish(self, value: Vector, public: Public, target: Target) -> Release:
        """The sum over a public constant."""
        return Release(_model(value, LARGEST_N, public), self.statement(public, target))

    def train(self, federation: Federation) -> TrainedSum:
        """Each party's model; a party with one class only is of use too."""
        return TrainedSum(self, _models_of(federation, self.lam), federation.public)


@dataclass(frozen=True, eq=False, repr=False)
class TrainedSum:
    """w: (K, p d), every party's model, p as in `smc_dp.methods.training.classes`."""

    method: WeightedSum | WeightedSumAddRemove
    w: Array
    public: Public

    def release(self, target: Target, rng: Stream) -> Release:
        """Noise on the sum, then the division."""
        return released(self.method, [self._total], self.public, target, rng)

    @cached_property
    def _total(self) -> Vector:
        sizes = announced_sizes(self.public, self.method)
        return added([_times(w, n) for w, n in zip(self.w, sizes, strict=True)])


def _noise(method: WeightedSum | WeightedSumAddRemove, public: Public, target: Target) -> Calibrated | None:
    if target.epsilon is None:
        return None
    sensitivity = method.sensitivity_to(LARGEST_N, public.classes)
    return proven(target, coordinates(public.classes) * public.dimension, sensitivity)


def _models_of(federation: Federation, lam: float) -> Array:
    check_sizes(federation)
    parties = [(rows.X, rows.y) for rows in federation.parties]
    return train_all(parties, federation.classes, 2 * lam).reshape(len(parties), -1)


def _noisy_sum(method: WeightedSum | WeightedSumAddRemove, public: Public, target: Target) -> Sum:
    noise = _noise(method, public, target)
    return Sum(None if noise is None else noise.law)


def _part(method: WeightedSum | WeightedSumAddRemove, rows: Rows, public: Public) -> Vector:
    trained = method.at_home(rows, public)
    return _times(trained.w, trained.rows)


def _times(w: Array, n: int) -> Vector:
    """n w on the grid, each product rounded once, exactly."""
    return tuple(GRID.encode(w.tolist(), factor=n))


def _model(total: Vector, divisor: int, public: Public) -> LinearModel:
    V = np.array(GRID.decode(total, divisor)).reshape(-1, public.dimension)
    return LinearModel.from_coordinates(V, public.classes)
