"""`vote`, `soft`, `soft_aux`, `avg`: private aggregation of local classifiers (Hamm, Cao and Belkin, ICML 2016).

Local classifiers of any kind label public auxiliary rows; a global logistic or softmax model is trained on them and
released with noise. Everything is party-level: one party's data set, and so its classifier, is replaced by any other.

J(V) = (1/N) sum of logsumexp(B V x_i) - <V, T> + (lam/2) |V|^2 with T = (1/N) sum of (B' alpha_i) x_i': labels enter
through T only, so neighbours' gradients differ by the same T - T' everywhere. One probability vector alpha in place
of another moves B'alpha by at most D (`diameter`: 1 for two classes, sqrt 2 for more), and |x| <= 1. So T moves by
at most D for majority labels, and D/M for shares of the votes, of which one party has 1/M. For logistic regression
this is half of what the paper's Theorems 1 and 3 charge, since l'(m) + l'(-m) = -1; for more classes it is the same.
The noise of `proven` has p d dimensions, because minimisers lie there; the printed one has C d.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from smc_dp.arrays import Array
from smc_dp.data.federation import Federation
from smc_dp.learning.classes import diameter
from smc_dp.learning.softmax import certified, one_hot
from smc_dp.methods.hamm2016.ensemble import Ensemble, Learner, auxiliary, ensemble
from smc_dp.methods.hamm2016.weights import TrainedWeights, clipped, of_minimiser
from smc_dp.methods.method import Method, check_modulus
from smc_dp.privacy.sensitivity import largest_softmax_norm
from smc_dp.privacy.target import Calibration, NoiseName

PUBLIC_ROWS = "The auxiliary rows are public: they are not protected."
ONE_ROW = (
    "The same holds if, at the same time, one auxiliary row is replaced by any other row; no more of them.",
    "What was fitted to the auxiliary rows before, such as a projection, is not covered.",
)
ROW_BY_ROW = "It is assumed that a learner's answer on a row does not depend on the other rows."
_CALIBRATIONS: tuple[Calibration, ...] = ("proven", "paper")
_NOISES: tuple[NoiseName, ...] = ("knorm", "laplace", "gauss")


@dataclass(frozen=True)
class Vote:
    """Algorithm 1: the global model is trained on majority labels.

    lam in [2^-29, 1e6], of the local and the global models; learner: what parties train, see `ensemble.Learner`.
    """

    lam: float = 1e-4
    learner: Learner = None
    name: ClassVar[str] = "vote"
    calibrations: ClassVar[tuple[Calibration, ...]] = _CALIBRATIONS
    noises: ClassVar[tuple[NoiseName, ...]] = _NOISES

    def __post_init__(self) -> None:
        check_modulus(self.lam)

    def sensitivity(self, classes: int) -> Fraction:
        """In L2, of the model: min(D/lam, 2 W) and the solver's tolerance; a single party may decide every label."""
        return of_minimiser(Fraction(diameter(classes)), self.lam, classes)

    def train(self, federation: Federation) -> TrainedWeights:
        """Local classifiers, their votes, and the global model."""
        auxiliary(federation, self)
        return self.train_from(ensemble(federation, self.lam, self.learner))

    def train_from(self, ensemble: Ensemble) -> TrainedWeights:
        """The global model from local classifiers, however they were trained."""
        classes = ensemble.federation.classes
        X = auxiliary(ensemble.federation, self)
        V = certified(X, one_hot(majority(ensemble.counts), classes), self.lam)
        nominal = _twice_or_root_two(classes) / Fraction(self.lam)
        caveats = (PUBLIC_ROWS, *ensemble.caveats)
        return TrainedWeights(self, V[np.newaxis], classes, self.lam, self.sensitivity(classes), nominal, caveats)


@dataclass(frozen=True)
class Soft:
    """Algorithm 2: the global model is trained on soft labels, the shares alpha of the votes.

    lam in [2^-29, 1e6], of the local and the global models; learner: what parties train, see `ensemble.Learner`.
    """

    lam: float = 1e-4
    learner: Learner = None
    name: ClassVar[str] = "soft"
    calibrations: ClassVar[tuple[Calibration, ...]] = _CALIBRATIONS
    noises: ClassVar[tuple[NoiseName, ...]] = _NOISES

    def __post_init__(self) -> None:
        check_modulus(self.lam)

    def sensitivity(self, classes: int, parties: int) -> Fraction:
        """In L2, of the model: min(D/(M lam), 2 W) and the solver's tolerance."""
        return of_minimiser(Fraction(diameter(classes)) / parties, self.lam, classes)

    def train(self, federation: Federation) -> TrainedWeights:
        """Local classifiers, their votes, and the global model."""
        auxiliary(federation, self)
        return self.train_from(ensemble(federation, self.lam, self.learner))

    def train_from(self, ensemble: Ensemble) -> TrainedWeights:
        """The global model from local classifiers, however they were trained."""
        M, classes = len(ensemble.federation.parties), ensemble.federation.classes
        nominal = _twice_or_root_two(classes) / (M * Fraction(self.lam))
        caveats = (PUBLIC_ROWS, *ensemble.caveats)
        V = _soft_model(ensemble, self, self.lam)
        return TrainedWeights(self, V, classes, self.lam, self.sensitivity(classes, M), nominal, caveats)


@dataclass(frozen=True)
class SoftAuxiliary:
    """Section 4.5: as `Soft`, with one auxiliary row protected too, replaced together with the party's data.

    lam in [2^-29, 1e6], of the local and the global models; learner: what parties train, see `ensemble.Learner`. A
    learner's answer on a row must not depend on the other rows.
    """

    lam: float = 1e-4
    learner: Learner = None
    name: ClassVar[str] = "soft_aux"
    calibrations: ClassVar[tuple[Calibration, ...]] = _CALIBRATIONS
    noises: ClassVar[tuple[NoiseName, ...]] = _NOISES

    def __post_init__(self) -> None:
        check_modulus(self.lam)

    def sensitivity(self, classes: int, parties: int, rows: int) -> Fraction:
        """In L2, of the model: min(D (N + 2M - 1)/(N M lam), 2 W) and the solver's tolerance.

        Proof. N - 1 rows change by their label only, each moves N times the gradient by at most D/M. The gradient of
        the last row is B'(q - alpha) x' with two probability vectors, at most D long; another row's may point the
        other way: 2 D. The sum over N is D (N - 1 + 2M)/(N M). For two classes the cancellation behind D = 1 needs
        equal rows, which is why the printed factor (N + M - 1)/N, from 2 and 2/M, does not carry over.
        """
        gradient = Fraction(diameter(classes)) * (rows + 2 * parties - 1) / (rows * parties)
        return of_minimiser(gradient, self.lam, classes)

    def train(self, federation: Federation) -> TrainedWeights:
        """Local classifiers, their votes, and the global model."""
        auxiliary(federation, self)
        return self.train_from(ensemble(federation, self.lam, self.learner))

    def train_from(self, ensemble: Ensemble) -> TrainedWeights:
        """The global model from local classifiers, however they were trained."""
        M, classes = len(ensemble.federation.parties), ensemble.federation.classes
        N = len(auxiliary(ensemble.federation, self))
        nominal = _twice_or_root_two(classes) / (M * Fraction(self.lam)) * Fraction(N + M - 1, N)
        V = _soft_model(ensemble, self, self.lam)
        caveats = (*ONE_ROW, *((ROW_BY_ROW, *ensemble.caveats) if ensemble.caveats else ()))
        return TrainedWeights(self, V, classes, self.lam, self.sensitivity(classes, M, N), nominal, caveats)


@dataclass(frozen=True)
class Average:
    """The mean of the local logistic or softmax models (the paper's comparison, appendix B.4).

    Each is clipped to W, the largest norm of a minimiser, which changes nothing but rounding, and makes sure that
    replacing one party moves the sum by at most 2 W. lam in [2^-29, 1e6].
    """

    lam: float = 1e-4
    name: ClassVar[str] = "avg"
    calibrations: ClassVar[tuple[Calibration, ...]] = _CALIBRATIONS
    noises: ClassVar[tuple[NoiseName, ...]] = _NOISES

    def __post_init__(self) -> None:
        check_modulus(self.lam)

    def sensitivity(self, classes: int) -> Fraction:
        """In L2, of the sum of the M models: 2 W."""
        return 2 * Fraction(largest_softmax_norm(classes, self.lam))

    def train(self, federation: Federation) -> TrainedWeights:
        """Local models."""
        return self.train_from(ensemble(federation, self.lam))

    def train_from(self, ensemble: Ensemble) -> TrainedWeights:
        """The mean of local models, which are expected to come from the same lam and are clipped otherwise."""
        classes = ensemble.federation.classes
        V = clipped(ensemble.models(self), largest_softmax_norm(classes, self.lam))
        nominal = Fraction(2 if classes == 2 else 2 * math.sqrt(2)) / Fraction(self.lam)
        return TrainedWeights(self, V, classes, self.lam, self.sensitivity(classes), nominal, ())


def majority(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The class with the most votes in each row of counts: (N, C); of equals class 1 of two, else the lowest."""
    if counts.shape[1] == 2:
        return (counts[:, 1] >= counts[:, 0]).astype(np.int64)
    return np.asarray(counts.argmax(axis=1), dtype=np.int64)


def _soft_model(ensemble: Ensemble, method: Method, lam: float) -> Array:
    """The one global model trained on shares of the votes: (1, p, d)."""
    X = auxiliary(ensemble.federation, method)
    return certified(X, ensemble.counts / len(ensemble.federation.parties), lam)[np.newaxis]


def _twice_or_root_two(classes: int) -> Fraction:
    """The constant of Theorems 1 and 3, 2, and of appendix B, sqrt 2 (the float nearest to it is what is used)."""
    return Fraction(2 if classes == 2 else math.sqrt(2))
