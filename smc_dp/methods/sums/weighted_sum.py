"""`wsum` and `wsum_ar`: every party's model times its number of rows, added up: as private as training in one place.

The sum S = sum of n_j w_j moves by at most G/mu when one record of any party is replaced, whatever the sizes
(theory of one model: G/(mu n_j), times n_j). So the noise needs no smallest size, nobody has to be found, and the
mean S/n has the noise that a trusted party with all n rows would add. Sizes are constants under `replace`.

When a record is added or taken away S moves by at most sqrt(sigmoid(W)^2 + (mu W)^2)/mu, again whatever the sizes. The
number of rows n is then protected too: `wsum_ar` does not divide by it.

Of three or more classes the models are softmax ones, and what moves S is bounded in the same way
(`smc_dp.privacy.sensitivity`): two gradients of up to sqrt 2 in place of up to 1.

In the clear, and by a protocol that adds up among parties who trust nobody, with noise that they draw in shares: each
enters its model times its number of rows, on the grid, and its own share of the noise. Under `replace` numbers of rows
are constants that neighbours share, so the sum of those who took part may be one more coordinate, without noise; when a
record is added or taken away it may not.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from typing_extensions import override

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.functionality import Sum, Vector, add_vectors
from smc_dp.methods.method import (
    AGAINST_ALL_BUT_AGGREGATOR,
    TrainedParts,
    Trust,
    announced_sizes,
    check_own_rows,
    check_rows_of_parties,
)
from smc_dp.methods.model import LinearModel, Release
from smc_dp.methods.neighbours import STRONG_LAMBDA, NeighbourPair, added_record_pair, record_pair
from smc_dp.methods.pathak2010.models import SIZES_CAVEAT
from smc_dp.methods.sums.noisy_sum import (
    NoisySum,
    Summed,
    SumReach,
    released_rows_caveats,
    require_hidden_sizes,
    unreleased_rows_caveat,
)
from smc_dp.methods.sums.threat_model import AnnouncedRows, RowCounts, ThreatModel
from smc_dp.methods.training.batch import train_all
from smc_dp.methods.training.classes import coordinate_count
from smc_dp.methods.training.solver import PUBLIC_TAU
from smc_dp.privacy.output import GRID, Calibrated, calibrate_noise, noise_statement
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.sensitivity import add_remove, largest_softmax_norm, replace_one
from smc_dp.privacy.statement import Adjacency, PrivacyStatement, Unit
from smc_dp.privacy.target import Calibration, Target

WEIGHTED_SUM_CAVEATS = (SIZES_CAVEAT,)
ADD_REMOVE_CAVEATS = (
    f"The fact that a release takes place at all, because each party has from 1 to {LARGEST_N} rows, is not covered.",
    f"The weights are the sum over all rows divided by {LARGEST_N}, a public constant, because the number of rows is "
    "protected: labels depend on their direction only, and their length says nothing about how sure the model is.",
)
"""Caveats of `wsum_ar`, whose neighbours differ in the number of rows."""


@dataclass(frozen=True, eq=False, repr=False)
class OwnModel:
    """Local result of a party, whatever noise is wanted: its model w: (p d,), of so many rows."""

    w: Array
    rows: int


@dataclass(frozen=True)
class _BySize(Summed):
    """The sum of logistic or softmax models times sizes, with regulariser lam |w|^2 (mu = 2 lam), lam in [2^-29, 1e6].

    The models are w: (p d,), p as in `smc_dp.methods.training.classes`.
    """

    lam: float = 1e-3
    protects: ClassVar[Unit] = "record"
    lambda_multiplies: ClassVar[str] = "|w|²"

    @abstractmethod
    def sensitivity_to(self, most_rows: int, classes: int = 2) -> Fraction:
        """Bound the sum's L2 sensitivity where no party has more rows than this, the solver's tolerance included."""

    @property
    def sensitivity(self) -> Fraction:
        """L2 sensitivity of the sum of models of two classes, whatever the sizes are."""
        return self.sensitivity_to(LARGEST_N)

    def shared(
        self, public: Public, target: Target, threat_model: ThreatModel, announced: AnnouncedRows
    ) -> SharedWeightedSum:
        """Return the specification for a secure sum."""
        return SharedWeightedSum(self, public, target, threat_model, announced)

    @override
    def prepare(self, rows: Rows, public: Public) -> OwnModel:
        check_own_rows(rows)
        return OwnModel(train_all([(rows.X, rows.y)], public.classes, 2 * self.lam)[0].ravel(), len(rows))

    def noise(self, public: Public, target: Target) -> Calibrated | None:
        """Return the noise of the sum; None for no noise."""
        if target.epsilon is None:
            return None
        sensitivity = self.sensitivity_to(LARGEST_N, public.classes)
        return calibrate_noise(target, coordinate_count(public.classes) * public.dimension, sensitivity)

    @override
    def functionality(self, public: Public, target: Target) -> Sum:
        noise = self.noise(public, target)
        return Sum(None if noise is None else noise.distribution)

    @override
    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Vector:
        trained = self.prepare(rows, public)
        return tuple(GRID.encode(trained.w.tolist(), factor=trained.rows))

    @override
    def train(self, federation: Federation) -> TrainedParts[Release]:
        check_rows_of_parties(federation)
        public, parties = federation.public, [(rows.X, rows.y) for rows in federation.parties]
        w = train_all(parties, federation.classes, 2 * self.lam).reshape(len(parties), -1)
        total = add_vectors(
            [tuple(GRID.encode(v.tolist(), factor=len(y))) for v, (_, y) in zip(w, parties, strict=True)]
        )
        return TrainedParts(self, public, w, lambda *_: [total])


@dataclass(frozen=True)
class WeightedSum(_BySize):
    """The mean over all rows: neighbours have another record."""

    name: ClassVar[str] = "wsum"
    sizes: ClassVar[RowCounts] = "released"
    colour: ClassVar[str] = "#b400d8"

    @classmethod
    @override
    def audit_pair(cls, calibration: Calibration) -> NeighbourPair:
        return record_pair(cls(STRONG_LAMBDA))

    @override
    def sensitivity_to(self, most_rows: int, classes: int = 2) -> Fraction:
        # n (G/(mu n) + 2 tau/mu) grows with n, so the largest n bounds all.
        return most_rows * replace_one(most_rows, 2 * Fraction(self.lam), PUBLIC_TAU, classes)

    @override
    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        return noise_statement(
            self.noise(public, target), target, "record", "replace", AGAINST_ALL_BUT_AGGREGATOR, WEIGHTED_SUM_CAVEATS
        )

    @override
    def finish(self, value: Vector, public: Public, target: Target) -> Release:
        privacy = self.statement(public, target)
        return Release(_model(value, sum(announced_sizes(public, self)), public), privacy)


@dataclass(frozen=True)
class WeightedSumAddRemove(_BySize):
    """`WeightedSum` for neighbours with one record more or less, which protects the number of rows as well."""

    name: ClassVar[str] = "wsum_ar"
    adjacency: ClassVar[Adjacency] = "addremove"
    colour: ClassVar[str] = "#e478d8"

    @classmethod
    @override
    def audit_pair(cls, calibration: Calibration) -> NeighbourPair:
        return added_record_pair(cls(STRONG_LAMBDA))

    @override
    def sensitivity_to(self, most_rows: int, classes: int = 2) -> Fraction:
        return add_remove(2 * Fraction(self.lam), most_rows * PUBLIC_TAU, classes)

    @override
    def shared(
        self, public: Public, target: Target, threat_model: ThreatModel, announced: AnnouncedRows
    ) -> SharedWeightedSum:
        require_hidden_sizes(self, announced, "protects the number of rows")
        return super().shared(public, target, threat_model, announced)

    @override
    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        return noise_statement(
            self.noise(public, target), target, "record", "addremove", AGAINST_ALL_BUT_AGGREGATOR, ADD_REMOVE_CAVEATS
        )

    @override
    def finish(self, value: Vector, public: Public, target: Target) -> Release:
        return Release(_model(value, LARGEST_N, public), self.statement(public, target))


@dataclass(frozen=True)
class SharedWeightedSum(NoisySum[_BySize]):
    """The sum of models times numbers of rows among these parties, p d numbers; see `NoisySum`."""

    @cached_property
    @override
    def reach(self) -> SumReach:
        mu, most = 2 * Fraction(self.method.lam), self.announced.most_rows
        classes = self.public.classes
        longest = Fraction(largest_softmax_norm(classes, mu)) + Fraction(PUBLIC_TAU) / mu
        numbers = coordinate_count(classes) * self.public.dimension
        return SumReach(numbers, self.method.sensitivity_to(most, classes), longest * most)

    @property
    @override
    def plain(self) -> int:
        return 1 if self.announced.sizes == "released" else 0

    @property
    def knows_rows(self) -> bool:
        """True where the number of rows is released; see `HasOpenScale`."""
        return self.plain > 0

    @override
    def numbers_of(self, trained: OwnModel) -> Vector:
        return (*self.grid.encode(trained.w.tolist(), factor=trained.rows), *[trained.rows][: self.plain])

    @override
    def model(self, value: Vector) -> LinearModel:
        # A malicious party may enter any number of rows, and a model is made of whatever comes.
        divisor = max(1, value[-1]) if self.plain else self.threat_model.parties * self.announced.most_rows
        return _as_model(self.reals(value, divisor), self.public)

    @override
    def caveats(self) -> Iterator[str]:
        if self.plain:
            yield from released_rows_caveats(self.threat_model)
        else:
            yield unreleased_rows_caveat(self.threat_model, self.announced)


def _model(total: Vector, divisor: int, public: Public) -> LinearModel:
    return _as_model(GRID.decode(total, divisor), public)


def _as_model(weights: list[float], public: Public) -> LinearModel:
    return LinearModel.from_coordinates(np.array(weights).reshape(-1, public.dimension), public.classes)
