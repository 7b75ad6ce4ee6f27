"""The solver against scikit-learn, and its certificate against sixty-digit arithmetic."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from smc_dp.core.arrays import Array
from smc_dp.methods.training.balls import gradient_in_balls
from smc_dp.methods.training.objective import RegularisedLogistic
from smc_dp.methods.training.solver import PUBLIC_TAU, minimise
from smc_dp.privacy.sensitivity import largest_norm


def records(n: int, d: int, seed: int = 0, radius: float = 1.0) -> tuple[Array, Array]:
    """Rows of norm just below the radius, labels from a noisy hyperplane."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X *= radius / ((1 + 2.0**-40) * np.linalg.norm(X, axis=1, keepdims=True))
    y = np.where(X @ rng.normal(size=d) + 0.3 * radius * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y


def exact_gradient(lam: float, w: Array, X: Array, y: Array) -> list[Decimal]:
    """The gradient at the very floats given, in sixty digits."""
    with localcontext() as context:
        context.prec = 60
        rows = [[Decimal(v) for v in row] for row in X.tolist()]
        weights = [Decimal(v) for v in w.tolist()]
        total = [Decimal(0)] * len(weights)
        for row, label in zip(rows, y.tolist(), strict=True):
            sign = Decimal(label)
            margin = sign * sum((a * b for a, b in zip(row, weights, strict=True)), Decimal(0))
            slope = -sign / (1 + margin.exp())
            total = [t + slope * a for t, a in zip(total, row, strict=True)]
        return [t / len(y) + 2 * Decimal(lam) * v for t, v in zip(total, weights, strict=True)]


def norm(vector: list[Decimal]) -> Decimal:
    return sum((v * v for v in vector), Decimal(0)).sqrt()


@pytest.mark.parametrize(
    ("n", "d", "lam"), [(1, 1, 1.0), (50, 3, 1.0), (400, 20, 1e-2), (1500, 10, 1e-3), (300, 50, 1e-4)]
)
def test_agrees_with_scikit_learn(n: int, d: int, lam: float) -> None:
    X, y = records(n, d, seed=n)
    if len(np.unique(y)) == 1:  # scikit-learn wants both labels: the mirrored record adds the same loss
        X, y = np.vstack([X, -X]), np.concatenate([y, -y])
    solution = minimise(RegularisedLogistic(lam), X, y)
    assert solution.charged_tolerance <= PUBLIC_TAU
    assert np.linalg.norm(RegularisedLogistic(lam).gradient(solution.weights, X, y)) <= 1e-11
    other = LogisticRegression(
        C=1 / (2 * len(y) * lam), fit_intercept=False, solver="newton-cholesky", tol=1e-12, max_iter=1000
    ).fit(X, y)
    assert solution.weights == pytest.approx(other.coef_[0], abs=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_the_certificate_covers_the_true_gradient(seed: int) -> None:
    lam = 10.0 ** -(1 + seed)
    X, y = records(60 + 20 * seed, 2 + seed, seed)
    solution = minimise(RegularisedLogistic(lam), X, y)
    true = norm(exact_gradient(lam, solution.weights, X, y))
    assert true <= Decimal(solution.charged_tolerance)
    midpoint, bound = gradient_in_balls(lam, solution.weights, X, y)
    assert true <= Decimal(bound)
    assert bound <= float(true) + 2.0**-52  # of which lam's own rounding takes half at most
    assert midpoint == pytest.approx([float(g) for g in exact_gradient(lam, solution.weights, X, y)], rel=1e-9)


def test_what_floats_cannot_certify_is_continued_in_balls() -> None:
    lam = 2.0**-30
    X, y = records(200, 120, radius=1e-3)
    solution = minimise(RegularisedLogistic(lam), X, y)
    n, d, size = *X.shape, float(np.linalg.norm(solution.weights))
    assert (n + 2 * d + 2 * d * size + 20) * 2.0**-52 > PUBLIC_TAU  # rounding alone would exceed the cap
    assert solution.charged_tolerance <= PUBLIC_TAU
    assert norm(exact_gradient(lam, solution.weights, X, y)) <= Decimal(solution.charged_tolerance)


def test_a_loose_tolerance_still_meets_the_public_one() -> None:
    X, y = records(300, 8)
    objective = RegularisedLogistic(1e-4)
    loose, tight = minimise(objective, X, y, tolerance=0.1), minimise(objective, X, y)
    assert loose.charged_tolerance <= PUBLIC_TAU
    assert norm(exact_gradient(1e-4, loose.weights, X, y)) <= Decimal(PUBLIC_TAU)
    assert np.linalg.norm(loose.weights - tight.weights) <= 2 * PUBLIC_TAU / objective.mu


@pytest.mark.parametrize("lam", [2.0**-30, 1e-6, 1.0, 1e6, 1e300])
@pytest.mark.parametrize("radius", [1.0, 1e-3, 0.0])
def test_no_data_stop_it(lam: float, radius: float) -> None:
    objective = RegularisedLogistic(lam)
    X, y = records(40, 3, radius=radius)
    for labels in (y, np.ones(40), -np.ones(40)):  # mixed, and separable by any margin
        solution = minimise(objective, X, labels)
        assert solution.charged_tolerance <= PUBLIC_TAU
        assert np.linalg.norm(solution.weights) <= largest_norm(objective.mu) + PUBLIC_TAU / objective.mu
    axis = np.zeros((1, 4))
    axis[0, 2] = 1.0  # a single record of norm exactly one is allowed
    assert minimise(objective, axis, [1]).charged_tolerance <= PUBLIC_TAU


@pytest.mark.slow
def test_large_ordinary_data_are_certified_in_floats() -> None:
    X, y = records(100_000, 300)
    solution = minimise(RegularisedLogistic(1e-3), X, y)
    assert solution.charged_tolerance <= PUBLIC_TAU / 10


def test_rows_outside_the_unit_ball_are_refused() -> None:
    objective = RegularisedLogistic(0.1)
    for row in ([1.0, 1e-200], [0.6, 0.8 + 2.0**-53 * 4], [2.0, 0.0], [1e200, 0.0]):
        with pytest.raises(ValueError, match=r"Euclidean norm at most 1, row 1"):
            minimise(objective, [[0.0, 0.0], row], [1, -1])
    # 0.6 and 0.8 as floats make a norm a hair above one, which float arithmetic cannot see.
    assert math.hypot(0.6, 0.8) == 1.0
    with pytest.raises(ValueError, match="Euclidean norm"):
        minimise(objective, [[0.6, 0.8]], [1])
    shrunk = (1 - 2.0**-40) * np.array([[0.6, 0.8]])
    assert minimise(objective, shrunk, [1]).charged_tolerance <= PUBLIC_TAU


def test_malformed_input_is_refused() -> None:
    objective = RegularisedLogistic(0.1)
    for X, y, message in (
        ([0.1, 0.2], [1, 1], "rows"),
        (np.zeros((0, 2)), [], "rows"),
        (np.zeros((2, 0)), [1, 1], "columns"),
        ([[0.1], [0.2]], [1], "one label per row"),
        ([[0.1], [0.2]], [0, 1], "labels"),
        ([[math.nan]], [1], "finite"),
        ([[-math.inf]], [1], "finite"),
    ):
        with pytest.raises(ValueError, match=message):
            minimise(objective, X, y)
    for tolerance in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match="tolerance"):
            minimise(objective, [[0.1]], [1], tolerance=tolerance)
