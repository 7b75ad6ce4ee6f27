"""From sums to weights: the method that it should be, whatever integers a sum is."""

from __future__ import annotations

from functools import reduce
from itertools import product
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression
from support.repetitions import with_slow

from smc_dp.core.arrays import Array, IntArray, into_ball, with_bias
from smc_dp.methods.gradients import descent
from smc_dp.methods.gradients.descent import GradientSteps, NewtonSteps, softmax_step
from smc_dp.methods.gradients.gradient_descent import MOST_SUMS
from smc_dp.methods.gradients.newton import SUMS
from smc_dp.methods.training.integer_rows import IntegerRows


def rows(n: int = 300, d: int = 4, k: int = 2, seed: int = 1) -> tuple[Array, IntArray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, (X @ rng.normal(size=(d, k)) + 0.3 * rng.normal(size=(n, k))).argmax(axis=1).astype(np.int64)


def learnt(steps: Any, integers: IntegerRows, sums: int) -> Array:
    """The weights after so many sums without noise."""
    descent = steps.begin()
    for r in range(sums):
        start = integers.start() if r == 0 and isinstance(steps, NewtonSteps) else None
        value = [*start.gradient, *start.diagonal, *start.off_diagonal] if start else integers.gradient(descent.query)
        descent = steps.after(descent, tuple(value))
    released: Array = descent.released
    return released


def by_floats(X: Array, y: IntArray, curvature: Array, times: float, sums: int) -> Array:
    """Nesterov's method for the logistic loss, clipped at 1/2, in floats: an independent oracle."""
    w = v = np.zeros(X.shape[1])
    u, lengths = np.where(y == 1, 1.0, -1.0)[:, np.newaxis] * X, np.linalg.norm(X, axis=1)
    for t in range(sums):
        share = np.minimum(1 / (1 + np.exp(u @ v)), 0.5 / np.maximum(lengths, 1e-12))
        new = v + times * np.linalg.solve(curvature, u.T @ share)
        v, w = new + t / (t + 3) * (new - w), new
    return w


@pytest.mark.parametrize("sums", [1, 2, 8])
def test_two_classes_take_the_steps_that_the_formulas_say(sums: int) -> None:
    X, y = rows()
    integers, d = IntegerRows.of(X, y, 2), X.shape[1]
    found = learnt(NewtonSteps(2, d, 1e-6), integers, sums)[0]
    wanted = by_floats(X, y, X.T @ X / 4, 1.0, sums)
    np.testing.assert_allclose(found, wanted, atol=0.02)
    plain = learnt(GradientSteps(2, d, 4 / len(X)), integers, sums)[0]
    np.testing.assert_allclose(plain, by_floats(X, y, np.eye(d), 4 / len(X), sums), atol=0.02)


@pytest.mark.parametrize("k", [2, 3])
def test_weights_of_records_give_the_minimum_of_the_weighted_loss(k: int) -> None:
    """And half of all weights gives the same: the sum of the weights has no say."""
    X, y = rows(d=3, k=k)
    X /= 4  # no gradient is clipped
    v = np.where(y == 0, 1.0, 0.25) * np.random.default_rng(3).uniform(0.2, 1.0, len(X))
    steps: Any = NewtonSteps(k, 3, 1e-6, weighted=True)
    W, half = (learnt(steps, IntegerRows.of(X, y, k, weights), 60) for weights in (v, v / 2))
    oracle = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10).fit(X, y, sample_weight=v)

    def contrasts(found: Array) -> Array:
        return found if k == 2 else found - found.mean(axis=0)

    np.testing.assert_allclose(contrasts(W), contrasts(oracle.coef_), rtol=0.02, atol=0.05)
    np.testing.assert_allclose(contrasts(half), contrasts(W), atol=0.05)


def test_more_classes_come_to_the_minimum_of_the_softmax_loss() -> None:
    X, y = rows(k=3, d=3)
    least = minimize(lambda v: softmax_loss(v.reshape(3, 3), X, y), np.zeros(9)).fun
    assert softmax_loss(np.zeros((3, 3)), X, y) > 1.5 * least
    for length, most in ((1 / 4, 1.01), (1, 1.2)):  # of short rows no gradient is clipped
        W = learnt(NewtonSteps(3, 3, 1e-6), IntegerRows.of(X * length, y, 3), 60)
        assert softmax_loss(W * length, X, y) < most * least
        assert np.abs(W.sum(axis=0)).max() < 1e-3


def softmax_loss(W: Array, X: Array, y: IntArray) -> float:
    """The mean loss of these weights, (k, d)."""
    Z = X @ W.T
    return float((logsumexp(Z, axis=1) - Z[np.arange(len(X)), y]).mean())


def pairs_of_classes(k: int, rng: np.random.Generator) -> tuple[Array, IntArray]:
    """Rows that tell a pair of classes, each as often: there the Hessian is half of X'X at the minimum."""
    pair = rng.integers(k // 2, size=1000)
    X = np.eye(k // 2)[pair] * 0.9
    return with_bias(X, 0.4), 2 * pair + rng.integers(2, size=1000)


def one_row(k: int, rng: np.random.Generator) -> tuple[Array, IntArray]:
    """One row, again and again, in two of the classes."""
    return np.full((1000, 1), 1 - 2.0**-40), rng.integers(2, size=1000)


def a_line(k: int, rng: np.random.Generator) -> tuple[Array, IntArray]:
    """Two classes that overlap on a line, of k."""
    y = rng.integers(2, size=1000)
    return into_ball(np.stack([np.full(1000, 0.5), 0.3 * rng.normal(size=1000) + 0.4 * y - 0.2], axis=1), 1.0), y


def separable(k: int, rng: np.random.Generator) -> tuple[Array, IntArray]:
    """A direction for each class."""
    y = rng.integers(k, size=1000)
    return with_bias(np.eye(k)[y] * 0.9, 0.4), y


def separable_and_rare(k: int, rng: np.random.Generator) -> tuple[Array, IntArray]:
    """The same, where nearly all rows are of one class."""
    y = np.where(rng.random(1000) < 0.97, 0, rng.integers(k, size=1000))
    return with_bias(np.eye(k)[y] * 0.9, 0.4), y


FAMILIES = (pairs_of_classes, one_row, a_line, separable, separable_and_rare)


@pytest.mark.parametrize(
    ("k", "family"),
    with_slow([*product((3, 10, 26), FAMILIES), (100, one_row)], *product((10, 26), FAMILIES)),
)
def test_no_run_diverges_without_noise(k: int, family: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps assume the curvature at W = 0, which bounds it nowhere else: the loss stays below that of W = 0."""
    X, y = family(k, np.random.default_rng(k))
    integers, d = IntegerRows.of(X, y, k), X.shape[1]

    def losses(steps: Any, sums: int) -> list[float]:
        state, found = steps.begin(), []
        for _ in range(sums):
            state = steps.after(state, tuple(steps.numbers(state, integers)))
            found.append(softmax_loss(state.released, X, y))
        return found

    found = [losses(NewtonSteps(k, d, 1e-3), 40), losses(GradientSteps(k, d, softmax_step(k) / len(X)), MOST_SUMS)]
    assert all(max(of_one) < log(k) for of_one in found)
    if family in (separable, separable_and_rare):
        assert all(of_one[SUMS - 1] < log(k) / 2 and of_one[-1] < 0.05 for of_one in found[:1])
    if k == 100 and family is one_row:
        monkeypatch.setattr(descent, "MOST_STEP", k)  # twin: steps without a cap
        assert max(losses(NewtonSteps(k, d, 1e-3), SUMS)) > 2 * log(k)


def test_a_floor_above_all_curvature_makes_the_steps_plain() -> None:
    X, y = rows()
    integers = IntegerRows.of(X, y, 2)
    high = NewtonSteps(2, 4, 1e6)
    np.testing.assert_allclose(learnt(high, integers, 4), learnt(GradientSteps(2, 4, 1e-6), integers, 4), atol=2**-15)
    low = NewtonSteps(2, 4, 1e-3)
    assert np.abs(learnt(low, integers, 4) - learnt(high, integers, 4)).max() > 1


HOSTILE = st.one_of(st.integers(-(2**63), 2**63), st.integers(-(2**1023), 2**1023), st.just(0))


@settings(max_examples=40)
@given(st.lists(HOSTILE, min_size=27, max_size=27), st.sampled_from([2, 3]))
def test_whatever_integers_a_sum_is_weights_come_of_it_and_a_legal_contribution(numbers: list[int], k: int) -> None:
    """Nothing fails, nothing is NaN or infinite, and what a party answers next is no longer than ever."""
    X, y = rows(40, 3, k)
    integers = IntegerRows.of(X, y, k)
    p = 1 if k == 2 else k
    first, later = tuple(numbers[: 3 * p + 6]), tuple(numbers[: 3 * p])
    for steps, sums in ((NewtonSteps(k, 3, 0.5), [first, later, later]), (GradientSteps(k, 3, 0.1), [later] * 3)):
        descent = reduce(steps.after, sums, steps.begin())
        assert np.isfinite(descent.released).all()
        assert len(integers.gradient(descent.query)) == 3 * p


def test_a_curvature_of_no_numbers_is_no_curvature(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(matrix: Array) -> Any:
        raise np.linalg.LinAlgError

    steps, X, y = NewtonSteps(2, 4, 0.5), *rows()
    integers = IntegerRows.of(X, y, 2)
    monkeypatch.setattr(np.linalg, "eigh", failing)
    np.testing.assert_array_equal(learnt(steps, integers, 3), learnt(GradientSteps(2, 4, 2.0), integers, 3))
