"""`param_laplace`: every party trains, adds Laplace noise to its parameters, and uploads them (Algorithm 1).

The paper leaves the sensitivity open. For its objective, which has no regulariser, it is infinite: where a hyperplane
separates the classes there is no minimiser, and one record decides that. With mu-strong convexity one of n_j records
moves a minimiser by at most G/(mu n_j) in L2 (`smc_dp.privacy.sensitivity`), so by sqrt(d + 1) times that in L1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.arrays import Array
from smc_dp.data.federation import Federation
from smc_dp.errors import InputError
from smc_dp.learning.objective import RegularisedLogistic
from smc_dp.learning.solver import PUBLIC_TAU, minimise
from smc_dp.methods.collaborative.rounds import (
    SERVER,
    SIZES,
    BiasedModel,
    RoundsRelease,
    average,
    for_plain_rows,
    scaled,
)
from smc_dp.methods.method import check_modulus, check_sizes, check_target, two_classes
from smc_dp.privacy.output import Calibrated, on_grid, perturb, proven, statement
from smc_dp.privacy.sensitivity import replace_one
from smc_dp.privacy.target import Calibration, NoiseName, Target


@dataclass(frozen=True)
class ParamLaplace:
    """Logistic regression on rows (x, 1)/sqrt 2 with regulariser lam |theta|^2 (mu = 2 lam), lam in [2^-29, 1e6]."""

    lam: float = 1e-3
    name: ClassVar[str] = "param_laplace"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven",)
    noises: ClassVar[tuple[NoiseName, ...]] = ("laplace",)

    def __post_init__(self) -> None:
        if self.lam == 0:
            raise InputError(
                "lambda: wanted a positive number, got 0: without a regulariser one record can move the parameters "
                "without bound, so no noise is enough"
            )
        check_modulus(self.lam)

    def noise(self, target: Target, n: int, dimension: int) -> Calibrated | None:
        """What a party with n records adds to its parameters (dimension d + 1); None if no noise was asked for."""
        if target.epsilon is None:
            return None
        return proven(target, dimension, replace_one(n, 2 * Fraction(self.lam), PUBLIC_TAU))

    def train(self, federation: Federation) -> TrainedParameters:
        """Each party's model."""
        two_classes(federation, self)
        check_sizes(federation)
        objective = RegularisedLogistic(self.lam)
        models = [minimise(objective, scaled(rows.X), 2.0 * rows.y - 1).weights for rows in federation.parties]
        return TrainedParameters(self, federation, np.array(models))


@dataclass(frozen=True, eq=False, repr=False)
class TrainedParameters:
    """w: (K, d+1), every party's model."""

    method: ParamLaplace
    federation: Federation
    w: Array

    def release(self, target: Target, rng: Stream) -> RoundsRelease:
        """Noise on every model, then the server's average."""
        check_target(target, self.method)
        noises = [self.method.noise(target, int(n), self.w.shape[1]) for n in self.federation.sizes]
        noisy = [perturb(on_grid(w), noise, rng) for w, noise in zip(self.w, noises, strict=True)]
        uploads = for_plain_rows(np.array(noisy))
        # Records are disjoint and every party's scale is its own sensitivity over epsilon, so one stands for all.
        privacy = statement(noises[0], target, "record", "replace", SERVER, (SIZES,), rng=rng)
        return RoundsRelease(BiasedModel(average(uploads, self.federation)), privacy, uploads[np.newaxis], 0)
