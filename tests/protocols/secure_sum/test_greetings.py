"""What a party greets with binds it: keys that cannot be used, other shares, and other seeds are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.sessions import Setup
from support.sums import Ledger, Loose, made, outcome, parameters, simulated, wrong

from protocols.arithmetic.rng import Stream
from protocols.crypto import masking
from protocols.curator import CURATOR_NAME
from protocols.errors import Fault, PeerError
from protocols.runtime.session import Greeting
from protocols.secure_sum import PROGRAM, dealing, unmasking
from protocols.secure_sum.messages import MaskKeys
from protocols.secure_sum.parameters import Parameters
from protocols.secure_sum.values import Held
from tests.support.refusals import refused

Change = Callable[[MaskKeys, MaskKeys], MaskKeys]
"""Another greeting in place of the one of P2, given that of P1."""


def greeting_otherwise(setup: Setup, change: Change) -> Setup:
    def make(p: Parameters, name: str, dealt: dealing.Seeds) -> MaskKeys:
        mine = dealing.make_greeting(p, name, dealt)
        if name != "P2":
            return mine
        of_first = dealing.draw_greeting_secrets(p, setup.seeds["P1"].fork("greeting"))
        return change(mine, dealing.make_greeting(p, "P1", of_first))

    program = replace(PROGRAM, greeting=Greeting(MaskKeys, dealing.draw_greeting_secrets, make))
    return setup._replace(session=replace(setup.session, program=program))


def last(values: tuple[bytes, ...], other: bytes) -> tuple[bytes, ...]:
    return (*values[:-1], other)


SMALL = "mask_key.of_small_order"
REFUSED: dict[str, tuple[Change, str]] = {
    "twice": (lambda mine, of_p1: replace(mine, keys=mine.keys[:1] * 2), "mask_key.twice"),
    "zero": (lambda mine, of_p1: replace(mine, keys=last(mine.keys, bytes(32))), SMALL),
    "one": (lambda mine, of_p1: replace(mine, keys=last(mine.keys, b"\1" + bytes(31))), SMALL),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_mask_key_that_cannot_be_used_is_refused_before_anybody_pays(what: str) -> None:
    change, code = REFUSED[what]
    setup, ledger = made(parameters(3, 0, 1, (1, 1))), Ledger()
    with refused(code, error=PeerError) as caught:
        simulated(greeting_otherwise(setup, change), ledger)
    assert (caught.value.culprit, ledger.charged) == ("P2", [])


def copied(mine: MaskKeys, of_p1: MaskKeys) -> MaskKeys:
    """The key that P1 has, in another spelling: the top bit is not part of it."""
    return replace(mine, keys=last(mine.keys, of_p1.keys[-1][:-1] + bytes([of_p1.keys[-1][-1] | 0x80])))


def test_with_a_key_that_another_has_as_well_nobody_pays_and_nobody_is_blamed() -> None:
    setup, ledger = made(parameters(3, 0, 1, (1, 1))), Ledger()
    run = simulated(greeting_otherwise(setup, copied), ledger)
    assert set(run.ends.values()) == {"stopped"}
    assert run.why["P3"] == Fault("mask_key.of_two_parties", {"first": "P1", "second": "P2"}).within("P3")
    assert (run.published, ledger.charged) == ({}, [])


def test_shares_that_were_not_greeted_with_are_refused_before_anybody_pays() -> None:
    setup = made(parameters(3, 0, 1, (1, 1)))
    other = greeting_otherwise(setup, lambda mine, of_p1: replace(mine, leaves=(*mine.leaves[:-1], of_p1.leaves[-1])))
    ledger = Ledger()
    with refused("shares.disclosed_otherwise", error=PeerError) as caught:
        simulated(other, ledger)
    assert (caught.value.culprit, ledger.charged) == ("P2", [])


@pytest.mark.parametrize("gone", [False, True])
def test_a_seed_that_is_not_the_one_of_the_greeting_stops_the_sum(gone: bool) -> None:
    """The shares are those of the greeting, the second commitment or mask key is not: no sum, and a clean stop."""
    setup, altered = made(parameters(3, 0, 1, (1, 1))), masking.public_key(bytes(range(32)))
    other = greeting_otherwise(
        setup,
        lambda mine, of_p1: (
            replace(mine, keys=last(mine.keys, altered))
            if gone
            else replace(mine, commitments=last(mine.commitments, bytes(32)))
        ),
    )
    ledger = Ledger()
    run = simulated(other, ledger, {"P2": 9} if gone else {})
    assert wrong(setup, outcome(run), ledger) == []
    assert run.published == {}
    what = "mask key" if gone else "seed"
    of_another = Fault("sum.shares_of_another_secret", {"dealer": "P2", "what": what})
    assert run.why[CURATOR_NAME] == of_another.within("charlie")


def test_a_share_that_was_not_dealt_is_dropped_and_the_others_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """P1 answers with another share of P2's seed: three others are there, and its shares of the rest are good."""
    setup = made(parameters(4, 0, 1))
    unmask = unmasking.shares_to_unmask

    def lying(p: Parameters, vault: object, r: int, U: object) -> object:
        true = unmask(p, vault, r, U)  # type: ignore[arg-type]
        mine = vault.of(r).b == own  # type: ignore[attr-defined]
        return replace(true, shares=(true.shares[0], bytes(32), *true.shares[2:])) if mine else true

    own = dealing.deal_seeds(setup.session.parameters, setup.seeds["P1"].fork("greeting")).b[0]
    monkeypatch.setattr(unmasking, "shares_to_unmask", lying)
    loose = Loose(setup, Stream.insecure_from_seed("share"))
    left = loose.run()
    assert wrong(setup, left, loose.ledger) == []
    assert left.published[CURATOR_NAME].members == (0b1111,)
    assert [note.rule for note in loose.roles[CURATOR_NAME].notes] == [
        Fault("shares.not_dealt_to_holder", {"dealers": ("P2",)})
    ]


# The tree of the shares of all sums.


HASHES = st.binary(min_size=32, max_size=32)


@given(st.lists(st.builds(Held, HASHES, HASHES), min_size=1, max_size=9))
def test_each_leaf_leads_to_the_root_by_its_path_and_by_no_other(held: list[Held]) -> None:
    tree = dealing.share_tree(3, 5, held)
    leaves, top = tree[0], dealing.merkle_root(tree)
    assert len(set(leaves)) == len(held)
    for r, leaf in enumerate(leaves):
        path = dealing.merkle_path(tree, r)
        assert len(path) == (len(held) - 1).bit_length()
        assert dealing.climb_path(leaf, r, path) == top
        for other in {0, len(held) // 2, len(held) - 1} - {r}:
            assert dealing.climb_path(leaves[other], r, path) != top
        for level in range(len(path)):
            altered = (*path[:level], bytes(32), *path[level + 1 :])
            assert dealing.climb_path(leaf, r, altered) != top


# A dealer whose shares are what it committed to, and do not all lie on one polynomial.


def off_the_polynomial(monkeypatch: pytest.MonkeyPatch, setup: Setup, holders: tuple[int, ...], kind: str) -> None:
    """P2 deals these holders zeros for the first sum, and commits to them."""
    deal = dealing.deal_seeds
    own = deal(setup.session.parameters, setup.seeds["P2"].fork("greeting")).b

    def otherwise(p: Parameters, rng: Stream) -> dealing.Seeds:
        dealt = deal(p, rng)
        if dealt.b != own:
            return dealt
        shares = [list(of_holder) for of_holder in dealt.shares]
        for j in holders:
            shares[j][0] = replace(shares[j][0], **{kind: bytes(32)})
        return replace(dealt, shares=tuple(map(tuple, shares)))

    monkeypatch.setattr(dealing, "deal_seeds", otherwise)


@pytest.mark.parametrize("holders", [(0,), (4,), (0, 3)])
@pytest.mark.parametrize("gone", [False, True])
def test_t_good_shares_open_although_the_first_ones_do_not(
    holders: tuple[int, ...], gone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six parties, T = 4: of six or five shares one or two are bad, and the dealer is noted where that was found."""
    setup = made(parameters(6, 1, 1))
    off_the_polynomial(monkeypatch, setup, holders, "s" if gone else "b")
    loose = Loose(setup, Stream.insecure_from_seed("subsets"))
    if gone:
        loose.roles["P2"].drop_out(7, counts_sealed=True)
    left = loose.run()
    there, bad = [j for j in range(6) if not (gone and j == 1)], set(holders)
    opens = len(set(there) - bad) >= 4
    assert opens == (left.ends[CURATOR_NAME] == "done")
    assert wrong(setup, left, loose.ledger) == []
    notes = [(note.sender, note.rule.code) for note in loose.roles[CURATOR_NAME].notes]
    first_ones = set(there[:4]) & bad
    assert notes == ([("P2", "sum.some_shares_of_another_secret")] if opens and first_ones else [])
    if not opens:
        assert "P2" in str(loose.roles[CURATOR_NAME].why)


def test_so_many_subsets_are_tried_and_no_more() -> None:
    rng = Stream.insecure_from_seed("subsets")
    assert sorted(unmasking.subsets(tuple("abcd"), 3, rng)) == sorted(combinations("abcd", 3))  # type: ignore[arg-type]
    many = list(unmasking.subsets(tuple(range(100)), 67, rng))
    assert len(many) == unmasking.MOST_TRIES
    assert many[0] == tuple(range(67))
    assert len({frozenset(x) for x in many}) == unmasking.MOST_TRIES
    assert {len(set(x)) for x in many} == {67}
