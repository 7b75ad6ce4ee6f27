"""Two certificates for one sum do not exist: over all coalitions, all pairs of lists, and all ways to show them to the
honest parties, who sign as their role does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, product

import pytest
from support import role_code
from support.coalition import session

from protocols.curator import CURATOR_NAME

SMALL = [(3, 0, 1), (4, 0, 1), (4, 1, 1)]
LARGE = [(5, 0, 1), (5, 0, 2), (5, 1, 1), (5, 2, 1)]
Lists = Mapping[int, frozenset[int]]


def signed(K: int, t: int, D: int) -> Lists:
    """For each list that Charlie may propose, who signs it."""
    found = {}
    for listed in range(1 << K):
        c = session(role_code.honest(), K, t, D, colluding=()).seat()
        U = [name for i, name in enumerate(c.p.parties) if listed >> i & 1]
        c.propose(0, U, c.p.parties)
        found[listed] = frozenset(c.p.parties.index(name) for name in c.to_charlie("Signed"))
    return found


def counted(K: int, listed: int) -> frozenset[int]:
    """Whose signatures count on a list: its members', and everybody's on the empty one."""
    return frozenset(i for i in range(K) if not listed or listed >> i & 1)


def certified_twice(K: int, t: int, Q: int, signs: Lists) -> Iterator[tuple[int, int]]:
    """Two lists of one sum, the same with other inputs among them, that can both have Q signatures: each honest party
    gives one, to either list that it signs at all, and each member of the coalition one to both.
    """
    for C in combinations(range(K), t):
        honest = [i for i in range(K) if i not in C]
        for one, other in product(signs, repeat=2):
            by_members = [len(counted(K, listed).intersection(C)) for listed in (one, other)]
            for shown in product((0, 1), repeat=len(honest)) if one <= other else ():
                halves = [{i for i, where in zip(honest, shown, strict=True) if where == half} for half in (0, 1)]
                given = [len(half & signs[listed]) for half, listed in zip(halves, (one, other), strict=True)]
                if all(a + b >= Q for a, b in zip(given, by_members, strict=True)):
                    yield one, other


def check(K: int, t: int, D: int) -> None:
    signs = signed(K, t, D)
    p = session(role_code.honest(), K, t, D).p
    for listed, signers in signs.items():  # rule R3
        members = counted(K, listed)
        assert signers == (members if not listed or len(members) >= K - D else frozenset())
    assert not list(certified_twice(K, t, p.Q, signs))
    # Broken twin: one signature less, where that many are at most (K+t)/2, which is what the bound is about.
    assert K + t >= 2 * (p.Q - 1)
    lists = {listed: counted(K, listed) for listed in signs}
    assert any(certified_twice(K, t, (K + t) // 2, lists))


@pytest.mark.parametrize(("K", "t", "D"), SMALL)
def test_no_two_lists_are_certified(K: int, t: int, D: int) -> None:
    check(K, t, D)


@pytest.mark.slow
@pytest.mark.parametrize(("K", "t", "D"), LARGE)
def test_no_two_lists_of_five_are_certified(K: int, t: int, D: int) -> None:
    check(K, t, D)


def test_these_are_all_sessions_of_at_most_five_in_which_somebody_may_vanish() -> None:
    most = role_code.honest().parameters.most_dropouts
    every = [(K, t, D) for K in range(2, 6) for t in range(K) for D in range(1, most(K, t) + 1)]
    assert sorted(every) == sorted(SMALL + LARGE)


@pytest.mark.slow
@pytest.mark.parametrize(("t", "U"), [(0, 0b1111), (0, 0b0111), (1, 0b1111), (1, 0b1110), (0, 0)])
def test_a_certificate_is_good_with_a_quorum_of_members_and_not_without(t: int, U: int) -> None:
    """K = 4: all sets of signers, on a list of all, on one that lacks somebody, on the empty one."""
    for size in range(5):
        for signers in combinations(range(4), size):
            c = session(role_code.honest(), 4, t, 1, colluding=()).seat()
            names = [name for i, name in enumerate(c.p.parties) if U >> i & 1]
            agreed = c.propose(0, names, c.p.parties)
            valid = {c.p.parties[i]: c.honest[c.p.parties[i]].attest(agreed) for i in signers}
            c.certify(valid, c.p.parties)
            good = len(counted(4, U).intersection(signers)) >= c.p.Q
            opened = set(c.to_charlie("Unmask"))
            voided = {name for name, _ in c.voided}
            assert opened == (set(names) if good else set())
            assert voided == (set(c.p.parties) - set(names) if good else set())


ALL, HONEST = ("P1", "P2", "P3", "P4", "P5"), ("P1", "P2", "P3", "P4")
NO_CERTIFICATES: dict[str, tuple[tuple[str, ...], Callable[[Mapping[str, bytes]], Mapping[str, bytes]]]] = {
    "of nobody": (ALL, lambda signed: {}),
    "of one signer": (ALL, lambda signed: dict.fromkeys(ALL, signed["P1"])),
    "of a signer who is not on the list": (HONEST, lambda signed: {n: s for n, s in signed.items() if n != "P4"}),
}


@pytest.mark.parametrize("which", NO_CERTIFICATES)
def test_nobody_opens_a_share_on_what_is_no_certificate(which: str) -> None:
    """Five parties, of whom one may vanish, and P5 is Charlie's."""
    listed, change = NO_CERTIFICATES[which]
    c = session(role_code.honest(), 5, 1, 1).seat()
    agreed = c.propose(0, listed, HONEST)
    c.certify(change(c.signatures(agreed, 0)), HONEST)
    assert not c.to_charlie("Unmask", 0)


def test_a_list_that_charlie_has_not_signed_is_refused() -> None:
    c = session(role_code.honest(), 5, 1, 1).seat()
    context = c.to_charlie("Masked", 0)["P1"].context
    c.say(CURATOR_NAME, "P1", c.code.messages.Survivors(context, c.listed(ALL), bytes(32), bytes(64)))
    assert (c.failed["P1"].culprit, c.failed["P1"].code) == (CURATOR_NAME, "survivors.not_signed")
    assert not c.to_charlie("Signed", 0)


def test_nobody_opens_shares_twice_in_a_sum_or_on_the_signatures_of_another() -> None:
    c = session(role_code.honest(), 5, 1, 1, sums=(2, 2)).seat()
    c.lead(0, ALL, HONEST)
    c.propose(0, ALL[1:], ["P1"])
    assert len([x for x in c.letters if x.sender == "P1" and type(x.message).__name__ == "Unmask"]) == 1
    c = session(role_code.honest(), 5, 1, 1, sums=(2, 2)).seat()
    c.lead(0, ALL, HONEST)
    c.end(0, ALL, c.total(ALL, 0), HONEST)
    c.propose(1, ALL, HONEST)
    c.certify({name: signed.signature for name, signed in c.to_charlie("Signed", 0).items()}, HONEST)
    assert not c.to_charlie("Unmask", 1)
