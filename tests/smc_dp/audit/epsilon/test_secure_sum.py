"""Sessions of secure sums against Charlie and one party of his that deviates: the noise of H honest shares is left.

Whole runs are few. What they give is what the ideal functionality gives, of which many draws are audited. Sessions of
several sums are driven to where the records that differ lie as far apart as they can.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import get_args

import numpy as np
import pytest
from support.repetitions import with_slow
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
from smc_dp.audit.epsilon import deviations, protocol, rounds, secure_sum
from smc_dp.audit.epsilon.audit import CaseAudit, audit_mechanism
from smc_dp.audit.epsilon.case import Case
from smc_dp.audit.epsilon.deviations import DEVIATIONS, SUBSTITUTES, Deviation
from smc_dp.audit.epsilon.mutants import MutantName
from smc_dp.audit.epsilon.plan import Request, plan_cases
from smc_dp.audit.epsilon.rounds import DrivenSession
from smc_dp.audit.epsilon.worst_pairs import WORST_PAIRS
from smc_dp.methods.functionality import add_vectors
from smc_dp.privacy.statement import RecordAdjacency
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
    if deviation == "copied":
        spec = secure_sum.audited_sum(target(), "describe")
        parts = secure_sum.add_noise(spec, secure_sum.numbers_in_world(spec, 1), spec.noise.distribution, coins)
        seen = secure_sum.view_of_coalition(deviation)(spec, parts, coins)
        assert seen == secure_sum.ideal_view(spec, parts, coins)


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


# Several sums


TEN = Target(Fraction(10), noise="ddg", delta=Fraction(1, 10**5))
EVERY = tuple(WORST_PAIRS)
BOTH = tuple(name for name in EVERY if WORST_PAIRS[name].has_weights)
LOGISTIC, LINEAR = "logistic", "linear"


def audited_rounds(case: Case, draws: int) -> CaseAudit:
    return audit_mechanism(case, draws, ALPHA, Stream.insecure_from_seed(f"rounds {case.name}"))


def rounds_in_the_clear(
    name: str,
    draws: int,
    mutant: MutantName | None = None,
    adjacency: RecordAdjacency = "replace",
    *,
    weighted: bool = False,
) -> CaseAudit:
    """With the same noise for both neighbours: each limit is about one of them."""
    case = rounds.rounds_case(name, TEN, mutant=mutant, use_ideal=True, adjacency=adjacency, weighted=weighted)
    return audited_rounds(replace(case, noise=lambda rng: case.draw(0, rng) - case.centres[0]), draws)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("adjacency", get_args(RecordAdjacency))
@pytest.mark.parametrize("name", BOTH)
def test_the_pair_is_as_far_apart_as_is_charged(name: str, adjacency: RecordAdjacency, weighted: bool) -> None:
    """In all sums together, in units of the noise that is left: mu itself, but for what is rounded up and the 9."""
    session = DrivenSession(rounds.audited_rounds(name, TEN, adjacency, weighted=weighted))
    worlds = [WORST_PAIRS[name].rows_in_world(world, adjacency, weighted=weighted) for world in (0, 1)]
    zero, one = map(session.centre, worlds)
    apart = float(np.sum((one - zero) ** 2 / session.variances))
    mu = session.spec.statement.mu
    assert 0.999 * mu**2 < apart <= mu**2
    # Twin: where Charlie says something else, later sums are asked at other weights, and less is seen of them.
    other = replace(session, announce=lambda p, S: (1 << 40,) * len(S))
    less = list(map(other.centre, worlds))
    assert float(np.sum((less[1] - less[0]) ** 2 / session.variances)) < 0.9 * apart


@pytest.mark.parametrize(("adjacency", "first", "later"), [("replace", 0.25, 1.0), ("addremove", 1.53125, 1.5)])
def test_the_pair_of_logistic_is_as_far_apart_as_any(adjacency: RecordAdjacency, first: float, later: float) -> None:
    """In units of 4 A and 8/5 A: at 0 all probabilities are 1/2, and later both are as wrong as can be.

    What is charged is 4 A for the pair of opposite gradients. That of one record is largest at a probability between.
    """
    session = DrivenSession(rounds.audited_rounds(LOGISTIC, TEN, adjacency))
    zero, one = (session.centre(WORST_PAIRS[LOGISTIC].rows_in_world(world, adjacency)) for world in (0, 1))
    each = ((one - zero) ** 2 / session.variances).reshape(5, -1).sum(axis=1)
    mu = session.spec.statement.mu
    share = mu**2 / 9 / (1.0 if adjacency == "replace" else 8 / 5)
    assert each / share == pytest.approx(np.array([first, later, later, 2 * later, 4 * later]), rel=1e-3)
    assert each.sum() <= mu**2
    # Twin: sums of zero keep all probabilities at 1/2.
    quiet = replace(session, announce=deviations.announce_zero)
    less = [quiet.centre(WORST_PAIRS[LOGISTIC].rows_in_world(world, adjacency)) for world in (0, 1)]
    assert np.sum((less[1] - less[0]) ** 2 / session.variances) < each.sum() * (0.3 if adjacency == "replace" else 1.02)


@pytest.mark.parametrize(("adjacency", "last"), [("replace", 3.87 / 4.1), ("addremove", 1.0)])
def test_the_pair_of_linear_is_as_far_apart_as_any(adjacency: RecordAdjacency, last: float) -> None:
    """In units of what each sum is charged: where a record is replaced, no one pair is worst in all sums."""
    session, pair = DrivenSession(rounds.audited_rounds(LINEAR, TEN, adjacency)), WORST_PAIRS[LINEAR]
    zero, one = (session.centre(pair.rows_in_world(world, adjacency)) for world in (0, 1))
    apart, lengths = (one - zero) ** 2 / session.variances, [sum(n for n, _ in blocks) for blocks in session.spec.sums]
    # Noise that any number lacks would show; a record that is not there is not left out of the first two sums.
    assert np.count_nonzero(apart == 0) == (0 if adjacency == "replace" else 2)
    each = np.array([of_sum.sum() for of_sum in np.split(apart, np.cumsum(lengths)[:-1])])
    mu = session.spec.statement.mu
    assert each / mu**2 * 20 == pytest.approx(np.array([1, 8, 11 * last]), rel=1e-3)
    assert each.sum() <= mu**2
    # Twin: sums of zero clip no residual, and it is a small part of its clip.
    quiet = replace(session, announce=deviations.announce_zero)
    less = [quiet.centre(pair.rows_in_world(world, adjacency)) for world in (0, 1)]
    assert np.sum((less[1] - less[0]) ** 2 / session.variances) < 0.6 * each.sum()


@pytest.mark.parametrize("name", EVERY)
def test_the_functionality_is_not_refuted_and_half_its_noise_is(name: str) -> None:
    draws = 300 if name in BOTH else 100  # nine numbers in each sum
    assert not rounds_in_the_clear(name, draws).refuted
    assert rounds_in_the_clear(name, draws, "half-noise").refuted


@pytest.mark.parametrize("name", with_slow(BOTH, "gd"))
def test_weights_cost_nothing_but_where_they_enter_unclipped(name: str) -> None:
    """Weights up to 4 that enter as they are move a sum by four times what its noise is for."""
    assert not rounds_in_the_clear(name, 300, weighted=True).refuted
    assert rounds_in_the_clear(name, 300, "half-noise", weighted=True).refuted
    assert rounds_in_the_clear(name, 300, "unclipped-weight").refuted
    zero, one = rounds.rounds_case(name, TEN, mutant="unclipped-weight", use_ideal=True).centres
    first, second = rounds.rounds_case(name, TEN, use_ideal=True, weighted=True).centres
    np.testing.assert_allclose(one - zero, 4 * (second - first), rtol=1e-9)


def test_noise_of_rounds_for_more_honest_parties_is_refuted() -> None:
    """Shares that are enough only if all three parties are honest."""
    found = rounds_in_the_clear("newton", 2000, "all-honest")
    assert "gaussian dp" in {finding.test for finding in found.findings if finding.refutes}


@pytest.mark.parametrize("name", with_slow(EVERY, LOGISTIC))
def test_an_honest_party_that_adds_no_noise_is_noticed(name: str) -> None:
    assert rounds_in_the_clear(name, 400, "silent-party").refuted


@pytest.mark.parametrize(
    ("name", "deviation"),
    [
        ("newton", None),
        ("gd", "negated"),
        (LOGISTIC, "garbage"),
        (LINEAR, "copied"),
        *(pytest.param("newton", way, marks=pytest.mark.slow) for way in DEVIATIONS),
    ],
)
def test_whatever_one_party_answers_the_rest_is_the_sums_of_the_honest(name: str, deviation: Deviation | None) -> None:
    """Integer for integer, in every sum of a whole session, whatever is entered."""
    session, rows = DrivenSession(rounds.audited_rounds(name, TEN)), WORST_PAIRS[name].rows_in_world(1)
    seen = session.coalition_outputs(rows, deviation, Stream.insecure_from_seed("whole session"))
    again = Stream.insecure_from_seed("whole session").spawn()
    honest = [session.spec.part(own, again.fork(f"party {j}")) for j, own in enumerate(rows[:-1])]
    shares = [[part(session.announced_sums[:r]) for r in range(len(session.announced_sums))] for part in honest]
    sums = [
        add_vectors([x for part in shares for x in (part[r].numbers, part[r].noise)])
        for r in range(len(session.announced_sums))
    ]
    assert seen.tolist() == [float(x) for S in sums for x in S]
    # Twin: with one honest party's noise left out it is another sum.
    silent = [
        add_vectors([*(part[r].numbers for part in shares), shares[0][r].noise])
        for r in range(len(session.announced_sums))
    ]
    assert all(x != y for x, y in zip(sums, silent, strict=True))


def test_a_whole_session_has_the_mutants_noise() -> None:
    """The first party adds none: what is left of the sums is what the second adds."""
    session = DrivenSession(rounds.audited_rounds(LOGISTIC, TEN), "silent-party")
    rows = WORST_PAIRS[LOGISTIC].rows_in_world(0)
    seen = session.coalition_outputs(rows, None, Stream.insecure_from_seed("silent"))
    second = session.spec.part(rows[1], Stream.insecure_from_seed("silent").spawn().fork("party 1"))
    noise = [x for r in range(5) for x in second(session.announced_sums[:r]).noise]
    assert seen - session.centre(rows) == pytest.approx(np.array([float(x) for x in noise]), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", BOTH)
def test_one_record_more_or_less_is_not_refuted_either(name: str) -> None:
    assert not rounds_in_the_clear(name, 200, adjacency="addremove").refuted
    assert rounds_in_the_clear(name, 200, "half-noise", "addremove").refuted


@pytest.mark.parametrize(
    ("name", "noise", "mutant"),
    [
        ("wsum", "ddg", "all-honest"),
        ("describe", None, "silent-party"),
        *((name, None, "all-honest") for name in EVERY),
    ],
)
def test_the_plan_has_every_way_to_deviate(name: str, noise: NoiseName | None, mutant: MutantName) -> None:
    plans = plan_cases(Request(name, Fraction(1), noise=noise, through_protocol=True))
    assert len(plans) == 1 + len(DEVIATIONS)
    assert [plan.half is None for plan in plans] == [False, *(True for _ in DEVIATIONS)]
    (planned,) = plan_cases(Request(name, Fraction(1), noise=noise, mutant=mutant, through_protocol=True))
    assert mutant in planned.case.name
    if name == "wsum":
        assert all(any(about in plan.case.name for plan in plans[1:]) for about in DEVIATIONS.values())
        (of_gamma_shares,) = plan_cases(Request(name, Fraction(1), noise="vg", mutant=mutant, through_protocol=True))
        assert of_gamma_shares.case.claim.kind == "approx"
        return
    clear = plan_cases(Request(name, Fraction(1)))
    assert ["weights" in plan.case.name for plan in clear] == ([False, True] if name in BOTH else [False])
    for plan in clear:
        assert "in the clear" in plan.case.name
        assert plan.half is not None


@pytest.mark.parametrize("name", BOTH)
def test_the_plan_has_weights_that_enter_unclipped(name: str) -> None:
    (unclipped,) = plan_cases(Request(name, Fraction(1), mutant="unclipped-weight"))
    assert "unclipped-weight" in unclipped.case.name


def test_what_they_do_not_have_is_bad_input() -> None:
    with refused("noise.not_audited", got="knorm"):
        secure_sum.secure_sum_case(Target(Fraction(1)))
    with refused("mutant.not_available", got="stripped"):
        secure_sum.secure_sum_case(target(), mutant="stripped")
    with refused("mutant.not_available", known=["half-noise", "silent-party"], got="all-honest"):
        secure_sum.secure_sum_case(target("self"), mutant="all-honest")
    with refused("through_protocol.other_method"):
        Request("vote", Fraction(1), through_protocol=True)
    with refused("noise.not_of_protocol"):
        plan_cases(Request("describe", Fraction(1), noise="vg"))
    with refused("mutant.not_available", audited=LOGISTIC, got="unclipped-weight"):
        plan_cases(Request(LOGISTIC, Fraction(1), mutant="unclipped-weight"))
    with refused("noise.not_audited", audited="newton", got="vg"):
        plan_cases(Request("newton", Fraction(1), noise="vg", through_protocol=True))
