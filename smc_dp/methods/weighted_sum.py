"""`wsum`: every party's model times its number of rows, added up: as private as training in one place.

The sum S = sum of n_j w_j moves by at most G/mu when one record is replaced, whoever holds it and whatever the sizes
(theory of one model: G/(mu n_j), times n_j). So the noise needs no smallest size, nobody has to be found, and the
mean S/n has the noise that a trusted party with all n rows would add. Sizes are constants under `replace`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.data.federation import Federation
from smc_dp.learning.objective import RegularisedLogistic
from smc_dp.learning.solver import PUBLIC_TAU, minimise
from smc_dp.methods.method import TRUSTED, check_modulus, check_sizes, check_target, two_classes
from smc_dp.methods.model import LinearModel, Release
from smc_dp.privacy.output import GRID, perturb, proven, statement
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.sensitivity import replace_one
from smc_dp.privacy.target import Calibration, NoiseName, Target
from smc_dp.unit_ball import Array

CAVEATS = ("The sizes of the data sets are constants of the neighbourhood: they are not protected.",)


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
        two_classes(federation, self)
        check_sizes(federation)
        objective = RegularisedLogistic(self.lam)
        models = [minimise(objective, rows.X, 2.0 * rows.y - 1).weights for rows in federation.parties]
        return TrainedSum(self, np.array(models), federation.sizes)


@dataclass(frozen=True, eq=False, repr=False)
class TrainedSum:
    """w: (K, d), every party's model; sizes: (K,)."""

    method: WeightedSum
    w: Array
    sizes: np.ndarray[tuple[int], np.dtype[np.int64]]

    def release(self, target: Target, rng: Stream) -> Release:
        """Noise on the sum, then the mean over all n rows."""
        check_target(target, self.method)
        d = self.w.shape[1]
        noise = None if target.epsilon is None else proven(target, d, self.method.sensitivity)
        parts = [GRID.encode(w.tolist(), factor=int(n)) for w, n in zip(self.w, self.sizes, strict=True)]
        total = [sum(column) for column in zip(*parts, strict=True)]
        weights = perturb(total, noise, rng, divisor=int(self.sizes.sum()))
        privacy = statement(noise, target, "record", "replace", TRUSTED, CAVEATS, rng=rng)
        return Release(LinearModel.from_coordinates(weights[np.newaxis], 2), privacy)
