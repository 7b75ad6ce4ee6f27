"""`release_all` and `noisy_max`: the two other uses of an ensemble (Hamm, Cao and Belkin 2016, section 3.2).

`release_all` publishes every local classifier, each with noise for a change of its party's whole data set: a
sensitivity that does not shrink with the number of parties. `noisy_max` keeps the classifiers and answers queries by
their votes with noise, which must grow linearly with the number of queries. The paper argues against both; here they
can be measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError, shown
from smc_dp.data.federation import Public, Rows
from smc_dp.methods.functionality import EachPublishes, Trusted, Vector
from smc_dp.methods.hamm2016.ensemble import (
    Classifiers,
    Ensemble,
    OfParties,
    Voting,
    join_classifiers,
    learner_caveats,
    train_classifier,
    train_weights,
    votes,
)
from smc_dp.methods.hamm2016.weights import clipped
from smc_dp.methods.method import TrainedParts, Trust
from smc_dp.methods.model import Release, area_under_curve
from smc_dp.methods.neighbours import STRONG_LAMBDA, NeighbourPair, party_pair
from smc_dp.methods.training.black_box import PredictFunction
from smc_dp.methods.training.classes import coordinate_count
from smc_dp.methods.training.votes import count_votes
from smc_dp.privacy.grid import ceil_sqrt
from smc_dp.privacy.noise import DiscreteLaplace, KNorm
from smc_dp.privacy.output import (
    GRID,
    Calibrated,
    calibrate_gaussian,
    calibrate_noise,
    noise_statement,
    on_grid,
    perturb,
    with_noise,
)
from smc_dp.privacy.sensitivity import largest_softmax_norm
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.privacy.target import Calibration, Target

_MOST_QUERIES = 10**9


@dataclass(frozen=True)
class ReleaseAll(OfParties):
    """Release of every local model; they classify by majority."""

    name: ClassVar[str] = "release_all"
    colour: ClassVar[str] = "#a89c18"

    @classmethod
    @override
    def audit_pair(cls, calibration: Calibration) -> NeighbourPair:
        return party_pair(cls(STRONG_LAMBDA), several=True)

    def sensitivity(self, classes: int) -> Fraction:
        """Return the L2 sensitivity of each model: 2 W, as each is clipped to the largest norm W of a minimiser."""
        return 2 * Fraction(largest_softmax_norm(classes, self.lam))

    def noise(self, public: Public, target: Target) -> Calibrated | None:
        """Return the noise of one model."""
        if target.epsilon is None:
            return None
        return calibrate_noise(
            target, coordinate_count(public.classes) * public.dimension, self.sensitivity(public.classes)
        )

    @override
    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        # Parallel composition: a party's rows reach its own model only.
        who = "anyone who sees all the noisy models, the other parties among them"
        return noise_statement(self.noise(public, target), target, "party", "party", who)

    @override
    def functionality(self, public: Public, target: Target) -> EachPublishes:
        return EachPublishes()

    @override
    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Vector:
        V = self.clipped(train_weights(rows, public, self.lam)[np.newaxis], public.classes)
        return with_noise(on_grid(V), self.noise(public, target), rng)

    @override
    def finish(self, value: Sequence[Vector], public: Public, target: Target) -> Release:
        V = np.array([GRID.decode(model) for model in value])
        shape = len(value), coordinate_count(public.classes), public.dimension
        return Release(Committee(V.reshape(shape), public.classes), self.statement(public, target))

    def clipped(self, V: Array, classes: int) -> Array:
        """Clip models (M, p, d) to the length W."""
        return clipped(V, largest_softmax_norm(classes, self.lam))

    @override
    def train_from(self, ensemble: Ensemble) -> TrainedParts[Release]:
        public = ensemble.federation.public
        V = self.clipped(ensemble.models(self), public.classes)

        def parts(target: Target, rng: Stream) -> list[Vector]:
            noise = self.noise(public, target)
            return [with_noise(on_grid(v), noise, rng) for v in V]

        return TrainedParts(self, public, V, parts)


@dataclass(frozen=True, eq=False)
class Committee:
    """Linear models V: (M, p, d) that classify by majority, the lowest class of equals."""

    V: Array
    classes: int

    def accuracy(self, test: Rows) -> float:
        """Return the fraction of rows that the majority classifies correctly."""
        return float(np.mean(count_votes(self.V, test.X, self.classes).argmax(axis=1) == test.y))

    def auc(self, test: Rows) -> float:
        """Return the area under the ROC curve of the shares of the votes."""
        return area_under_curve(count_votes(self.V, test.X, self.classes) / len(self.V), test.y)


@dataclass(frozen=True)
class NoisyMax(Voting):
    """Report-noisy-max (Dwork and Roth 2013): each of at most `queries` rows gets the class with most noisy votes.

    lam in [2^-29, 1e6], of logistic regression; learner: what parties train, see `ensemble.Learner`; queries in
    [1, 10^9].
    """

    queries: int = 1000
    name: ClassVar[str] = "noisy_max"
    colour: ClassVar[str] = "#6c3078"

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        if type(self.queries) is not int or not 1 <= self.queries <= _MOST_QUERIES:  # no int64, which would overflow
            raise InputError("queries.out_of_range", most=_MOST_QUERIES, got=shown(self.queries))

    @classmethod
    @override
    def audit_pair(cls, calibration: Calibration) -> NeighbourPair:
        return party_pair(cls(STRONG_LAMBDA, queries=1))

    def noise(self, target: Target, classes: int) -> Calibrated:
        """Return the noise of one query's counts, with the distance that all queries together can move.

        Proof. Replacing one party takes one vote from a class and gives it to another, or changes nothing: the counts
        of a query move by 2 in L1 and sqrt 2 in L2. The class is a function of the noisy counts. q queries, chosen in
        view of earlier answers, compose to q times the epsilon, or q times the mu^2 and the rho, of one.
        """
        one, q = 1 << GRID.fraction_bits, self.queries
        if target.noise == "laplace":
            return Calibrated(DiscreteLaplace(classes, 2 * q * one / target.wanted), 2 * q * one)
        D = ceil_sqrt(2 * one * one * (q if target.noise == "gauss" else q * q))
        if target.noise == "gauss":
            return calibrate_gaussian(target, classes, D, q)
        return Calibrated(KNorm(classes, D / target.wanted), D)

    @override
    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        noise = None if target.epsilon is None else self.noise(target, public.classes)
        covered = (f"It covers all of at most {self.queries} answers together.", *learner_caveats(self.learner))
        who = "anyone who sees the answers, but not the one who computes them and holds the classifiers"
        return noise_statement(noise, target, "party", "party", who, covered)

    @override
    def functionality(self, public: Public, target: Target) -> Trusted:
        return Trusted(lambda parts, rng: self.service(join_classifiers(parts), public, target, rng))

    @override
    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Array | PredictFunction:
        return train_classifier(rows, public, self.lam, self.learner)

    @override
    def finish(self, value: Service, public: Public, target: Target) -> Release:
        return Release(value, self.statement(public, target))

    def service(self, classifiers: Classifiers, public: Public, target: Target, rng: Stream) -> Service:
        """Return the service that answers by the votes of these classifiers, with a stream of its own."""
        noise = None if target.epsilon is None else self.noise(target, public.classes)
        own = rng.spawn()
        return Service(lambda X: votes(classifiers, X, public), public.dimension, noise, own, self.queries)

    @override
    def train_from(self, ensemble: Ensemble) -> TrainedParts[Release]:
        method, public = replace(self, learner=ensemble.learner), ensemble.federation.public

        def answering(target: Target) -> Trusted:
            return Trusted(lambda _, rng: method.service(ensemble.classifiers, public, target, rng))

        return TrainedParts(method, public, ensemble.classifiers, lambda *_: [None], answering)


@dataclass(eq=False, repr=False)
class Service:
    """Answers queries with noise until `left` is 0; it holds the secret classifiers, and is not to be handed over.

    `votes`: how many classifiers choose each class for rows (n, d): (n, C), secret.
    """

    votes: Callable[[Array], npt.NDArray[np.int64]]
    dimension: int
    noise: Calibrated | None
    rng: Stream
    left: int

    def predict(self, X: Array) -> npt.NDArray[np.int64]:
        """Return class numbers: (n,). Each row is one query.

        InputError, and no query is spent, for more rows than are left, of another width or not finite.
        """
        self._check(X)
        if len(X) > self.left:
            raise InputError("queries.too_many", most=self.left, got=len(X))
        self.left -= len(X)
        counts = [[int(v) << GRID.fraction_bits for v in votes] for votes in self.votes(X)]
        return np.array([np.argmax(perturb(votes, self.noise, self.rng)) for votes in counts], dtype=np.int64)

    def _check(self, X: Array) -> None:
        if X.ndim != 2 or X.shape[1] != self.dimension:
            raise InputError("queries.wrong_width", width=self.dimension, shape=str(X.shape))
        finite = np.isfinite(X).all(axis=1)
        if not finite.all():
            raise InputError("queries.not_finite", row=int(np.argmin(finite)) + 1)

    def accuracy(self, test: Rows) -> float:
        """Return the fraction of rows that are classified correctly; of the first `left` of them if there are more.

        nan when no answer is left.
        """
        n = min(len(test), self.left)
        return float(np.mean(self.predict(test.X[:n]) == test.y[:n])) if n else float("nan")

    def auc(self, test: Rows) -> float:
        """Return nan: answers are classes, without scores, and none is spent."""
        return float("nan")
