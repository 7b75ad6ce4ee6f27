"""Shares for what is wanted: nothing is claimed beyond it, and grid and ring are as long as the noise needs."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from protocols.arithmetic.rng import Stream
from smc_dp.privacy import distributed
from smc_dp.privacy.distributed.calibration import LARGEST_DELTA, ring_bits
from smc_dp.privacy.distributed.share_distributions import GammaShares, GaussianShares
from smc_dp.privacy.gaussian import mu_keeps
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.output import GRID, calibrate_noise
from smc_dp.privacy.statement import PrivacyStatement, round_up
from smc_dp.privacy.target import SHARED_NOISES, NoiseName, Target
from tests.support.refusals import refused

DELTA = Fraction(1, 700)
LARGEST = Fraction(1 << 36)
THIRD = Fraction(1, 3)


def made(noise: NoiseName, **changes: Any) -> distributed.SharedNoise:
    epsilon = changes.pop("epsilon", THIRD)
    usual: dict[str, Any] = {"dimension": 124, "sensitivity": DELTA, "largest": LARGEST, "parties": 5, "honest": 3}
    return distributed.calibrate_shares(Target(epsilon, noise=noise), **usual | changes)


def said(noise: distributed.SharedNoise, target: Target) -> PrivacyStatement:
    return distributed.shared_statement(noise, target, "record", "replace", "anyone", ("A caveat.",))


PLACES = [
    {},
    {"parties": 50, "honest": 49},
    {"parties": 200, "honest": 198},
    {"dimension": 1, "parties": 3, "honest": 2},
    {"dimension": 7874, "parties": 50, "honest": 34},
    {"dimension": 1, "parties": 2, "honest": 1, "epsilon": Fraction(1, 10**9)},
    {"epsilon": Fraction(12)},
    {"epsilon": Fraction(1, 10**9), "largest": Fraction(1, 10**6)},
]


@pytest.mark.parametrize("noise", SHARED_NOISES)
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_what_was_asked_for_is_stated_and_no_more(noise: NoiseName, place: dict[str, Any]) -> None:
    found, target = made(noise, **place), Target(place.get("epsilon", THIRD), noise=noise)
    D, wanted, law = found.sensitivity, target.wanted, found.distribution
    assert found.grid.l2_sensitivity(DELTA, law.dimension) == D
    statement = said(found, target)
    assert (statement.adversary, statement.caveats, statement.unit) == ("anyone", ("A caveat.",), "record")
    assert statement.epsilon == round_up(wanted)
    assert law.honest == place.get("honest", 3)
    if isinstance(law, GaussianShares):
        assert statement.kind == "zcdp"
        assert mu_keeps(law.mu_squared(D), wanted, target.delta)
        assert law.mu_squared(D) > target.mu**2 * (1 - Fraction(1, 10**17))  # and hardly any noise too much
        assert statement.mu == target.mu
        assert statement.rho is not None
        assert Fraction(statement.rho) >= law.rho(D)
        assert statement.delta == round_up(target.delta)
        whole = calibrate_noise(Target(wanted, noise="gauss"), law.dimension, DELTA).distribution
        assert law.variance * law.honest == pytest.approx(whole.variance, rel=1e-12)
    elif isinstance(law, GammaShares):
        assert statement.kind == "approx"
        assert law.epsilon(D) == wanted
        assert law.delta(D) <= Fraction(statement.delta) <= LARGEST_DELTA == Fraction(1, 2**64)
        assert law.scale > D / wanted  # twin: nothing is charged for the lattice
    else:
        assert (statement.kind, statement.delta) == ("pure", 0.0)
        assert law.epsilon(D) == wanted
    assert Guarantee.of(statement, wanted).epsilon == wanted


@pytest.mark.parametrize("noise", SHARED_NOISES)
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_ring_and_grid_are_as_long_as_the_noise_needs(noise: NoiseName, place: dict[str, Any]) -> None:
    found, parties = made(noise, **place), place.get("parties", 5)
    bits, fine = found.grid.ring_bits, found.grid.fraction_bits
    assert bits % 8 == 0
    assert 64 <= bits <= 1024
    most = parties * math.ceil(place.get("largest", LARGEST) * 2**fine) + found.distribution.tail(parties)
    assert most < 2 ** (bits - 1)
    assert bits == 64 or most >= 2 ** (bits - 9)
    if noise != "vg" or fine == GRID.fraction_bits:
        assert fine == GRID.fraction_bits
    else:  # one bit less, and delta would be too large
        law = found.distribution
        assert isinstance(law, GammaShares)
        coarser = replace(found.grid, fraction_bits=fine - 1).l2_sensitivity(DELTA, law.dimension)
        scale = law.scale * coarser / found.sensitivity
        assert GammaShares(law.dimension, law.honest, scale).delta(coarser) > LARGEST_DELTA


def test_many_honest_parties_make_the_grid_finer_and_a_large_delta_does_not() -> None:
    fine = [made("vg", parties=K, honest=K).grid.fraction_bits for K in (50, 100, 150, 200)]
    assert fine == sorted(fine)
    assert (fine[0], fine[-1] > 100) == (GRID.fraction_bits, True)


@pytest.mark.parametrize("noise", SHARED_NOISES)
def test_a_ring_is_longer_from_the_first_number_that_may_not_fit(noise: NoiseName) -> None:
    found, parties = made(noise), 5
    bits, fine = found.grid.ring_bits, found.grid.fraction_bits
    most = (2 ** (bits - 1) - 1 - found.distribution.tail(parties)) // parties
    for more, length in ((Fraction(0), bits), (Fraction(1, 1000), bits + 8)):
        number = (most + more) / 2**fine
        assert made(noise, largest=number).grid.ring_bits == length


@pytest.mark.parametrize("noise", SHARED_NOISES)
def test_sums_of_numbers_and_shares_do_not_wrap(noise: NoiseName) -> None:
    K, H, d, rng = 3, 2, 2, Stream.insecure_from_seed("wrap")
    found = made(noise, parties=K, honest=H, dimension=d)
    numbers = [float(LARGEST), -float(LARGEST)]
    total = [K * x for x in found.grid.encode(numbers)]
    for _ in range(20):
        noisy = [
            x + sum(e)
            for x, e in zip(total, zip(*(found.distribution.share(rng) for _ in range(K)), strict=True), strict=True)
        ]
        assert [found.grid.lift(found.grid.wrap(x)) for x in noisy] == noisy
    shorter = replace(found.grid, ring_bits=found.grid.ring_bits - 16)
    assert [shorter.lift(shorter.wrap(x)) for x in noisy] != noisy  # twin: a ring that is too short


def test_the_length_of_a_ring() -> None:
    assert [ring_bits(x) for x in (0, 2**63 - 1, 2**63, 2**71 - 1, 2**71)] == [64, 64, 72, 72, 80]


def ways(noise: NoiseName, **changes: Any) -> str:
    """What would do in place of noise that needs too long integers."""
    with refused("noise.integers_too_long", noise=noise, bits=1024) as caught:
        made(noise, **changes)
    return str(caught.value.fault.fields["ways"])


def test_what_does_not_fit_is_refused_with_the_nearest_that_does() -> None:
    place: dict[str, Any] = {"dimension": 1, "parties": 200, "honest": 198}
    words = ways("vg", **place)
    assert words.endswith("or noise ddg or self")
    nearest = int(re.findall(r"leave at most (\d+) honest", words)[0])
    assert 1 < nearest < 198
    assert made("vg", **place | {"honest": nearest}).grid.ring_bits <= 1024
    assert f"leave at most {nearest} honest" in ways("vg", **place | {"honest": nearest + 1})
    for noise in ("ddg", "self"):
        assert made(noise, **place).grid.ring_bits <= 1024
    with refused("noise.too_many_numbers_for_vg", most=10_000, got=10_001):
        made("vg", dimension=10_001)
    for noise in SHARED_NOISES:
        assert not re.search(r"noise|\d", ways(noise, largest=Fraction(2) ** 990))  # no other noise, and no figure


@pytest.mark.parametrize("place", [{"dimension": 1, "parties": 3, "honest": 2}, {}], ids=str)
def test_where_e_to_the_epsilon_is_too_large_a_smaller_epsilon_is_named(place: dict[str, Any]) -> None:
    words = ways("vg", epsilon=Fraction(10**5), **place)
    assert words.endswith(", or noise ddg or self")
    nearest = int(re.findall(r"an epsilon of (\d+), or", words)[0])
    assert made("vg", epsilon=Fraction(nearest), **place).grid.ring_bits <= 1024
    assert f"an epsilon of {nearest}, or" in ways("vg", epsilon=Fraction(nearest + 1), **place)


def test_numbers_that_make_no_sense_are_refused() -> None:
    for changes in ({"dimension": 0}, {"sensitivity": Fraction(0)}, {"largest": Fraction(-1)}):
        with pytest.raises(ValueError, match="sensitivity above 0"):
            made("ddg", **changes)
    for changes in ({"honest": 0}, {"honest": 6}, {"parties": 3000, "honest": 2001}):
        with pytest.raises(ValueError, match="wanted from 1 to"):
            made("ddg", **changes)
    with pytest.raises(ValueError, match="noise knorm is not drawn in shares"):
        made("knorm")
    for noise in SHARED_NOISES:
        with refused("noise.drawn_in_shares", noise=noise):
            calibrate_noise(Target(Fraction(1), noise=noise), 3, DELTA)


def test_shares_that_were_made_for_another_target_are_stated_as_what_they_are() -> None:
    """Shares for all K parties, of which H are honest: the statement follows the law and not what was asked for."""
    for_all, target = made("ddg", honest=5), Target(THIRD, noise="ddg")
    assert isinstance(for_all.distribution, GaussianShares)
    fewer = replace(for_all, distribution=replace(for_all.distribution, honest=3))
    found = said(fewer, target)
    assert found.epsilon > 1.2 * float(THIRD)
    assert found.mu == pytest.approx(float(target.mu) * math.sqrt(5 / 3))
    coarse = replace(made("vg"), distribution=GammaShares(1, 50, Fraction(16)), sensitivity=16)
    assert (said(coarse, Target(THIRD, noise="vg")).kind, said(coarse, Target(THIRD, noise="vg")).epsilon) == (
        "none",
        None,
    )


def test_a_delta_of_mixed_shares_is_stated_rounded_up() -> None:
    found = made("vg", parties=50, honest=37)
    assert isinstance(found.distribution, GammaShares)
    delta = found.distribution.delta(found.sensitivity)
    assert Fraction(said(found, Target(THIRD, noise="vg")).delta) >= delta > Fraction(float(delta))
