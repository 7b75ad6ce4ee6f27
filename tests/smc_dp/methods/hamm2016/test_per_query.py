"""The other two uses of an ensemble: all noisy classifiers, and answers with noise for each query."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.stats
from support.rounded import rounded_epsilon

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array, into_ball
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.hamm2016.ensemble import Ensemble, train_ensemble
from smc_dp.methods.hamm2016.per_query import Committee, NoisyMax, ReleaseAll, Service
from smc_dp.methods.hamm2016.votes import Average
from smc_dp.methods.training.votes import count_votes
from smc_dp.privacy.output import GRID
from smc_dp.privacy.sensitivity import largest_softmax_norm
from smc_dp.privacy.target import NoiseName, Target
from tests.support.refusals import refused

NOISES: tuple[NoiseName, ...] = ("knorm", "laplace", "gauss")


def a_simulation(M: int = 30, classes: int = 3) -> tuple[Federation, Rows]:
    rng = np.random.default_rng(0)
    X = into_ball(rng.normal(size=(M * 8 + 200, 3)), 2.0)
    y = (X @ rng.normal(size=(3, classes))).argmax(axis=1)
    parties = tuple(Rows(X[i : i + 8], y[i : i + 8]) for i in range(0, M * 8, 8))
    return Federation(parties, classes), Rows(X[M * 8 :], y[M * 8 :])


# release_all


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
    assert (release.privacy.kind, release.privacy.epsilon) == ("pure", 2.0)
    assert "other parties" in release.privacy.adversary
    assert 0 <= release.model.accuracy(test) <= 1


def test_committee_votes() -> None:
    federation, test = a_simulation()
    model = ReleaseAll(0.01).train(federation).release(Target(None), Stream.from_system()).model
    assert isinstance(model, Committee)
    counts = count_votes(model.V, test.X, 3)
    assert model.accuracy(test) == np.mean(counts.argmax(axis=1) == test.y)
    assert model.accuracy(test) > 0.7
    assert 0.8 < model.auc(test) <= 1


# noisy_max


def service(method: NoisyMax, voters: Ensemble, target: Target, rng: Stream) -> Service:
    model = method.train_from(voters).release(target, rng).model
    assert isinstance(model, Service)
    return model


def test_service_refuses_the_query_after_the_last() -> None:
    federation, test = a_simulation()
    model = service(
        NoisyMax(queries=5), train_ensemble(federation, 0.1), Target(Fraction(5)), Stream.insecure_from_seed(2)
    )
    assert model.predict(test.X[:4]).shape == (4,)
    with refused("queries.too_many", most=1, got=2):
        model.predict(test.X[:2])
    assert model.predict(test.X[:1]).shape == (1,)
    with refused("queries.too_many", most=0):
        model.predict(test.X[:1])
    assert math.isnan(model.accuracy(test))


def test_accuracy_spends_what_is_left_and_auc_nothing() -> None:
    federation, test = a_simulation()
    voters = train_ensemble(federation, 0.1)
    model = service(NoisyMax(queries=50), voters, Target(None), Stream.from_system())
    assert math.isnan(model.auc(test))
    expected = np.mean(voters.votes(test.X[:50]).argmax(axis=1) == test.y[:50])
    assert model.accuracy(test) == expected
    assert model.left == 0


def test_two_services_from_one_stream_have_noise_of_their_own() -> None:
    federation, test = a_simulation(M=2)
    voters, rng = train_ensemble(federation, 0.1), Stream.insecure_from_seed(3)
    a, b = (service(NoisyMax(queries=100), voters, Target(Fraction(1)), rng).predict(test.X[:100]) for _ in range(2))
    assert (a != b).any()


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("classes", [2, 5])
def test_neighbours_answers_compose_to_epsilon(noise: NoiseName, classes: int) -> None:
    # Replacing a party moves one vote between two classes, in every query: the distance over all of them.
    q, target = 7, Target(Fraction(2), noise=noise)
    calibrated = NoisyMax(queries=q).noise(target, classes)
    change = np.zeros(classes)
    change[0], change[-1] = 1, -1
    unit = 2**GRID.fraction_bits
    if noise == "gauss":
        one = calibrated.distribution.mu_squared(Fraction(np.ceil(np.linalg.norm(change) * unit)))  # type: ignore[union-attr]
        wanted = target.mu**2
    else:
        one = calibrated.distribution.epsilon(int(np.linalg.norm(change, 1 if noise == "laplace" else 2) * unit))  # type: ignore[union-attr]
        wanted = Fraction(2)
    assert 0.999999 * wanted < q * one <= wanted * (1 + Fraction(1, 10**11))
    stated = wanted / 2 if noise == "gauss" else wanted  # rho, of one discrete Gaussian
    assert rounded_epsilon(calibrated) == pytest.approx(float(stated), rel=1e-12)
    # twins: noise for one query only; for a change of one count (Laplace noise of scale 1/epsilon)
    assert q * q * one > 1.1 * wanted
    assert q * one > 1.1 * wanted / 2


def test_statement_covers_all_answers() -> None:
    federation, _ = a_simulation()
    privacy = NoisyMax(queries=12).train(federation).release(Target(Fraction(1)), Stream.from_system()).privacy
    assert (privacy.kind, privacy.epsilon, privacy.unit) == ("pure", 1.0, "party")
    assert any("12 answers" in caveat for caveat in privacy.caveats)


@pytest.mark.parametrize("queries", [0, 1.5, 2.0, "5", None, True, np.int64(5)])
def test_wrong_numbers_of_queries_are_refused(queries: Any) -> None:
    """Of numpy's integers too: 2^41 times a hundred million of them would wrap round, and with it the noise."""
    with refused("queries.out_of_range", most=1000000000):
        NoisyMax(queries=queries)
    assert NoisyMax(queries=5).queries == 5


def test_rows_that_cannot_be_answered_spend_nothing() -> None:
    federation, test = a_simulation()
    model = service(
        NoisyMax(queries=5), train_ensemble(federation, 0.1), Target(Fraction(5)), Stream.insecure_from_seed(2)
    )
    spoilt = test.X[:3].copy()
    spoilt[1, 0] = math.nan
    for X, code in (
        (test.X[:3, :2], "queries.wrong_width"),
        (test.X[0], "queries.wrong_width"),
        (spoilt, "queries.not_finite"),
    ):
        with refused(code):
            model.predict(X)
        assert model.left == 5
    assert len(model.predict(test.X[:3])) == 3
    assert model.left == 2  # what can be answered is spent
