"""Secure forms with all parties in one place: what they are told, and who cannot take part."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from protocols.arithmetic.rng import Stream
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.method import default_secure_noise
from smc_dp.methods.registry import METHODS
from smc_dp.methods.sums.simulated_sum import PreparesFirst, SimulatedSum, has_secure_sum
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.privacy.target import Target
from tests.support.refusals import refused

SUMMED = [name for name, method in METHODS.items() if has_secure_sum(method) and not hasattr(method, "regresses")]


def federation() -> Federation:
    rng = np.random.default_rng(3)
    rows = [rng.uniform(-0.5, 0.5, (n, 2)) for n in (9, 7, 8)]
    return Federation(tuple(Rows(X, (X[:, 0] > 0).astype(np.int64)) for X in rows), 2, unlabelled=rows[0])


def told(name: str, monkeypatch: pytest.MonkeyPatch) -> list[Public]:
    """What the specification of the mechanism, and each party at home, is told of the federation."""
    heard, kind = list[Public](), METHODS[name]

    def hearing(step: str, place: int) -> None:
        real = getattr(kind, step)
        monkeypatch.setattr(kind, step, lambda self, *given: heard.append(given[place]) or real(self, *given))

    hearing("shared", 0)
    if hasattr(kind, "prepare"):
        hearing("prepare", 1)
    home = SimulatedSum.of(kind(), federation(), ThreatModel(3, 1, 0), 20)
    home.release(Target(Fraction(4), noise=default_secure_noise(kind)), Stream.from_system())
    return heard


@pytest.mark.parametrize("name", SUMMED)
def test_numbers_of_rows_are_told_only_where_neighbours_share_them(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind: Any = METHODS[name]
    heard = told(name, monkeypatch)
    assert len(heard) == (4 if isinstance(kind(), PreparesFirst) else 1)
    assert {public.sizes for public in heard} == {(9, 7, 8) if kind().adjacency == "replace" else None}


def test_there_are_secure_forms_of_either_kind() -> None:
    kinds: list[Any] = [METHODS[name]() for name in SUMMED]
    assert {kind.adjacency for kind in kinds} == {"replace", "addremove", "party"}
    assert {kind.name for kind in kinds if not isinstance(kind, PreparesFirst)} == {
        "ofpa"
    }  # whose noise is in the model


def test_who_cannot_take_part_is_named() -> None:
    wsum = METHODS["wsum"](lam=0.1)
    target = Target(Fraction(1), noise="ddg")
    with refused("party.more_rows_than_announced", most=8, at="party 1: "):
        SimulatedSum.of(wsum, federation(), ThreatModel(3, 1, 0), 8).spec(target)
    assert SimulatedSum.of(wsum, federation(), ThreatModel(3, 1, 0), 9).spec(target).statement.epsilon == 1
    with refused("parties.negative_count", name="dropouts", got=-1):
        SimulatedSum.of(wsum, federation(), ThreatModel(3, 1, -1), 9)
    with refused("noise.not_of_protocol", method="wsum", got="gauss", other="ddg"):
        SimulatedSum.of(wsum, federation(), ThreatModel(3, 1, 0), 9).spec(Target(Fraction(1), noise="gauss"))
    ofaa = SimulatedSum.of(METHODS["ofaa"](), federation(), ThreatModel(3, 1, 0), 9)
    with refused("secure_sum.other_setting", name="calibration", method="ofaa", got="paper"):
        ofaa.spec(Target(Fraction(1), calibration="paper", noise="laplace"))
    with refused("trust.no_secure_sum", method="prr_mean"):
        SimulatedSum(METHODS["prr_mean"](), federation(), ThreatModel(3, 1, 0), AnnouncedRows(9)).spec(target)


@pytest.mark.parametrize("name", SUMMED)
def test_two_releases_of_one_stream_have_noise_of_their_own(name: str) -> None:
    """And another stream of the same seed gives the first again."""
    kind = METHODS[name]
    home = SimulatedSum.of(kind(), federation(), ThreatModel(3, 1, 0), 20)
    target, rng = Target(Fraction(4), noise=default_secure_noise(kind)), Stream.insecure_from_seed("two")
    models: list[Any] = [home.release(target, rng).model for _ in range(2)]
    models.append(home.release(target, Stream.insecure_from_seed("two")).model)
    first, second, again = (model.scores(np.eye(2)) for model in models)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, second)
