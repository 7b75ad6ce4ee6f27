"""What the linear path is worth, tried: its graph of masks, its simulators, its attacks, and twins of its roles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from broken.linear_twins import planted
from support.linear_path import linear
from support.sessions import names

from protocols.arithmetic.rng import Stream
from protocols.crypto import garbling
from protocols.curator import CURATOR_NAME
from protocols.errors import LocalError, PeerError
from protocols.linear import PROGRAM, ideal, publication, submission
from protocols.linear import limitations as attacks
from protocols.linear.messages import Neighbour
from protocols.linear.parameters import Parameters
from protocols.pathak2010.noisy_sum import SIZE_BITS
from protocols.programs import PROTOCOLS
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.simulate import Run
from smc_dp.leakage import distributions, limitations
from smc_dp.leakage.executions import execute
from tests.support.refusals import refused

LINEAR = PROTOCOLS[PROGRAM.name]
TRIALS = ideal.CLAIM.trials
assert TRIALS is not None
SMALL = ideal.small(ideal.sample(3))
Edge = frozenset[int]

# The graph of masks. Charlie is number K.


def edges(p: Parameters) -> set[Edge]:
    """The hubs with everybody, and the ring."""
    star = {frozenset((hub, j)) for hub in (0, p.K) for j in range(p.K + 1) if j != hub}
    return star | {frozenset((j, i)) for j in range(p.K) for i in p.after(j)}


def splits(graph: set[Edge], K: int) -> Iterator[tuple[int, ...]]:
    """All coalitions without which the rest falls apart."""
    near = [sum(1 << i for i in range(K + 1) if frozenset((i, j)) in graph) for j in range(K + 1)]
    everybody = (1 << (K + 1)) - 1
    for members in range(everybody):
        left = everybody & ~members
        seen, new = 0, left & -left
        while new:
            seen |= new
            reached = 0
            while new:
                low = new & -new
                reached |= near[low.bit_length() - 1]
                new ^= low
            new = reached & left & ~seen
        if seen != left:
            yield tuple(j for j in range(K + 1) if members >> j & 1)


def smallest_split(K: int, k: int) -> int | None:
    """How many parties beside both hubs the smallest coalition has that splits the rest; all of them have both hubs."""
    found = list(splits(edges(Parameters(names(K), 1, ring_degree=k)), K))
    assert all({0, K} <= set(members) for members in found)
    return min((len(members) - 2 for members in found), default=None)


EVERY = [(K, k) for K in range(2, 14) for k in (2, 4, 8)]


@pytest.mark.parametrize(("K", "k"), [c if c[0] < 9 else pytest.param(*c, marks=pytest.mark.slow) for c in EVERY])
def test_no_coalition_without_both_hubs_splits_the_graph(K: int, k: int) -> None:
    """And one with both needs k parties more, where there is a ring; else nobody splits it."""
    has_ring = k < K - 2
    assert Parameters(names(K), 1, ring_degree=k).has_ring == has_ring
    assert smallest_split(K, k) == (k if has_ring else None)


def test_a_graph_without_a_hub_is_split_by_parties_alone() -> None:
    p = Parameters(names(6), 1, ring_degree=2)
    twin = {edge for edge in edges(p) if p.K not in edge or 0 in edge}
    assert any(p.K not in members for members in splits(twin, p.K))


# Simulators and functionality.


def claimed() -> list[tuple[str, ...]]:
    return distributions.claimed_coalitions(TRIALS, SMALL, (*SMALL.parties, CURATOR_NAME))


def test_simulators_make_what_is_read_and_say_what_the_functionality_does() -> None:
    assert len(claimed()) == 7 + 4
    for world, inputs in enumerate(TRIALS.worlds(SMALL)):
        views = execute(PROGRAM, SMALL, inputs, Stream.insecure_from_seed(world)).views
        simulate = TRIALS.simulation(SMALL, Stream.insecure_from_seed(world))
        for who in claimed():
            found = TRIALS.read(SMALL, tuple(views[name] for name in who))
            said = TRIALS.leakage(SMALL, inputs, who) if TRIALS.leakage else ()
            made = simulate(who, said[0])
            assert {place: len(values) for place, values in found.items()} == {p: len(v) for p, v in made.items()}
            if len(said) == 1:
                assert found.get("opened.owner") == made.get("opened.owner"), (who, world)


def test_worlds_have_equal_sums_and_different_smallest_parties() -> None:
    worlds = TRIALS.worlds(SMALL)
    rank = tuple(range(SMALL.K))
    sums = {ideal.functionality(SMALL, [w[name][1] for name in SMALL.parties], rank, 0) for w in worlds}
    assert len(sums) == 1
    least = [tuple(ideal.all_smallest(SMALL, world)) for world in worlds]
    assert least == [(0,), (2,), (1,), (1,), (0, 1, 2)]


def test_equal_sizes_are_ordered_by_both_orders_together() -> None:
    """For each fixed rho the coins c alone move the winner, and for each fixed c the ranks alone."""
    ranks = [(0, 1, 2), (2, 0, 1), (1, 2, 0)]
    assert all(len({ideal.place_of_smallest((5, 5, 5), rho, c) for c in range(4)}) > 1 for rho in ranks)
    assert all(len({ideal.place_of_smallest((5, 5, 5), rho, c) for rho in ranks}) > 1 for c in range(4))
    assert ideal.place_of_smallest((5, 4, 9), (0, 2, 1), 3) == 1


def test_nobody_is_claimed_who_has_both_hubs() -> None:
    everybody = (*SMALL.parties, CURATOR_NAME)
    for size in range(len(everybody) + 1):
        for who in combinations(everybody, size):
            assert ideal.claimed(SMALL, who) == (bool(who) and not {"P1", CURATOR_NAME} <= set(who))


def test_the_bits_of_the_search_are_said() -> None:
    assert ideal.distance(SMALL) == 0
    thousand = replace(SMALL, parties=names(1000))
    assert f" {garbling.security_bits(1000, SIZE_BITS)} bits" in ideal.strength(thousand)
    assert garbling.security_bits(1000, SIZE_BITS) < garbling.security_bits(3, SIZE_BITS) < 127


@pytest.mark.parametrize("sparse", [False, True])
def test_whoever_is_not_claimed_succeeds(sparse: bool) -> None:
    p = ideal.profiles(ideal.sample(5))[0] if sparse else SMALL
    shown = limitations.try_attacks(LINEAR, p, Stream.insecure_from_seed("limitations"), runs=3)
    assert len(shown) == (5 if sparse else 4)
    assert all(one.found == one.tries > 0 == one.mistaken for one in shown)


def test_charlie_and_a_party_whose_row_did_not_open_have_no_exact_sum() -> None:
    given = linear((8, 3, 4))
    run = given.simulate(views=True)
    p, S = (
        given.session.parameters,
        given.session.parameters.weights.add_vectors(*(x.y for x in run.published.values())),
    )
    exact = p.weights.add_vectors(*(given.inputs[name][1].w for name in p.parties))
    charlie = run.views[CURATOR_NAME]
    assert attacks.exact_sum_of_the_named(p, charlie, run.views["P2"], S) == exact
    with pytest.raises(ValueError, match="not that of P3"):
        attacks.exact_sum_of_the_named(p, charlie, run.views["P3"], S)


@pytest.mark.slow
def test_law_notices_rows_without_s_and_a_simulator_that_names_the_wrong_party() -> None:
    who, rng, runs = [(CURATOR_NAME,), ("P2", CURATOR_NAME)], Stream.insecure_from_seed("distribution"), 36
    nobody, named = ideal.NO_MEMBER, "P2"
    made = {
        said: distributions.simulate_readings(TRIALS, SMALL, rng.fork(said), who, 150, said) for said in (nobody, named)
    }
    honest = distributions.real_readings(PROGRAM, TRIALS, SMALL, 2, rng.fork("honest"), who, runs)  # P2 is the smallest
    told = {who[0]: nobody, who[1]: named}
    assert distributions.compare_by_output([(honest, told), (honest, told)], made).p_value > 1e-6
    wrong = {who[0]: nobody, who[1]: nobody}
    found = distributions.compare_by_output([(honest, wrong), (honest, wrong)], made)
    assert (found.p_value < 1e-6, found.worst.comparison.place) == (True, "opened.owner")
    with planted("5 no s") as program:
        broken = distributions.real_readings(program, TRIALS, SMALL, 2, rng.fork("broken"), who, runs)
    found = distributions.compare_by_output([(broken, told), (broken, told)], made)
    assert (found.p_value < 1e-6, found.worst.comparison.place) == (True, "opened.summand")


# Twins of the roles, run as they are. The numbers are those of the design's list of mutants.


def test_8_no_key_of_a_row_is_used_twice() -> None:
    """Neither in one session nor in two."""
    runs = [linear((8, 3, 4), seed=seed).simulate(views=True) for seed in (1, 2)]
    rows = (view.results[1] for run in runs for view in run.views.values() if view.name == "P1")
    found = Counter(epk for _, gathered in rows for epk in gathered.epks)
    assert set(found.values()) == {1}


def lengths(run: Run) -> list[tuple[str, str, str, int]]:
    return [(e.kind, e.sender, e.to, len(e.body)) for e in run.transcript.envelopes]


def test_21_letters_and_their_lengths_do_not_depend_on_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a party whose letters did is refused: for one too many by who reads it, for a short one by the codec."""
    worlds = ((9, 3, 5), (2, 8, 4))
    assert lengths(linear(worlds[0]).simulate()) == lengths(linear(worlds[1]).simulate())
    honest = submission.party

    async def more_if_even(me: Endpoint, p: Parameters, keys: Any, mine: Any) -> Any:
        left = await honest(me, p, keys, mine)
        for i in p.after(me.index) if mine.n % 2 == 0 else ():
            me.send(me.parties[i], Neighbour(bytes(32)))
        return left

    monkeypatch.setattr(submission, "party", more_if_even)
    linear(worlds[0]).simulate()
    with refused("message.not_wanted", error=PeerError, kind="Neighbour", name="P3") as caught:
        linear(worlds[1]).simulate()
    assert caught.value.culprit == "P2"

    async def less_if_even(me: Endpoint, p: Parameters, keys: Any, mine: Any) -> Any:
        eta = mine.eta[1:] if mine.n % 2 == 0 else mine.eta
        return await honest(me, p, keys, replace(mine, eta=eta))

    monkeypatch.setattr(submission, "party", less_if_even)
    linear(worlds[0]).simulate()
    with refused("message.another_number_of_values", error=LocalError):
        linear(worlds[1]).simulate()


def test_24_nobody_publishes_before_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Charlie does not before all have committed."""
    heard: set[str] = set()
    early: list[str] = []
    gather, publish = Endpoint.gather, Endpoint.publish

    async def reading(me: Endpoint, senders: Any, kind: Any, deadlines: int | None = None) -> Any:
        got = await gather(me, senders, kind, deadlines=deadlines)
        if kind is (publication.Ready if me.name == CURATOR_NAME else publication.Go):
            heard.add(me.name)
        return got

    def publishing(me: Endpoint, share: Any) -> None:
        if me.name not in heard:
            early.append(me.name)
        publish(me, share)

    monkeypatch.setattr(Endpoint, "gather", reading)
    monkeypatch.setattr(Endpoint, "publish", publishing)
    linear((8, 3, 4)).simulate()
    assert len(heard) == 4
    assert early == []


def test_28_go_binds_the_share_of_charlie_too() -> None:
    given = linear((8, 3, 4))
    shares = dict(given.simulate().published)
    y = tuple(x ^ 1 for x in shares[CURATOR_NAME].y)
    shares[CURATOR_NAME] = replace(shares[CURATOR_NAME], y=y)
    assert publication.unlike_go(given.session.id, given.session.names, shares) is not None
