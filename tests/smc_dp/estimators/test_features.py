"""Estimators on Fourier features: they learn what is not linear, clone, and have no coefficients."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from smc_dp import SecureSumClassifier
from smc_dp.core.arrays import Array, IntArray
from smc_dp.methods.training.fourier import FourierFeatures
from tests.support.refusals import refused


def products(n: int, seed: int) -> tuple[Array, IntArray]:
    """Rows whose class is the sign of the product of two columns."""
    X = np.random.default_rng(seed).uniform(-1, 1, (n, 2))
    return X, (X[:, 0] * X[:, 1] > 0).astype(np.int64)


@pytest.mark.parametrize("method", ["newton", "gd"])
def test_an_estimator_learns_from_features(method: str) -> None:
    X, y = products(3000, 1)
    test, right = products(1000, 2)
    made = {"method": method, "epsilon": 20, "classes": [0, 1], "radius": 1.5, "insecure_seed": 5}
    model = clone(SecureSumClassifier(features="fourier:64", **made)).fit(X, y)
    assert model.score(test, right) > 0.85
    assert SecureSumClassifier(**made).fit(X, y).score(test, right) < 0.6
    with pytest.raises(AttributeError):
        _ = model.coef_
    weights = model.model_.linear.W[1] - model.model_.linear.W[0]
    inside = np.concatenate(list(model._rows(test)))
    wanted = FourierFeatures.of("fourier:64").of_rows(inside) @ weights
    np.testing.assert_allclose(model.decision_function(test), wanted, atol=1e-9)


def test_other_settings_are_refused() -> None:
    X, y = products(60, 6)
    with refused("features.unknown"):
        SecureSumClassifier(features="relu:64").fit(X, y)
