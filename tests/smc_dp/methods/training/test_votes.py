"""Counted in blocks and float32, votes are those of float64 one by one, near ties and at them."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from smc_dp.core.arrays import Array, IntArray
from smc_dp.methods.training import votes
from smc_dp.methods.training.classes import code, coordinate_count
from smc_dp.methods.training.votes import count_votes


def answers(V: Array, X: Array, classes: int) -> IntArray:
    """(M, N), straightforward: every score in float64, one classifier after another."""
    if classes == 2:
        return np.array([(X @ v[0] > 0).astype(np.int64) for v in V])
    return np.array([np.argmax(X @ (code(classes) @ v).T, axis=1) for v in V])


def counted(chosen: IntArray, classes: int) -> IntArray:
    return np.stack([(chosen == k).sum(axis=0) for k in range(classes)], axis=1)


def panel(M: int, N: int, d: int, classes: int, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, d))
    return rng.normal(size=(M, coordinate_count(classes), d)), X / np.linalg.norm(X, axis=1, keepdims=True)


def near_ties(M: int, N: int, d: int, classes: int) -> tuple[Array, Array]:
    """Classifiers between whose two best scores rows hang: leads of about 1e-10, invisible in float32."""
    V, X = panel(M, N, d, classes)
    W = V[:, 0] if classes == 2 else code(classes)[1] @ V - code(classes)[2] @ V
    for i in range(N):
        w = W[i % M]
        X[i] -= (X[i] @ w) / (w @ w) * w * (1 - 1e-10)
        X[i] /= np.linalg.norm(X[i])
    return V, X


@pytest.mark.parametrize("classes", [2, 3, 6])
@pytest.mark.parametrize(("M", "N"), [(1, 1), (3, 700), (300, 3), (300, 600)])
def test_counts_are_those_of_float64(classes: int, M: int, N: int) -> None:
    V, X = panel(M, N, 20, classes)
    counts = count_votes(V, X, classes)
    assert counts.dtype == np.int64
    assert np.array_equal(counts, counted(answers(V, X, classes), classes))
    assert (counts.sum(axis=1) == M).all()


@pytest.mark.parametrize("classes", [2, 4])
def test_near_ties_are_decided_in_float64(classes: int) -> None:
    V, X = near_ties(40, 400, 30, classes)
    expected = answers(V, X, classes)
    assert np.array_equal(count_votes(V, X, classes), counted(expected, classes))
    single = answers(V.astype(np.float32), X.astype(np.float32), classes)
    assert (single != expected).sum() > 50  # broken twin: float32 alone


def test_of_equal_scores_the_lowest_class_is_chosen() -> None:
    X = np.array([[0.6, 0.6], [0.6, 0.5], [0.5, 0.6], [0.0, 0.0]])
    V = np.array([[[0.7, -0.7]]])
    assert count_votes(V, X, 2).tolist() == [[1, 0], [0, 1], [1, 0], [1, 0]]
    assert count_votes(np.zeros((5, 2, 2)), X, 3).tolist() == [[5, 0, 0]] * 4
    # Along the second coordinate the first two classes have one score, and the third its opposite, doubled.
    up = np.array([[[0.0, 0.0], [1.0, 1.0]]])
    assert count_votes(up, X[:1], 3).tolist() == [[0, 0, 1]]
    assert count_votes(-up, X[:1], 3).tolist() == [[1, 0, 0]]


def test_weights_that_cancel_on_a_row_are_a_tie() -> None:
    rng = np.random.default_rng(0)
    V, X = np.zeros((200, 1, 40)), np.zeros((300, 40))
    V[:, 0, 3] = rng.normal(size=200)
    V[:, 0, 29] = -V[:, 0, 3]
    X[:, 3] = X[:, 29] = rng.uniform(0, 0.7, 300)
    assert count_votes(V, X, 2).tolist() == [[200, 0]] * 300
    X[7, 29] = np.nextafter(X[7, 29], 0)  # twin: not quite
    assert count_votes(V, X, 2)[7, 1] > 50


@pytest.mark.parametrize("classes", [2, 5])
def test_an_answer_does_not_depend_on_the_others(classes: int) -> None:
    V, X = near_ties(60, 120, 10, classes)
    together = count_votes(V, X, classes)
    assert np.array_equal(sum(count_votes(v[np.newaxis], X, classes) for v in V), together)
    assert np.array_equal(np.concatenate([count_votes(V, x[np.newaxis], classes) for x in X]), together)
    V[7] = np.random.default_rng(5).normal(size=V[7].shape)
    change = np.abs(count_votes(V, X, classes) - together).sum(axis=1)
    assert change.max() == 2  # one vote goes, one comes


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e-30, 1e30, 1e150])
def test_the_size_of_weights_and_rows_does_not_matter(classes: int, scale: float) -> None:
    V, X = panel(30, 40, 8, classes)
    expected = count_votes(V, X, classes)
    sizes = np.where(np.arange(30) % 2, scale, 1.0)[:, np.newaxis, np.newaxis]
    assert np.array_equal(count_votes(V * sizes, X, classes), expected)
    if scale < 1:
        assert np.array_equal(count_votes(V, X * scale, classes), expected)


@pytest.mark.parametrize("classes", [2, 4])
def test_rows_that_share_no_feature_with_a_classifier_have_a_vote_for_the_first_class(classes: int) -> None:
    V, X = panel(100, 200, 40, classes)
    V[:70, :, 20:], X[:150, :20], X[150:160] = 0, 0, 0
    counts = count_votes(V, X, classes)
    assert np.array_equal(counts, counted(answers(V, X, classes), classes))
    assert (counts[:150, 0] >= 70).all()
    assert (counts[150:160, 0] == 100).all()


@pytest.mark.parametrize("d", [1, 10, 1000])
def test_the_doubt_covers_the_rounding_of_float32(d: int) -> None:
    rng = np.random.default_rng(d)
    # Worst for rounding: entries of one sign, all of the same size.
    X = np.concatenate([rng.uniform(0.9, 1.0, (300, d)), rng.normal(size=(300, d))]) / np.sqrt(d)
    X[:100] *= 1e-3
    V = np.concatenate([rng.uniform(0.9, 1.0, (200, 1, d)), rng.normal(size=(200, 1, d))])
    made = votes._Panel.of(V, 2)
    exact = (made.W[0] / np.linalg.norm(made.W[0], axis=1, keepdims=True)) @ X.T
    error = np.abs(made.single[0] @ X.astype(np.float32).T - exact).max(axis=0)
    doubts = np.array([made.doubt(x[np.newaxis]) for x in X])
    assert (error <= doubts).all()
    if d == 1000:  # broken twin: one rounding instead of d
        assert (error > 2.0**-24 * np.linalg.norm(X, axis=1)).any()


def test_memory_is_bounded() -> None:
    V, X = panel(3000, 2000, 30, 2)
    tracemalloc.start()
    count_votes(V, X, 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6  # all scores in float32 would be 24e6
