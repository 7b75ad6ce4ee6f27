"""`vote`, `soft`, `soft_aux`, `avg`: private aggregation of local classifiers (Hamm, Cao and Belkin, ICML 2016).

Local classifiers of any kind label public auxiliary rows; a global logistic or softmax model is trained on them and
released with noise. Everything is party-level: one party's data set, and so its classifier, is replaced by any other.

J(V) = (1/N) sum of logsumexp(B V x_i) - <V, T> + (lam/2) |V|^2 with T = (1/N) sum of (B' alpha_i) x_i': labels enter
through T only, so neighbours' gradients differ by the same T - T' everywhere. One probability vector alpha in place
of another moves B'alpha by at most D (`diameter`: 1 for two classes, sqrt 2 for more), and |x| <= 1. So T moves by
at most D for majority labels, and D/M for shares of the votes, of which one party has 1/M. For logistic regression
this is half of what the paper's Theorems 1 and 3 charge, since l'(m) + l'(-m) = -1; for more classes it is the same.
The noise of `proven` has p d dimensions, because minimisers lie there; the published one has C d.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.functionality import Trusted, Vector
from smc_dp.methods.hamm2016.ensemble import Ensemble, Voting, add_votes, auxiliary_rows, learner_caveats, own_votes
from smc_dp.methods.hamm2016.weights import MeanOfModels, TrainedWeights, WeightNoise, clipped, minimiser_sensitivity
from smc_dp.methods.method import Trained, Trust
from smc_dp.methods.model import Release
from smc_dp.methods.training.classes import diameter
from smc_dp.methods.training.softmax import certified, one_hot
from smc_dp.privacy.sensitivity import largest_softmax_norm
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.privacy.target import Calibration, NoiseName, Target

PUBLIC_ROWS_CAVEAT = "The auxiliary rows are public: they are not protected."
ONE_ROW_CAVEATS = (
    "The same holds if one auxiliary row is replaced at the same time, but not if several are.",
    "A projection, or anything else that was fitted to the auxiliary rows before, is not covered.",
)
_ROW_BY_ROW_CAVEAT = "It is assumed that a learner's answer on a row does not depend on the other rows."


@dataclass(frozen=True)
class _GlobalModel(Voting):
    """A global model trained on the votes of all parties, which somebody who is trusted counts."""

    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven", "paper")
    noises_as_published: ClassVar[tuple[NoiseName, ...]] = ("knorm",)

    @abstractmethod
    def noise(self, public: Public) -> WeightNoise:
        """Return the noise of the global model."""

    def model(self, counts: npt.NDArray[np.int64], public: Public) -> Array:
        """Train the global model (1, p, d) on so many votes (N, C), here on their shares."""
        return certified(auxiliary_rows(public, self), counts / public.parties, self.lam)[np.newaxis]

    @property
    def caveats(self) -> tuple[str, ...]:
        """Caveats of the statement."""
        return (PUBLIC_ROWS_CAVEAT, *learner_caveats(self.learner))

    @override
    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        return self.noise(public).statement(target, public.dimension, self.caveats)

    @override
    def functionality(self, public: Public, target: Target) -> Trusted:
        def by(parts: Sequence[npt.NDArray[np.int64]], rng: Stream) -> Vector:
            noise, V = self.noise(public), self.model(add_votes(parts, public.classes), public)
            return noise.remaining_functionality(target, public.dimension).compute([noise.integers(V, target)], rng)

        return Trusted(by)

    @override
    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> npt.NDArray[np.int64]:
        return own_votes(rows, public, self)

    @override
    def finish(self, value: Vector, public: Public, target: Target) -> Release:
        model = self.noise(public).mean(value, 1, public.dimension, target)
        return Release(model, self.statement(public, target))

    @override
    def train(self, federation: Federation) -> Trained:
        auxiliary_rows(federation, self)
        return super().train(federation)

    @override
    def train_from(self, ensemble: Ensemble) -> TrainedWeights:
        public = ensemble.federation.public
        auxiliary_rows(public, self)
        method = replace(self, learner=ensemble.learner)
        return TrainedWeights(method, self.model(ensemble.counts, public), public, self.noise(public))


@dataclass(frozen=True)
class Vote(_GlobalModel):
    """Algorithm 1: the global model is trained on majority labels.

    lam in [2^-29, 1e6], of the local and the global models; learner: what parties train, see `ensemble.Learner`.
    """

    name: ClassVar[str] = "vote"
    colour: ClassVar[str] = "#fc0c90"

    def sensitivity(self, classes: int) -> Fraction:
        """Return the model's L2 sensitivity: min(D/lam, 2 W) and the solver's tolerance."""
        return minimiser_sensitivity(Fraction(diameter(classes)), self.lam, classes)

    @override
    def noise(self, public: Public) -> WeightNoise:
        nominal = _twice_or_root_two(public.classes) / Fraction(self.lam)
        return WeightNoise(public.classes, self.lam, self.sensitivity(public.classes), nominal)

    @override
    def model(self, counts: npt.NDArray[np.int64], public: Public) -> Array:
        X = auxiliary_rows(public, self)
        return certified(X, one_hot(majority_labels(counts), public.classes), self.lam)[np.newaxis]


@dataclass(frozen=True)
class Soft(_GlobalModel):
    """Algorithm 2: the global model is trained on soft labels, the shares alpha of the votes.

    lam in [2^-29, 1e6], of the local and the global models; learner: what parties train, see `ensemble.Learner`.
    """

    name: ClassVar[str] = "soft"
    colour: ClassVar[str] = "#6c00cc"

    def sensitivity(self, classes: int, parties: int) -> Fraction:
        """Return the model's L2 sensitivity: min(D/(M lam), 2 W) and the solver's tolerance."""
        return minimiser_sensitivity(Fraction(diameter(classes)) / parties, self.lam, classes)

    @override
    def noise(self, public: Public) -> WeightNoise:
        classes, M = public.classes, public.parties
        nominal = _twice_or_root_two(classes) / (M * Fraction(self.lam))
        return WeightNoise(classes, self.lam, self.sensitivity(classes, M), nominal)


@dataclass(frozen=True)
class SoftAuxiliary(_GlobalModel):
    """Section 4.5: as `Soft`, with one auxiliary row protected too, replaced together with the party's data.

    lam in [2^-29, 1e6], of the local and the global models; learner: what parties train, see `ensemble.Learner`. A
    learner's answer on a row must not depend on the other rows.
    """

    name: ClassVar[str] = "soft_aux"
    colour: ClassVar[str] = "#18a8f0"

    def sensitivity(self, classes: int, parties: int, rows: int) -> Fraction:
        """Return the model's L2 sensitivity: min(D (N + 2M - 1)/(N M lam), 2 W) and the solver's tolerance.

        Proof. N - 1 rows change by their label only, each moves N times the gradient by at most D/M. The gradient of
        the last row is B'(q - alpha) x' with two probability vectors, at most D long; another row's may point the
        other way: 2 D. The sum over N is D (N - 1 + 2M)/(N M). For two classes the cancellation behind D = 1 needs
        equal rows, which is why the published factor (N + M - 1)/N, from 2 and 2/M, does not carry over.
        """
        gradient = Fraction(diameter(classes)) * (rows + 2 * parties - 1) / (rows * parties)
        return minimiser_sensitivity(gradient, self.lam, classes)

    @property
    @override
    def caveats(self) -> tuple[str, ...]:
        of_learner = learner_caveats(self.learner)
        return (*ONE_ROW_CAVEATS, *((_ROW_BY_ROW_CAVEAT, *of_learner) if of_learner else ()))

    @override
    def noise(self, public: Public) -> WeightNoise:
        classes, M, N = public.classes, public.parties, len(auxiliary_rows(public, self))
        nominal = _twice_or_root_two(classes) / (M * Fraction(self.lam)) * Fraction(N + M - 1, N)
        return WeightNoise(classes, self.lam, self.sensitivity(classes, M, N), nominal)


@dataclass(frozen=True)
class Average(MeanOfModels):
    """The mean of the local logistic or softmax models (the paper's comparison, appendix B.4).

    Each is clipped to W, the largest norm of a minimiser, which changes nothing but rounding, and makes sure that
    replacing one party moves the sum by at most 2 W. lam in [2^-29, 1e6].
    """

    name: ClassVar[str] = "avg"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven", "paper")
    noises_as_published: ClassVar[tuple[NoiseName, ...]] = ("knorm",)
    colour: ClassVar[str] = "#00b400"

    def sensitivity(self, classes: int) -> Fraction:
        """Return the L2 sensitivity of the sum of the M models: 2 W."""
        return 2 * Fraction(largest_softmax_norm(classes, self.lam))

    @override
    def noise(self, public: Public) -> WeightNoise:
        nominal = Fraction(2 if public.classes == 2 else 2 * math.sqrt(2)) / Fraction(self.lam)
        return WeightNoise(public.classes, self.lam, self.sensitivity(public.classes), nominal)

    @override
    def clipped(self, V: Array, public: Public) -> Array:
        return clipped(V, largest_softmax_norm(public.classes, self.lam))


def majority_labels(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the class with the most votes in each row of counts: (N, C); of equals class 1 of two, else the lowest."""
    if counts.shape[1] == 2:
        return (counts[:, 1] >= counts[:, 0]).astype(np.int64)
    return np.asarray(counts.argmax(axis=1), dtype=np.int64)


def _twice_or_root_two(classes: int) -> Fraction:
    """Return the constant of Theorems 1 and 3, 2, or that of appendix B, sqrt 2 as the nearest float."""
    return Fraction(2 if classes == 2 else math.sqrt(2))
