"""Objective perturbation of all rows in one place: against `avg_agg`, against a solver of its own, and its claims."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array, into_ball
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.central_objective import CentralObjective
from smc_dp.methods.feature_method import AverageMethod
from smc_dp.methods.functionality import ideal
from smc_dp.methods.method import check_rows_of_parties
from smc_dp.methods.pathak2010.averages import AGAINST_OUTSIDERS
from smc_dp.privacy.gaussian_objective import GaussianPerturbation
from smc_dp.privacy.target import NoiseName, Target
from tests.support.refusals import refused

DELTA = Fraction(1, 10**5)
NOISES: tuple[NoiseName, ...] = ("gauss", "knorm")


def wanted(noise: NoiseName, epsilon: str = "1") -> Target:
    return Target(Fraction(epsilon), noise=noise, delta=DELTA)


def stream(seed: object) -> Stream:
    return Stream.insecure_from_seed(str(seed))


def three_parties(d: int = 4) -> Federation:
    rng = np.random.default_rng(7)
    truth = rng.normal(size=d)

    def rows(n: int) -> Rows:
        X = into_ball(rng.normal(size=(n, d)), 1.5 * math.sqrt(d))
        return Rows(X, (X @ truth + rng.normal(size=n) / 8 > 0).astype(np.int64))

    return Federation((rows(60), rows(25), rows(40)), 2)


def in_one_place(federation: Federation) -> Federation:
    return Federation((federation.pooled(),), 2)


def weights(method: CentralObjective | AverageMethod, federation: Federation, target: Target, rng: Stream) -> Array:
    model = method.train(federation).release(target, rng).model
    return np.asarray(model.W[1] - model.W[0])


def test_the_pure_form_is_that_of_a_single_site_on_the_same_coins() -> None:
    federation, target = three_parties(), wanted("knorm")
    found = weights(CentralObjective(0.01), federation, target, stream(1))
    site = AverageMethod(0.01, loss="logistic")
    np.testing.assert_array_equal(found, weights(site, in_one_place(federation), target, stream(1)))


def minimiser(rows: Rows, total: float, linear: Array) -> Array:
    """By another solver: the mean log-loss, (total/2) |w|^2 and the linear term."""
    signs = 2 * rows.y - 1

    def value(w: Array) -> float:
        return float(np.logaddexp(0, -signs * (rows.X @ w)).mean() + total / 2 * (w @ w) + linear @ w)

    found = scipy.optimize.minimize(value, np.zeros(rows.X.shape[1]), method="BFGS", options={"gtol": 1e-9})
    return np.asarray(found.x)


@pytest.mark.parametrize("noise", NOISES)
def test_a_release_minimises_the_loss_with_the_noise_of_its_law(noise: NoiseName) -> None:
    federation, target = three_parties(), wanted(noise)
    method = CentralObjective(0.001)
    law = method.distribution(federation.public, target)
    assert law.n == 125
    assert law.extra > 0
    linear = np.array([float(v) for v in law.linear(stream(3))])
    found = weights(method, federation, target, stream(3))
    twins = ((law.total, -linear), (law.total, 0 * linear), (law.modulus, linear))
    off = [np.abs(found - minimiser(federation.pooled(), *of)).max() for of in ((law.total, linear), *twins)]
    assert off[0] < 1e-3 < 1e-2 < min(off[1:])


def test_without_noise_it_is_the_minimiser() -> None:
    federation = three_parties()
    for method, lam in ((CentralObjective(0.01), 0.01), (CentralObjective(), 2.0**-20)):
        found = weights(method, federation, Target(None), stream(1))
        expected = minimiser(federation.pooled(), 2 * lam, np.zeros(4))
        assert np.abs(found - expected).max() < 1e-3 * max(1.0, float(np.abs(expected).max()))


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(
    ("n", "d", "epsilon"), [(32561, 123, "0.1"), (455, 31, "1"), (10**6, 5, "100"), (1, 2, "1e-9")]
)
def test_lambda_is_a_public_share_of_the_noise(noise: NoiseName, n: int, d: int, epsilon: str) -> None:
    public, target = Public(2, d, 2, (n,)), wanted(noise, epsilon)
    law = CentralObjective().distribution(public, target)
    length = 2 * d / float(epsilon) if noise == "knorm" else 2 * math.sqrt(d) / float(target.mu)
    assert law.modulus / 2 == pytest.approx(min(max(length / (25 * n), 2.0**-20), 1e6), rel=1e-12)
    given = CentralObjective(0.5).distribution(public, target)
    assert given.modulus == 1


def test_what_the_statement_says() -> None:
    public = three_parties().public
    privacy = CentralObjective().statement(public, wanted("gauss"))
    assert privacy.adversary == AGAINST_OUTSIDERS
    law = CentralObjective().distribution(public, wanted("gauss"))
    assert isinstance(law, GaussianPerturbation)
    assert law.keeps(Fraction(1), DELTA)


def test_what_voids_the_theorem_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    federation, method, target = three_parties(), CentralObjective(), wanted("gauss")
    fewer = ideal_of(method, replace(federation.public, sizes=(60, 25, 50)), target)
    with refused("rows.not_as_announced", wanted=135, got=125):
        fewer(federation)
    assert ideal_of(method, federation.public, target)(federation).shape == (4,)
    with refused("sizes.missing"):
        method.statement(replace(federation.public, sizes=None), target)
    monkeypatch.setattr(f"{check_rows_of_parties.__module__}.LARGEST_N", 100)
    with refused("party.too_many_rows", most=100, got=125):
        method.train(federation)


def ideal_of(method: CentralObjective, public: Public, target: Target) -> Callable[[Federation], Array]:
    """What somebody who is trusted makes of these parties' rows."""
    return lambda federation: ideal(method.functionality(public, target), federation.parties, stream(1))
