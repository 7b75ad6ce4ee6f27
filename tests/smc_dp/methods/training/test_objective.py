"""The objective against independent formulas: finite differences and the loss of scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import log_loss

from smc_dp.core.arrays import Array
from smc_dp.methods.training.objective import RegularisedLogistic, summation_depth


def records(n: int, d: int, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X /= (1 + 2.0**-40) * np.linalg.norm(X, axis=1, keepdims=True)
    return X, rng.choice([-1.0, 1.0], n)


def test_the_value_is_the_log_loss_and_the_penalty() -> None:
    X, y = records(200, 4)
    w = np.array([0.3, -2.0, 1.0, 0.5])
    chances = 1 / (1 + np.exp(-X @ w))
    expected = log_loss(y, chances) + 0.1 * float(w @ w)
    assert RegularisedLogistic(0.1).value(w, X, y) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("n", [3, 1024, 2500])  # below, at and above the number of records summed at a time
def test_the_gradient_is_the_difference_quotient_of_the_value(n: int) -> None:
    objective = RegularisedLogistic(0.05)
    X, y = records(n, 5)
    w = np.linspace(-1, 1, 5)
    h = 1e-5
    quotient = [(objective.value(w + h * e, X, y) - objective.value(w - h * e, X, y)) / (2 * h) for e in np.eye(5)]
    assert objective.gradient(w, X, y) == pytest.approx(np.array(quotient), abs=1e-9)


@pytest.mark.parametrize("n", [3, 2500])
def test_the_hessian_is_the_difference_quotient_of_the_gradient(n: int) -> None:
    objective = RegularisedLogistic(0.05)
    X, y = records(n, 5)
    w = np.linspace(-1, 1, 5)
    h = 1e-5
    quotient = [
        (objective.gradient(w + h * e, X, y) - objective.gradient(w - h * e, X, y)) / (2 * h) for e in np.eye(5)
    ]
    hessian = objective.hessian(w, X, y)
    assert hessian == pytest.approx(np.array(quotient), abs=1e-9)
    assert np.array_equal(hessian, hessian.T)
    assert np.linalg.eigvalsh(hessian).min() >= objective.mu == 0.1


def test_huge_margins_neither_overflow_nor_vanish() -> None:
    X, y = np.array([[1.0], [1.0]]), np.array([1.0, -1.0])
    objective = RegularisedLogistic(2.0**-30)
    for w in (np.array([1e5]), np.array([-1e5])):
        assert objective.value(w, X, y) == pytest.approx(5e4 + 1e10 * 2.0**-30)
        assert objective.gradient(w, X, y) == pytest.approx(np.sign(w) / 2 + 2.0**-29 * w)
        assert np.isfinite(objective.hessian(w, X, y)).all()


@pytest.mark.parametrize("lam", [0.0, -1.0, 2.0**-31, math.inf, math.nan, 1e308])
def test_lam_out_of_range_is_refused(lam: float) -> None:
    with pytest.raises(ValueError, match="lam"):
        RegularisedLogistic(lam)


def test_summation_depth_counts_additions() -> None:
    assert [summation_depth(n) for n in (1, 1000, 1024)] == [1, 1000, 1024]
    assert summation_depth(1025) == 1025
    assert summation_depth(10**6) == 1024 + 976
