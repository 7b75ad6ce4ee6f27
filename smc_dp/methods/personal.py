"""Models that a site learns for itself: from its own rows, and regularised towards a release.

Nothing here is private: such a model says as much of the site's own rows as the rows do. It never leaves the site.

Candidates are the release, models towards it, and models of the own rows alone. A model minimises

    sum of softmax losses of the own rows + (strength / 2) |W - centre|^2,

where the centre is the release or zero (Kuzborskij and Orabona, Stability and hypothesis transfer learning, ICML 2013).
A large strength gives the centre, a small one the own rows alone. Cross-validation on the own rows chooses by the
loss of rows that were left out. It tells more about few rows than the number of right answers does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError
from smc_dp.data.federation import Rows
from smc_dp.data.limits import check_feature_count
from smc_dp.methods.model import LinearModel
from smc_dp.methods.training.fourier import FourierFeatures

PersonalKind: TypeAlias = Literal["release", "towards the release", "own rows alone"]
FOLDS = 5
TOWARDS = (1e4, 1e3, 1e2, 1e1, 1e0, 1e-1)
ALONE = (1e1, 1e0, 1e-1, 1e-2, 1e-3, 1e-4)
"""Strengths of the models towards the release, and of those alone; rows are in the unit ball."""
PERSONAL_KINDS: tuple[tuple[PersonalKind, float], ...] = (
    ("release", float("inf")),
    *(("towards the release", strength) for strength in TOWARDS),
    *(("own rows alone", strength) for strength in ALONE),
)
_FIRST_ALONE = 1 + len(TOWARDS)
_MOST = 10_000  # rows by which a strength is chosen
_LONGEST = 20.0  # logarithm of the largest multiple
_MOST_STEPS, _FLAT = 500, 1e-5


@dataclass(frozen=True, eq=False)
class PersonalFit:
    """Personalised model W: (C, d), what kind it is, its strength, and the best model of the own rows alone."""

    model: LinearModel
    kind: PersonalKind
    strength: float
    alone: LinearModel


@dataclass(frozen=True)
class PersonalAccuracy:
    """Accuracies on so many rows: of a model of the own rows alone, of the release, and of the personalised model."""

    rows: int
    alone: float
    release: float
    personalised: float

    @property
    def margin(self) -> float:
        """Two standard errors of the accuracy of the personalised model: a smaller difference can be chance."""
        return 2 * sqrt(self.personalised * (1 - self.personalised) / self.rows)


def in_features(rows: Rows, features: FourierFeatures | None, most_cells: int | None = None) -> Rows:
    """Return the rows as what the weights of a release belong to: with their features, or alone.

    Raises InputError for more numbers than memory has room for; most_cells: what the file of the rows states.
    """
    if features is None:
        return rows
    check_feature_count(len(rows), features.dimension(rows.X.shape[1]), most_cells)
    return replace(rows, X=features.of_rows(rows.X))


def fit_personal(rows: Rows, release: LinearModel) -> PersonalFit:
    """Choose the model with the smallest cross-validated loss, the first of equals, and learn it from all rows.

    Raises InputError for fewer rows than folds.
    """
    if len(rows) < FOLDS:
        raise InputError("personal.too_few_rows", least=FOLDS, got=len(rows))
    step = -(-len(rows) // _MOST)
    losses = _cross_validated(rows if step == 1 else rows.take(np.arange(0, len(rows), step)), release.W)
    best = int(np.argmin(losses))
    alone = _FIRST_ALONE + int(np.argmin(losses[_FIRST_ALONE:]))
    models = _candidates(rows, release.W)
    return PersonalFit(LinearModel(models[best]), *PERSONAL_KINDS[best], LinearModel(models[alone]))


def compare_on(fit: PersonalFit, release: LinearModel, test: Rows) -> PersonalAccuracy:
    """Return the accuracies on rows that no model was learnt from."""
    return PersonalAccuracy(len(test), *(model.accuracy(test) for model in (fit.alone, release, fit.model)))


def compare_by_folds(rows: Rows, release: LinearModel) -> PersonalAccuracy:
    """Return the accuracies by nested cross-validation on the own rows.

    Each row is judged by models of the other folds, which chose their strengths among themselves. The release has seen
    all rows if they took part in it, so its accuracy and that of the personalised model are optimistic then.
    """
    fold, right = _folds(rows.y), np.zeros(3)
    for held in range(FOLDS):
        test = rows.take(np.flatnonzero(fold == held))
        fit = fit_personal(rows.take(np.flatnonzero(fold != held)), release)
        found = compare_on(fit, release, test)
        right += len(test) * np.array([found.alone, found.release, found.personalised])
    alone, of_release, personalised = (right / len(rows)).tolist()
    return PersonalAccuracy(len(rows), alone, of_release, personalised)


def learn_towards(rows: Rows, centre: Array, strength: float, start: Array) -> Array:
    """Return W: (C, d), which minimises the summed softmax loss of the rows plus (strength/2) |W - centre|^2."""
    from scipy.optimize import minimize  # most of a second, which a command that learns nothing should not pay

    n, shape = len(rows), centre.shape

    def objective(flat: Array) -> tuple[float, Array]:
        W = flat.reshape(shape)
        loss, slopes = _losses(rows, rows.X @ W.T)
        gradient = slopes.T @ rows.X + strength * (W - centre)
        return (loss.sum() + strength / 2 * float(((W - centre) ** 2).sum())) / n, gradient.ravel() / n

    found = minimize(
        objective, start.ravel(), jac=True, method="L-BFGS-B", options={"gtol": _FLAT, "maxiter": _MOST_STEPS}
    )
    return np.asarray(found.x.reshape(shape), dtype=np.float64)


def fit_length(rows: Rows, release: LinearModel) -> LinearModel:
    """Return the release times the number above 0 with the smallest loss on the rows; no row changes its class.

    It is for a release whose length says nothing, such as a sum that hides by how many rows it is to be divided.
    """
    from scipy.optimize import minimize_scalar

    scores = rows.X @ release.W.T

    def loss(log: float) -> float:
        return float(_losses(rows, np.exp(log) * scores)[0].sum())

    found = minimize_scalar(loss, bounds=(-_LONGEST, _LONGEST), method="bounded")
    return LinearModel(float(np.exp(found.x)) * release.W)


def _candidates(rows: Rows, release: Array) -> list[Array]:
    """Return the models of `PERSONAL_KINDS`."""
    found = [release]
    for centre, strengths in ((release, TOWARDS), (np.zeros_like(release), ALONE)):
        W = centre
        for strength in strengths:
            W = learn_towards(rows, centre, strength, W)
            found.append(W)
    return found


def _cross_validated(rows: Rows, release: Array) -> Array:
    """Return the summed loss of each candidate on the rows that it was not learnt from: (candidates,)."""
    fold, losses = _folds(rows.y), np.zeros(len(PERSONAL_KINDS))
    for held in range(FOLDS):
        test = rows.take(np.flatnonzero(fold == held))
        models = _candidates(rows.take(np.flatnonzero(fold != held)), release)
        losses += [_losses(test, test.X @ W.T)[0].sum() for W in models]
    return losses


def _folds(y: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the fold of each row, (n,): the rows of each class go to all folds in turn, in the order of rows."""
    found = np.empty(len(y), dtype=np.int64)
    found[np.argsort(y, kind="stable")] = np.arange(len(y)) % FOLDS
    return found


def _losses(rows: Rows, scores: Array) -> tuple[Array, Array]:
    """Return the weighted softmax loss of each row, (n,), and its gradient by the scores, (n, C)."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    logs, index = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)), np.arange(len(rows))
    slopes = np.exp(logs)
    slopes[index, rows.y] -= 1
    loss = -logs[index, rows.y]
    if rows.weights is None:
        return loss, slopes
    return rows.weights * loss, rows.weights[:, np.newaxis] * slopes
