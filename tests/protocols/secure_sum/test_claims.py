"""The claim of the secure sum: what is read where one party vanishes, who is not claimed, and the model."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from support.sums import parameters

from protocols import secure_sum
from protocols.arithmetic.rng import Stream
from protocols.programs import PROTOCOLS
from protocols.runtime.claims import DropOutTrials, Readings, Trials
from protocols.secure_sum import graph, ideal
from protocols.secure_sum.parameters import SHARES, Block, Parameters
from smc_dp.audit.run import code_checks
from smc_dp.audit.run.released_results import cite_result
from smc_dp.leakage import distributions
from smc_dp.leakage.distributions import (
    Samples,
    check_distributions,
    claimed_coalitions,
    real_readings,
    simulate_readings,
)
from smc_dp.leakage.executions import execute
from smc_dp.leakage.limitations import try_attacks
from smc_dp.leakage.two_samples import compare_samples

SUMS = PROTOCOLS[secure_sum.PROGRAM.name]
ONE = Parameters(("a", "b", "c", "d", "e"), 1, 1, ((Block(3, "none"),),))
SESSIONS = {
    "one may vanish": ONE,
    "verifiable": replace(ONE, verifiable=True),
    "nobody may vanish": replace(ONE, dropouts=0),
    "shares": replace(ONE, dropouts=0, output=SHARES),
    "in a sparse graph": parameters(7, 1, 1, degree=4),
    "in a sparse graph without drop-outs": parameters(7, 1, 0, degree=2),
}


@pytest.mark.parametrize(
    ("name", "drop_outs", "graph"),
    [
        *(("one may vanish", 3, 0), ("nobody may vanish", 0, 0)),
        *(("in a sparse graph", 3, 2), ("in a sparse graph without drop-outs", 0, 2)),
    ],
)
def test_a_session_has_only_the_limitations_of_what_was_agreed_on(name: str, drop_outs: int, graph: int) -> None:
    found = SUMS.claim.limitations_of(SESSIONS[name])
    every = [unclaimed.sentence for unclaimed in SUMS.claim.limitations]
    assert list(found) == [sentence for sentence in every if sentence in found]
    assert len([s for s in found if "drop-outs" in s or "dealer" in s]) == drop_outs
    assert len([s for s in found if "sparse graph" in s]) == graph
    assert len(every) - len(found) == 6 - drop_outs - graph // 2


def trials() -> Trials:
    assert SUMS.claim.trials is not None
    return SUMS.claim.trials


def samples(p: Parameters, by: Trials, runs: int) -> tuple[Samples, Samples]:
    who = claimed_coalitions(by, p, tuple(by.worlds(p)[0]))
    rng = Stream.insecure_from_seed("law of sums")
    return real_readings(SUMS.program, by, p, 0, rng.fork("real"), who, runs), simulate_readings(
        by, p, rng.fork("made"), who, runs
    )


@pytest.mark.parametrize("name", SESSIONS)
def test_simulators_make_what_is_read_without_the_one_who_vanished(name: str) -> None:
    p = trials().small(SESSIONS[name])
    read, made = samples(p, trials(), 2)
    assert len(read) >= 10
    for coalition, found in read.items():
        assert compare_samples(found, made[coalition]).smallest > 0, coalition
    shares = read["P1", "charlie"][0].get("Unmask.shares", []) if p.output != SHARES else []
    assert len(shares) == (p.holders * (p.K - 1) if p.D else 0)  # of each holder, by all but one


def test_simulators_of_whole_conversations_do_not() -> None:
    p = trials().small(ONE)
    read, made = samples(p, replace(trials(), drop_out_trials=DropOutTrials(ideal.dropout_points, ideal.simulation)), 2)
    assert compare_samples(read["charlie",], made["charlie",]).place == "the structure"


@pytest.mark.parametrize("name", SESSIONS)
def test_the_law_that_is_shipped_is_of_who_stays_and_of_many_tests(name: str) -> None:
    """`test_code_checks.py` computes it again; it would have failed if one shortened field had not been noticed."""
    p = trials().small(SESSIONS[name])
    law = cite_result(SUMS, p, "distribution")
    assert law.status == "passed"
    said = str(law.fault.fields["found"])
    assert re.findall(r"(\w+) drops out", said) == ([p.parties[-1]] if p.D else [])
    assert [int(count) > 1000 for count in re.findall(r"(\d+) exact tests", said)] == [True] * (p.output != SHARES)


def pairs_left_out(p: Parameters, rng: Stream) -> Callable[[tuple[str, ...]], Readings]:
    """A simulator whose masked inputs stay small: nothing hides them."""

    def made(names: tuple[str, ...]) -> Readings:
        found = ideal.simulation_of_the_rest(p, rng)(names)
        return {place: [v % 256 for v in values] if place == "Masked.y" else values for place, values in found.items()}

    return made


@pytest.mark.slow
def test_law_tells_a_simulator_that_does_not_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, fewer in {"RUNS": 20, "FURTHER_RUNS": 10, "SIMULATED": 80}.items():
        monkeypatch.setattr(distributions, name, fewer)
    p = trials().small(ONE)
    twin = replace(trials(), drop_out_trials=DropOutTrials(ideal.dropout_points, pairs_left_out))
    found = check_distributions(SUMS.program, twin, p, Stream.insecure_from_seed("no masks"))
    assert code_checks.judge_distribution(found).status == "failed"
    assert found.worst.comparison.place == "Masked.y"


@pytest.mark.parametrize("name", SESSIONS)
def test_every_coalition_outside_of_the_claim_succeeds(name: str) -> None:
    p = trials().small(SESSIONS[name])
    shown = try_attacks(SUMS, p, Stream.insecure_from_seed(name), runs=2)
    expected: dict[str, Any] = {"one may vanish": [2, 2], "verifiable": [4, 2], "shares": []}
    assert [one.tries for one in shown] == expected.get(name, [2])
    assert all((one.found, one.mistaken) == (one.tries, 0) for one in shown)


def test_what_the_claim_says_of_itself_depends_on_the_graph() -> None:
    assert SUMS.claim is not None
    claim, sparse = SUMS.claim, parameters(300, 30, 15)
    assert (claim.assumed, claim.distance, claim.keeps) == (ideal.assumptions, ideal.distance, ideal.is_semi_honest)
    assert (ideal.assumptions(ONE), ideal.distance(ONE), ideal.is_semi_honest(ONE)) == (ideal.ASSUMPTIONS, None, False)
    assert f"36 neighbours, {sparse.T} of" in ideal.assumptions(sparse)
    assert 0 < (ideal.distance(sparse) or 0) <= graph.MOST_FAILURE
    assert ideal.is_semi_honest(sparse)
    closed = parameters(300, 99, 0, degree=34)
    assert "34 neighbours)" in ideal.assumptions(closed)
    assert ideal.is_semi_honest(closed)
    assert ideal.distance(closed) == graph.closed_neighbourhood(300, 99, 34).failure > 0


def test_who_is_not_claimed_hears_why() -> None:
    assert SUMS.claim is not None
    p, claim = parameters(5, 0, 2), SUMS.claim
    enough, all_but_one, *_ = (unclaimed.sentence for unclaimed in claim.limitations)
    assert claim.why_not(p, ("charlie",)) == []
    assert claim.why_not(p, (*p.parties[: p.T], "charlie")) == [enough]
    assert claim.why_not(p, (*p.parties, "charlie")) == [enough, all_but_one]
    (around,) = claim.why_not(parameters(7, 1, 0, degree=2), (*p.parties, "P6", "charlie"))
    assert "sparse graph" in around


# The model.


def numbered() -> Callable[[str, int], int]:
    """Another number for each unknown."""
    known: dict[str, int] = {}
    return lambda name, bits: known.setdefault(name, 3 ** (len(known) + 1) % (1 << bits))


@pytest.mark.parametrize("name", SESSIONS)
def test_the_model_adds_up_what_the_parties_add(name: str) -> None:
    """Of the sums that were reached, and of their members: all, or those whom Charlie lists."""
    p, unknown = SESSIONS[name], numbered()
    if p.D:
        p = replace(p, sums=(*p.sums, (Block(1, "none"),)))
    given = ideal.inputs(p, unknown)
    for own in given.values():
        first, later = ideal.split_answers(p, own)
        assert ideal.join_inputs(p, (*first, *later)) == own
    outcomes = SUMS.model.outcomes(p, 0)
    values = {z: sum(unknown(x, p.ring_bits) for x in of) % p.ring.modulus for z, of in outcomes.items()}
    for i, party in enumerate(p.parties, start=1):
        added = [x for r in range(p.R) for x in ideal._added(p, given[party][1], r)]
        assert [values[f"z_{i}({at})"] for at in range(1, p.numbers + 1)] == added
    gone = SUMS.model.drop_outs(p)[-1]
    assert gone == p.parties[-1]
    drop = {gone: ideal.dropout_points(p)[gone]} if p.D else {}
    run = execute(SUMS.program, p, given, Stream.insecure_from_seed(name), drop)
    said = [message for view in run.views.values() for message in view.messages]
    said += [(sender, message) for sender, message in run.published.items()]
    members = [i for i in range(p.K) if not (p.D and i == p.K - 1)]
    addends = {party: given[party][1] for party in p.parties}
    sums = [x for r in range(p.R) for x in ideal.functionality(p, addends, r, members)]
    wanted = {f"S({at})": x for at, x in enumerate(sums, start=1)}
    assert SUMS.model.given(p, given, said, frozenset(("P1", "charlie"))) == wanted
    assert SUMS.model.given(p, given, [], frozenset(("P1",))) == {}
