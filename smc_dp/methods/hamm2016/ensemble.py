"""The parties' local classifiers, trained once and shared by every method that needs nothing else of the parties.

For logistic regression these are models V: (M, p, d); other learners are black boxes of which only votes are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smc_dp.arrays import Array
from smc_dp.data.federation import Federation
from smc_dp.errors import InputError
from smc_dp.learning.batch import train_all
from smc_dp.learning.black_box import LocalLearner, Predictor, fit_all, votes_of
from smc_dp.learning.votes import count_votes
from smc_dp.methods.method import Method

Learner: TypeAlias = LocalLearner | Sequence[LocalLearner] | None
"""What a party trains: None is logistic regression in one batch; else one learner for all, or one for each party.

A learner may depend on the rows of its party and on nothing that another party's rows could change.
"""

_BLACK_BOXES = (
    "It is assumed that what a party's learner does depends on that party's rows only: learners share no generator, no "
    "seed and no memory.",
    "If a party's learner fails there is a refusal that names the party, and that refusal is not covered.",
)


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble:
    """One classifier for each party; secret. `classifiers`: models V: (M, p, d), from any learner, or black boxes."""

    federation: Federation
    classifiers: Array | tuple[Predictor, ...]

    def votes(self, X: Array) -> npt.NDArray[np.int64]:
        """How many of the M classifiers choose each class for the rows X: (n, C)."""
        classes = self.federation.classes
        if isinstance(self.classifiers, np.ndarray):
            return count_votes(self.classifiers, X, classes)
        return votes_of(self.classifiers, X, classes, _names(self.federation))

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """The votes on the auxiliary rows: (N, C)."""
        if self.federation.unlabelled is None:
            raise InputError("the auxiliary rows: wanted public rows without labels, got none")
        return self.votes(self.federation.unlabelled)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What is not covered because of the kind of the classifiers."""
        return () if isinstance(self.classifiers, np.ndarray) else _BLACK_BOXES

    def models(self, method: Method) -> Array:
        """V: (M, p, d); InputError, in the name of the method, where all that is known of a classifier are votes."""
        if not isinstance(self.classifiers, np.ndarray):
            raise InputError(f"learner: {method.name} needs the weights of linear models, got black boxes")
        return self.classifiers


def ensemble(federation: Federation, lam: float, learner: Learner = None) -> Ensemble:
    """Train every party's classifier on its own rows; logistic regression with (lam/2) |V|^2 without a learner.

    Logistic regression can use a party with a single class. Most scikit-learn learners cannot, and are then an
    InputError that names the party.
    """
    parties = [(rows.X, rows.y) for rows in federation.parties]
    if learner is None:
        return Ensemble(federation, train_all(parties, federation.classes, lam))
    return Ensemble(federation, fit_all(learner, parties, _names(federation)))


def auxiliary(federation: Federation, method: Method) -> Array:
    """The public rows without labels: (N, d); InputError, in the name of the method, without any."""
    if federation.unlabelled is None:
        raise InputError(f"the auxiliary rows: {method.name} needs public rows without labels, got none")
    return federation.unlabelled


def _names(federation: Federation) -> list[str]:
    return [federation.name(j) for j in range(len(federation.parties))]
