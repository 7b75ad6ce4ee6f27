"""Whole sessions of methods by several sums against Charlie and one party of his, who drive them to where the records
that differ lie as far apart as they can: the noise of H honest parties is left, in every sum.

Whole runs are few. What they give is what the ideal functionality gives, of which many draws are audited.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import get_args

import numpy as np
import pytest
from support.repetitions import with_slow

from protocols.arithmetic.rng import Stream
from smc_dp.audit.epsilon import deviations, rounds
from smc_dp.audit.epsilon.audit import CaseAudit, audit_mechanism
from smc_dp.audit.epsilon.case import Case
from smc_dp.audit.epsilon.deviations import DEVIATIONS, Deviation
from smc_dp.audit.epsilon.mutants import MutantName
from smc_dp.audit.epsilon.plan import Request, plan_cases
from smc_dp.audit.epsilon.rounds import DrivenSession
from smc_dp.audit.epsilon.worst_pairs import WORST_PAIRS
from smc_dp.methods.functionality import add_vectors
from smc_dp.privacy.statement import RecordAdjacency
from smc_dp.privacy.target import Target
from tests.support.refusals import refused

ALPHA = 0.002  # of each test
TEN = Target(Fraction(10), noise="ddg", delta=Fraction(1, 10**5))
EVERY = tuple(WORST_PAIRS)
BOTH = tuple(name for name in EVERY if WORST_PAIRS[name].has_weights)
LOGISTIC, LINEAR = "logistic", "linear"


def audited(case: Case, draws: int) -> CaseAudit:
    return audit_mechanism(case, draws, ALPHA, Stream.insecure_from_seed(f"rounds {case.name}"))


def in_the_clear(
    name: str,
    draws: int,
    mutant: MutantName | None = None,
    *,
    weighted: bool = False,
) -> CaseAudit:
    """With the same noise for both neighbours: each limit is about one of them."""
    case = rounds.rounds_case(name, TEN, mutant=mutant, use_ideal=True, weighted=weighted)
    return audited(replace(case, noise=lambda rng: case.draw(0, rng) - case.centres[0]), draws)


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
    assert mu is not None
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
    assert mu is not None
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
    assert mu is not None
    assert each / mu**2 * 20 == pytest.approx(np.array([1, 8, 11 * last]), rel=1e-3)
    assert each.sum() <= mu**2
    # Twin: sums of zero clip no residual, and it is a small part of its clip.
    quiet = replace(session, announce=deviations.announce_zero)
    less = [quiet.centre(pair.rows_in_world(world, adjacency)) for world in (0, 1)]
    assert np.sum((less[1] - less[0]) ** 2 / session.variances) < 0.6 * each.sum()


@pytest.mark.parametrize("name", EVERY)
def test_the_functionality_is_not_refuted_and_half_its_noise_is(name: str) -> None:
    draws = 300 if name in BOTH else 100  # nine numbers in each sum
    assert not in_the_clear(name, draws).refuted
    assert in_the_clear(name, draws, "half-noise").refuted


@pytest.mark.parametrize("name", with_slow(BOTH, "gd"))
def test_weights_cost_nothing_but_where_they_enter_unclipped(name: str) -> None:
    """Weights up to 4 that enter as they are move a sum by four times what its noise is for."""
    assert not in_the_clear(name, 300, weighted=True).refuted
    assert in_the_clear(name, 300, "half-noise", weighted=True).refuted
    assert in_the_clear(name, 300, "unclipped-weight").refuted
    zero, one = rounds.rounds_case(name, TEN, mutant="unclipped-weight", use_ideal=True).centres
    first, second = rounds.rounds_case(name, TEN, use_ideal=True, weighted=True).centres
    np.testing.assert_allclose(one - zero, 4 * (second - first), rtol=1e-9)


def test_noise_for_more_honest_parties_than_there_are_is_refuted() -> None:
    """Shares that are enough only if all three parties are honest."""
    found = in_the_clear("newton", 2000, "all-honest")
    assert "gaussian dp" in {finding.test for finding in found.findings if finding.refutes}


@pytest.mark.parametrize("name", with_slow(EVERY, LOGISTIC))
def test_an_honest_party_that_adds_no_noise_is_noticed(name: str) -> None:
    assert in_the_clear(name, 400, "silent-party").refuted


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


def test_the_plan_has_every_way_to_deviate() -> None:
    for name in EVERY:
        plans = plan_cases(Request(name, Fraction(1), through_protocol=True))
        assert len(plans) == 1 + len(DEVIATIONS)
        assert [plan.half is None for plan in plans] == [False, *(True for _ in DEVIATIONS)]
        (mutant,) = plan_cases(Request(name, Fraction(1), mutant="all-honest", through_protocol=True))
        clear = plan_cases(Request(name, Fraction(1)))
        assert "all-honest" in mutant.case.name
        assert ["weights" in plan.case.name for plan in clear] == ([False, True] if name in BOTH else [False])
        for plan in clear:
            assert "in the clear" in plan.case.name
            assert plan.half is not None


@pytest.mark.parametrize("name", BOTH)
def test_the_plan_has_weights_that_enter_unclipped(name: str) -> None:
    (unclipped,) = plan_cases(Request(name, Fraction(1), mutant="unclipped-weight"))
    assert "unclipped-weight" in unclipped.case.name


def test_what_they_do_not_have_is_bad_input() -> None:
    with refused("mutant.not_available", audited=LOGISTIC, got="unclipped-weight"):
        plan_cases(Request(LOGISTIC, Fraction(1), mutant="unclipped-weight"))
    with refused("noise.not_audited", audited="newton", got="vg"):
        plan_cases(Request("newton", Fraction(1), noise="vg", through_protocol=True))
