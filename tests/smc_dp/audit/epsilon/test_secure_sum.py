"""A party of the secure sum that deviates leaves the others the noise of H honest shares: integer for integer, and by
the same audit that finds the stripped noise of the curator protocol.

Whole runs are few. What they give is what the ideal functionality gives, of which many draws are audited.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from support.sums import made, parameters

from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.simulate import DropOutAfter
from protocols.secure_sum import steps
from protocols.secure_sum.ideal import functionality
from protocols.secure_sum.parameters import Parameters
from protocols.secure_sum.values import Addends, Vault
from smc_dp.audit.epsilon import protocol, secure_sum
from smc_dp.audit.epsilon.audit import CaseAudit, audit_mechanism
from smc_dp.audit.epsilon.case import Case
from smc_dp.audit.epsilon.deviations import DEVIATIONS, SUBSTITUTES, Deviation
from smc_dp.audit.epsilon.mutants import MutantName
from smc_dp.audit.epsilon.plan import Request, plan_cases
from smc_dp.privacy.target import SHARED_NOISES, NoiseName, Target
from tests.support.refusals import refused

ALPHA = 0.002  # of each test


def target(noise: NoiseName = "ddg", epsilon: int = 4) -> Target:
    return Target(Fraction(epsilon), noise=noise)


def rng(label: object) -> Stream:
    return Stream.insecure_from_seed(f"secure sum {label}")


def audited(case: Case, draws: int) -> CaseAudit:
    return audit_mechanism(case, draws, ALPHA, rng(case.name))


def in_the_clear(noise: NoiseName, epsilon: int, draws: int, mutant: MutantName | None = None) -> CaseAudit:
    return audited(secure_sum.secure_sum_case(target(noise, epsilon), mutant=mutant, use_ideal=True), draws)


@pytest.mark.parametrize("deviation", [None, *DEVIATIONS])
def test_whatever_one_party_sends_the_rest_is_the_sum_of_the_honest(deviation: Deviation | None) -> None:
    for noise in SHARED_NOISES:
        spec, coins = secure_sum.audited_sum(target(noise)), rng(f"{deviation} {noise}")
        parts = secure_sum.add_noise(spec, secure_sum.numbers_in_world(spec, 1), spec.noise.distribution, coins)
        seen = secure_sum.view_of_coalition(deviation)(spec, parts, coins)
        assert seen == secure_sum.ideal_view(spec, parts, coins)
        # Twins: an honest party without noise, and a sum from which nothing was taken off.
        silent = [replace(parts[0], noise=(0,) * spec.length), *parts[1:]]
        assert seen != secure_sum.ideal_view(spec, silent, coins)
        assert seen != secure_sum.ideal_view(spec, [*parts, parts[-1]], coins)


def test_of_a_description_the_rest_is_the_sum_of_the_honest() -> None:
    spec, coins = secure_sum.audited_sum(target(), "describe"), rng("describe")
    parts = secure_sum.add_noise(spec, secure_sum.numbers_in_world(spec, 1), spec.noise.distribution, coins)
    assert secure_sum.view_of_coalition("copied")(spec, parts, coins) == secure_sum.ideal_view(spec, parts, coins)


def test_descriptions_are_as_far_apart_as_is_charged() -> None:
    """One level and one number: 2 + 4, and the square of the number does not differ."""
    spec = secure_sum.audited_sum(target(), "describe")
    (zero, *others), (one, *same) = (secure_sum.numbers_in_world(spec, world) for world in (0, 1))
    assert others == same
    apart = [(x - y) / 2**spec.grid.fraction_bits for x, y in zip(zero, one, strict=True)]
    assert apart == [1, -1, -2, 0, 0, 0]
    assert sum(x * x for x in apart) == pytest.approx(float(spec.reach.sensitivity) ** 2)


def test_descriptions_are_not_refuted_and_gross_faults_are() -> None:
    def found(draws: int, mutant: MutantName | None = None) -> CaseAudit:
        case = secure_sum.secure_sum_case(target(epsilon=8), mutant=mutant, use_ideal=True, method="describe")
        return audited(case, draws)

    assert not found(400).refuted
    assert found(400, "half-noise").refuted
    assert found(2000, "silent-party").refuted


def test_ways_to_deviate_change_what_is_released() -> None:
    """Each enters something else: none of them follows the protocol by chance."""
    case = {way: secure_sum.secure_sum_case(target(), way) for way in DEVIATIONS}
    assert len({case[way].name for way in DEVIATIONS}) == len(DEVIATIONS)
    spec = secure_sum.audited_sum(target())
    parts = secure_sum.add_noise(spec, secure_sum.numbers_in_world(spec, 0), spec.noise.distribution, rng("parts"))
    added = {way: secure_sum.run_sum(spec, parts, way, rng("run"))[1] for way in (None, *DEVIATIONS)}
    assert len(set(added.values())) == 1 + len(DEVIATIONS)
    M = 1 << spec.grid.ring_bits
    assert added["nothing"] == (0, 0)
    assert added["constant"] == (12345, 12345)
    assert added["negated"] == tuple(-x % M for x in parts[-1].numbers)


@pytest.mark.parametrize("deviation", [way for way in DEVIATIONS if way != "copied"])
def test_with_another_who_vanishes_the_rest_is_the_sum_of_the_honest_who_are_left(
    deviation: Deviation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K = 4, t = 1, D = 1: seeds are opened, and H = 2 are left. Nothing is shown, for nobody waits for the last."""
    setup, added = made(parameters(4, 1, 1)), []
    honest = steps.masked_input

    def blinded(me: Endpoint, p: Parameters, vault: Vault, mine: Addends, r: int, at: bytes) -> Vector:
        y = honest(me, p, vault, mine, r, at)
        if me.name != "P4":
            return y
        blinds = p.ring.subtract_vectors(y, p.ring.add_vectors(mine.numbers[r], mine.noise[r]))
        sent = SUBSTITUTES[deviation](p, mine.numbers[r], blinds, (), me.rng)
        added.append(p.ring.subtract_vectors(sent, blinds))
        return sent

    monkeypatch.setattr(steps, "masked_input", blinded)
    said = setup.simulate(drop_outs={"P1": DropOutAfter(5)}).published[CURATOR_NAME]
    p: Parameters = setup.session.parameters
    assert p.members(said.members[0]) == (1, 2, 3)
    addends = {name: setup.inputs[name][1] for name in p.parties}
    assert p.ring.subtract_vectors(said.S, added[-1]) == functionality(p, addends, 0, (1, 2))
    assert functionality(p, addends, 0, (1, 2, 3)) != said.S  # it did deviate


def test_the_functionality_of_two_honest_parties_is_not_refuted() -> None:
    draws: dict[NoiseName, tuple[int, int]] = {"ddg": (4, 1500), "vg": (1, 200), "self": (1, 200)}
    for noise, (epsilon, number) in draws.items():
        assert not in_the_clear(noise, epsilon, number).refuted


@pytest.mark.slow
def test_noise_for_more_honest_parties_than_there_are_is_refuted() -> None:
    """H too large by one: the shares of three parties are counted, and one of the three is Charlie's."""
    found = in_the_clear("ddg", 4, 4000, "all-honest")
    assert "gaussian dp" in {finding.test for finding in found.findings if finding.refutes}
    assert in_the_clear("ddg", 4, 1000, "half-noise").refuted
    law = secure_sum.audited_sum(target("vg", 1)).noise.distribution
    assert secure_sum.dilute_shares(law, 3).honest == 3


def test_the_stripped_noise_of_the_curator_protocol_is_refuted() -> None:
    """The smallest party takes its own noise off: what is left is the same in every draw."""
    case = protocol.pathak_case(Target(Fraction(1)), "stripped", use_ideal=True)
    found = audited(case, 60)
    assert found.refuted
    assert found.findings[0].inside == (30, 0)
    assert not audited(protocol.pathak_case(Target(Fraction(1)), use_ideal=True), 60).refuted


def test_the_plan_judges_the_sums_of_a_description() -> None:
    (clear,) = plan_cases(Request("describe", Fraction(1)))
    assert "in the clear" in clear.case.name
    assert clear.half is not None
    assert len(plan_cases(Request("describe", Fraction(1), through_protocol=True))) == 1 + len(DEVIATIONS)
    (mutant,) = plan_cases(Request("describe", Fraction(1), mutant="silent-party", through_protocol=True))
    assert "silent-party" in mutant.case.name
    with refused("noise.not_of_protocol"):
        plan_cases(Request("describe", Fraction(1), noise="vg"))


def test_the_plan_has_every_way_to_deviate() -> None:
    plans = plan_cases(Request("wsum", Fraction(1), noise="ddg", through_protocol=True))
    assert len(plans) == 1 + len(DEVIATIONS)
    assert all(any(about in plan.case.name for plan in plans[1:]) for about in DEVIATIONS.values())
    assert [plan.half is None for plan in plans] == [False, *(True for _ in DEVIATIONS)]
    (mutant,) = plan_cases(Request("wsum", Fraction(1), noise="vg", mutant="all-honest", through_protocol=True))
    assert mutant.case.claim.kind == "approx"


def test_what_the_secure_sum_does_not_have_is_bad_input() -> None:
    with refused("noise.not_audited", got="knorm"):
        secure_sum.secure_sum_case(Target(Fraction(1)))
    with refused("mutant.not_available", got="stripped"):
        secure_sum.secure_sum_case(target(), mutant="stripped")
    with refused("mutant.not_available", known=["half-noise", "silent-party"], got="all-honest"):
        secure_sum.secure_sum_case(target("self"), mutant="all-honest")
    with refused("through_protocol.other_method"):
        Request("vote", Fraction(1), through_protocol=True)
