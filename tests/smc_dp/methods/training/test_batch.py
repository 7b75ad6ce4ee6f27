"""Training in one batch: the same models as one at a time and as scikit-learn's, certified, and nobody mixed in."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from smc_dp.core.arrays import Array, IntArray
from smc_dp.methods.training import batch
from smc_dp.methods.training.balls import softmax_gradient_in_balls
from smc_dp.methods.training.batch import train_all
from smc_dp.methods.training.classes import code, coordinate_count
from smc_dp.methods.training.softmax import certified, one_hot
from smc_dp.methods.training.solver import PUBLIC_TAU

Party = tuple[Array, IntArray]


def dealt(sizes: Sequence[int], d: int, classes: int, seed: int = 0, radius: float = 1.0) -> list[Party]:
    """Parties of these sizes with random rows of norm just below the radius; all classes where there is room."""
    rng = np.random.default_rng(seed)
    parties = []
    for n in sizes:
        X = rng.normal(size=(n, d))
        X *= radius / ((1 + 2.0**-40) * np.linalg.norm(X, axis=1, keepdims=True))
        y = rng.integers(0, classes, n)
        y[:classes] = np.arange(classes)[:n]
        parties.append((X, y))
    return parties


def bound(V: Array, party: Party, classes: int, mu: float) -> float:
    """An upper bound on the gradient's norm, in ball arithmetic."""
    return softmax_gradient_in_balls(mu, V, party[0], one_hot(party[1], classes), code(classes))[1]


# Sizes below, at and above the number of features: the dual, and one at a time.
CASES = [(2, [22] * 30 + [5, 40, 60, 5, 39], 40, 0.02), (6, [6] * 20 + [12, 30, 9], 20, 0.02), (3, [8, 8, 20], 9, 1e-3)]


@pytest.mark.parametrize(("classes", "sizes", "d", "mu"), CASES)
def test_agrees_with_scikit_learn(classes: int, sizes: list[int], d: int, mu: float) -> None:
    parties = dealt(sizes, d, classes)
    models = train_all(parties, classes, mu)
    assert models.shape == (len(sizes), coordinate_count(classes), d)
    agreeing = 0
    for (X, y), V in zip(parties, models, strict=True):
        if len(np.unique(y)) < classes:  # scikit-learn drops classes that do not occur
            continue
        fitted = LogisticRegression(C=1 / (mu * len(y)), fit_intercept=False, solver="newton-cholesky", tol=1e-12)
        W = fitted.fit(X, y).coef_
        wanted = W if classes == 2 else W - W.mean(axis=0)
        assert (V if classes == 2 else code(classes) @ V) == pytest.approx(wanted, abs=1e-6)
        agreeing += 1
    assert agreeing >= len(sizes) - 1


@pytest.mark.parametrize("mu", [2.0**-29, 1e-4, 0.02, 1e3])
@pytest.mark.parametrize("classes", [2, 4])
def test_every_model_is_certified(classes: int, mu: float) -> None:
    parties = dealt([1, 2, 7, 7, 15], 10, classes)
    X, y = parties[2]
    parties += [
        (X, np.zeros_like(y)),  # one class
        (X, np.full_like(y, classes - 1)),
        (np.repeat(X[:1], 7, axis=0), y),  # one row with every label
        (np.zeros_like(X), y),
        (X * 1e-200, y),
    ]
    for V, party in zip(train_all(parties, classes, mu), parties, strict=True):
        assert bound(V, party, classes, mu) <= PUBLIC_TAU
        assert bound(V + 2 * PUBLIC_TAU / mu, party, classes, mu) > PUBLIC_TAU  # twin: a little off


@pytest.mark.parametrize("classes", [2, 5])
def test_as_one_at_a_time(classes: int) -> None:
    mu, parties = 1e-3, dealt([11] * 12, 30, classes)
    alone = np.array([certified(X, one_hot(y, classes), mu) for X, y in parties])
    together = train_all(parties, classes, mu)
    assert np.linalg.norm(together - alone, axis=(1, 2)).max() <= 2 * PUBLIC_TAU / mu


@pytest.mark.parametrize(("classes", "mu"), [(2, 1e-4), (2, 2.0**-29), (6, 0.02)])
def test_a_model_is_the_same_to_the_last_bit_whoever_else_is_there(classes: int, mu: float) -> None:
    parties = dealt([9] * 40 + [10] * 5, 25, classes)
    models = train_all(parties, classes, mu)
    assert np.array_equal(train_all(parties[::-1], classes, mu)[::-1], models)
    for j in (0, 17, 39, 44):
        assert np.array_equal(train_all([parties[j]], classes, mu)[0], models[j])
    others = dealt([9] * 39 + [3] * 5, 25, classes, seed=1)
    assert np.array_equal(train_all([*others, parties[7]], classes, mu)[-1], models[7])


def test_what_floats_do_not_certify_is_done_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    mu, parties = 2.0**-29, dealt([30] * 3, 60, 2, radius=1e-3)
    asked = []

    def one_at_a_time(X: Array, alpha: Array, modulus: float) -> Array:
        asked.append(X)
        return certified(X, alpha, modulus)

    monkeypatch.setattr(batch, "certified", one_at_a_time)
    models = train_all(parties, 2, mu)
    assert len(asked) == 3  # the weights are so large that rounding might hide more than PUBLIC_TAU
    assert max(bound(V, party, 2, mu) for V, party in zip(models, parties, strict=True)) <= PUBLIC_TAU
    asked.clear()
    train_all(dealt([30] * 3, 60, 2), 2, 1e-2)
    assert not asked


def test_a_bad_solution_is_noticed_and_repaired(monkeypatch: pytest.MonkeyPatch) -> None:
    mu, parties = 0.01, dealt([8] * 4, 20, 3)
    good, found = train_all(parties, 3, mu), batch._through_the_dual

    def second_is_off(X: Array, y: IntArray, classes: int, modulus: float) -> Array:
        V = found(X, y, classes, modulus)
        V[1] += 1e-5
        return V

    monkeypatch.setattr(batch, "_through_the_dual", second_is_off)
    repaired = train_all(parties, 3, mu)
    assert max(bound(V, party, 3, mu) for V, party in zip(repaired, parties, strict=True)) <= PUBLIC_TAU
    assert np.array_equal(repaired[[0, 2, 3]], good[[0, 2, 3]])


def test_steps_that_overshoot_are_halved_for_each_party_alone() -> None:
    """From far on the wrong side the curvature has vanished, and a full Newton step goes far beyond the minimiser."""
    n, mu, (near, far) = 6, 1e-4, dealt([6, 6], 8, 2, seed=3)
    X, B = np.stack([near[0], far[0]]), code(2)
    dual = batch._Dual(X @ X.transpose(0, 2, 1), B[np.stack([near[1], far[1]])], B, mu)
    A = np.zeros((2, n, 1))
    A[1] = -100 * dual.wanted[1]
    F, q, size = dual.evaluate(A)
    full_step = dual.evaluate(A - dual.direction(F, q))[2]
    assert full_step[0] < size[0]
    assert full_step[1] > 0.9 * size[1]  # twin: no halving
    at = (A.copy(), F.copy(), q.copy(), size.copy())
    assert batch._step(dual, at).all()
    assert at[3][0] == full_step[0]
    assert at[3][1] < size[1]
    assert np.array_equal(at[3], dual.evaluate(at[0])[2])


@pytest.mark.parametrize(("sizes", "d"), [pytest.param([22] * 4000, 123, marks=pytest.mark.slow), ([300] * 5, 400)])
def test_memory_is_bounded(sizes: list[int], d: int) -> None:
    parties = dealt(sizes, d, 2)
    tracemalloc.start()
    train_all(parties, 2, 0.02)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


@pytest.mark.parametrize("mu", [0.0, -1.0, 2.0**-30, np.inf, np.nan])
def test_mu_out_of_range_is_refused(mu: float) -> None:
    with pytest.raises(ValueError, match="mu"):
        train_all(dealt([3], 5, 2), 2, mu)
