"""OFAA: as printed and in the form with a proof."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from support.hospitals import federation, rows

from protocols.arithmetic.rng import Stream
from smc_dp.data.federation import Federation
from smc_dp.methods.collaborative import ofaa
from smc_dp.methods.collaborative.ofaa import Ofaa, noise_deviation, polynomial_noise, statement_as_published
from smc_dp.methods.collaborative.quadratics import (
    descend_quadratic,
    minimise_projected,
    minimise_quadratic,
    minimise_trimmed,
)
from smc_dp.methods.collaborative.rounds import append_one, scale_into_ball
from smc_dp.privacy.functional import (
    L2_SENSITIVITY,
    UNIT_BITS,
    coefficient_count,
    l1_sensitivities,
    quadratic,
    scales_as_published,
)
from smc_dp.privacy.noise import DiscreteLaplace
from smc_dp.privacy.output import with_noise
from smc_dp.privacy.target import Target
from tests.support.refusals import refused

LAPLACE = {"calibration": "paper", "noise": "laplace"}


def stream(seed: int | str) -> Stream:
    return Stream.insecure_from_seed(seed)


def taylor_minimiser(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """By least squares: (1/2 - y) z + z^2/8 is (z - 4 (y - 1/2))^2/8 but for a constant."""
    return np.linalg.lstsq(X, 4 * (y - 0.5), rcond=None)[0]


# Without noise.


def test_without_noise_the_proven_form_is_least_squares_on_all_rows():
    fed = federation(400)
    pooled = fed.pooled()
    wanted = taylor_minimiser(scale_into_ball(pooled.X), pooled.y) / sqrt(2)
    found = Ofaa().train(fed).release(Target(None), stream(0)).model.theta
    assert found == pytest.approx(wanted, abs=1e-4)


def test_without_noise_the_printed_form_averages_by_size():
    fed = federation(400)
    released = Ofaa(rounds=2).train(fed).release(Target(None, "paper", "laplace"), stream(0))
    models = np.array([taylor_minimiser(append_one(p.X), p.y) for p in fed.parties])
    assert released.uploads[0] == pytest.approx(models, abs=1e-3)
    weights = fed.sizes / fed.sizes.sum()
    assert released.model.theta == pytest.approx(weights @ models, abs=1e-3)
    assert released.unsolved == 0
    assert released.privacy.kind == "none"
    long = Ofaa(reading="truncated", epochs=3000).train(fed).release(Target(None, "paper", "laplace"), stream(0))
    assert long.model.theta == pytest.approx(released.model.theta, abs=1e-6)


# The noise and what it gives.


@pytest.mark.parametrize("noise", ["knorm", "laplace", "gauss"])
def test_proven_noise_is_what_was_asked_for_and_half_of_it_is_not(noise):
    target = Target(Fraction(1, 2), "proven", noise)
    calibrated = polynomial_noise(target, 5)
    law = calibrated.distribution
    assert law.dimension == coefficient_count(5) == 20
    sensitivity = sum(l1_sensitivities(4, 1)) if noise == "laplace" else L2_SENSITIVITY
    assert calibrated.sensitivity == sensitivity
    if noise == "gauss":
        assert 0.999999999 * target.mu**2 < law.mu_squared(sensitivity) <= target.mu**2
        assert noise_deviation(law) == pytest.approx(1 / float(target.mu))
    else:
        assert law.epsilon(sensitivity) == Fraction(1, 2)


@pytest.mark.parametrize("noise", ["knorm", "laplace", "gauss"])
def test_where_nobody_is_trusted_each_party_adds_all_of_the_noise(noise):
    target, public = Target(Fraction(1, 2), noise=noise), federation(40).public
    D = public.dimension + 1
    c = (7,) * coefficient_count(D)
    noisy = with_noise(c, polynomial_noise(target, D), stream(1))
    assert Ofaa(trust="local").sent(c, public, target, stream(1)) == noisy != c
    assert Ofaa().sent(c, public, target, stream(1)) == c


@pytest.mark.parametrize("noise", ["knorm", "laplace", "gauss"])
def test_the_deviation_for_the_repair_is_that_of_the_draws(noise):
    law = polynomial_noise(Target(Fraction(1), "proven", noise), 3).distribution
    rng = stream(noise)
    draws = np.array([law.sample(rng) for _ in range(600)], dtype=float).ravel() / 2.0**UNIT_BITS
    ratio = float(np.sqrt(np.mean(draws**2))) / noise_deviation(law)
    assert ratio == pytest.approx(1, abs=0.08)
    assert abs(2 * ratio - 1) > 0.8


def test_statements_of_the_proven_form_do_not_grow_with_rounds():
    public, target = federation(40).public, Target(Fraction(1))
    central, local = (Ofaa(rounds=10, trust=trust).statement(public, target) for trust in ("central", "local"))
    assert central.epsilon == local.epsilon == 1.0
    assert "aggregator" in central.adversary
    assert "server included" in local.adversary
    assert all("sizes" in found.plain_words() for found in (central, local))


@pytest.mark.parametrize("d", [1, 3, 16])
def test_statements_of_the_printed_form_add_up_degrees_and_rounds(d):
    target, system = Target(Fraction(4, 5), "paper", "laplace"), Stream.from_system()
    privacy = [statement_as_published(target, d, t) for t in (1, 10)]
    one = 0.8 * ((sqrt(d) + 1) / (4.5 * d) + (d + 2 * sqrt(d)) / 4 / (0.75 * d * d))
    assert privacy[0].epsilon == pytest.approx(one, rel=1e-9)
    assert privacy[1].epsilon == pytest.approx(10 * one, rel=1e-9)
    assert (privacy[0].epsilon > 0.8) == (d == 1)
    assert any("nominal epsilon is 0.8; the epsilon proved for it is at most" in c for c in privacy[0].caveats)
    assert any("10 rounds" in c for c in privacy[1].caveats)
    assert not any("rounds" in c for c in privacy[0].caveats)
    assert Ofaa().train(federation(20)).release(target, stream(0)).privacy.kind == "none"
    released = Ofaa(rounds=2).train(federation(20)).release(target, system)
    assert released.privacy == statement_as_published(target, 3, 2)


# Minimisers, the repair, rounds.


def test_every_round_of_the_proven_form_uses_the_same_polynomial_and_the_printed_form_does_not():
    fed = federation(400)
    once = Ofaa(rounds=5).train(fed).release(Target(Fraction(1)), stream(0)).uploads
    assert once.shape == (5, 1, 4)
    assert all(u.tobytes() == once[0].tobytes() for u in once)
    redrawn = Ofaa(rounds=5).train(fed).release(Target(Fraction(20), **LAPLACE), stream(0)).uploads
    assert redrawn.shape == (5, 3, 4)
    assert len({u.tobytes() for u in redrawn}) == 5


def test_the_printed_minimum_mostly_does_not_exist_and_the_party_keeps_what_it_downloaded():
    fed, target = federation(200, 16), Target(Fraction(1, 10), **LAPLACE)
    exact = Ofaa(rounds=4).train(fed).release(target, stream(0))
    assert exact.unsolved == 12
    assert not exact.uploads.any()
    truncated = Ofaa(rounds=20, reading="truncated").train(fed).release(target, stream(0))
    assert truncated.unsolved == 60
    lengths = np.linalg.norm(truncated.uploads, axis=2)
    assert lengths.max() <= 1000 * (1 + 1e-12)
    assert lengths.max() > 999
    assert Ofaa(rounds=4).train(federation(400)).release(Target(Fraction(200), **LAPLACE), stream(0)).unsolved == 0


def are_minima(found: list[np.ndarray | None]) -> bool:
    return all(theta is not None and np.isfinite(theta).all() for theta in found)


@pytest.mark.parametrize(("repair", "function"), [("project", "minimise_projected"), ("trim", "minimise_trimmed")])
def test_a_repaired_minimiser_is_finite_for_every_draw_and_an_unrepaired_one_is_not(monkeypatch, repair, function):
    caught = []

    def catch(b, M, ridge):
        caught.append((b, M))
        return repaired(b, M, ridge)

    repaired = getattr(ofaa, function)
    monkeypatch.setattr(ofaa, function, catch)
    trained = Ofaa(repair=repair).train(federation(40, 6))
    for epsilon, exists in (("1e-9", False), ("0.01", False), ("1e6", True)):
        caught.clear()
        found = [trained.release(Target(Fraction(epsilon)), stream(seed)).model.theta for seed in range(20)]
        assert are_minima(found)
        assert len(caught) == 20
        # The twin: the same noisy polynomials as they are. With next to no noise they do have minima.
        assert are_minima([minimise_quadratic(b, M) for b, M in caught]) == exists


def test_the_repair_minimises_where_it_can_and_leaves_out_what_is_not_positive():
    b, M = np.array([1.0, 2.0, 3.0]), np.diag([2.0, 0.5, -4.0])
    assert minimise_quadratic(b, M) is None
    assert minimise_trimmed(b, M, 0.0) == pytest.approx([-1 / 4, -2, 0])
    assert minimise_trimmed(b, M, 6.0) == pytest.approx([-1 / 16, -2 / 13, -3 / 4])
    assert minimise_trimmed(b, -M, 0.0) == pytest.approx([0, 0, -3 / 8])
    assert not minimise_trimmed(b, np.zeros((3, 3)), 0.0).any()
    assert minimise_projected(b, M, 1.0) == pytest.approx([-1 / 4, -1, -3 / 2])
    positive = np.array([[2.0, 1.0], [1.0, 3.0]])
    assert minimise_quadratic(b[:2], positive) == pytest.approx(np.linalg.solve(2 * positive, -b[:2]))
    assert descend_quadratic(b[:2], positive, np.zeros(2), 2000) == pytest.approx(minimise_quadratic(b[:2], positive))
    assert descend_quadratic(b, np.zeros((3, 3)), np.ones(3), 10).tolist() == [1, 1, 1]


@pytest.mark.parametrize(("trust", "times"), [("central", 1), ("local", sqrt(3))])
def test_eigenvalues_are_lifted_to_four_deviations_of_all_the_noise_in_them(monkeypatch, trust, times):
    floors = []

    def catch(b, M, floor):
        floors.append(floor)
        return minimise_projected(b, M, floor)

    monkeypatch.setattr(ofaa, "minimise_projected", catch)
    target = Target(Fraction(1, 2), noise="gauss")
    Ofaa(trust=trust).train(federation(20)).release(target, stream(0))
    assert floors == [pytest.approx(4 * times / float(target.mu), rel=1e-9)]


# What is refused.


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"rounds": 0}, "parameter.no_count"),
        ({"epochs": 2.0}, "parameter.no_count"),
        ({"reading": "x"}, "setting.unknown_value"),
        ({"trust": "x"}, "setting.unknown_value"),
        ({"repair": "x"}, "setting.unknown_value"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, code):
    with refused(code):
        Ofaa(**settings)


def test_the_printed_noise_is_drawn_from_the_stream_degree_by_degree():
    trained = Ofaa().train(Federation((rows(5, 1, 0),), 2))
    rng = stream(7)
    first, second = scales_as_published(1, Fraction(1))
    assert [float(s) / 2.0**UNIT_BITS for s in scales_as_published(3, Fraction(1))] == [13.5, 6.75]
    noise = DiscreteLaplace(2, first).sample(rng) + DiscreteLaplace(3, second).sample(rng)
    theta = minimise_quadratic(*quadratic((np.array(trained.known[0][0]) + noise) / 2.0**UNIT_BITS, 2))
    released = trained.release(Target(Fraction(1), **LAPLACE), stream(7))
    assert released.uploads[0, 0].tolist() == (np.zeros(2) if theta is None else theta).tolist()
