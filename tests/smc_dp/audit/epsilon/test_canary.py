"""Neighbours that are searched for: their distance, that they are neighbours, and audits at a real dimension."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from protocols.arithmetic.rng import Stream
from smc_dp.audit.epsilon import canary, methods, report
from smc_dp.audit.epsilon.audit import audit_mechanism
from smc_dp.audit.epsilon.case import Case
from smc_dp.audit.epsilon.mutants import MutantName
from smc_dp.audit.epsilon.power import MeasuredPower
from smc_dp.methods.neighbours import NeighbourPair
from smc_dp.pages.text import block_lines
from smc_dp.privacy.target import NoiseName, Target

D, LAM = 12, 0.01
ADD_REMOVE = pytest.param("wsum_ar", 0.75, marks=pytest.mark.slow)


@cache
def found(name: str, lam: float = LAM) -> NeighbourPair:
    return canary.search_neighbours(name, lam, D)


def case(name: str, noise: NoiseName = "gauss", mutant: MutantName | None = None) -> Case:
    return methods.method_case(name, Target(Fraction(8), noise=noise), mutant, found(name))


@pytest.mark.parametrize("noise", ["gauss", "laplace", "knorm"])
@pytest.mark.parametrize(("name", "least"), [("prr_mean", 0.92), ADD_REMOVE])
def test_the_canary_moves_the_release_by_nearly_what_is_claimed(name: str, least: float, noise: NoiseName) -> None:
    """And by no more: a sensitivity half as large would be exceeded, whatever the noise."""
    distance = case(name, noise).neighbour_distance
    assert least < distance.moved / distance.claimed <= 1
    assert distance.moved > 1.4 * distance.claimed / 2


def test_the_search_goes_further_than_neighbours_made_by_hand() -> None:
    """Label against label of one record beside zeros, at the same lambda and number of rows."""
    method = found("prr_mean").method
    X = np.zeros((canary.CANARY_PARTY_ROWS, D))
    X[0, 0] = 1.0
    worlds = [canary._with_another(canary.Rows(X, np.arange(canary.CANARY_PARTY_ROWS) % 2)) for _ in (0, 1)]
    worlds[1].parties[0].y[0] = 1
    by_hand = NeighbourPair(method, (worlds[0], worlds[1]), "one record")
    distance = methods.method_case("prr_mean", Target(Fraction(8), noise="gauss"), None, by_hand).neighbour_distance
    searched = case("prr_mean").neighbour_distance
    assert distance.claimed == searched.claimed
    assert distance.moved < 0.75 * searched.moved


@pytest.mark.parametrize("name", ["prr_mean", pytest.param("wsum_ar", marks=pytest.mark.slow)])
def test_what_is_found_are_neighbours_in_the_unit_ball(name: str) -> None:
    first, second = (federation.parties for federation in found(name).worlds)
    assert all(np.linalg.norm(rows.X, axis=1).max() <= 1 for rows in (*first, *second))
    a, b = first[0], second[0]
    if name == "wsum_ar":
        assert len(b) == len(a) + 1
        assert (b.X[1:] == a.X).all()
        assert case(name).canaries is None, "a label that changes is no record more or less"
    else:
        assert (a.X != b.X).any(axis=1).tolist() == [True] + [False] * (canary.CANARY_PARTY_ROWS - 1)
    assert all((p.X == q.X).all() for p, q in zip(first[1:], second[1:], strict=True))


@pytest.mark.parametrize("mutant", [None, "half-noise"])
def test_at_a_real_dimension_half_the_noise_is_refuted_and_ours_is_not(mutant: MutantName | None) -> None:
    audited = audit_mechanism(
        case("prr_mean", mutant=mutant), 250, 0.002, Stream.insecure_from_seed(f"vector {mutant}")
    )
    assert audited.refuted == (mutant is not None)
    printed = "\n".join(block_lines([report.audit_section(MeasuredPower(audited, {}))], 999, 999))
    assert report.verdict_banner(audited).code == f"epsilon.claim_{'' if mutant else 'not_'}contradicted"
    assert "they move the release by 0.3528, which is 0.937 of the 0.3766 claimed" in printed


def test_one_run_has_a_canary_for_every_dimension() -> None:
    """Its bits decide what is released: without noise, or nearly, every position is its bit."""
    exact = methods.method_case("prr_mean", Target(Fraction(10**6), noise="gauss"), None, found("prr_mean"))
    told = exact.canaries(3 * D, Stream.insecure_from_seed("axes"))
    assert len(told.bits) == 3 * D
    assert 0 < told.bits.mean() < 1
    assert np.abs(told.positions - told.bits).max() < 0.05
    noisy = case("prr_mean").canaries
    drawn = noisy(40 * D, Stream.insecure_from_seed("noisy axes"))
    assert 0.2 < drawn.mu_at_least(0.01) < 1.35
