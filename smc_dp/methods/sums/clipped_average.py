"""`avg_clip`: the mean of local models clipped to a public norm, for any learner of linear models.

A model V_j with |V_j| > R becomes R V_j/|V_j|, one with entries that are no numbers becomes 0. So replacing a party
moves the sum by at most 2 R, whatever the learner did, and lam does not enter. A mean of clipped models is worse
only as far as long models matter; the noise shrinks from 2 W/M of `avg` to 2 R/M. Only a sum of the parties' integers
is used: computed by a secure sum it needs no trusted aggregator; here it is computed in the clear.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from protocols.arithmetic.rng import Stream
from smc_dp.aggregation.functionality import Sum, Vector
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.errors import InputError, shown
from smc_dp.learning.batch import train_all
from smc_dp.methods.hamm2016.ensemble import Ensemble, ensemble
from smc_dp.methods.hamm2016.weights import TrainedWeights, WeightNoise, clipped
from smc_dp.methods.method import Trust, check_modulus
from smc_dp.methods.model import Release
from smc_dp.methods.neighbours import NeighbourPair, one_party
from smc_dp.privacy.statement import PrivacyStatement, Unit
from smc_dp.privacy.target import Calibration, NoiseName, Target

ONLY_ADDED = "The models are only added up: with a secure sum no trusted aggregator would be needed."
_SMALLEST, _LARGEST = 2.0**-20, 1e6


@dataclass(frozen=True)
class ClippedAverage:
    """clip: R, the norm that models are clipped to, public, in [2^-20, 1e6].

    lam in [2^-29, 1e6]: of the local models that `train` trains.
    Models of another numeric learner, in the coordinates of `smc_dp.learning.classes`, go to `train_from`.
    """

    lam: float = 1e-4
    clip: float = 10.0
    name: ClassVar[str] = "avg_clip"
    protects: ClassVar[Unit] = "party"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven",)
    noises: ClassVar[tuple[NoiseName, ...]] = ("knorm", "laplace", "gauss")
    printed_noises: ClassVar[tuple[NoiseName, ...]] = ()
    lambda_multiplies: ClassVar[str] = "|V|²/2"
    colour: ClassVar[str] = "#ff7f0e"

    def __post_init__(self) -> None:
        check_modulus(self.lam)
        if not isinstance(self.clip, int | float) or not _SMALLEST <= self.clip <= _LARGEST:
            raise InputError(f"clip: wanted a number from 2**-20 to 1e6, got {shown(self.clip)}")

    @classmethod
    def neighbours(cls, calibration: Calibration) -> NeighbourPair:
        """The only party, whose model is longer than R."""
        return one_party(cls(lam=1e-2, clip=0.5))

    @property
    def sensitivity(self) -> Fraction:
        """In L2, of the sum of the M models: 2 R."""
        return 2 * Fraction(self.clip)

    def noise(self, public: Public) -> WeightNoise:
        """Of the sum of the models."""
        return WeightNoise(public.classes, self.lam, self.sensitivity)

    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        """What the noise on the sum guarantees."""
        return self.noise(public).statement(target, public.dimension, (ONLY_ADDED,))

    def functionality(self, public: Public, target: Target) -> Sum:
        """The sum of the models, with noise."""
        return self.noise(public).second_half(target, public.dimension)

    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Vector:
        """The party's model on the grid."""
        V = train_all([(rows.X, rows.y)], public.classes, self.lam)
        return self.noise(public).integers(clipped(V, self.clip), target)

    def finish(self, value: Vector, public: Public, target: Target) -> Release:
        """The sum over the number of parties."""
        model = self.noise(public).mean(value, public.parties, public.dimension, target)
        return Release(model, self.statement(public, target))

    def train(self, federation: Federation) -> TrainedWeights:
        """Local logistic or softmax models, clipped."""
        return self.train_from(ensemble(federation, self.lam))

    def train_from(self, ensemble: Ensemble) -> TrainedWeights:
        """The mean of local models, however they were trained."""
        public = ensemble.federation.public
        return TrainedWeights(self, clipped(ensemble.models(self), self.clip), public, self.noise(public))
