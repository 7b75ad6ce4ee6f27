"""Parties in a circle of whom nobody may drop out: the bound over all coalitions of small ones, sums, and what masks
stand in each masked input, made again from the papers' primitives.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from support.sessions import Setup
from support.sums import Ledger, made, outcome, parameters, simulated, wrong

from protocols.arithmetic import permutation
from protocols.arithmetic.ring import Vector
from protocols.crypto import masking
from protocols.curator import CURATOR_NAME
from protocols.errors import LocalError, PeerError
from protocols.runtime.session import Greeting
from protocols.runtime.simulate import DropOutAfter, Run
from protocols.secure_sum import PROGRAM, dealing, graph, ideal, neighbour_graph, roster
from protocols.secure_sum.messages import Circle, Masked, MaskKeys
from protocols.secure_sum.parameters import Block, Parameters
from tests.support.refusals import refused

SIX = parameters(6, 1, 0, (2, 1), degree=2)
NINE = parameters(9, 3, 0, (1, 2, 1), 64, degree=4)


# The bound.


def is_torn(K: int, degree: int, out: frozenset[int]) -> bool:
    """Whether the honest places of a circle are not connected, place by place and without the code."""
    honest = [i for i in range(K) if i not in out]
    part = {i: i for i in honest}
    for _ in honest:
        for i, j in combinations(honest, 2):
            if min((i - j) % K, (j - i) % K) <= degree // 2:
                part[i] = part[j] = min(part[i], part[j])
    return len(set(part.values())) > 1


def test_a_circle_is_torn_no_more_often_than_the_bound_says() -> None:
    """Over every coalition of every circle of up to ten: as many sets of t places tear it as orders do."""
    for K in range(3, 11):
        for degree, t in ((k, t) for k in range(2, K, 2) for t in range(K)):
            torn = sum(is_torn(K, degree, frozenset(out)) for out in combinations(range(K), t))
            assert Fraction(torn, comb(K, t)) <= graph.closed_neighbourhood(K, t, degree).failure, (K, t, degree)


def test_no_order_of_more_neighbours_than_the_coalition_has_members_is_torn() -> None:
    for K, t in ((7, 3), (8, 2), (9, 5)):
        degree = t + 2 - t % 2
        assert graph.closed_neighbourhood(K, t, degree).failure == 0
        assert not any(is_torn(K, degree, frozenset(out)) for out in combinations(range(K), t))


@pytest.mark.parametrize(
    ("K", "t", "degree"),
    [
        (3, 1, 2),
        (10, 1, 8),
        (11, 1, 10),
        (1000, 1, 10),
        (50, 16, 18),
        (1000, 100, 18),
        (1000, 333, 36),
        (2000, 666, 38),
    ],
)
def test_the_degree_is_the_least_that_does(K: int, t: int, degree: int) -> None:
    """The failure is written again, with factorials; every degree below fails too often, or has neighbours below ten
    though there are more.
    """
    found = graph.least_closed_neighbourhood(K, t)
    assert (found.degree, found.threshold) == (degree, 0)

    def failure(k: int) -> Fraction:
        apart = Fraction(K * (K - 1), 2)
        for i in range(k):
            apart *= Fraction(max(t - i, 0), K - i)
        return apart + permutation.bias(K) if apart else apart

    assert found.failure == failure(degree) <= graph.MOST_FAILURE
    assert all(failure(k) > graph.MOST_FAILURE for k in range(10, degree, 2))
    assert degree >= min(10, K - 2 + K % 2)


@pytest.mark.parametrize(("K", "t"), [(2, 0), (10, 8), (1000, 900)])
def test_there_is_no_neighbourhood_for_all_but_a_few(K: int, t: int) -> None:
    assert graph.least_closed_neighbourhood(K, t) is None


# Parameters.


def test_the_degree_is_written_and_read_back() -> None:
    for p in (SIX, NINE, parameters(1001, 300, 0, degree=36)):
        assert Parameters.from_dict(p.as_dict()) == p
        assert (p.as_dict()["degree"], p.Q, p.T, p.H) == (p.degree, 0, 0, p.K - p.t)
    assert parameters(1000, 300, 0).degree == 0  # nobody asked


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"degree": 3}, "degree.outside"),
        ({"degree": 6}, "degree.outside"),
        ({"colluders": 2}, "degree.does_not_do"),
        ({"dropouts": -1, "degree": 4}, "degree.does_not_do"),
        ({"verifiable": True}, "verifiable.with_neighbours"),
        ({"output": "shares", "sums": ((Block(1, "none"),),)}, "output.shares_of_several"),
    ],
)
def test_what_does_not_go_with_a_circle_is_refused(change: dict[str, Any], code: str) -> None:
    with refused(code, error=LocalError):
        replace(SIX, **change)


# Whole sums.


@pytest.mark.parametrize("p", [SIX, NINE, parameters(3, 1, 0, degree=2)], ids=lambda p: f"K={p.K}")
def test_a_sum_in_a_circle_is_the_ideal_one(p: Parameters) -> None:
    setup, ledger = made(p), Ledger()
    left = outcome(simulated(setup, ledger))
    assert wrong(setup, left, ledger) == []
    assert ideal.agrees(p, setup.inputs, left.published)
    assert set(left.ends.values()) == {"done"}
    kinds = Counter(e.kind for e in left.sent)
    assert (kinds["Coin"], kinds["Circle"], kinds["Masked"]) == (p.K, p.K, p.K * p.R)
    assert not kinds.keys() & {"Ready", "Start", "Shares", "Handed", "Passed", "Unmask"}


@pytest.mark.parametrize(
    ("vanish", "charged"),
    [({"P2": DropOutAfter(1)}, 0), ({"P2": DropOutAfter(2)}, 5), ({"P2": DropOutAfter(3)}, 6)],
    ids=["before its coin", "before its input", "in the second sum"],
)
def test_who_drops_out_ends_the_session(vanish: dict[str, DropOutAfter], charged: int) -> None:
    setup, ledger = made(SIX), Ledger()
    left = outcome(simulated(setup, ledger, vanish))
    assert wrong(setup, left, ledger) == []
    assert left.published == {}
    assert Counter(left.ends.values()) == {"gone": 1, "stopped": 6}
    assert len([name for name, label in ledger.charged if label == "sum 0"]) == charged
    assert ledger.void == []


# The masked view: what stands in each masked input, made again without the code of masks.


def order_of(session: bytes, root: bytes, K: int) -> list[int]:
    seed = hashlib.sha256(b"smc-dp sum circle\0" + session + root).digest()
    words = hashlib.shake_256(b"smc-dp order\0" + seed).digest(16 * K)
    return sorted(range(K), key=lambda i: words[16 * i : 16 * i + 16])


def mask_of(p: Parameters, context: bytes, keys: Sequence[bytes], i: int, j: int, r: int) -> Vector:
    """The mask of two parties in sum r, from the secret of one and the key of the other."""
    own, other = (X25519PrivateKey.from_private_bytes(key) for key in (keys[i], keys[j]))
    agreed = own.exchange(X25519PublicKey.from_public_bytes(other.public_key().public_bytes_raw()))
    for _ in range(r):
        agreed = hashlib.sha256(b"smc-dp sum after\0" + agreed).digest()
    places = b"".join(place.to_bytes(2, "big") for place in sorted((i, j)))
    key = hashlib.sha256(b"smc-dp sum closed\0" + context + places + agreed).digest()
    zeros = bytes(p.length(r) * p.width)
    raw = Cipher(algorithms.ChaCha20(key, bytes(16)), mode=None).encryptor().update(zeros)
    return tuple(int.from_bytes(raw[n : n + p.width], "big") for n in range(0, len(raw), p.width))


def pairs_in_view(setup: Setup, run: Run) -> Mapping[int, list[set[tuple[int, int]]]]:
    """By sum, the pairs of parties whose masks explain what Charlie read: none where no set of neighbours does."""
    p: Parameters = setup.session.parameters
    keys = [setup.seeds[name].fork("greeting").bytes(32) for name in p.parties]
    (root,) = {m.root for view in run.views.values() for _, m in view.messages if isinstance(m, Circle)}
    order = order_of(setup.session.id, root, p.K)
    apart = {(i, j): (order.index(i) - order.index(j)) % p.K for i in range(p.K) for j in range(p.K)}
    read = [(p.parties.index(name), m) for name, m in run.views[CURATOR_NAME].messages if isinstance(m, Masked)]
    found: dict[int, list[set[tuple[int, int]]]] = {r: [] for r in range(p.R)}
    for number, (i, masked) in enumerate(read):
        r, given = number // p.K, setup.inputs[p.parties[i]][1]
        y = p.ring.add_vectors(given.numbers[r], given.noise[r])
        near = [j for j in range(p.K) if 0 < min(apart[i, j], apart[j, i]) <= p.degree // 2]
        for j in near:
            mask = mask_of(p, masked.context, keys, i, j, r)
            y = p.ring.add_vectors(y, mask) if i < j else p.ring.subtract_vectors(y, mask)
        found[r].append({(i, j) for j in near} if y == masked.y else set())
    return found


@pytest.mark.parametrize("p", [SIX, NINE], ids=lambda p: f"K={p.K}")
def test_a_masked_input_has_the_masks_of_all_neighbours_and_of_nobody_else(p: Parameters) -> None:
    setup = made(p)
    found = pairs_in_view(setup, setup.simulate(views=True))
    for inputs in found.values():
        assert [len(pairs) for pairs in inputs] == [p.degree] * p.K
        pairs = set().union(*inputs)
        assert {(j, i) for i, j in pairs} == pairs


# What a party and Charlie check in set-up.


@pytest.mark.parametrize("charlie_looks", [True, False])
def test_a_key_of_small_order_is_refused_by_charlie_and_by_neighbours(
    charlie_looks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:

    def unusable(p: Parameters, name: str, drawn: Any) -> MaskKeys:
        said = dealing.make_greeting(p, name, drawn)
        return replace(said, keys=(bytes(masking.KEY_BYTES),)) if name == "P1" else said

    if not charlie_looks:
        none_look(monkeypatch, CURATOR_NAME, "P1")
    monkeypatch.setattr(neighbour_graph, "_greeted", whatever)
    program = replace(PROGRAM, greeting=Greeting(MaskKeys, dealing.draw_greeting_secrets, unusable))
    ledger = Ledger()
    with refused("mask_key.of_small_order", error=PeerError) as caught:
        simulated(made(SIX, program=program), ledger)
    assert caught.value.culprit == "P1"
    assert (ledger.charged == []) == charlie_looks


@pytest.mark.parametrize("seed", range(6))
def test_a_copy_of_the_own_key_is_told_by_whoever_stands_beside_it(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four parties, P2 posts the key of P1. Either they stand side by side, or both beside the same others."""
    p = parameters(4, 1, 0, degree=2)
    first: list[MaskKeys] = []

    def copying(p: Parameters, name: str, drawn: Any) -> MaskKeys:
        said = dealing.make_greeting(p, name, drawn)
        if name == "P1":
            first.append(said)
        return replace(said, keys=first[0].keys) if name == "P2" else said

    none_look(monkeypatch, CURATOR_NAME, "P2")
    monkeypatch.setattr(neighbour_graph, "_greeted", whatever)
    program = replace(PROGRAM, greeting=Greeting(MaskKeys, dealing.draw_greeting_secrets, copying))
    run = made(p, seed, program=program).simulate()
    assert run.published == {}
    assert "mask_key.of_two_parties" in {fault.code for fault in run.why.values()}


def none_look(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """These do not look at mask keys."""
    looks = roster.check_mask_keys
    monkeypatch.setattr(roster, "check_mask_keys", lambda me, *rest: None if me.name in names else looks(me, *rest))


async def whatever(me: Any, key: bytes) -> Any:
    """P1 goes on, though its greeting is not its own."""
    return (await me.greetings(MaskKeys, (me.name,)))[me.name]
