"""OFPA and Laplace noise on parameters: as printed, what that lacks, and the forms with a proof."""

from __future__ import annotations

from fractions import Fraction
from math import inf, sqrt

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from sklearn.linear_model import LogisticRegression
from support.hospitals import federation, rows

from protocols.arithmetic.rng import Stream
from smc_dp.methods.collaborative import tilted
from smc_dp.methods.collaborative.ofpa import Ofpa, noise_as_published
from smc_dp.methods.collaborative.param_laplace import ParamLaplace
from smc_dp.methods.collaborative.rounds import (
    BiasedModel,
    append_one,
    for_plain_rows,
    scale_into_ball,
)
from smc_dp.privacy.sensitivity import replace_one
from smc_dp.privacy.target import Target
from tests.support.refusals import refused

PRINTED = {"calibration": "paper", "noise": "laplace"}


def stream(seed: int | str) -> Stream:
    return Stream.insecure_from_seed(seed)


def problem(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    party = rows(n, d, seed)
    return append_one(party.X), party.y.astype(np.float64)


# The objective without a regulariser.


def test_the_minimiser_is_that_of_another_solver_wherever_one_starts():
    X, y = problem(300, 4, 1)
    v = np.array([5.0, -3.0, 2.0, 8.0, 0.0])

    def value(theta: np.ndarray) -> float:
        z = X @ theta
        return float((np.logaddexp(0, z) - y * z).sum() + v @ theta)

    found, solved = tilted.minimise_tilted(X, y, v, np.zeros(5))
    other = scipy.optimize.minimize(value, np.zeros(5), method="BFGS", options={"gtol": 1e-5})
    assert solved
    assert found == pytest.approx(other.x, abs=1e-4)
    assert np.linalg.norm(tilted.tilted_gradient(X, y, v, found)) < 1e-10
    elsewhere, also = tilted.minimise_tilted(X, y, v, np.array([30.0, -20, 10, 40, -50]))
    assert also
    assert elsewhere == pytest.approx(found, abs=1e-9)


def test_the_printed_objective_without_noise_is_unpenalised_logistic_regression():
    fed = federation(600)
    released = Ofpa().train(fed).release(Target(None, **PRINTED), stream(0))
    for party, upload in zip(fed.parties, released.uploads[0], strict=True):
        model = LogisticRegression(C=inf, tol=1e-10, max_iter=1000).fit(party.X, party.y)
        assert upload == pytest.approx([*model.coef_[0], model.intercept_[0]], abs=1e-5)
    mean = (fed.sizes / fed.sizes.sum()) @ released.uploads[0]
    assert released.model.theta == pytest.approx(mean)
    assert released.privacy.kind == "none"
    long = Ofpa(reading="truncated", epochs=3000).train(fed).release(Target(None, **PRINTED), stream(0))
    assert long.uploads == pytest.approx(released.uploads, abs=1e-6)
    short = Ofpa(reading="truncated").train(fed).release(Target(None, **PRINTED), stream(0))
    assert np.abs(short.uploads - released.uploads).max() > 0.1


def test_whether_there_is_a_minimiser_is_told_where_it_is_known():
    X = append_one(np.array([[-0.5], [-0.1], [0.1], [0.5]]))
    separable, mixed = np.array([0.0, 0, 1, 1]), np.array([0.0, 1, 0, 1])
    assert not tilted.minimise_tilted(X, separable, np.zeros(2), np.zeros(2))[1]
    assert tilted.minimise_tilted(X, mixed, np.zeros(2), np.zeros(2))[1]
    assert not tilted.minimise_tilted(X, mixed, np.array([5.0, 0]), np.zeros(2))[1]
    # A feature that a party never sees: its noise alone decides, and there is never a minimiser.
    blank = np.column_stack([np.zeros(4), X])
    assert not tilted.minimise_tilted(blank, mixed, np.array([0.01, 0, 0]), np.zeros(3))[1]
    assert tilted.minimise_tilted(blank, mixed, np.zeros(3), np.zeros(3))[1]


# As printed.


def test_the_printed_noise_is_laplace_of_scale_4_over_epsilon_on_w_alone():
    target = Target(Fraction(1, 2), **PRINTED)
    rng = stream(0)
    draws = np.array([noise_as_published(target, 5, rng) for _ in range(400)])
    assert not draws[:, 5].any()
    assert scipy.stats.kstest(draws[:, :5].ravel(), scipy.stats.laplace(scale=8).cdf).pvalue > 1e-6
    assert scipy.stats.kstest(draws[:, :5].ravel(), scipy.stats.laplace(scale=4).cdf).pvalue < 1e-12
    assert not noise_as_published(Target(None, **PRINTED), 5, rng).any()


def test_the_bias_equation_of_every_upload_holds_exactly():
    fed = federation(600)
    released = Ofpa(rounds=3).train(fed).release(Target(Fraction(1), **PRINTED), stream(0))
    assert released.unsolved == 0
    for j, party in enumerate(fed.parties):
        for theta in released.uploads[:, j]:
            left = 1 / (1 + np.exp(-append_one(party.X) @ theta)) - party.y
            assert abs(left.sum()) < 1e-9
            assert np.abs(left @ party.X).max() > 1e-3  # the others have noise in them
    proven = Ofpa().train(fed).release(Target(Fraction(1)), stream(0)).uploads[0]
    for theta, party in zip(proven, fed.parties, strict=True):
        assert abs((1 / (1 + np.exp(-append_one(party.X) @ theta)) - party.y).sum()) > 1e-3


def test_downloading_the_average_changes_nothing_in_the_exact_reading():
    """With the same noise the second round's uploads do not depend on the first round's."""
    fed, target = federation(600), Target(Fraction(1), **PRINTED)
    first = Ofpa(rounds=2).train(fed).release(target, stream(0))
    rng = stream(0)
    for _ in fed.parties:
        noise_as_published(target, fed.dimension, rng)
    for j, party in enumerate(fed.parties):
        v = noise_as_published(target, fed.dimension, rng)
        cold, _ = tilted.minimise_tilted(append_one(party.X), party.y.astype(float), v, np.zeros(4))
        assert first.uploads[1, j] == pytest.approx(cold, abs=1e-9)
        start = first.uploads[0].mean(axis=0)
        warm = tilted.descend_tilted(append_one(party.X), party.y.astype(float), v, start, 40)
        still = tilted.descend_tilted(append_one(party.X), party.y.astype(float), v, np.zeros(4), 40)
        assert np.abs(warm - still).max() > 0.01  # the truncated reading does remember


@pytest.mark.parametrize(("reading", "why"), [("exact", "whole record"), ("truncated", "hardly ever coincide")])
def test_the_printed_form_is_stated_to_guarantee_nothing_and_why(reading, why):
    fed = federation(60)
    privacy = Ofpa(10, reading).train(fed).release(Target(Fraction(1), **PRINTED), Stream.from_system()).privacy
    assert (privacy.kind, privacy.epsilon, privacy.adversary) == ("none", None, "nobody")
    assert why in privacy.caveats[0]
    assert "Jacobian" in privacy.caveats[1]
    assert "10 of them" in privacy.caveats[2]
    once = Ofpa(1, reading).train(fed).release(Target(Fraction(1), **PRINTED), Stream.from_system()).privacy
    assert once.caveats == privacy.caveats[:2]  # what is said of several rounds is left out


# With a proof.


def test_rounds_share_epsilon_and_the_statement_has_their_sum():
    fed = federation(60)
    for rounds in (1, 4):
        method, target = Ofpa(rounds=rounds), Target(Fraction(1))
        one = method.perturbation(target, 60, 4)
        assert float(rounds * one.epsilon) == pytest.approx(1, rel=1e-12)
        assert rounds * one.epsilon <= 1
        privacy = method.train(fed).release(target, Stream.from_system()).privacy
        assert (privacy.kind, privacy.unit, privacy.adjacency) == ("pure", "record", "replace")
        assert privacy.epsilon == pytest.approx(1, rel=1e-12)
        assert "server included" in privacy.adversary
        # The twin: every round with the whole epsilon.
        assert rounds * Ofpa().perturbation(target, 60, 4).epsilon > 1 or rounds == 1
    assert Ofpa().train(fed).release(Target(Fraction(1)), stream(0)).privacy.kind == "none"
    with refused("rounds.too_little_epsilon", least=1e-09, got=5e-10):
        Ofpa(rounds=2).train(fed).release(Target(Fraction(1, 10**9)), stream(0))


def test_all_coordinates_of_the_proven_form_are_perturbed_the_bias_too():
    perturbed = Ofpa().perturbation(Target(Fraction(1)), 60, 4)
    assert perturbed.noise.dimension == 4
    assert len(perturbed.linear(stream(0))) == 4
    assert all(perturbed.linear(stream(0)))
    # |b - b'| <= 2, the determinant and the solution: epsilon = 1 together. Twin: a shift of 4.
    unit = 1 << 40
    rest = perturbed.jacobian + perturbed.output.epsilon(perturbed.moved)
    assert perturbed.noise.epsilon(2 * unit) + rest <= 1 < perturbed.noise.epsilon(4 * unit) + rest


def test_the_jacobian_of_the_logistic_loss_is_paid_for():
    for n in (60, 5000):
        perturbed = Ofpa().perturbation(Target(Fraction(1)), n, 4)
        paid = float(perturbed.jacobian)
        assert perturbed.total >= 2e-3
        assert paid == pytest.approx(np.log1p(0.25 / (n * perturbed.total)), rel=1e-9)
        assert paid > np.log1p(0.125 / (n * perturbed.total)) + 0.01  # the twin: half the curvature
        assert paid <= 0.5


def test_the_proven_form_comes_close_to_what_it_is_without_noise():
    fed = federation(8000)
    clean = Ofpa().train(fed).release(Target(None), stream(0))
    for party, upload in zip(fed.parties, clean.uploads[0], strict=True):
        model = LogisticRegression(C=1 / (2e-3 * len(party)), tol=1e-10, fit_intercept=False).fit(
            append_one(party.X) / sqrt(2), party.y
        )
        assert upload == pytest.approx(model.coef_[0] / sqrt(2), abs=1e-4)
    found = [Ofpa().train(fed).release(Target(Fraction(e)), stream(0)) for e in ("0.01", "1", "100")]
    errors = [float(np.linalg.norm(r.model.theta - clean.model.theta)) for r in found]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.05


# Noise on the parameters.


def test_noise_on_parameters_is_what_the_sensitivity_asks_for():
    method, target = ParamLaplace(lam=0.01), Target(Fraction(1, 2), noise="laplace")
    for n, D in ((10, 4), (1000, 17)):
        noise = method.noise(target, n, D)
        in_l1 = sqrt(D) * float(replace_one(n, Fraction(0.02), 2.0**-33))
        assert noise.sensitivity / 2**40 == pytest.approx(in_l1, rel=1e-6)
        assert noise.distribution.epsilon(noise.sensitivity) == Fraction(1, 2)
        # The twin: the sensitivity in L2, read as one in L1.
        assert noise.distribution.epsilon(noise.sensitivity) > noise.distribution.epsilon(
            int(noise.sensitivity / sqrt(D)) + 1
        )
    assert method.noise(Target(None), 10, 4) is None
    released = method.train(federation(60)).release(target, Stream.from_system())
    assert (released.privacy.kind, released.privacy.epsilon) == ("pure", 0.5)
    assert released.uploads.shape == (1, 3, 4)


@pytest.mark.parametrize("lam", [0, 0.0])
def test_no_regulariser_is_refused_with_the_reason(lam):
    with refused("lambda.zero"):
        ParamLaplace(lam=lam)


# What they share.


def test_models_for_plain_rows_score_as_models_for_scaled_rows():
    X, theta = rows(20, 3, 1).X, np.array([1.0, -2, 3, 0.5])
    assert append_one(X) @ for_plain_rows(theta) == pytest.approx(scale_into_ball(X) @ theta)
    assert np.linalg.norm(scale_into_ball(X), axis=1).max() <= 1
    model = BiasedModel(np.array([0.0, 0, 0, 1.0]))
    assert model.predict(X).tolist() == [1] * 20
    assert BiasedModel(np.zeros(4)).predict(X).tolist() == [0] * 20  # a probability of 1/2 is not above 1/2


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: Ofpa(rounds=0), "parameter.no_count"),
        (lambda: Ofpa(rounds=1.5), "parameter.no_count"),
        (lambda: Ofpa(rounds=2.0), "parameter.no_count"),
        (lambda: Ofpa(rounds=True), "parameter.no_count"),
        (lambda: Ofpa(rounds="2"), "parameter.no_count"),
        (lambda: Ofpa(epochs=1.5), "parameter.no_count"),
        (lambda: Ofpa(reading="both"), "setting.unknown_value"),
    ],
)
def test_what_makes_no_sense_is_refused(make, code):
    with refused(code):
        make()
