"""`central_obj`: objective perturbation of all rows in one place, the yardstick of what needs no such place.

One logistic model for two classes, the minimiser of the mean log-loss, lam |w|^2 and a random linear term. `knorm` is
pure: Chaudhuri, Monteleoni and Sarwate (2011), as `smc_dp.privacy.objective_perturbation` proves it, and what `avg_agg`
with the logistic loss does for a single site. `gauss` is (epsilon, delta): Kifer, Smith and Thakurta (2012), accounted
for in `smc_dp.privacy.gaussian_objective` after Redberg, Koskela and Wang (2023). In `central` noise is made for the
worst rows that there might be; here the more the rows at hand bend the objective, the less b moves the model.

Without a lam of its own it takes the mean length of the linear term b over 25 n, with n, d, epsilon and delta alone.
The factor was chosen on a9a, Bank and breast cancer, among powers of about 3: there it is near the best at epsilon .1,
.5 and 1, of either noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.functionality import Trusted
from smc_dp.methods.method import (
    Method,
    TrainedParts,
    Trust,
    announced_sizes,
    check_own_rows,
    check_rows_of_parties,
    require_two_classes,
)
from smc_dp.methods.model import Release
from smc_dp.methods.neighbours import STRONG_LAMBDA, NeighbourPair, own_noise_pair
from smc_dp.methods.pathak2010.averages import AGAINST_OUTSIDERS
from smc_dp.methods.pathak2010.models import SIZES_CAVEAT, binary
from smc_dp.methods.training.perturbed import Logistic, minimise_perturbed, minimise_uncertified
from smc_dp.methods.training.solver import PUBLIC_TAU
from smc_dp.privacy import gaussian_objective, objective_perturbation
from smc_dp.privacy.gaussian_objective import GaussianPerturbation
from smc_dp.privacy.objective_perturbation import ObjectivePerturbation
from smc_dp.privacy.output import NO_NOISE, no_guarantee
from smc_dp.privacy.statement import PrivacyStatement, Unit, round_up
from smc_dp.privacy.target import Calibration, NoiseName, Target

_SHARE = 25  # of the length of b, over n, in lam
_LEAST, _MOST = 2.0**-20, 1e6  # of a lam that is chosen here; the first where there is no noise


@dataclass(frozen=True)
class CentralObjective(Method):
    """One model of all rows in one place, by objective perturbation; lam in [2^-29, 1e6], None for the public rule."""

    lam: float | None = None
    name: ClassVar[str] = "central_obj"
    protects: ClassVar[Unit] = "record"
    noises: ClassVar[tuple[NoiseName, ...]] = ("gauss", "knorm")
    lambda_multiplies: ClassVar[str] = "|w|²"
    colour: ClassVar[str] = "#54483c"

    @override
    def __post_init__(self) -> None:
        if self.lam is not None:
            super().__post_init__()

    @classmethod
    @override
    def audit_pair(cls, calibration: Calibration) -> NeighbourPair:
        return own_noise_pair(cls(STRONG_LAMBDA), several=False)

    @override
    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        perturbation = self.distribution(public, target)
        if perturbation is None:
            return no_guarantee("record", "replace", NO_NOISE)
        if isinstance(perturbation, ObjectivePerturbation):
            epsilon, caveats = round_up(perturbation.epsilon), (SIZES_CAVEAT,)
            return PrivacyStatement("pure", epsilon, 0.0, "record", "replace", AGAINST_OUTSIDERS, caveats)
        epsilon, delta = round_up(target.wanted), round_up(target.delta)
        return PrivacyStatement("approx", epsilon, delta, "record", "replace", AGAINST_OUTSIDERS, (SIZES_CAVEAT,))

    def distribution(self, public: Public, target: Target) -> ObjectivePerturbation | GaussianPerturbation | None:
        """Return the perturbation of the objective of the announced number of rows; None for no noise."""
        n, d, epsilon = sum(announced_sizes(public, self)), public.dimension, target.epsilon
        if epsilon is None:
            return None
        modulus, curvature = 2 * self._weight(n, d, target), Logistic().largest_curvature
        if target.noise == "gauss":
            return gaussian_objective.gaussian_perturbation(epsilon, target.delta, n, modulus, curvature, d, PUBLIC_TAU)
        return objective_perturbation.proven_perturbation(epsilon, n, modulus, curvature, d, PUBLIC_TAU)

    @override
    def functionality(self, public: Public, target: Target) -> Trusted:
        return Trusted(lambda parts, rng: self._solution(parts, public, target, rng))

    @override
    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Rows:
        check_own_rows(rows)
        return rows

    @override
    def finish(self, value: Array, public: Public, target: Target) -> Release:
        return Release(binary(value), self.statement(public, target))

    @override
    def train(self, federation: Federation) -> TrainedParts[Release]:
        # Checks only: the noise is part of the training, which happens at the release. One class is enough.
        self._pooled(federation.parties, federation.public)
        return TrainedParts(self, federation.public, federation.parties, lambda *_: federation.parties)

    def _weight(self, n: int, d: int, target: Target) -> float:
        """Return lam, of public numbers only."""
        if self.lam is not None:
            return float(self.lam)
        if target.epsilon is None:
            return _LEAST
        length = 2 * math.sqrt(d) / target.mu if target.noise == "gauss" else 2 * d / target.epsilon
        return min(max(float(length) / (_SHARE * n), _LEAST), _MOST)

    def _pooled(self, parts: Sequence[Rows], public: Public) -> Rows:
        one = Federation((Federation(tuple(parts), public.classes).pooled(),), public.classes, names=("of all rows",))
        require_two_classes(one.classes, self)
        check_rows_of_parties(one)
        announced = sum(announced_sizes(public, self))
        if one.sizes[0] != announced:
            raise InputError("rows.not_as_announced", wanted=announced, got=int(one.sizes[0]))
        return one.parties[0]

    def _solution(self, parts: Sequence[Rows], public: Public, target: Target, rng: Stream) -> Array:
        """Train on all rows, and return the weights as they may be shown: (d,)."""
        rows, perturbation = self._pooled(parts, public), self.distribution(public, target)
        signs: Array = 2.0 * rows.y.astype(np.float64) - 1
        if perturbation is None:
            return minimise_uncertified(
                Logistic(), rows.X, signs, 2 * self._weight(len(rows), public.dimension, target)
            )
        linear = perturbation.linear(rng)
        return perturbation.release(minimise_perturbed(Logistic(), rows.X, signs, perturbation.total, linear), rng)
