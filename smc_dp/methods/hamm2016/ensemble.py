"""The parties' local classifiers, trained once and shared by every method that needs nothing else of the parties.

For logistic regression these are models V: (M, p, d); other learners are black boxes of which only votes are used.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.method import Method, Trained, check_no_weights
from smc_dp.methods.neighbours import STRONG_LAMBDA, NeighbourPair, party_pair
from smc_dp.methods.training.batch import train_all
from smc_dp.methods.training.black_box import LocalLearner, PredictFunction, answers_of, train_each, votes_of
from smc_dp.methods.training.votes import count_votes
from smc_dp.privacy.statement import Unit
from smc_dp.privacy.target import Calibration

Learner: TypeAlias = LocalLearner | Sequence[LocalLearner] | None
"""Learner of the parties: None is logistic regression in one batch; else one learner for all, or one for each party.

A learner may depend on the rows of its party and on nothing that another party's rows could change.
"""


@dataclass(frozen=True)
class OfParties(Method):
    """A method that protects all rows of a party; lam in [2^-29, 1e6], of its classifier: (lam/2) |V|^2."""

    lam: float = 1e-4
    protects: ClassVar[Unit] = "party"
    lambda_multiplies: ClassVar[str] = "|V|²/2"

    @classmethod
    @override
    def audit_pair(cls, calibration: Calibration) -> NeighbourPair:
        return party_pair(cls(STRONG_LAMBDA))

    @abstractmethod
    def train_from(self, ensemble: Ensemble) -> Trained:
        """Return the trained method of an ensemble whose classifiers are there already, however they were trained."""

    @override
    def train(self, federation: Federation) -> Trained:
        return self.train_from(train_ensemble(federation, self.lam, getattr(self, "learner", None)))


@dataclass(frozen=True)
class Voting(OfParties):
    """A method of which parties only vote; learner: what they train, see `Learner`."""

    learner: Learner = None


_BLACK_BOXES = (
    "It is assumed that what a party's learner does depends on that party's rows only: learners share no generator, no "
    "seed and no memory.",
    "If a party's learner fails there is a refusal that names the party, and that refusal is not covered.",
)


Classifiers: TypeAlias = Array | tuple[PredictFunction, ...]
"""Models V: (M, p, d), from any learner, or black boxes."""


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble:
    """Classifiers of all parties, one each; secret."""

    federation: Federation
    classifiers: Classifiers

    def votes(self, X: Array) -> npt.NDArray[np.int64]:
        """Count the classifiers that choose each class for the rows X: (n, C)."""
        return votes(self.classifiers, X, self.federation.public)

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """Votes on the auxiliary rows: (N, C)."""
        if self.federation.unlabelled is None:
            raise InputError("auxiliary_rows.missing")
        return self.votes(self.federation.unlabelled)

    @property
    def learner(self) -> Learner:
        """Learner of the parties, as far as the classifiers show it: black boxes are trained already."""
        if isinstance(self.classifiers, np.ndarray):
            return None
        return tuple(map(_trained_already, self.classifiers))

    def models(self, method: Method) -> Array:
        """Return V: (M, p, d); InputError, in the name of the method, where only votes of a classifier are known."""
        if not isinstance(self.classifiers, np.ndarray):
            raise InputError("learner.no_weights", method=method.name)
        return self.classifiers


def votes(classifiers: Classifiers, X: Array, public: Public) -> npt.NDArray[np.int64]:
    """Count the classifiers that choose each class for the rows X: (n, C)."""
    if isinstance(classifiers, np.ndarray):
        return count_votes(classifiers, X, public.classes)
    return votes_of(classifiers, X, public.classes, [public.name(j) for j in range(len(classifiers))])


def train_weights(rows: Rows, public: Public, lam: float) -> Array:
    """Train one party's linear model with (lam/2) |V|^2: V: (p, d); InputError for rows with weights of their own."""
    check_no_weights(rows)
    model: Array = train_all([(rows.X, rows.y)], public.classes, lam)[0]
    return model


def train_classifier(rows: Rows, public: Public, lam: float, learner: Learner = None) -> Array | PredictFunction:
    """Train one party's classifier locally: V: (p, d), or a black box of its learner.

    Raises InputError for several learners: which of them is this party's is not known here.
    """
    if learner is None:
        return train_weights(rows, public, lam)
    check_no_weights(rows)
    (predictor,) = train_each(learner, [(rows.X, rows.y)], ["the party"])
    return predictor


def own_votes(rows: Rows, public: Public, method: Voting) -> npt.NDArray[np.int64]:
    """Return the classes that one party's classifier chooses for the auxiliary rows: (N,)."""
    X, found = auxiliary_rows(public, method), train_classifier(rows, public, method.lam, method.learner)
    if isinstance(found, np.ndarray):
        return np.asarray(count_votes(found[np.newaxis], X, public.classes).argmax(axis=1), dtype=np.int64)
    return answers_of(found, X, public.classes, "the party")


def add_votes(parts: Sequence[npt.NDArray[np.int64]], classes: int) -> npt.NDArray[np.int64]:
    """Add up the parties' `own_votes`: (N, C)."""
    counts = np.zeros((len(parts[0]), classes), dtype=np.int64)
    for chosen in parts:
        counts[np.arange(len(chosen)), chosen] += 1
    return counts


def join_classifiers(parts: Sequence[Array | PredictFunction]) -> Classifiers:
    """Join the classifiers of all parties, each as `train_classifier` gave it."""
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.array(parts)
    return tuple(part for part in parts if not isinstance(part, np.ndarray))


def learner_caveats(learner: Learner) -> tuple[str, ...]:
    """Return the caveats that the kind of the classifiers has."""
    return () if learner is None else _BLACK_BOXES


def train_ensemble(federation: Federation, lam: float, learner: Learner = None) -> Ensemble:
    """Train every party's classifier on its own rows; logistic regression with (lam/2) |V|^2 without a learner.

    Logistic regression uses a party with a single class too; other learners are not called, and it votes for its class.
    """
    for rows in federation.parties:
        check_no_weights(rows)
    parties = [(rows.X, rows.y) for rows in federation.parties]
    if learner is None:
        return Ensemble(federation, train_all(parties, federation.classes, lam))
    names = [federation.name(j) for j in range(len(parties))]
    return Ensemble(federation, train_each(learner, parties, names))


def auxiliary_rows(public: Public | Federation, method: Method) -> Array:
    """Return the public rows without labels: (N, d); InputError, in the name of the method, without any."""
    if public.unlabelled is None:
        raise InputError("auxiliary_rows.needed", method=method.name)
    return public.unlabelled


def _trained_already(predictor: PredictFunction) -> LocalLearner:
    return lambda _X, _y: predictor
