"""`prr_mean`: the plain mean of all parties' models, with the noise of the smallest party (Pathak, Rane and Raj 2010).

In the clear here, by the curator protocol in a run: `smc_dp.run`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from protocols.arithmetic.rng import Stream
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.functionality import Contribution, Sum, SumWithSmallestNoise, Vector, add_vectors
from smc_dp.methods.method import (
    Method,
    TrainedParts,
    Trust,
    check_own_rows,
    check_range,
    check_secure_noise,
    require_two_classes,
    too_many_rows,
)
from smc_dp.methods.model import Release
from smc_dp.methods.neighbours import STRONG_LAMBDA, NeighbourPair, record_pair
from smc_dp.methods.pathak2010.models import binary, model_noise, model_of, models_of
from smc_dp.methods.training.solver import PUBLIC_TAU
from smc_dp.privacy.output import GRID, Calibrated, NoiseDistribution, no_guarantee, noise_statement, on_grid
from smc_dp.privacy.pathak2010 import LARGEST_N, SmallestNoise
from smc_dp.privacy.sensitivity import largest_norm
from smc_dp.privacy.statement import PrivacyStatement, Unit
from smc_dp.privacy.target import Calibration, NoiseName, Target

_AGAINST_OTHERS = (
    "anyone who sees the release, except the one who computed it from the models of all parties and the one who drew "
    "the noise"
)
_CAVEATS = (
    "The one who computed this release had all models and is trusted with them.",
    "The noise is made for the smallest party. The one who draws it knows it, can subtract it, and so has the exact "
    "mean.",
    "The sizes of the data sets are not protected. The smallest one sets the scale of the noise and can be estimated "
    "from the release.",
)
RESIDUES_CAVEAT = "The published integers equal the sum of all models modulo the number of parties, without any noise."


@dataclass(frozen=True)
class PathakMean(Method):
    """The mean of the parties' models with noise for the smallest party; lam in [1e-9, 1e6].

    `paper`: the published scale 2/(n_(1) epsilon lam), whichever the noise. `proven`: G/(mu K n_(1)), because the mean
    of K models moves K times less than one. The sizes of the parties set the scale, so neighbours have equal sizes:
    were a record added to the smallest party, the two scales would differ and no epsilon would bound the ratio.
    `as_published`: for the published steps, which multiply the noise by K themselves, so that it is drawn for the mean;
    then nothing is guaranteed.
    """

    lam: float = 1e-3
    as_published: bool = False
    name: ClassVar[str] = "prr_mean"
    by_protocols: ClassVar[tuple[str, ...]] = ("pathak2010", "pathak2010-as-printed-insecure", "linear")
    secure_noises: ClassVar[tuple[NoiseName, ...]] = ("knorm", "laplace")
    binary: ClassVar[bool] = True
    needs_two_classes: ClassVar[bool] = True
    protects: ClassVar[Unit] = "record"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven", "paper")
    noises_as_published: ClassVar[tuple[NoiseName, ...]] = ("knorm", "laplace")
    lambda_multiplies: ClassVar[str] = "|w|²"
    colour: ClassVar[str] = "#1f77b4"

    @override
    def __post_init__(self) -> None:
        check_range("lambda", self.lam, 1e-9, 1e6)
        object.__setattr__(self, "lam", float(self.lam))

    @classmethod
    @override
    def audit_pair(cls, calibration: Calibration) -> NeighbourPair:
        return record_pair(cls(STRONG_LAMBDA))

    def noise(self, target: Target, n: int, public: Public) -> Calibrated | None:
        """Return the noise of a party with n rows on the sum of all models, if it were the smallest."""
        return model_noise(target, n, public.dimension, self.lam, 1 if self.as_published else public.parties)

    def distribution(self, target: Target, n: int, public: Public) -> NoiseDistribution:
        """Return the distribution of that noise; ValueError when no noise was wanted."""
        noise = self.noise(target, n, public)
        if noise is None:
            raise ValueError("no noise was wanted, so it has no distribution")
        return noise.distribution

    def largest(self, n: int, public: Public, target: Target) -> int:
        """Bound every entry of the sum on the grid, whatever the rows say, if a party of n rows adds its noise."""
        if n > LARGEST_N:
            raise too_many_rows(n)
        noise, mu = self.noise(target, n, public), 2 * Fraction(self.lam)
        tail = 0 if noise is None else noise.distribution.tail() * self.functionality(public, target).times
        longest = Fraction(largest_norm(mu)) + Fraction(PUBLIC_TAU) / mu
        return public.parties * (ceil(longest * (1 << GRID.fraction_bits)) + 1) + tail

    @override
    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        if self.as_published and target.epsilon is not None:
            return no_guarantee("record", "replace", RESIDUES_CAVEAT)
        if trust == "secure" and target.epsilon is not None:
            check_secure_noise(self, target.noise)
            noise: Any = target.noise
            lam, calibration = Fraction(self.lam), target.calibration
            return SmallestNoise(
                public.parties, public.dimension, target.epsilon, lam, calibration, noise, GRID, PUBLIC_TAU
            ).guarantee()
        noise = self.noise(target, min(public.sizes or (LARGEST_N,)), public)
        return noise_statement(noise, target, "record", "replace", _AGAINST_OTHERS, _CAVEATS)

    @override
    def functionality(self, public: Public, target: Target) -> SumWithSmallestNoise:
        return SumWithSmallestNoise(public.parties if self.as_published else 1)

    @override
    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Contribution:
        require_two_classes(public.classes, self)
        check_own_rows(rows)
        noise = self.noise(target, len(rows), public)
        drawn = [0] * public.dimension if noise is None else noise.distribution.sample(rng)
        return Contribution(len(rows), tuple(model_of(rows, self.lam)), tuple(drawn))

    @override
    def finish(self, value: Vector, public: Public, target: Target) -> Release:
        return Release(binary(np.array(GRID.decode(value, public.parties))), self.statement(public, target))

    @override
    def train(self, federation: Federation) -> TrainedParts[Release]:
        public, w = federation.public, models_of(federation, self, self.lam)
        total = add_vectors([on_grid(v) for v in w])

        def parts(target: Target, rng: Stream) -> list[Sequence[int]]:
            # Only the noise of the smallest party is ever used, so it alone is drawn.
            noise = self.noise(target, min(public.sizes or ()), public)
            times = self.functionality(public, target).times
            return [total, *([] if noise is None else [[times * e for e in noise.distribution.sample(rng)]])]

        return TrainedParts(self, public, w, parts, lambda _: Sum())
