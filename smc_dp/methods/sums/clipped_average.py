"""`avg_clip`: the mean of local models clipped to a public norm, for any learner of linear models.

A model V_j with |V_j| > R becomes R V_j/|V_j|, one with entries that are no numbers becomes 0. So replacing a party
moves the sum by at most 2 R, whatever the learner did, and lam does not enter. A mean of clipped models is worse
only as far as long models matter; the noise shrinks from 2 W/M of `avg` to 2 R/M. Only a sum of the parties' integers
is used: by a secure sum, `SharedClippedModels`, it needs no trusted aggregator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from typing_extensions import override

from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError
from smc_dp.data.federation import Public
from smc_dp.methods.functionality import Vector
from smc_dp.methods.hamm2016.weights import MeanOfModels, WeightNoise, clipped
from smc_dp.methods.method import check_range
from smc_dp.methods.model import LinearModel
from smc_dp.methods.neighbours import NeighbourPair, party_pair
from smc_dp.methods.sums.noisy_sum import NoisySum, Summed, SumReach, require_hidden_sizes
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.methods.training.classes import coordinate_count
from smc_dp.privacy.statement import Adjacency
from smc_dp.privacy.target import Calibration, Target

SECURE_SUM_CAVEAT = "The models are only added up: with a secure sum no trusted aggregator would be needed."


@dataclass(frozen=True)
class ClippedAverage(MeanOfModels, Summed):
    """Mean of clipped models; clip: R, the norm that models are clipped to, public, in [2^-20, 1e6].

    lam in [2^-29, 1e6]: of the local models that `train` trains.
    Models of another numeric learner, in the coordinates of `smc_dp.methods.training.classes`, go to `train_from`.
    """

    clip: float = 10.0
    name: ClassVar[str] = "avg_clip"
    adjacency: ClassVar[Adjacency] = "party"
    colour: ClassVar[str] = "#ff7f0e"
    caveats: ClassVar[tuple[str, ...]] = (SECURE_SUM_CAVEAT,)

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("clip", self.clip, 2.0**-20, 1e6)

    @classmethod
    @override
    def audit_pair(cls, calibration: Calibration) -> NeighbourPair:
        return party_pair(cls(lam=1e-2, clip=0.5))

    @property
    def sensitivity(self) -> Fraction:
        """L2 sensitivity of the sum of the M models: 2 R."""
        return 2 * Fraction(self.clip)

    def shared(
        self, public: Public, target: Target, threat_model: ThreatModel, announced: AnnouncedRows
    ) -> SharedClippedModels:
        """Return the specification for a secure sum; InputError for a number of rows that is to be released."""
        require_hidden_sizes(self, announced, "protects all rows of a party, and so their number")
        return SharedClippedModels(self, public, target, threat_model, announced)

    @override
    def noise(self, public: Public) -> WeightNoise:
        return WeightNoise(public.classes, self.lam, self.sensitivity)

    @override
    def clipped(self, V: Array, public: Public) -> Array:
        return clipped(V, self.clip)


@dataclass(frozen=True)
class SharedClippedModels(NoisySum[ClippedAverage]):
    """The sum of clipped models among these parties, p d numbers; see `NoisySum`.

    A party that is replaced had a model of norm at most R in the sum and has another: in reals the sum moves by at most
    2 R, whatever the learner did. Each of the two is rounded to the grid by at most 1/2 in every coordinate, which the
    calibration charges: ceil(2^f 2 R) + ceil(sqrt(p d)) in all. How often parties took part, neighbours share.
    """

    @cached_property
    @override
    def reach(self) -> SumReach:
        p = coordinate_count(self.public.classes)
        return SumReach(p * self.public.dimension, self.method.sensitivity, Fraction(self.method.clip))

    @override
    def numbers_of(self, trained: Array) -> Vector:
        wanted = (coordinate_count(self.public.classes), self.public.dimension)
        if trained.shape != wanted:
            raise InputError("model.wrong_shape", wanted=str(wanted), got=str(trained.shape))
        short = clipped(trained[np.newaxis], self.method.clip)[0]
        # The last number counts the parties in the sum, by which `model` divides: some may drop out.
        return (*self.grid.encode(short.ravel().tolist()), 1)

    @override
    def model(self, value: Vector) -> LinearModel:
        V = np.array(self.reals(value, self.counted(value))).reshape(-1, self.public.dimension)
        return LinearModel.from_coordinates(V, self.public.classes)

    @override
    def caveats(self) -> Iterator[str]:
        return iter(())
