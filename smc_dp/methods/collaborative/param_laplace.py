"""`param_laplace`: every party trains, adds Laplace noise to its parameters, and uploads them (Algorithm 1).

The paper leaves the sensitivity open. For its objective, which has no regulariser, it is infinite: where a hyperplane
separates the classes there is no minimiser, and one record decides that. With mu-strong convexity one of n_j records
moves a minimiser by at most G/(mu n_j) in L2 (`smc_dp.privacy.sensitivity`), so by sqrt(d + 1) times that in L1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from typing_extensions import override

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.collaborative.rounds import (
    AGAINST_SERVER,
    RoundsRelease,
    for_plain_rows,
    release_of_rounds,
    scale_into_ball,
)
from smc_dp.methods.functionality import EachPublishes, Vector
from smc_dp.methods.method import (
    Method,
    TrainedParts,
    Trust,
    announced_sizes,
    check_own_rows,
    check_rows_of_parties,
    require_two_classes,
)
from smc_dp.methods.neighbours import STRONG_LAMBDA, NeighbourPair, own_noise_pair
from smc_dp.methods.pathak2010.models import SIZES_CAVEAT, binary_weights
from smc_dp.methods.training.solver import PUBLIC_TAU
from smc_dp.privacy.output import GRID, Calibrated, calibrate_noise, noise_statement, on_grid, with_noise
from smc_dp.privacy.sensitivity import replace_one
from smc_dp.privacy.statement import PrivacyStatement, Unit
from smc_dp.privacy.target import Calibration, NoiseName, Target


@dataclass(frozen=True)
class ParamLaplace(Method):
    """Logistic regression on rows (x, 1)/sqrt 2 with regulariser lam |theta|^2 (mu = 2 lam), lam in [2^-29, 1e6]."""

    lam: float = 1e-3
    name: ClassVar[str] = "param_laplace"
    protects: ClassVar[Unit] = "record"
    noises: ClassVar[tuple[NoiseName, ...]] = ("laplace",)
    lambda_multiplies: ClassVar[str] = "|w|²"
    colour: ClassVar[str] = "#900000"

    @override
    def __post_init__(self) -> None:
        if self.lam == 0:
            raise InputError("lambda.zero", name="lambda")
        super().__post_init__()

    @classmethod
    @override
    def audit_pair(cls, calibration: Calibration) -> NeighbourPair:
        return own_noise_pair(cls(STRONG_LAMBDA))

    def noise(self, target: Target, n: int, dimension: int) -> Calibrated | None:
        """Return the noise of a party with n records on its parameters (dimension d + 1); None for no noise."""
        if target.epsilon is None:
            return None
        return calibrate_noise(target, dimension, replace_one(n, 2 * Fraction(self.lam), PUBLIC_TAU))

    @override
    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        # Records are disjoint and every party's scale is its own sensitivity over epsilon, so one stands for all.
        noise = self.noise(target, 1, public.dimension + 1)
        return noise_statement(noise, target, "record", "replace", AGAINST_SERVER, (SIZES_CAVEAT,))

    @override
    def functionality(self, public: Public, target: Target) -> EachPublishes:
        return EachPublishes()

    @override
    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Vector:
        require_two_classes(public.classes, self)
        check_own_rows(rows)
        return self.noisy(self.model(rows), len(rows), target, rng)

    def model(self, rows: Rows) -> Array:
        """Train one party's model: (d+1,)."""
        return binary_weights(scale_into_ball(rows.X), rows.y, self.lam)

    def noisy(self, w: Array, n: int, target: Target, rng: Stream) -> Vector:
        """Return a model of n rows as it may leave its owner."""
        return with_noise(on_grid(w), self.noise(target, n, len(w)), rng)

    @override
    def finish(self, value: Sequence[Vector], public: Public, target: Target) -> RoundsRelease:
        uploads = for_plain_rows(np.array([GRID.decode(upload) for upload in value]))
        return release_of_rounds([[(w, True) for w in uploads]], public, self, target)

    @override
    def train(self, federation: Federation) -> TrainedParts[RoundsRelease]:
        require_two_classes(federation.classes, self)
        check_rows_of_parties(federation)
        public, w = federation.public, np.array([self.model(rows) for rows in federation.parties])
        each = list(zip(w, announced_sizes(public, self), strict=True))
        return TrainedParts(self, public, w, lambda target, rng: [self.noisy(v, n, target, rng) for v, n in each])
