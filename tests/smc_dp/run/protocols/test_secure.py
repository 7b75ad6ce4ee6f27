"""What a protocol computes is the ideal functionality, integer for integer: for methods, and for rounds of sums."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from support.audited import agreement, hospitals, sum_agreement
from support.sums import parameters

from protocols import pathak2010
from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.pathak2010.parameters import Parameters
from protocols.runtime.simulate import DropOutAfter, Setting
from protocols.secure_sum.messages import PublishedSum
from smc_dp.data.federation import Public
from smc_dp.data.sources import PreparedData
from smc_dp.methods.functionality import Contribution, Rounds, SumWithShares, SumWithSmallestNoise, ideal
from smc_dp.methods.gradients.newton import Newton
from smc_dp.methods.method import noise_names
from smc_dp.methods.registry import METHODS
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.methods.sums.weighted_sum import WeightedSum, WeightedSumAddRemove
from smc_dp.privacy.target import Target
from smc_dp.run.agreement import PROTOCOLS_BY_METHOD, Agreement, is_as_published, secure_method
from smc_dp.run.party import LocalParty
from smc_dp.run.protocols import execution
from smc_dp.run.protocols.bindings import BINDINGS
from smc_dp.run.protocols.execution import NoResultError
from smc_dp.run.protocols.registry import SumTerms
from tests.support.refusals import refused

SIZES = (12, 8, 20)


def parts_of(data: PreparedData, agreed: Agreement, rng: Stream) -> dict[str, Any]:
    """What each party makes at home."""
    by_name = data.federation.by_name.items()
    return {who: LocalParty(who, rows, agreed, rng.fork(who)).contribution for who, rows in by_name}


def cases() -> Iterator[Any]:
    """Every method by the curator protocol, hardened and as printed, with all its calibrations and noises."""
    for protocol, calibration in product(PROTOCOLS_BY_METHOD["prr_mean"], METHODS["prr_mean"].calibrations):
        for noise in noise_names(METHODS["prr_mean"], calibration):
            if noise != "gauss" and (calibration == "paper" or not is_as_published(protocol)):
                yield pytest.param(protocol, calibration, noise, id=f"{protocol}-{calibration}-{noise}")


@pytest.mark.parametrize(("protocol", "calibration", "noise"), list(cases()))
def test_secure_is_ideal_integer_for_integer(protocol: str, calibration: Any, noise: Any) -> None:
    data = hospitals(SIZES, 2)
    target = Target(Fraction(1), calibration, noise)
    agreed = agreement(data, target, as_printed=is_as_published(protocol), key_bits=256, protocol=protocol)
    assert agreed.protocol == protocol
    rng = Stream.insecure_from_seed(f"prr_mean {protocol}")
    parts = [*parts_of(data, agreed, rng).values()]
    value = ideal(agreed.functionality, parts, rng)
    secure = execution.run_session(agreed.functionality, parts, agreed.session(rng), rng=rng)
    assert secure.value == value
    assert secure.execution is not None
    assert np.any(np.array(value) != np.sum([part.weights for part in parts], axis=0))  # there is noise
    with pytest.raises(ValueError, match="does not compute"):  # the broken twin: another functionality
        execution.run_session(SumWithSmallestNoise(times=7), parts, agreed.session(rng), rng=rng)


ALL = ("north-0", "north-1", "north-2", "north-3")
SUMS: tuple[tuple[Any, str, dict[str, Any], dict[str, DropOutAfter], tuple[str, ...]], ...] = (
    (WeightedSum(0.1), "ddg", {}, {}, ALL),
    (WeightedSum(0.1), "vg", {"output": "shares", "colluders": 3}, {}, ALL),
    (WeightedSumAddRemove(0.1), "self", {"verifiable": True}, {}, ALL),
    (WeightedSum(0.1), "ddg", {"dropouts": 1, "verifiable": True}, {"north-2": DropOutAfter(6)}, ALL),
    (WeightedSumAddRemove(0.1), "ddg", {"dropouts": 1}, {"north-2": DropOutAfter(5)}, ALL[:2] + ALL[3:]),
)


@pytest.mark.parametrize(("method", "noise", "settings", "vanish", "members"), SUMS)
def test_a_secure_sum_is_the_ideal_sum_of_those_who_took_part(
    method: Any, noise: Any, settings: Any, vanish: Any, members: tuple[str, ...]
) -> None:
    """Who vanishes with its masked input sent is in it, noise and all; who vanishes before is not."""
    data = hospitals((12, 8, 20, 9), 2)
    agreed = sum_agreement(data, method, Target(Fraction(1), noise=noise), **settings)
    rng = Stream.insecure_from_seed("sums")
    parts = parts_of(data, agreed, rng)
    setting = Setting(drop_outs=vanish)
    functionality, session = agreed.functionality, agreed.session(rng)
    secure = execution.run_session(functionality, list(parts.values()), session, rng=rng, setting=setting)
    assert (secure.execution.members, secure.execution.dropped_out) == (members, tuple(vanish))
    assert bool(secure.execution.shares) == agreed.publishes_shares == (settings.get("output") == "shares")
    inside = [parts[who] for who in members]
    assert secure.value == ideal(functionality, inside)
    for twin in (inside[:-1], [*inside[:-1], replace(inside[-1], noise=(0,) * functionality.length)]):
        assert secure.value != ideal(functionality, twin)
    with pytest.raises(ValueError, match="does not compute"):
        execution.run_session(SumWithShares(functionality.length + 1), inside, session, rng=rng)


def test_too_few_are_left_and_nothing_comes_of_it() -> None:
    """Who is gone, and what was sent until then, is what a new session starts from."""
    data, rng = hospitals((12, 8, 20), 2), Stream.insecure_from_seed("few")
    agreed = sum_agreement(data)
    parts = [*parts_of(data, agreed, rng).values()]
    for sent in (0, 1, 2):
        charged: list[str] = []
        setting = Setting(drop_outs={"north-1": DropOutAfter(sent)}, charge=lambda name, _, to=charged: to.append(name))
        with pytest.raises(NoResultError) as stopped:
            execution.run_session(agreed.functionality, parts, agreed.session(rng), rng=rng, setting=setting)
        assert stopped.value.dropped_out == ("north-1",)
        assert stopped.value.sent.get("north-1", 0) == sent
        assert bool(charged) == (sent == 2)


def test_every_method_with_a_secure_form_is_known_by_its_protocols() -> None:
    """Each name is a method, each protocol is realised, and the method's functionality is what it computes."""
    data = hospitals(SIZES, 2)
    for made in (agreement(data), agreement(data, as_printed=True), agreement(data, protocol="linear")):
        p = made.program_parameters("")
        assert made.functionality == BINDINGS[made.protocol].functionality(p)
        assert made.spec.length == len(made.bounds.columns)
    known = Public(3, 2, 2, unlabelled=np.eye(2))
    for name, protocols in PROTOCOLS_BY_METHOD.items():
        if protocols == ("secure_sum",):
            method: Any = METHODS[name]()
            target, rows = Target(1, noise=method.secure_noises[0]), AnnouncedRows(100, method.sizes)  # type: ignore[arg-type]
            label = replace(known, classes=0) if getattr(method, "regresses", False) else known
            spec = method.shared(label, target, ThreatModel(3, 1, 0), rows)
            p = SumTerms().program_parameters("secure_sum", spec, ("A", "B", "C"), "")
            assert spec.functionality == BINDINGS["secure_sum"].functionality(p)
            assert spec.length == sum(length for blocks in spec.sums for length, _ in blocks)
            assert p.ring.modulus == 1 << spec.grid.ring_bits
        else:
            assert (name, protocols) == ("prr_mean", ("pathak2010", "pathak2010-as-printed-insecure", "linear"))
    for name in set(METHODS) - set(PROTOCOLS_BY_METHOD):
        with refused("setting.unknown_value"):
            secure_method(name, "pathak2010")


def test_parts_that_do_not_fit_are_refused_before_a_message() -> None:
    agreed, rng = agreement(hospitals((8, 9), 1), key_bits=256), Stream.insecure_from_seed(1)
    for parts in ([Contribution(1, (1,), (1,))], [Contribution(1, (1,), (1,)), Contribution(0, (1,), (1,))]):
        with pytest.raises(ValueError, match=r"at least 2 parties|size must be positive"):
            execution.run_session(agreed.functionality, parts, agreed.session(rng), rng=rng)


def test_rounds_of_sums_go_through_the_same_seam() -> None:
    """The answers of a party are the input of its role, and the value is that of every round."""
    data, rng = hospitals((12, 8, 20), 2), Stream.insecure_from_seed("rounds")
    agreed = sum_agreement(data, Newton(), most_rows=100)

    parts = [[*parts_of(data, agreed, rng).values()] for _ in range(3)]  # each answers once
    value, session = ideal(agreed.functionality, parts[0]), agreed.session(rng)
    assert execution.run_session(agreed.functionality, parts[1], session, rng=rng).value == value
    assert len(set(value)) == len(value) == len(agreed.functionality.each) > 1
    with pytest.raises(ValueError, match="does not compute"):
        execution.run_session(Rounds(agreed.functionality.each[1:]), parts[2], session, rng=rng)


def test_progress_counts_each_stage_of_each_participant_once() -> None:
    """A role that makes keys leaves the set-up for it and comes back, and has entered it once."""
    heard: list[tuple[str, int, int]] = []
    parts, rng = [Contribution(size, (1,), (2,)) for size in (5, 6)], Stream.insecure_from_seed(1)
    session = execution.open_session(pathak2010.PROGRAM, Parameters(("north", "south"), 1, 512), rng)
    progress = lambda *said: heard.append(said)  # noqa: E731
    execution.run_session(SumWithSmallestNoise(), parts, session, rng=rng, progress=progress)
    assert [done for _, done, _ in heard] == sorted(done for _, done, _ in heard)
    assert {stage for stage, _, _ in heard} == {"setup", "keys", "stage1", "stage2", "stage3"}
    assert heard[-1][1:] == (12, 12)  # 3 participants in 4 stages; no message is sent in "keys"


def test_every_sum_is_of_enough_parties_or_there_is_no_value() -> None:
    """A sum of fewer has less noise than is stated, whichever of them it is."""
    p, sums, every, without_p4, two = parameters(4, 0, 1, (2, 1, 3)), BINDINGS["secure_sum"], 0b1111, 0b0111, 0b0011
    S = tuple(range(p.numbers))
    good = {CURATOR_NAME: PublishedSum((without_p4, every, without_p4), S)}
    assert sums.value(p, good) == ((0, 1), (2,), (3, 4, 5))
    assert sums.members(p, good) == [p.parties[:3], p.parties, p.parties[:3]]
    for r in range(p.R):
        members = tuple(two if i == r else every for i in range(p.R))
        with pytest.raises(ValueError, match="a sum of 2 parties, wanted at least 3"):
            sums.value(p, {CURATOR_NAME: PublishedSum(members, S)})
