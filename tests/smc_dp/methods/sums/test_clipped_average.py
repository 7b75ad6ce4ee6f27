"""The clipped average: any models, sensitivity 2 R, whatever a party's learner did."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array, into_ball
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.hamm2016.ensemble import Ensemble, train_ensemble
from smc_dp.methods.hamm2016.votes import Average
from smc_dp.methods.hamm2016.weights import sum_on_grid
from smc_dp.methods.model import LinearModel
from smc_dp.methods.sums.clipped_average import ClippedAverage
from smc_dp.privacy.output import GRID
from smc_dp.privacy.target import Target
from tests.support.refusals import refused


def a_federation(M: int, classes: int = 3, d: int = 4, n: int = 9) -> Federation:
    rng = np.random.default_rng(0)
    X = into_ball(rng.normal(size=(M * n, d)), 2.0)
    y = (X @ rng.normal(size=(d, classes))).argmax(axis=1)
    return Federation(tuple(Rows(X[i : i + n], y[i : i + n]) for i in range(0, M * n, n)), classes)


def mean(method: ClippedAverage, V: Array) -> Array:
    """The released coordinates without noise."""
    federation = a_federation(len(V), 2 if V.shape[1] == 1 else V.shape[1] + 1, V.shape[2])
    model = method.train_from(Ensemble(federation, V)).release(Target(None), Stream.from_system()).model
    assert isinstance(model, LinearModel)
    return model.W


def test_short_models_are_averaged_as_they_are() -> None:
    federation = a_federation(6)
    V = train_ensemble(federation, 0.1).models(Average())
    W = mean(ClippedAverage(clip=100.0), V)
    assert np.abs(W - LinearModel.from_coordinates(V.mean(axis=0), 3).W).max() < 1e-11
    assert np.abs(mean(ClippedAverage(clip=0.1), V) - W).max() > 0.1  # twin: clipping that does something


def test_long_models_keep_their_direction() -> None:
    V = np.array([[[3.0, 4.0]], [[0.3, 0.4]]])
    W = mean(ClippedAverage(clip=1.0), V)
    assert np.allclose(W[1] - W[0], (np.array([0.6, 0.8]) + np.array([0.3, 0.4])) / 2, atol=1e-11)


def test_models_that_are_no_numbers_count_as_zero() -> None:
    V = np.array([[[1.0, 0.5]], [[np.nan, 9.0]], [[np.inf, 0.0]], [[0.0, -np.inf]]])
    W = mean(ClippedAverage(clip=5.0), V)
    assert np.allclose(W[1] - W[0], np.array([1.0, 0.5]) / 4, atol=1e-11)


@pytest.mark.parametrize("radius", [0.3, 7.0, 1e6])
def test_no_party_moves_the_sum_beyond_two_radii(radius: float) -> None:
    rng = np.random.default_rng(1)
    method, federation = ClippedAverage(clip=radius), a_federation(3)
    far = 0.0
    for _ in range(60):
        V = rng.normal(size=(3, 2, 4)) * 10.0 ** rng.uniform(-3, 9)
        other = V.copy()
        other[0] = -V[0] * rng.choice([1.0, 1e3, 1e-3, np.nan])
        totals = [sum_on_grid(method.train_from(Ensemble(federation, v)).V) for v in (V, other)]
        far = max(far, math.sqrt(sum((a - b) ** 2 for a, b in zip(*totals, strict=True))))
    bound = GRID.l2_sensitivity(method.sensitivity, 8)
    assert 0.99 * bound < far <= bound
    assert far > bound / 2 + 1  # twin: one radius
    assert method.noise(federation.public).sensitivity == method.sensitivity


def test_the_statement_says_that_a_secure_sum_needs_no_aggregator() -> None:
    privacy = ClippedAverage().statement(a_federation(4).public, Target(1))
    assert any("secure sum" in caveat for caveat in privacy.caveats)


@pytest.mark.parametrize("radius", [0.0, -1.0, math.nan, math.inf, 1e7, "x", None, [1.0], 1j])
def test_wrong_radius_is_refused(radius: Any) -> None:
    with refused("parameter.out_of_range") as caught:
        ClippedAverage(clip=radius)
    told = re.search(r"from (\S+) to (\S+),", str(caught.value))
    assert told is not None
    assert [ClippedAverage(clip=float(limit)).clip for limit in told.groups()] == [2.0**-20, 1e6]  # as they are printed
