"""Linear models: predictions, accuracy and the area under the curve, against counting by hand."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from smc_dp.data.federation import Rows
from smc_dp.methods.model import LinearModel, area_under_curve, classify, scores
from smc_dp.methods.training.classes import code


def test_coordinates_become_scores_of_classes() -> None:
    V = np.array([[1.0, 2.0], [0.0, -1.0]])
    model = LinearModel.from_coordinates(V, 3)
    np.testing.assert_allclose(model.scores(np.eye(2)), (code(3) @ V).T)
    np.testing.assert_allclose(model.W.sum(axis=0), 0, atol=1e-15)


def test_two_classes_follow_the_sign_and_a_tie_is_the_first() -> None:
    model = LinearModel.from_coordinates(np.array([[2.0, -1.0]]), 2)
    X = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 1.0]])  # w.x = 2, -1, 0
    np.testing.assert_array_equal(model.predict(X), [1, 0, 0])
    assert model.accuracy(Rows(X, np.array([1, 0, 1]))) == 2 / 3
    assert model.accuracy_and_auc(Rows(X, np.array([1, 0, 1]))) == (2 / 3, 1.0)


def test_weights_of_one_list_follow_the_sign_and_those_of_several_the_largest_score() -> None:
    X = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 1.0]])
    assert classify((2.0, -1.0), X).tolist() == [1, 0, 0]
    W = ((1.0, 0.0), (0.0, 1.0), (1.0, 0.5))
    assert scores(W, X).tolist() == [[1.0, 0.0, 1.0], [0.0, 1.0, 0.5], [0.5, 1.0, 1.0]]
    assert classify(W, X).tolist() == [0, 1, 1]  # the first of equals
    assert classify(W, X).tolist() == LinearModel(np.array(W)).predict(X).tolist()


def pairs_in_order(scores: list[float], positive: list[bool]) -> float:
    """The area by its definition: how often a positive row scores above a negative one, ties half."""
    up = [s for s, p in zip(scores, positive, strict=True) if p]
    down = [s for s, p in zip(scores, positive, strict=True) if not p]
    pairs = [(s > t) + (s == t) / 2 for s, t in product(up, down)]
    return sum(pairs) / len(pairs)


def test_area_is_the_chance_of_the_right_order() -> None:
    rng = np.random.default_rng(3)
    y, scores = rng.integers(0, 3, 60), np.round(rng.normal(size=(60, 3)), 1)
    wanted = np.mean([pairs_in_order(scores[:, k].tolist(), (y == k).tolist()) for k in range(3)])
    assert math.isclose(area_under_curve(scores, y), float(wanted))
    two = np.round(rng.normal(size=(60, 2)), 1)
    difference = (two[:, 1] - two[:, 0]).tolist()
    assert math.isclose(area_under_curve(two, y % 2), pairs_in_order(difference, (y % 2 == 1).tolist()))
    assert not math.isclose(area_under_curve(two, y % 2), pairs_in_order(two[:, 1].tolist(), (y % 2 == 1).tolist()))
    assert math.isnan(area_under_curve(np.ones((3, 2)), np.ones(3, dtype=np.int64)))
