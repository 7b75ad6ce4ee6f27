"""`soft_ss`: soft labels released as a sufficient statistic, from which any global model can be trained.

The soft-label objective of Hamm, Cao and Belkin (2016, equations 19 and 55) sees the votes only through
T = (1/N) sum of (B' alpha_i) g_i'. With noise on T everything after it is post-processing: the regulariser is chosen
freely, nothing has to be minimised to a tolerance, and no sensitivity has a lam in its denominator. The rows g are
the public auxiliary rows x whitened: then votes can push T about equally far in every direction, and noise of equal
size in all directions costs the directions in which the x hardly vary as little as the others.

T is a sum over parties of integers that each party computes alone (`statistic`), so a secure sum of them,
`SharedStatistic`, needs no trusted aggregator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.functionality import Sum, Vector
from smc_dp.methods.hamm2016.ensemble import Ensemble, Voting, add_votes, auxiliary_rows, learner_caveats, own_votes
from smc_dp.methods.hamm2016.votes import PUBLIC_ROWS_CAVEAT
from smc_dp.methods.method import AGAINST_ALL_BUT_AGGREGATOR, Trained, TrainedParts, Trust, check_modulus, check_range
from smc_dp.methods.model import LinearModel, Release
from smc_dp.methods.sums.noisy_sum import NoisySum, Summed, SumReach, require_hidden_sizes
from smc_dp.methods.sums.statistic import longest, minimise_statistic, sensitivity, statistic_in_integers
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.methods.sums.whitening import Whitening
from smc_dp.methods.training.classes import coordinate_count
from smc_dp.privacy.output import GRID, calibrate_noise, noise_statement
from smc_dp.privacy.statement import Adjacency, PrivacyStatement
from smc_dp.privacy.target import NoiseName, Target

STATISTIC_CAVEATS = (
    PUBLIC_ROWS_CAVEAT,
    "The parties' integers are only added up: with a secure sum no trusted aggregator would be needed.",
)


@dataclass(frozen=True)
class SoftStatistic(Voting, Summed):
    """Noisy statistic of soft labels; lam and lam_global in [2^-29, 1e6]: of local models, and of the global one.

    lam_global is public and costs nothing: about 1 where noise is large (the whitened rows are about sqrt d long),
    less where it is small. gamma, public, in [1e-9, 1]: what whitening adds to the mean squares of all directions.
    learner: what parties train, see `ensemble.Learner`.
    """

    lam_global: float = 1.0
    gamma: float = 1e-3
    name: ClassVar[str] = "soft_ss"
    on_public_rows: ClassVar[bool] = True
    adjacency: ClassVar[Adjacency] = "party"
    noises: ClassVar[tuple[NoiseName, ...]] = ("knorm", "gauss")
    colour: ClassVar[str] = "#9078fc"

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        check_modulus(self.lam_global, "lam_global")
        check_range("gamma", self.gamma, 1e-9, 1.0)

    def whitened(self, public: Public) -> tuple[Whitening, Array]:
        """Return the whitening of the public rows, and G: (N, d)."""
        X = auxiliary_rows(public, self)
        whitening = Whitening.of(X, self.gamma)
        return whitening, whitening.rows(X)

    def shared(
        self, public: Public, target: Target, threat_model: ThreatModel, announced: AnnouncedRows
    ) -> SharedStatistic:
        """Return the specification for a secure sum; InputError without public rows, or to release numbers of rows."""
        require_hidden_sizes(self, announced, "protects all rows of a party, and so their number")
        auxiliary_rows(public, self)
        return SharedStatistic(self, public, target, threat_model, announced)

    @override
    def prepare(self, rows: Rows, public: Public) -> npt.NDArray[np.int64]:
        return own_votes(rows, public, self)

    @override
    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        # The sensitivity that the public rows have sets the noise; so any sensitivity stands for it here.
        noise = None if target.epsilon is None else calibrate_noise(target, 1, Fraction(1))
        return noise_statement(
            noise,
            target,
            "party",
            "party",
            AGAINST_ALL_BUT_AGGREGATOR,
            (*STATISTIC_CAVEATS, *learner_caveats(self.learner)),
        )

    @override
    def functionality(self, public: Public, target: Target) -> Sum:
        whitening, G = self.whitened(public)
        delta = sensitivity(G, public.classes, whitening)
        return _noisy_sum(target, coordinate_count(public.classes) * G.shape[1], delta)

    @override
    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Vector:
        counts = add_votes([self.prepare(rows, public)], public.classes)
        return tuple(statistic_in_integers(self.whitened(public)[1], counts))

    @override
    def finish(self, value: Vector, public: Public, target: Target) -> Release:
        whitening, G = self.whitened(public)
        T = np.array(GRID.decode(value, len(G) * public.parties))
        return Release(self.trained_on(T, whitening, G, public.classes), self.statement(public, target))

    def trained_on(self, T: Array, whitening: Whitening, G: Array, classes: int) -> LinearModel:
        """Train the global model on the statistic T: (p d,) of public rows."""
        W = whitening.weights(minimise_statistic(G, T, classes, self.lam_global))
        return LinearModel.from_coordinates(W, classes)

    @override
    def train(self, federation: Federation) -> Trained:
        auxiliary_rows(federation, self)
        return super().train(federation)

    @override
    def train_from(self, ensemble: Ensemble) -> TrainedParts[Release]:
        public = ensemble.federation.public
        whitening, G = self.whitened(public)
        total, delta = tuple(statistic_in_integers(G, ensemble.counts)), sensitivity(G, public.classes, whitening)
        method = replace(self, learner=ensemble.learner)
        return TrainedParts(
            method, public, total, lambda *_: [total], lambda target: _noisy_sum(target, len(total), delta)
        )


def _in_short(W: Array) -> Array:
    """Round the weights to 24 bits, those of the largest: machines may differ in the digits beyond."""
    bits = 24 - int(np.frexp(np.abs(W).max())[1])
    return np.asarray(np.ldexp(np.rint(np.ldexp(W, bits)), -bits))


def _noisy_sum(target: Target, dimension: int, delta: Fraction) -> Sum:
    return Sum() if target.epsilon is None else Sum(calibrate_noise(target, dimension, delta).distribution)


@dataclass(frozen=True)
class SharedStatistic(NoisySum[SoftStatistic]):
    """N M T among M parties, p d numbers, on public rows that all of them have; see `NoisySum`.

    What a party enters is a sum of public integers, one for each public row, chosen by its votes. That they are
    multiples of 2^-40 is counted by `sensitivity` already, which is of these integers and no others: on a finer grid
    they are the same ones times a power of two, and nothing more is rounded. A party with other public rows has
    other integers, and noise for those: the guarantee is for parties with the rows that were agreed on.
    """

    @cached_property
    def whitened(self) -> tuple[Whitening, Array]:
        """Whitening of the public rows, and G: (N, d)."""
        return self.method.whitened(self.public)

    @cached_property
    @override
    def reach(self) -> SumReach:
        (whitening, G), C = self.whitened, self.public.classes
        moved, most = sensitivity(G, C, whitening), longest(G, C, whitening)
        return SumReach(coordinate_count(C) * G.shape[1], moved, most, GRID.fraction_bits)

    @override
    def numbers_of(self, trained: npt.NDArray[np.int64]) -> Vector:
        counts = add_votes([trained], self.public.classes)
        finer = self.grid.fraction_bits - GRID.fraction_bits
        return (*(value << finer for value in statistic_in_integers(self.whitened[1], counts)), 1)

    @override
    def model(self, value: Vector) -> LinearModel:
        whitening, G = self.whitened
        T = np.array(self.reals(value, len(G) * self.counted(value)))
        return LinearModel(_in_short(self.method.trained_on(T, whitening, G, self.public.classes).W))

    @override
    def caveats(self) -> Iterator[str]:
        yield PUBLIC_ROWS_CAVEAT
        yield "The noise is computed for the auxiliary rows, so all parties must have the same ones."
        yield from learner_caveats(self.method.learner)
