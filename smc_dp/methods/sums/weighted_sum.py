"""`wsum` and `wsum_ar`: every party's model times its number of rows, added up: as private as training in one place.

The sum S = sum of n_j w_j moves by at most G/mu when one record is replaced, whoever holds it and whatever the sizes
(theory of one model: G/(mu n_j), times n_j). So the noise needs no smallest size, nobody has to be found, and the
mean S/n has the noise that a trusted party with all n rows would add. Sizes are constants under `replace`.

When a record is added or taken away S moves by at most sqrt(sigmoid(W)^2 + (mu W)^2)/mu, again whatever the sizes. The
number of rows n is then protected too: `wsum_ar` does not divide by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.arrays import Array
from smc_dp.data.federation import Federation
from smc_dp.learning.solver import PUBLIC_TAU
from smc_dp.methods.method import TRUSTED, check_modulus, check_target
from smc_dp.methods.model import LinearModel, Release
from smc_dp.methods.pathak2010.averages import SIZES, models_of
from smc_dp.privacy.output import GRID, perturb, proven, statement
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.sensitivity import add_remove, replace_one
from smc_dp.privacy.statement import Adjacency
from smc_dp.privacy.target import Calibration, NoiseName, Target

CAVEATS = (SIZES,)
ANY_SIZE = (
    f"That a release takes place at all, because each party has from 1 to {LARGEST_N} rows, is not covered.",
    f"The weights are the sum over all rows divided by {LARGEST_N}, a public constant, because the number of rows is "
    "protected: labels depend on their direction only, and their length says nothing about how sure the model is.",
)


@dataclass(frozen=True)
class WeightedSum:
    """Size-weighted sum of logistic models with regulariser lam |w|^2 (mu = 2 lam), lam in [2^-29, 1e6]."""

    lam: float = 1e-3
    name: ClassVar[str] = "wsum"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven",)
    noises: ClassVar[tuple[NoiseName, ...]] = ("knorm", "laplace", "gauss")

    def __post_init__(self) -> None:
        check_modulus(self.lam)

    @property
    def sensitivity(self) -> Fraction:
        """Of the sum, in L2, to replacing one record: G/mu, and what the solver's tolerance adds for n_j rows."""
        return LARGEST_N * replace_one(LARGEST_N, 2 * Fraction(self.lam), PUBLIC_TAU)

    def train(self, federation: Federation) -> TrainedSum:
        """Each party's model; a party with one class only is of use too."""
        w, sizes = models_of(federation, self, self.lam), federation.sizes
        return TrainedSum(self, w, sizes, "replace", int(sizes.sum()), CAVEATS)


@dataclass(frozen=True)
class WeightedSumAddRemove:
    """`WeightedSum` for neighbours with one record more or less, which protects the number of rows as well."""

    lam: float = 1e-3
    name: ClassVar[str] = "wsum_ar"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven",)
    noises: ClassVar[tuple[NoiseName, ...]] = ("knorm", "laplace", "gauss")

    def __post_init__(self) -> None:
        check_modulus(self.lam)

    @property
    def sensitivity(self) -> Fraction:
        """Of the sum, in L2, to one record more or less, and what the solver's tolerance adds for n_j rows."""
        return add_remove(2 * Fraction(self.lam), LARGEST_N * PUBLIC_TAU)

    def train(self, federation: Federation) -> TrainedSum:
        """Each party's model; a party with one class only is of use too."""
        w, sizes = models_of(federation, self, self.lam), federation.sizes
        return TrainedSum(self, w, sizes, "addremove", LARGEST_N, ANY_SIZE)


@dataclass(frozen=True, eq=False, repr=False)
class TrainedSum:
    """w: (K, d), every party's model; sizes: (K,). divisor: of the sum, the number of rows or a public constant."""

    method: WeightedSum | WeightedSumAddRemove
    w: Array
    sizes: np.ndarray[tuple[int], np.dtype[np.int64]]
    adjacency: Adjacency
    divisor: int
    caveats: tuple[str, ...]

    def release(self, target: Target, rng: Stream) -> Release:
        """Noise on the sum, then the division."""
        check_target(target, self.method)
        noise = None if target.epsilon is None else proven(target, self.w.shape[1], self.method.sensitivity)
        weights = perturb(_sum(self.w, self.sizes), noise, rng, self.divisor)
        privacy = statement(noise, target, "record", self.adjacency, TRUSTED, self.caveats, rng=rng)
        return Release(LinearModel.from_coordinates(weights[np.newaxis], 2), privacy)


def _sum(w: Array, sizes: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[int]:
    """The sum of n_j w_j on the grid, each product rounded once, exactly."""
    parts = [GRID.encode(row.tolist(), factor=int(n)) for row, n in zip(w, sizes, strict=True)]
    return [sum(column) for column in zip(*parts, strict=True)]
