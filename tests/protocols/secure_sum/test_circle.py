"""Parties in a circle: the bound against every order of a small one, sums that come out, and what each party costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations
from math import comb
from typing import Any

import pytest
from support.sessions import Setup
from support.sums import Ledger, made, outcome, parameters, simulated, wrong

from protocols.arithmetic import permutation
from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.errors import Fault, PeerError
from protocols.runtime import message as messages
from protocols.runtime.message import Message
from protocols.runtime.session import Greeting
from protocols.runtime.simulate import DropOutAfter
from protocols.secure_sum import PROGRAM, dealing, graph, ideal, neighbour_graph, sums
from protocols.secure_sum.messages import KINDS, Circle, Coin, MaskKeys
from protocols.secure_sum.parameters import Parameters, stage, widths
from protocols.secure_sum.values import CuratorState, Vault
from tests.support.refusals import refused


def failing(K: int, t: int, D: int, shape: graph.Neighbourhood) -> Fraction:
    """The share of all orders in which the first t collude, the next D vanish, and the circle does not do.

    The first place can be anybody's; whoever stands there, the others are like in any other order of it.
    """
    bad, count = 0, 0
    for order in permutations(range(K)):
        if order[0] == 0:
            count += 1
            bad += fails(K, t, D, shape, order)
    return Fraction(bad, count)


def fails(K: int, t: int, D: int, shape: graph.Neighbourhood, order: tuple[int, ...]) -> bool:
    near = graph.all_neighbours(shape.degree, order)
    colluders, gone = range(t), range(t, t + D)
    if any(sum(j in colluders for j in near[i]) >= shape.threshold for i in range(t, K)):
        return True
    if any(sum(j not in gone for j in near[i]) < shape.threshold for i in range(K)):
        return True
    return not connected(near, set(range(t + D, K)))


def connected(near: Sequence[Sequence[int]], left: set[int]) -> bool:
    reached, todo = set[int](), [min(left)]
    while todo:
        i = todo.pop()
        if i not in reached:
            reached.add(i)
            todo += [j for j in near[i] if j in left]
    return reached == left


def test_the_bound_holds_over_all_orders_of_a_small_circle() -> None:
    """Of those who vanish all could be honest, as here."""
    K = 7
    cases = [(t, D, k) for k in (4, 6) for t in range(4) for D in range(1, K - t - 1)]
    for t, D, k in cases:
        shape = graph.best_neighbourhood(K, t, D, 1, k)
        assert failing(K, t, D, shape) <= shape.failure, (t, D, k)


def test_fewer_corrupt_parties_do_not_have_a_larger_bound() -> None:
    """It is derived for exactly t of them."""
    for K, t, D in ((300, 30, 15), (500, 100, 25), (1000, 333, 50), (1000, 500, 5)):
        found = graph.least_neighbourhood(K, t, D, 1)
        assert found
        k, T = found.degree, found.threshold
        each = [(K - c) * sum(comb(c, j) * comb(K - 1 - c, k - j) for j in range(T, k + 1)) for c in range(t + 1)]
        assert each == sorted(each)


def test_the_circle_is_torn_no_more_often_than_the_bound_says() -> None:
    """Of all sets of n places no more tear it than one sum more adds; nobody vanishes, so that it adds nothing else."""
    shapes = [(size, k) for size in range(5, 10) for k in range(4, size, 2)]
    for K, k, n in ((*shape, n) for shape in shapes for n in range(shape[0])):
        near = graph.all_neighbours(k, range(K))
        torn = sum(not connected(near, set(range(K)).difference(out)) for out in combinations(range(K), n))
        one, two = (graph.best_neighbourhood(K, n, 0, R, k).failure for R in (1, 2))
        assert Fraction(torn, comb(K, n)) <= two - one, (K, k, n)
    shape = graph.least_neighbourhood(1000, 0, 300, 1)
    assert (shape.degree, shape.threshold) == (34, 2)  # 32 would do if it could not be torn


@pytest.mark.parametrize(
    ("crowd", "shape"),
    [
        ((300, 1, 5, 1), (8, 2)),  # t + D + 1 neighbours: nothing can go wrong
        ((300, 30, 15, 8), (36, 21)),
        ((1000, 333, 50, 1), (94, 68)),
        ((2000, 666, 300, 1), (178, 110)),
    ],
)
def test_degree_and_threshold_are_the_least_that_do(crowd: tuple[int, int, int, int], shape: tuple[int, int]) -> None:
    found = graph.least_neighbourhood(*crowd)
    assert (found.degree, found.threshold) == shape
    assert found.failure <= Fraction(1, 1 << 40) < graph.best_neighbourhood(*crowd, found.degree - 2).failure
    assert (found.failure == 0) == (crowd[1] + crowd[2] < shape[0])


def test_a_crowd_of_whom_some_may_vanish_stands_in_a_circle() -> None:
    p = parameters(300, 30, 15)
    assert (p.degree, p.T, p.Q, p.H) == (36, 21, 21, 255)
    assert Parameters.from_dict(p.as_dict()) == p
    assert parameters(200, 0, 1).degree == 0
    assert "degree" not in parameters(200, 0, 1).as_dict()


def test_neighbours_hold_shares_of_each_other() -> None:
    near = graph.all_neighbours(6, graph.draw_order(b"session", b"root", 20))
    for i, beside in enumerate(near):
        assert len({i, *beside}) == 7
        for at, j in enumerate(beside):
            assert near[j][graph.share_number(6, at)] == i


def test_every_order_is_as_likely_as_another() -> None:
    drawn = Counter(permutation.drawn(b"%d" % i, 4) for i in range(2400))
    assert set(drawn) == set(permutations(range(4)))
    assert all(50 <= count <= 160 for count in drawn.values())  # of 100; outside of this less than once in 10^5
    assert permutation.bias(2000) < Fraction(1, 1 << 106)


# Set-up.


def refused_in_a_circle(D: int, culprit: str, code: str) -> bool:
    """Whether a session of eight parties with four neighbours each ends because of this participant, so."""
    with refused(code, error=PeerError) as caught:
        made(parameters(8, 1, D, degree=4)).simulate()
    return caught.value.culprit == culprit


@pytest.mark.parametrize("D", [0, 1])
@pytest.mark.parametrize("at", [0, 1])
def test_the_order_is_made_of_all_greetings_and_coins(at: int, D: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Charlie takes a root over another greeting of P2, or over another coin, with paths that lead to it."""

    async def drawn(me: Any, p: Any, greetings: Any) -> bytes:
        coins = [opened.coin for opened in await me.gather(p.parties, Coin)]
        said = [[greetings[name].digest, coin] for name, coin in zip(p.parties, coins, strict=True)]
        said[1][at] = bytes(32)
        tree = dealing.merkle_tree([graph.greeting_leaf(i, *both) for i, both in enumerate(said)])
        for i, name in enumerate(p.parties):
            me.send(name, Circle(dealing.merkle_root(tree), dealing.merkle_path(tree, i)))
        return dealing.merkle_root(tree)

    monkeypatch.setattr(neighbour_graph, "_drawn", drawn)
    assert refused_in_a_circle(D, CURATOR_NAME, "circle.without_a_greeting")


@pytest.mark.parametrize("D", [0, 1])
def test_a_party_opens_the_coin_that_it_committed_to(D: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seated = neighbour_graph._seated

    async def other(me: Any, p: Any, own: Any, coin: bytes) -> Any:
        return await seated(me, p, own, bytes(32) if me.name == "P2" else coin)

    monkeypatch.setattr(neighbour_graph, "_seated", other)
    assert refused_in_a_circle(D, "P2", "coin.not_as_committed")


def test_so_many_have_signed_as_among_the_neighbours_of_whoever_has_fewest() -> None:
    """Else that party would refuse an honest Charlie."""
    p, near = parameters(4, 0, 1), ((1, 2), (0, 3), (0, 3), (1, 2))
    state = CuratorState(Vault(b"", b"", ()), (), (), near=near)
    for signed, fewest in ((("P1",), 0), (("P1", "P2"), 1), (("P1", "P2", "P3"), 1), (p.parties, 2)):
        assert sums._fewest(p, state, signed) == fewest


# Whole sums.

CIRCLE = parameters(8, 1, 2, (2, 1), degree=6)


@pytest.mark.parametrize(
    ("vanish", "ends"),
    [
        ({}, {"done": 9}),
        (
            {"P3": DropOutAfter(3), "P8": DropOutAfter(4)},
            {"done": 7, "gone": 2},
        ),  # without a masked input, and after one
        ({"P3": DropOutAfter(5)}, {"done": 8, "gone": 1}),  # having signed, and opened nothing
        ({"P1": DropOutAfter(2)}, {"gone": 1, "stopped": 8}),  # in set-up
        (
            {"P1": DropOutAfter(3), "P2": DropOutAfter(3), "P5": DropOutAfter(3)},
            {"gone": 3, "stopped": 6},
        ),  # one too many
    ],
)
def test_a_sum_in_a_circle_is_the_ideal_one_or_none(vanish: dict[str, DropOutAfter], ends: dict[str, int]) -> None:
    setup, ledger = made(CIRCLE), Ledger()
    left = outcome(simulated(setup, ledger, vanish))
    assert wrong(setup, left, ledger) == []
    assert Counter(left.ends.values()) == ends
    assert not left.published or ideal.agrees(CIRCLE, setup.inputs, left.published)
    assert bool(left.published) == ("done" in ends)
    assert {(e.sender, e.to) for e in left.sent if e.sender.startswith("P") and e.to.startswith("P")} == set()


@pytest.mark.slow
def test_a_crowd_comes_to_the_ideal_sum_while_some_vanish() -> None:
    p = parameters(300, 30, 15, (3,), 64)
    setup, ledger = made(p), Ledger()
    vanish = {f"P{j}": DropOutAfter(2 + j % 5) if j % 5 else DropOutAfter(3) for j in range(1, 226, 15)}
    vanish = {name: DropOutAfter(max(3, letters.number)) for name, letters in vanish.items()}
    left = outcome(simulated(setup, ledger, vanish))
    assert wrong(setup, left, ledger) == []
    assert ideal.agrees(p, setup.inputs, left.published)
    assert Counter(left.ends.values()) == {"done": 286, "gone": 15}


def read_by_a_party(K: int) -> int:
    """Bytes that a party writes and reads in a sum of ten numbers, with ten neighbours among so many parties."""
    p = parameters(K, 5, 4, (10,), 64)
    layout = {**p.layout(), **widths(p, stage(0))}
    kinds: list[type[Message]] = [*KINDS[3:13], MaskKeys]
    assert p.degree == 10
    return sum(messages.size(kind, layout) for kind in kinds) + 10 * messages.size(MaskKeys, layout)


def test_what_a_party_reads_depends_on_its_neighbours_alone() -> None:
    """But for one bit of each list for every party, and a step for every doubling."""
    few, many = read_by_a_party(250), read_by_a_party(2000)
    assert many - few <= 3 * 34 + (2000 - 250) // 8 + 3
    assert many < 1.05 * few


def test_coins_and_shares_are_drawn_anew_by_everybody() -> None:
    dealt = [dealing.deal_seeds(CIRCLE, Stream.insecure_from_seed(j)) for j in range(2)]
    strings = {x for of in dealt for x in (of.coin, of.box, *of.b, *of.s)}
    assert len(strings) == 2 * (2 + 2 * CIRCLE.R)


# What passes through Charlie.


def test_a_party_deals_nothing_beside_a_greeting_that_is_not_its_own() -> None:
    """It signed that in an earlier run, so its coin is known."""

    earlier = dealing.deal_seeds(parameters(6, 1, 1, degree=4), Stream.insecure_from_seed("earlier"))

    def made_before(p: Parameters, name: str, dealt: dealing.Seeds) -> MaskKeys:
        return dealing.make_greeting(p, name, earlier if name == "P1" else dealt)

    program = replace(PROGRAM, greeting=Greeting(MaskKeys, dealing.draw_greeting_secrets, made_before))
    run = made(parameters(6, 1, 1, degree=4), program=program).simulate()
    assert (run.ends["P1"], run.published) == ("stopped", {})
    assert run.why["P1"] == Fault("greeting.not_the_own").within("P1")


def altered_by(who: str, monkeypatch: pytest.MonkeyPatch) -> Setup:
    """Six parties; what P1 deals to a neighbour is altered: above the encryption by Charlie, or under it by P1."""
    setup = made(parameters(6, 1, 1, degree=4))
    if who == "charlie":
        passed_on = dealing.shares_passed_on

        def flipped(p: Parameters, near: Sequence[int], dealt: Sequence[Sequence[bytes]]) -> tuple[bytes, ...]:
            first, *others = passed_on(p, near, dealt)
            return (bytes([first[0] ^ 1, *first[1:]]), *others) if 0 in near[:1] else (first, *others)

        monkeypatch.setattr(dealing, "shares_passed_on", flipped)
        return setup
    covered, own = (
        dealing.encrypt_shares,
        dealing.deal_seeds(setup.session.parameters, setup.seeds["P1"].fork("greeting")).b,
    )

    def otherwise(context: bytes, dealer: int, others: Any, dealt: dealing.Seeds) -> tuple[bytes, ...]:
        if dealt.b != own:
            return covered(context, dealer, others, dealt)
        spoilt = tuple((replace(held[0], b=bytes(32)), *held[1:]) for held in dealt.shares)
        return covered(context, dealer, others, replace(dealt, shares=spoilt))

    monkeypatch.setattr(dealing, "encrypt_shares", otherwise)
    return setup


def test_charlie_who_alters_a_share_on_its_way_gets_nobody_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """It could have been covered so by its dealer: the reader stops, names nobody, and has not paid."""
    ledger = Ledger()
    run = simulated(altered_by("charlie", monkeypatch), ledger)
    (reader,) = (name for name, why in run.why.items() if (why.code, why.fields["dealer"]) == ("shares.altered", "P1"))
    assert run.ends[reader] == "stopped"
    assert (reader, "sum 0") not in ledger.charged


def test_a_dealer_whose_share_is_not_what_it_greeted_with_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with refused("shares.not_as_committed", error=PeerError) as caught:
        simulated(altered_by("P1", monkeypatch), Ledger())
    assert caught.value.culprit == "P1"
