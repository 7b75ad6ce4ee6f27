"""A personalised model lies between the release and the own rows alone, and its owner's rows choose where."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from smc_dp.core.arrays import Array
from smc_dp.data.federation import Rows
from smc_dp.methods.model import LinearModel
from smc_dp.methods.personal import (
    FOLDS,
    compare_by_folds,
    fit_length,
    fit_personal,
    learn_towards,
)
from tests.support.refusals import refused


def rows_of(n: int, W: Array, seed: int) -> Rows:
    """Rows in the ball whose classes are drawn as the model W: (C, d) says."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, W.shape[1])) / np.sqrt(W.shape[1])
    scores = X @ W.T
    y = np.array([rng.choice(len(W), p=np.exp(s) / np.exp(s).sum()) for s in scores - scores.max(1, keepdims=True)])
    return Rows(X, y)


def model(classes: int, d: int, seed: int, length: float = 8.0) -> Array:
    return np.random.default_rng(seed).normal(0, length, (classes, d))


@pytest.mark.parametrize(("classes", "factor"), [(2, 2.0), (3, 1.0)])
def test_the_model_of_the_own_rows_is_that_of_scikit_learn(classes: int, factor: float) -> None:
    rows, zero = rows_of(200, model(classes, 4, 1), 2), np.zeros((classes, 4))
    found = learn_towards(rows, zero, 0.5, zero)
    # of two classes scikit-learn has one vector w, of which ours are the halves: |W|^2 is |w|^2 / 2
    peer = LogisticRegression(C=factor / 0.5, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(rows.X, rows.y)
    own = found[1:] - found[:1] if classes == 2 else found
    assert np.allclose(own, peer.coef_, atol=1e-2)


def test_a_strength_leads_from_the_own_rows_to_the_release() -> None:
    rows, release = rows_of(200, model(3, 4, 1), 2), model(3, 4, 5)
    alone = learn_towards(rows, np.zeros_like(release), 1e-1, release)
    distances = [float(np.abs(learn_towards(rows, release, s, release) - release).max()) for s in (1e9, 1e2, 1e-1)]
    assert distances[0] < 1e-6 < distances[1] < distances[2]
    nearly = learn_towards(rows, release, 1e-1, release)
    assert np.abs(nearly - alone).max() < np.abs(release - alone).max()
    slopes = 1e2 * (learn_towards(rows, release, 1e2, release) - release)
    W = release + slopes / 1e2
    P = np.exp(rows.X @ W.T)
    P /= P.sum(axis=1, keepdims=True)
    P[np.arange(len(rows)), rows.y] -= 1
    assert np.allclose(P.T @ rows.X + slopes, 0, atol=1e-2)


def test_the_own_rows_choose() -> None:
    truth = model(2, 10, 1)
    few = rows_of(40, truth, 2)
    of_others = fit_personal(few, LinearModel(-truth))
    assert of_others.kind == "own rows alone"
    same = fit_personal(few, LinearModel(truth))
    assert same.kind != "own rows alone"
    test = rows_of(5000, truth, 3)
    assert same.model.accuracy(test) > same.alone.accuracy(test) + 0.01
    assert of_others.model.accuracy(test) == of_others.alone.accuracy(test)


def test_no_row_is_judged_by_a_model_that_has_seen_it() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(0, 1, (100, 80))
    rows = Rows(X / np.linalg.norm(X, axis=1, keepdims=True), rng.integers(0, 2, 100))  # nothing can be learnt
    found = compare_by_folds(rows, LinearModel(np.zeros((2, 80))))
    seen = learn_towards(rows, np.zeros((2, 80)), 1e-3, np.zeros((2, 80)))
    assert LinearModel(seen).accuracy(rows) > 0.9
    assert found.rows == 100
    assert max(found.alone, found.personalised) < 0.65
    assert fit_personal(rows, LinearModel(np.zeros((2, 80)))).strength >= 1


def test_a_row_of_weight_zero_is_not_there() -> None:
    rows, zero = rows_of(60, model(3, 4, 1), 2), np.zeros((3, 4))
    some = np.arange(60) % 3 != 0
    weighted = learn_towards(Rows(rows.X, rows.y, some.astype(float)), zero, 1.0, zero)
    assert np.allclose(weighted, learn_towards(rows.take(np.flatnonzero(some)), zero, 1.0, zero), atol=1e-2)


def test_a_length_changes_no_class_and_fits_the_rows() -> None:
    truth = model(3, 6, 1)
    rows = rows_of(2000, truth, 2)
    found = fit_length(rows, LinearModel(truth * 1e4))
    assert np.array_equal(found.predict(rows.X), LinearModel(truth).predict(rows.X))
    assert np.allclose(found.W, truth, rtol=0.2)


def test_rows_that_are_too_few_are_refused() -> None:
    rows = rows_of(FOLDS - 1, model(2, 3, 1), 2)
    with refused("personal.too_few_rows", least=FOLDS, got=FOLDS - 1):
        fit_personal(rows, LinearModel(np.zeros((2, 3))))
