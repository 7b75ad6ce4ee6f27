"""Local classifiers of any kind, of which nothing is used but their predictions.

A refusal here names a party because of its rows or its learner, and so is not private: a reader of the message
learns something about that party. It belongs in front of a person who prepares a run, not into a release.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array, IntArray
from smc_dp.core.errors import InputError, shown

_REASON_LENGTH = 120  # characters of what an error says
_STATE_BITS = 32  # of a random state in scikit-learn

PredictFunction: TypeAlias = Callable[[Array], npt.ArrayLike]
"""Function from rows (N, d) to class numbers (N,)."""


class Classifier(Protocol):
    """A scikit-learn classifier, as far as it is used here."""

    def fit(self, X: Array, y: IntArray) -> Any:
        """Train, and return the fitted classifier; its `.predict` is the predict function."""


LocalLearner: TypeAlias = Classifier | Callable[[Array, IntArray], PredictFunction]
"""A scikit-learn classifier, or a function from rows (n, d) and class numbers (n,) to a predict function."""


def train_each(
    learners: LocalLearner | Sequence[LocalLearner], parties: Sequence[tuple[Array, IntArray]], names: Sequence[str]
) -> tuple[PredictFunction, ...]:
    """Train one predictor for each party, by one learner for all, or by several which the parties take in turn.

    parties: X: (n, d) and y: (n,), class numbers. names: what to call each party in a message. A scikit-learn learner
    is cloned for each party; where a `random_state` of it is None, each clone gets one of its own, so that no two
    parties share numpy's global generator. A party with one class has nothing to learn, which many learners refuse: it
    votes for that class whatever its learner, so that no refusal tells of its rows. Raises InputError naming the party
    whose learner raises, with what it raised, and for no or too many learners.
    """
    given: Any = learners  # a text is a sequence too, and no learner
    each = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    if not 1 <= len(each) <= len(parties):
        raise InputError("learner.wrong_number", most=len(parties), got=len(each))
    named = zip(parties, names, strict=True)
    return tuple(_fit(learner, X, y, name) for learner, ((X, y), name) in zip(cycle(each), named, strict=False))


def votes_of(predictors: Sequence[PredictFunction], X: Array, classes: int, names: Sequence[str]) -> IntArray:
    """Count the predictors that choose each class on each row of X: (N, C); every row sums to their number.

    Raises InputError naming the party whose predictor raises, or answers with anything but N class numbers; floats
    that are whole numbers count as such.
    """
    counts = np.zeros((len(X), classes), dtype=np.int64)
    for predictor, name in zip(predictors, names, strict=True):
        counts[np.arange(len(X)), answers_of(predictor, X, classes, name)] += 1
    return counts


def answers_of(predictor: PredictFunction, X: Array, classes: int, name: str) -> IntArray:
    """Return the class numbers (N,) that one party's predictor chooses; raise InputError as `votes_of` does."""
    try:
        answers = np.asarray(predictor(X.copy()))  # nobody's predictor changes the rows of the next
    except Exception as error:
        raise InputError("learner.predictions_failed", party=name, reason=_reason(error)) from error
    if answers.shape != (len(X),) or answers.dtype.kind not in "biuf":
        got = f"shape {answers.shape} of {answers.dtype}"
    elif (known := np.isin(answers, np.arange(classes))).all():
        return answers.astype(np.int64)
    else:
        got = shown(answers[~known][0].item())
    raise InputError("learner.predictions_no_classes", party=name, wanted=len(X), most=classes - 1, got=got)


def _fit(learner: LocalLearner, X: Array, y: IntArray, name: str) -> PredictFunction:
    if not callable(learner) and not hasattr(learner, "fit"):
        raise InputError("learner.no_classifier", party=name, got=shown(learner))
    if (y == y[0]).all():
        label = int(y[0])
        return lambda rows: np.full(len(rows), label)
    predictor: Any
    try:
        if hasattr(learner, "fit"):
            predictor = _own_clone(learner).fit(X.copy(), y.copy()).predict
        else:
            predictor = learner(X.copy(), y.copy())
    except Exception as error:
        raise InputError("learner.training_failed", party=name, reason=_reason(error)) from error
    if not callable(predictor):
        reason = f"wanted a function that predicts, got {shown(predictor)}"
        raise InputError("learner.training_failed", party=name, reason=reason)
    checked: PredictFunction = predictor
    return checked


def _own_clone(learner: Classifier) -> Any:
    """Clone the learner, untrained, with a random state of its own wherever it has none."""
    from sklearn.base import clone  # a second that a command without such learners need not wait

    own: Any = clone(learner)
    states = {name: value for name, value in own.get_params().items() if name.rpartition("__")[2] == "random_state"}
    rng = Stream.from_system()
    return own.set_params(**{name: rng.bits(_STATE_BITS) for name, value in states.items() if value is None})


def _reason(error: Exception) -> str:
    """Return the type of an error and its text, on one line and cut."""
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said if len(said) <= _REASON_LENGTH else said[: _REASON_LENGTH - 3] + '...'}"
