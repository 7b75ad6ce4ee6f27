"""All classifiers of an ensemble, each with noise of its own."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.stats

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array, into_ball
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.hamm2016.ensemble import train_ensemble
from smc_dp.methods.hamm2016.release_all import Committee, ReleaseAll
from smc_dp.methods.hamm2016.votes import Average
from smc_dp.methods.model import area_under_curve
from smc_dp.methods.training.votes import count_votes
from smc_dp.privacy.sensitivity import largest_softmax_norm
from smc_dp.privacy.target import Target


def a_simulation(M: int = 30, classes: int = 3) -> tuple[Federation, Rows]:
    rng = np.random.default_rng(0)
    X = into_ball(rng.normal(size=(M * 8 + 200, 3)), 2.0)
    y = (X @ rng.normal(size=(3, classes))).argmax(axis=1)
    parties = tuple(Rows(X[i : i + 8], y[i : i + 8]) for i in range(0, M * 8, 8))
    return Federation(parties, classes), Rows(X[M * 8 :], y[M * 8 :])


def committee(method: ReleaseAll, federation: Federation, target: Target, rng: Stream) -> Array:
    model = method.train(federation).release(target, rng).model
    assert isinstance(model, Committee)
    return model.V


def test_release_all_gives_every_model_noise_of_its_own() -> None:
    federation, _ = a_simulation()
    lam, rng, epsilon = 0.1, Stream.insecure_from_seed(1), Fraction(1, 2)
    exact = committee(ReleaseAll(lam), federation, Target(None), rng)
    assert np.abs(exact - train_ensemble(federation, lam).models(Average())).max() < 1e-9
    draws = [committee(ReleaseAll(lam), federation, Target(epsilon), rng) - exact for _ in range(8)]
    lengths = np.linalg.norm(np.reshape(draws, (240, 6)), axis=1)
    scale = 2 * largest_softmax_norm(3, lam) / float(epsilon)
    assert scipy.stats.kstest(lengths, scipy.stats.gamma(6, scale=scale).cdf).pvalue > 1e-6
    # twin: the noise of an average, which is 1/M of this
    assert scipy.stats.kstest(lengths, scipy.stats.gamma(6, scale=scale / 30).cdf).pvalue < 1e-12
    assert len({float(v) for v in draws[0].ravel()}) == draws[0].size  # no two the same


def test_release_all_protects_even_from_the_other_parties() -> None:
    federation, test = a_simulation()
    release = ReleaseAll().train(federation).release(Target(Fraction(2)), Stream.from_system())
    assert "other parties" in release.privacy.adversary
    assert 0 <= release.model.accuracy(test) <= 1


def test_committee_votes() -> None:
    federation, test = a_simulation()
    model = ReleaseAll(0.01).train(federation).release(Target(None), Stream.from_system()).model
    assert isinstance(model, Committee)
    counts = count_votes(model.V, test.X, 3)
    assert model.accuracy(test) == np.mean(counts.argmax(axis=1) == test.y)
    assert model.accuracy(test) > 0.7
    accuracy, area = model.accuracy_and_auc(test)
    assert (accuracy, area) == (model.accuracy(test), area_under_curve(counts, test.y))
    assert 0.8 < area <= 1
