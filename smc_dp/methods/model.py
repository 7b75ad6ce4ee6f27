"""Release of a method: a model, and the statement of what it guarantees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from smc_dp.core.arrays import Array, IntArray
from smc_dp.data.federation import Rows
from smc_dp.methods.training.classes import code
from smc_dp.methods.training.fourier import FourierFeatures as FourierFeatures
from smc_dp.methods.training.integer_rows import slices_of_rows
from smc_dp.privacy.statement import PrivacyStatement

Weights: TypeAlias = tuple[float, ...] | tuple[tuple[float, ...], ...]
"""Published weights of a linear model: d numbers for two classes, the second against the first; else d for each."""


class ReleasedModel(Protocol):
    """Anything whose quality can be measured on labelled rows."""

    def accuracy(self, test: Rows) -> float:
        """Return the fraction of rows that are classified correctly."""

    def accuracy_and_auc(self, test: Rows) -> tuple[float, float]:
        """Return the accuracy, and the area under the ROC curve, one class against the others averaged; nan where it is
        not defined.
        """


class ScoringModel(ABC):
    """A model that chooses the class with the largest score, the first of equals."""

    @abstractmethod
    def scores(self, X: Array) -> Array:
        """Return one score for each row and class: (n, C)."""

    def predict(self, X: Array) -> npt.NDArray[np.int64]:
        """Return class numbers: (n,)."""
        return np.asarray(self.scores(X).argmax(axis=1), dtype=np.int64)

    def accuracy(self, test: Rows) -> float:
        """Return the fraction of rows that are classified correctly."""
        return float(np.mean(self.predict(test.X) == test.y))

    def accuracy_and_auc(self, test: Rows) -> tuple[float, float]:
        """Return the accuracy, and the area under the ROC curve; see `area_under_curve`."""
        scores = self.scores(test.X)
        return float(np.mean(scores.argmax(axis=1) == test.y)), area_under_curve(scores, test.y)


@dataclass(frozen=True, eq=False)
class LinearModel(ScoringModel):
    """Linear model with scores W x, W: (C, d)."""

    W: Array

    @classmethod
    def from_coordinates(cls, V: Array, classes: int) -> LinearModel:
        """Make a model from V: (p, d) in the coordinates of `smc_dp.methods.training.classes`."""
        return cls(code(classes) @ V)

    @classmethod
    def from_weights(cls, weights: Weights) -> LinearModel:
        """Make a model from published weights."""
        W = np.array(weights, dtype=np.float64)
        return cls.from_coordinates(W[np.newaxis], 2) if W.ndim == 1 else cls(W)

    @property
    def weights(self) -> Weights:
        """Weights as they are published."""
        if len(self.W) == 2:
            return tuple((self.W[1] - self.W[0]).tolist())
        return tuple(map(tuple, self.W.tolist()))

    @override
    def scores(self, X: Array) -> Array:
        scores: Array = X @ self.W.T
        return scores


@dataclass(frozen=True, eq=False)
class FourierModel(ScoringModel):
    """Linear model of rows with their Fourier features."""

    linear: LinearModel
    features: FourierFeatures

    @override
    def scores(self, X: Array) -> Array:
        return scores(self.linear.W, X, self.features)


@dataclass(frozen=True, eq=False)
class Release:
    """A model that may be shown to those whom the statement speaks of."""

    model: ReleasedModel
    privacy: PrivacyStatement


def area_under_curve(scores: Array, y: npt.NDArray[np.int64]) -> float:
    """Return the mean, over the classes that occur, of the area for one class against the others; nan for one class.

    scores: (n, C); y: (n,). The chance that a row of the class scores above another, ties half (Mann and Whitney).
    """
    if scores.shape[1] == 2:
        scores, y = (scores[:, 1] - scores[:, 0])[:, np.newaxis], 1 - y
    present = np.unique(y)
    if len(present) < 2:
        return float("nan")
    areas = []
    for number in present[: scores.shape[1]]:  # of two classes, the one that is scored
        inside, outside = (np.sort(scores[rows, number]) for rows in (y == number, y != number))
        below = sum(int(np.searchsorted(outside, inside, side).sum()) for side in ("left", "right"))
        areas.append(below / 2 / (len(inside) * len(outside)))
    return float(np.mean(areas))


def scores(weights: npt.ArrayLike, X: Array, features: FourierFeatures | None = None) -> Array:
    """Return w.x of each row, (n,), for the weights of two classes; one for each class, (n, k), for those of more.

    features: those beside the rows that the weights belong to, None where they are of the rows alone.
    """
    W, rows = np.asarray(weights, dtype=np.float64), np.asarray(X)
    if features is None:
        return np.asarray(rows @ W.T, dtype=np.float64)
    found = np.empty((len(rows), *W.shape[:-1]))
    for some in slices_of_rows(len(rows), W.shape[-1]):
        found[some] = features.of_rows(rows[some]) @ W.T
    return found


def probabilities(found: Array) -> Array:
    """Return what logistic regression says of scores: of the second class, (n,), or of each of k classes, (n, k).

    It is 1/(1 + e^-s) of the score s of two classes, and softmax of those of more. The weights have noise, and nobody
    calibrated them: these are the probabilities of the released model, and no frequencies of classes.
    """
    import scipy.special  # a tenth of a second, which a command that predicts nothing should not pay

    made = scipy.special.expit(found) if found.ndim == 1 else scipy.special.softmax(found, axis=1)
    return np.asarray(made, dtype=np.float64)


def classify(weights: npt.ArrayLike, X: Array, features: FourierFeatures | None = None) -> IntArray:
    """Return the classes of rows X: (n, d), by weights as in `scores`: (n,).

    For two it is the testing phase of Pathak, Rane and Raj (section 3.3): class 0 where t = 1/(1 + e^(-w.x)) is at most
    1/2, else 1. t <= 1/2 if and only if w.x <= 0. The sign is looked at, because t itself rounds to 1/2 for tiny
    positive w.x. For more it is the class with the largest score, the first of equals.
    """
    return choose_classes(scores(weights, X, features))


def choose_classes(found: Array) -> IntArray:
    """Return the classes that these scores choose: (n,)."""
    return np.asarray(found > 0 if found.ndim == 1 else found.argmax(axis=1), dtype=np.int64)
