"""The certified constants against searches for something worse; what fails without the preconditions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
import scipy.optimize
from sklearn.linear_model import LogisticRegression

from smc_dp.learning.objective import RegularisedLogistic
from smc_dp.learning.solver import PUBLIC_TAU, minimise
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.sensitivity import largest_norm, logistic_constants, replace_one

Array = npt.NDArray[np.float64]

# mu: W and G, computed once and for all by another program.
TABLE = {
    2: ("0.2223", "1.0067"),
    1: ("0.4011", "1.0198"),
    0.2: ("1.1775", "1.1293"),
    0.1: ("1.6687", "1.2144"),
    0.02: ("3.7314", "1.5064"),
    0.01: ("5.2770", "1.6378"),
    0.002: ("11.7997", "1.8560"),
    1e-3: ("16.6873", "1.9097"),
    1e-4: ("52.7697", "1.9894"),
}


@pytest.mark.parametrize("mu", TABLE)
def test_the_table(mu: float) -> None:
    constants = logistic_constants(mu)
    assert (f"{constants.W:.4f}", f"{constants.G:.4f}") == TABLE[mu]


def test_constants_only_grow_as_mu_shrinks() -> None:
    constants = [logistic_constants(mu) for mu in np.logspace(3, -6, 25).tolist()]
    for wider, tighter in zip(constants[1:], constants, strict=False):
        assert wider.W >= tighter.W
        assert wider.G >= tighter.G
    assert all(1 <= c.G <= 2 for c in constants)
    # A rational between two floats is taken at the one below, the safe side.
    third = Fraction(1, 3)
    assert logistic_constants(third).W >= logistic_constants(math.nextafter(float(third), 1.0)).W
    assert logistic_constants(Fraction(1, 2)) == logistic_constants(0.5)


def gradient_difference(parameters: Array, W: float) -> Array:
    """|u sigmoid(-w.u) - u' sigmoid(-w.u')| in the plane, from two angles to w and three squashed lengths."""
    alpha, beta, a, b, c = parameters
    a, b, w = np.sin(a) ** 2, np.sin(b) ** 2, W * np.sin(c) ** 2
    first, second = (length / (1 + np.exp(w * length * np.cos(angle))) for length, angle in ((a, alpha), (b, beta)))
    return np.hypot(first * np.cos(alpha) - second * np.cos(beta), first * np.sin(alpha) - second * np.sin(beta))


@pytest.mark.parametrize("mu", [2, 0.2, 0.02, 0.002])
def test_a_search_never_exceeds_G_and_comes_close(mu: float) -> None:
    constants = logistic_constants(mu)
    starts = np.random.default_rng(0).uniform(0, 2 * np.pi, (5, 200_000))
    values = gradient_difference(starts, constants.W)
    found = [
        -scipy.optimize.minimize(lambda p: -gradient_difference(p, constants.W), starts[:, k], method="Nelder-Mead").fun
        for k in np.argsort(values)[-5:]
    ]
    best = max(float(values.max()), *map(float, found))
    assert best <= constants.G
    assert best >= 0.98 * constants.G
    assert best > logistic_constants(4 * mu).G  # a modulus four times too large is refuted


@pytest.mark.parametrize("mu", [2, 0.2, 0.02, 2e-4])
def test_no_minimiser_is_longer_than_W_and_one_is_nearly_as_long(mu: float) -> None:
    objective, W = RegularisedLogistic(mu / 2), largest_norm(mu)
    rng = np.random.default_rng(1)
    lengths = []
    for scale in [1.0, min(1.0, 1.278464543 / W), *rng.uniform(0, 1, 30)]:
        X = np.zeros((8, 2))
        X[:, 0] = scale
        X[:, 1] = rng.uniform(-1, 1, 8) * math.sqrt(1 - scale * scale) * rng.integers(0, 2) * 0.999
        lengths.append(float(np.linalg.norm(minimise(objective, X, np.ones(8)).weights)))
    assert max(lengths) <= W
    assert max(lengths) >= 0.999 * W


def largest_move(mu: float, n: int, seed: int) -> float:
    """The longest |w - w'| over data sets with one record replaced, by random starts and hill climbing."""
    rng = np.random.default_rng(seed)
    objective = RegularisedLogistic(mu / 2)

    def into_ball(rows: Array) -> Array:
        return rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True) * (1 + 2.0**-40))

    def move(rows: Array) -> float:
        # Labels are folded into the rows; the last two rows are the record and its replacement.
        before, after = (minimise(objective, np.vstack([rows[:-2], rows[k]]), np.ones(n)).weights for k in (-2, -1))
        return float(np.linalg.norm(before - after))

    best = 0.0
    for spread in (0.0, 0.1, 1.0):
        rows = into_ball(rng.normal(size=(n + 1, 3)) * np.where(np.arange(n + 1) < n - 1, spread, 1)[:, None])
        value, step = move(rows), 0.5
        for _ in range(150):
            mask = rng.random((n + 1, 1)) < rng.choice([0.1, 0.5, 1.0])
            candidate = into_ball(rows + step * mask * rng.normal(size=rows.shape))
            if (moved := move(candidate)) > value:
                rows, value = candidate, moved
            else:
                step = max(0.02, 0.97 * step)
        best = max(best, value)
    return best


@pytest.mark.parametrize("mu", [2.0, 0.2, 0.02])
def test_adversarial_neighbours_stay_within_the_bound(mu: float) -> None:
    n = 20
    moved, claimed = largest_move(mu, n, seed=int(100 * mu)), float(replace_one(n, mu, PUBLIC_TAU))
    assert moved <= claimed
    if mu == 2:
        assert moved >= 0.95 * claimed
        # Broken twins: lam taken for mu misses by half, and a modulus twice too large is exceeded.
        assert moved < 0.95 * replace_one(n, 1.0, PUBLIC_TAU)
        assert moved > replace_one(n, 4.0, PUBLIC_TAU)


def test_neighbours_on_the_grid_stay_within_the_integer_bound() -> None:
    rng = np.random.default_rng(2)
    grid, objective, n, d = Grid(6, 64), RegularisedLogistic(0.05), 12, 4
    claimed = grid.l2_sensitivity(replace_one(n, 0.1, PUBLIC_TAU), d)
    without_rounding = float(replace_one(n, 0.1, PUBLIC_TAU) * 2**6)
    largest = 0.0
    for _ in range(300):
        X = rng.normal(size=(n + 1, d))
        X /= np.linalg.norm(X, axis=1, keepdims=True) * (1 + 2.0**-40)
        X[: n - 1] *= rng.choice([0.01, 0.3, 1.0])
        X[n] = -X[n - 1]
        W, V = (grid.encode(minimise(objective, X[[*range(n - 1), k]], np.ones(n)).weights) for k in (n - 1, n))
        largest = max(largest, math.dist(W, V))
    assert 0.5 * without_rounding < largest <= claimed


def test_replace_one_is_the_formula_without_rounding() -> None:
    mu, tau, n = Fraction(1, 500), 2.0**-33, 32_561
    G = Fraction(logistic_constants(mu).G)
    assert replace_one(n, mu, tau) == G / (mu * n) + 2 * Fraction(tau) / mu
    assert replace_one(n, mu, 0.0) < replace_one(n, mu, tau) < replace_one(n - 1, mu, tau)
    # The float formula falls short for some sizes.
    broken = [Fraction(float(G) / (float(mu) * k) + 2 * tau / float(mu)) for k in range(1, 200)]
    assert any(value < replace_one(k, mu, tau) for k, value in enumerate(broken, 1))


def test_without_the_unit_ball_the_bound_is_exceeded() -> None:
    n, lam = 20, 1.0
    X = np.zeros((n, 2))
    X[-1] = [30.0, 0.0]
    models = []
    for label in (1, -1):
        y = np.array([1, -1] * (n // 2))
        y[-1] = label
        other = LogisticRegression(C=1 / (2 * n * lam), fit_intercept=False, tol=1e-10).fit(X, y)
        models.append(other.coef_[0])
        with pytest.raises(ValueError, match="Euclidean norm"):
            minimise(RegularisedLogistic(lam), X, y)
    assert math.dist(*models) > 3 * replace_one(n, 2 * lam, PUBLIC_TAU)


def test_with_a_free_intercept_the_bound_is_exceeded() -> None:
    n, lam = 20, 1.0
    intercepts = []
    for positives in (1, 2):
        y = np.where(np.arange(n) < positives, 1, -1)
        other = LogisticRegression(C=1 / (2 * n * lam), fit_intercept=True, tol=1e-10)
        intercepts.append(other.fit(np.zeros((n, 1)), y).intercept_[0])
    assert abs(intercepts[0] - intercepts[1]) > 10 * replace_one(n, 2 * lam, PUBLIC_TAU)


def test_parameters_out_of_range_are_refused() -> None:
    for mu in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="mu"):
            logistic_constants(mu)
    with pytest.raises(ValueError, match="records n"):
        replace_one(0, 1.0, 0.0)
    for tau in (-1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="tau"):
            replace_one(1, 1.0, tau)
