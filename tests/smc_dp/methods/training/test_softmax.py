"""Softmax regression with soft labels: against difference quotients, scikit-learn, and sixty-digit arithmetic."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
import scipy.special
from sklearn.linear_model import LogisticRegression

from smc_dp.core.arrays import Array, IntArray
from smc_dp.methods.training import softmax
from smc_dp.methods.training.balls import softmax_gradient_in_balls
from smc_dp.methods.training.classes import code, coordinate_count, diameter
from smc_dp.methods.training.newton import descend
from smc_dp.methods.training.softmax import (
    SoftLabelObjective,
    certified,
    minimise_soft,
    one_hot,
    rounding_charge,
    statistic,
)
from smc_dp.methods.training.solver import PUBLIC_TAU, summation_depth


def records(n: int, d: int, classes: int, seed: int = 0, radius: float = 1.0) -> tuple[Array, IntArray]:
    """Rows of norm just below the radius; every class occurs when n allows it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X *= radius / ((1 + 2.0**-40) * np.linalg.norm(X, axis=1, keepdims=True))
    y = np.argmax(X @ rng.normal(size=(d, classes)) + 0.3 * radius * rng.normal(size=(n, classes)), axis=1)
    y[:classes] = np.arange(classes)[:n]
    return X, y


def soft(n: int, classes: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).dirichlet(np.ones(classes), size=n)


def objective_of(X: Array, alpha: Array, mu: float) -> SoftLabelObjective:
    return SoftLabelObjective(X, statistic(X, alpha), alpha.shape[1], mu)


def quotient(function, v: Array, h: float = 1e-5) -> Array:  # type: ignore[no-untyped-def]
    return np.array([(function(v + h * e) - function(v - h * e)) / (2 * h) for e in np.eye(len(v))])


def exact_gradient_norm(mu: float, V: Array, X: Array, alpha: Array, B: Array) -> Decimal:
    """The norm of the gradient at the very floats given, in sixty digits."""
    with localcontext() as context:
        context.prec = 60
        W, S = ([[Decimal(float(v)) for v in row] for row in array] for array in (V, B))
        total = [[Decimal(0)] * V.shape[1] for _ in W]
        for row, labels in zip(X.tolist(), alpha.tolist(), strict=True):
            x = [Decimal(v) for v in row]
            u = [sum((a * b for a, b in zip(w, x, strict=True)), Decimal(0)) for w in W]
            powers = [sum((a * b for a, b in zip(s, u, strict=True)), Decimal(0)).exp() for s in S]
            residuals = [q / sum(powers) - Decimal(a) for q, a in zip(powers, labels, strict=True)]
            for k, line in enumerate(total):
                r = sum((e * s[k] for e, s in zip(residuals, S, strict=True)), Decimal(0))
                total[k] = [t + r * v for t, v in zip(line, x, strict=True)]
        entries = [
            t / len(X) + Decimal(mu) * w
            for line, ws in zip(total, W, strict=True)
            for t, w in zip(line, ws, strict=True)
        ]
        return sum((e * e for e in entries), Decimal(0)).sqrt()


# --- the code


@pytest.mark.parametrize("classes", [3, 4, 6, 10, 33])
def test_the_code_is_an_isometry_onto_scores_that_sum_to_zero(classes: int) -> None:
    B = code(classes)
    assert B.shape == (classes, coordinate_count(classes))
    assert np.abs(B.T @ B - np.eye(classes - 1)).max() < 1e-14
    assert np.abs(B.sum(axis=0)).max() < 1e-15


def test_two_classes_have_one_weight_vector_whose_score_is_the_difference() -> None:
    assert coordinate_count(2) == 1
    assert code(2).tolist() == [[-0.5], [0.5]]
    with pytest.raises(ValueError, match="at least 2 classes"):
        code(1)
    with pytest.raises(ValueError, match="read-only"):
        code(2)[0, 0] = 1


@pytest.mark.parametrize("classes", [2, 3, 6, 10, 33])
def test_the_diameter_bounds_the_stored_code_exactly(classes: int) -> None:
    rows = [[Fraction(float(v)) for v in row] for row in code(classes)]
    # Convex in (a, b), so largest at two corners of the simplex.
    largest = max(
        sum((a - b) ** 2 for a, b in zip(rows[i], rows[j], strict=True)) for i in range(classes) for j in range(i)
    )
    assert largest <= Fraction(diameter(classes)) ** 2
    if classes > 2:  # broken twin: sqrt 2 to the nearest float, though that is larger than sqrt 2
        assert largest > Fraction(math.sqrt(2)) ** 2


# --- the objective


@pytest.mark.parametrize(("classes", "n"), [(2, 30), (3, 30), (6, 2500)])
def test_gradient_and_hessian_are_difference_quotients(classes: int, n: int) -> None:
    X, _ = records(n, 4, classes)
    objective = objective_of(X, soft(n, classes), 0.05)
    v = np.linspace(-2, 1, coordinate_count(classes) * 4)
    slopes = quotient(lambda u: objective.value(u.reshape(-1, 4)), v)
    assert objective.gradient(v) == pytest.approx(slopes, abs=1e-9)
    hessian = objective.hessian(v)
    assert hessian == pytest.approx(quotient(objective.gradient, v), abs=1e-9)
    assert hessian == pytest.approx(hessian.T, abs=1e-15)
    assert np.linalg.eigvalsh(hessian).min() >= 0.05 * (1 - 1e-12)


def test_the_value_is_the_cross_entropy_and_the_penalty() -> None:
    X, _ = records(50, 3, 4)
    alpha, V = soft(50, 4), np.linspace(-1, 2, 9).reshape(3, 3)
    chances = scipy.special.log_softmax(X @ (code(4) @ V).T, axis=1)
    expected = -np.mean((alpha * chances).sum(axis=1)) + 0.1 / 2 * np.vdot(V, V)
    assert objective_of(X, alpha, 0.1).value(V) == pytest.approx(expected, rel=1e-13)


# --- the minimiser


def scikit(X: Array, y: IntArray, mu: float, weights: Array | None = None) -> Array:
    """(C, d), or (1, d) for two classes, from scikit-learn."""
    total = len(y) if weights is None else weights.sum()
    model = LogisticRegression(
        C=1 / (mu * total), fit_intercept=False, solver="newton-cholesky", tol=1e-12, max_iter=1000
    )
    return np.asarray(model.fit(X, y, sample_weight=weights).coef_)


@pytest.mark.parametrize(("classes", "n", "d"), [(2, 60, 5), (3, 100, 4), (6, 200, 8)])
def test_agrees_with_scikit_learn(classes: int, n: int, d: int) -> None:
    X, y = records(n, d, classes)
    theirs = scikit(X, y, 0.01)
    ours = certified(X, one_hot(y, classes), 0.01)
    if classes == 2:
        assert ours == pytest.approx(theirs, abs=1e-8)
    else:
        assert code(classes) @ ours == pytest.approx(theirs - theirs.mean(axis=0), abs=1e-8)


@pytest.mark.parametrize("classes", [2, 4])
def test_soft_labels_are_weights_of_every_class_on_every_row(classes: int) -> None:
    X, _ = records(80, 4, classes)
    alpha = soft(80, classes)
    every = np.tile(np.arange(classes), 80)
    theirs = scikit(np.repeat(X, classes, axis=0), every, 0.02, alpha.ravel())
    ours = minimise_soft(objective_of(X, alpha, 0.02))
    scores = ours if classes == 2 else code(classes) @ ours
    assert scores == pytest.approx(theirs - (0 if classes == 2 else theirs.mean(axis=0)), abs=1e-8)


# --- the certificate


@pytest.mark.parametrize(("classes", "mu"), [(2, 0.1), (2, 1e-6), (3, 1e-2), (5, 1e-4)])
def test_the_certificate_covers_the_true_gradient(classes: int, mu: float) -> None:
    X, y = records(40, 3, classes, seed=classes)
    V = certified(X, one_hot(y, classes), mu)
    true = exact_gradient_norm(mu, V, X, one_hot(y, classes), code(classes))
    assert true <= Decimal(PUBLIC_TAU)
    midpoint, bound = softmax_gradient_in_balls(mu, V, X, one_hot(y, classes), code(classes))
    assert true <= Decimal(bound)
    assert bound <= float(true) * (1 + 1e-9) + 1e-30
    assert np.linalg.norm(midpoint) == pytest.approx(float(true), rel=1e-9)
    # Broken twin: a model off by a millionth is noticed by the same bound.
    assert softmax_gradient_in_balls(mu, V + 1e-6 / mu, X, one_hot(y, classes), code(classes))[1] > PUBLIC_TAU


def test_the_charge_covers_what_floats_hide_and_is_needed() -> None:
    hidden = []
    for seed in range(20):
        X, y = records(60, 5, 3, seed)
        objective = objective_of(X, one_hot(y, 3), 0.1)
        V = minimise_soft(objective, tolerance=1e-300)  # down to the floor of floats
        measured = float(np.linalg.norm(objective.gradient(V.ravel())))
        true = float(exact_gradient_norm(0.1, V, X, one_hot(y, 3), code(3)))
        assert true <= measured + rounding_charge(60, 3, 5, float(np.linalg.norm(V)))
        hidden.append(true > measured)
    assert any(hidden)  # twin: no charge at all
    assert rounding_charge(100_000, 2, 300, 20.0) <= PUBLIC_TAU / 10  # ordinary data are certified in floats


def test_summation_depth_counts_additions() -> None:
    assert [summation_depth(n) for n in (1, 1000, 1024)] == [1, 1000, 1024]
    assert summation_depth(1025) == 1025
    assert summation_depth(10**6) == 1024 + 976


@pytest.mark.parametrize("classes", [2, 3])
def test_what_floats_cannot_certify_is_continued_in_balls(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    mu = 2.0**-29
    X, y = records(60, 40, classes, radius=1e-3)
    asked = []

    def in_balls(*arguments):  # type: ignore[no-untyped-def]
        asked.append(arguments)
        return softmax_gradient_in_balls(*arguments)

    monkeypatch.setattr(softmax, "softmax_gradient_in_balls", in_balls)
    V = certified(X, one_hot(y, classes), mu)
    assert rounding_charge(60, classes, 40, float(np.linalg.norm(V))) > PUBLIC_TAU
    assert asked
    assert exact_gradient_norm(mu, V, X, one_hot(y, classes), code(classes)) <= Decimal(PUBLIC_TAU)


def test_a_bad_solution_is_noticed_and_repaired(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = records(30, 4, 3)
    best = certified(X, one_hot(y, 3), 0.01)
    monkeypatch.setattr(softmax, "minimise_soft", lambda *_, **__: best + 0.1)
    assert certified(X, one_hot(y, 3), 0.01) == pytest.approx(best, abs=2 * PUBLIC_TAU / 0.01)
    monkeypatch.setattr(softmax, "rounding_charge", lambda *_: -math.inf)  # twin: a certificate that accepts anything
    assert certified(X, one_hot(y, 3), 0.01) != pytest.approx(best, abs=1e-2)


@pytest.mark.parametrize("mu", [2.0**-29, 1e-3, 1e6])
@pytest.mark.parametrize("radius", [1.0, 0.0])
def test_no_data_stop_it(mu: float, radius: float) -> None:
    X, y = records(12, 3, 4, radius=radius)
    for labels in (y, np.zeros_like(y), np.full_like(y, 3)):  # every class, and one alone
        V = certified(X, one_hot(labels, 4), mu)
        assert softmax_gradient_in_balls(mu, V, X, one_hot(labels, 4), code(4))[1] <= PUBLIC_TAU


@pytest.mark.parametrize("mu", [0.0, -1.0, 2.0**-30, math.inf, math.nan])
def test_mu_out_of_range_is_refused(mu: float) -> None:
    X, y = records(5, 2, 2)
    with pytest.raises(ValueError, match="mu"):
        certified(X, one_hot(y, 2), mu)


# --- Newton's method


def test_steps_that_overshoot_are_searched_for_one_that_does_not() -> None:
    tried = []

    def evaluate(w: Array) -> tuple[Array, float]:
        tried.append(w[0])
        return np.arctan(w), float(abs(np.arctan(w[0])))

    w, size = descend(np.array([20.0]), evaluate, lambda w: np.diag(1 / (1 + w * w)), 1e-12, 5)
    assert abs(w[0]) <= 1e-12
    assert size <= 1e-12
    assert abs(tried[1]) > 100  # twin: the full step from 20 leaves for infinity


def test_where_no_step_shortens_the_gradient_the_best_point_is_returned() -> None:
    w, size = descend(np.array([3.0]), lambda w: (np.ones(1), 1 + abs(w[0] - 3)), lambda w: np.eye(1), 0.5, 5)
    assert (w[0], size) == (3.0, 1.0)
