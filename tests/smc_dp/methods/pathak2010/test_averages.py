"""Averages of Pathak, Rane and Raj: their models, their noise, what neighbours can see, and what the statements say."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from support.rounded import rounded_epsilon

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods import method as rules
from smc_dp.methods.pathak2010 import averages, mean
from smc_dp.methods.pathak2010.averages import Central, Local
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.methods.pathak2010.models import SIZES_CAVEAT, binary_weights, model_noise
from smc_dp.methods.training.solver import PUBLIC_TAU
from smc_dp.privacy.output import GRID
from smc_dp.privacy.pathak2010 import SmallestNoise
from smc_dp.privacy.sensitivity import logistic_constants
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.privacy.target import Calibration, NoiseName, Target
from tests.support.refusals import refused

LAM = 0.05
PAPER: Calibration = "paper"
Method = PathakMean | Central | Local


def rows(n: int, seed: int, d: int = 3) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X *= rng.uniform(0.2, 1 - 1e-9, (n, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
    return Rows(X, (X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(np.int64))


FEDERATION = Federation((rows(40, 1), rows(25, 2), rows(60, 3)), 2, names=("north", "south", "west"))


def weights(model: object) -> Array:
    return np.asarray(model.W[1] - model.W[0])


def oracle(data: Rows, lam: float = LAM) -> Array:
    """scikit-learn minimises C sum log-loss + |w|^2/2, so C = 1/(2 lam n)."""
    other = LogisticRegression(C=1 / (2 * lam * len(data)), fit_intercept=False, tol=1e-12, max_iter=10_000)
    return np.asarray(other.fit(data.X, data.y).coef_[0])


def released(method: Method, target: Target, rng: Stream) -> Array:
    return weights(method.train(FEDERATION).release(target, rng).model)


def seeded(name: str = "averages") -> Stream:
    return Stream.insecure_from_seed(name)


def stated(method: Method, target: Target) -> PrivacyStatement:
    return method.train(FEDERATION).release(target, Stream.from_system()).privacy


# Without noise.


def test_without_noise_they_are_means_of_models_and_the_model_of_all_rows() -> None:
    mean = np.mean([oracle(data) for data in FEDERATION.parties], axis=0)
    for method, wanted in ((PathakMean(LAM), mean), (Local(LAM), mean), (Central(LAM), oracle(FEDERATION.pooled()))):
        found = released(method, Target(None), seeded())
        np.testing.assert_allclose(found, wanted, atol=1e-6)


# The noise.


def test_gaussian_noise_spends_the_mu_of_the_target() -> None:
    target = Target(Fraction(1), noise="gauss")
    calibrated = model_noise(target, 25, 3, LAM, 3)
    square = calibrated.distribution.mu_squared(calibrated.sensitivity)
    assert 0.999999999 * target.mu**2 < square <= target.mu**2
    deviation = math.sqrt(calibrated.distribution.variance) / 2**40
    G = logistic_constants(2 * LAM).G
    assert deviation == pytest.approx(G / (2 * LAM * 25) / float(target.mu), rel=1e-5)


@pytest.mark.parametrize(("calibration", "noise"), [("proven", "knorm"), ("proven", "gauss"), ("paper", "knorm")])
def test_releases_carry_the_noise_of_the_smallest_party_over_K_or_of_all_rows(
    calibration: Calibration, noise: NoiseName
) -> None:
    target = Target(Fraction(2), calibration, noise)
    for method, n, parties in ((PathakMean(LAM), 25, 3), (Central(LAM), 125, 1)):
        calibrated = model_noise(target, n, 3, LAM, parties)
        drawn = np.array([float(e) for e in calibrated.distribution.sample(seeded())]) / 2**40 / parties
        np.testing.assert_allclose(
            released(method, target, seeded()), released(method, Target(None), seeded()) + drawn, atol=1e-12
        )


def test_local_releases_carry_every_party_s_own_noise() -> None:
    target, rng, drawn = Target(Fraction(2)), seeded(), np.zeros(3)
    for n in (40, 25, 60):
        calibrated = model_noise(target, n, 3, LAM)
        drawn += np.array([float(e) for e in calibrated.distribution.sample(rng)]) / 2**40 / 3
    np.testing.assert_allclose(
        released(Local(LAM), target, seeded()), released(Local(LAM), Target(None), seeded()) + drawn, atol=1e-12
    )


# Neighbours: what they can see of one record, exactly, from trained models on the grid and the law.


def worst(label: int, n: int) -> Rows:
    """One row at x = 1 with this label among rows at zero, which curve the objective least."""
    return Rows((1 - 2.0**-40) * np.eye(n)[:, :1], np.array([label] + [0, 1] * n)[:n])


def loss_seen(method: Method, target: Target, changed: int, noise_lam: float = 1.0) -> float:
    """|move|/scale: the largest log-ratio of releases, in one dimension, when a record of this party is replaced.

    The noise is made for the regulariser noise_lam.
    """
    sizes = (20, 30)

    def trained(label: int) -> Any:
        return method.train(Federation(tuple(worst(label if j == changed else 0, n) for j, n in enumerate(sizes)), 2))

    before, after = trained(0), trained(1)
    if isinstance(method, PathakMean):
        moved, n, parties = GRID.encode(before.known.sum(axis=0) - after.known.sum(axis=0))[0], min(sizes), len(sizes)
    elif isinstance(method, Central):
        moved, n, parties = GRID.encode(before.known - after.known)[0], sum(sizes), 1
    else:
        moved, n, parties = GRID.encode(before.known[changed] - after.known[changed])[0], sizes[changed], 1
    calibrated = model_noise(target, n, 1, noise_lam, parties)
    return float(calibrated.distribution.epsilon(abs(moved)))


@pytest.mark.parametrize("noise", ["knorm", "laplace"])
@pytest.mark.parametrize("make", [PathakMean, Central, Local])
def test_one_record_costs_at_most_epsilon_and_nearly_that(make: type[Method], noise: NoiseName) -> None:
    target = Target(Fraction(1), noise=noise)
    assert 0.95 < loss_seen(make(1.0), target, 0) <= 1
    assert 0.6 < loss_seen(make(1.0), target, 1) <= 1
    assert loss_seen(make(1.0), target, 0, noise_lam=2.0) > 1.5  # broken twin: noise for twice the modulus


@pytest.mark.parametrize("make", [PathakMean, Central])
def test_with_printed_noise_one_record_costs_what_is_stated_and_not_the_nominal_figure(make: type[Method]) -> None:
    target = Target(Fraction(1), PAPER)
    parties = 2 if make is PathakMean else 1
    calibrated = model_noise(target, 20, 1, 1.0, parties)
    seen = loss_seen(make(1.0), target, 0)
    assert 0.95 * rounded_epsilon(calibrated) < seen <= rounded_epsilon(calibrated)
    assert seen < 0.3  # a quarter over K of the nominal 1


# What the statements say.


def of_the_protocol(words: str) -> list[str]:
    """What these words say that is true of the protocol alone."""
    return [word for word in ("Charlie", "share", "SIM-CDP", "encryption", "decryption key") if word in words]


def test_the_mean_in_the_clear_is_stated_without_the_protocol() -> None:
    protocol = SmallestNoise(
        parties=3, dimension=3, epsilon=Fraction(1, 2), lam=Fraction(LAM), calibration="proven", noise="knorm",
        grid=GRID, tau=PUBLIC_TAU,
    ).guarantee()  # fmt: skip
    found = stated(PathakMean(LAM), Target(Fraction(1, 2)))
    assert (found.kind, found.epsilon, found.unit, found.adjacency) == ("pure", 0.5, "record", "replace")
    assert of_the_protocol(found.plain_words()) == []
    assert len(of_the_protocol(protocol.plain_words())) == 5  # the twin: the protocol's own statement
    assert found.adversary == mean._AGAINST_OTHERS
    assert {*found.caveats} >= {*mean._CAVEATS}


@pytest.mark.parametrize("noise", ["knorm", "laplace"])
def test_printed_noise_is_stated_with_its_true_epsilon(noise: NoiseName) -> None:
    target = Target(Fraction(1, 2), PAPER, noise)
    G, root = logistic_constants(2 * LAM).G, math.sqrt(3) if noise == "laplace" else 1.0
    for method, parties in ((PathakMean(LAM), 3), (Central(LAM), 1)):
        found = stated(method, target)
        assert found.kind == "pure"
        assert found.epsilon == pytest.approx(root * G / (4 * parties) / 2, rel=1e-5)
        assert "nominal epsilon is 0.5;" in found.plain_words()
    bound = SmallestNoise(
        parties=3, dimension=3, epsilon=Fraction(1, 2), lam=Fraction(LAM), calibration=PAPER, noise=noise,
        grid=GRID, tau=PUBLIC_TAU,
    ).guarantee().epsilon  # fmt: skip
    of_these_sizes = stated(PathakMean(LAM), target).epsilon
    assert of_these_sizes <= bound < 1.1 * of_these_sizes  # the protocol's own bound is for every size


def test_whom_the_others_hold_against() -> None:
    central, local = (stated(method, Target(Fraction(1))) for method in (Central(LAM), Local(LAM)))
    assert (central.adversary, local.adversary) == (averages.AGAINST_OUTSIDERS, averages._AGAINST_ALL_OTHERS)
    assert all(SIZES_CAVEAT in found.caveats for found in (central, local))


# What is refused.


@pytest.mark.parametrize("make", [PathakMean, Central, Local])
def test_what_voids_the_theorem_is_refused(make: type[Method], monkeypatch: pytest.MonkeyPatch) -> None:
    with refused("rows.outside_ball", row=1):
        binary_weights(np.array([[0.6, 0.8]]), np.array([1]), LAM)  # by less than floats see of a length
    monkeypatch.setattr(rules, "LARGEST_N", 50)
    whose, got = ("of all rows", 125) if make is Central else ("west", 60)
    with refused("party.too_many_rows", most=50, got=got, at=f"party {whose}: "):
        make(LAM).train(FEDERATION)


def test_a_party_with_one_class_and_a_party_with_one_row_take_part() -> None:
    lonely = Federation((Rows(np.array([[0.5, 0.5]]), np.array([1])), rows(5, 9, d=2)), 2)
    for method in (PathakMean(LAM), Central(LAM), Local(LAM)):
        assert np.isfinite(weights(method.train(lonely).release(Target(Fraction(1)), seeded()).model)).all()
