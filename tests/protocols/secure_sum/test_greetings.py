"""What a party greets with binds it: keys that cannot be used, other shares, and other seeds are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

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
from protocols.secure_sum import PROGRAM, dealing, masks, roster, unmasking
from protocols.secure_sum.messages import MaskKeys
from protocols.secure_sum.parameters import Parameters
from protocols.secure_sum.values import Held
from tests.support.refusals import refused

Change = Callable[[MaskKeys, MaskKeys], MaskKeys]
"""Another greeting in place of the one of P2, given that of P1."""


def greeting_otherwise(setup: Setup, change: Change) -> Setup:
    def make(p: Parameters, name: str, rng: Stream) -> MaskKeys:
        mine = dealing.greeting(p, name, rng)
        return mine if name != "P2" else change(mine, dealing.greeting(p, "P1", setup.seeds["P1"].fork("greeting")))

    program = replace(PROGRAM, greeting=Greeting(MaskKeys, make))
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
    assert run.why["P3"] == "P3: P1 and P2 greeted with the same mask key"
    assert (run.published, ledger.charged) == ({}, [])


def test_shares_that_were_not_greeted_with_are_refused_before_anybody_pays() -> None:
    setup = made(parameters(3, 0, 1, (1, 1)))
    other = greeting_otherwise(setup, lambda mine, of_p1: replace(mine, leaves=(*mine.leaves[:-1], of_p1.leaves[-1])))
    ledger = Ledger()
    with refused("shares.not_as_committed", error=PeerError) as caught:
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
    assert run.why[CURATOR_NAME] == f"charlie: P2 dealt shares that do not open the {what} that it greeted with"


def test_a_share_that_was_not_dealt_is_dropped_and_the_others_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """P1 answers with another share of P2's seed: three others are there, and its shares of the rest are good."""
    setup = made(parameters(4, 0, 1))
    unmask = unmasking.unmask

    def lying(p: Parameters, vault: object, r: int, U: object) -> object:
        true = unmask(p, vault, r, U)  # type: ignore[arg-type]
        mine = vault.of(r).b == own  # type: ignore[attr-defined]
        return replace(true, shares=(true.shares[0], bytes(32), *true.shares[2:])) if mine else true

    own = dealing.deal(setup.session.parameters, setup.seeds["P1"].fork("greeting")).b[0]
    monkeypatch.setattr(unmasking, "unmask", lying)
    loose = Loose(setup, Stream.insecure_from_seed("share"))
    left = loose.run()
    assert wrong(setup, left, loose.ledger) == []
    assert left.published[CURATOR_NAME].members == (0b1111,)
    assert [note.rule for note in loose.roles[CURATOR_NAME].notes] == [
        Fault("shares.not_dealt_to_holder", {"dealers": ("P2",)})
    ]


def test_a_checker_of_greetings_that_looks_away_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: all go on, and pay, with the key that P1 has as well."""
    monkeypatch.setattr(roster, "fault", lambda *_: None)
    ledger = Ledger()
    simulated(greeting_otherwise(made(parameters(3, 0, 1, (1, 1))), copied), ledger, {"P3": 5})
    assert ledger.charged


# The tree of the shares of all sums.


HASHES = st.binary(min_size=32, max_size=32)


@given(st.lists(st.builds(Held, HASHES, HASHES), min_size=1, max_size=9))
def test_each_leaf_leads_to_the_root_by_its_path_and_by_no_other(held: list[Held]) -> None:
    leaves = dealing.tree(3, 5, held)
    top = dealing.root(leaves)
    assert len(set(leaves)) == len(held)
    for r, leaf in enumerate(leaves):
        path = dealing.path(leaves, r)
        assert len(path) == (len(held) - 1).bit_length()
        assert dealing.climbed(leaf, r, path) == top
        for other in {0, len(held) // 2, len(held) - 1} - {r}:
            assert dealing.climbed(leaves[other], r, path) != top
        for level in range(len(path)):
            altered = (*path[:level], bytes(32), *path[level + 1 :])
            assert dealing.climbed(leaf, r, altered) != top


def test_a_leaf_is_bound_to_dealer_holder_sum_and_both_kinds() -> None:
    one, other = bytes(32), bytes(31) + b"\1"
    parts = [
        (i, j, r, b, s) for i in (0, 1) for j in (0, 1) for r in (0, 1) for b in (one, other) for s in (one, other)
    ]
    assert len({dealing.leaf(*of_one) for of_one in parts}) == len(parts)
    assert len({dealing.commitment(i, r, b) for i in (0, 1) for r in (0, 1) for b in (one, other)}) == 8
    assert dealing.hashed(one) != dealing.commitment(0, 0, one)


def test_a_pair_mask_is_of_both_names_so_that_a_reflected_key_cancels_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a victim between two copies of one key: its masks with them cancel if they do not depend on who has them."""
    p = parameters(3, 0, 1)
    s, key = bytes(range(32)), masking.public_key(bytes(range(1, 33)))
    z, keys = (1, 2), (key, masking.public_key(s), key)
    assert masks.blind(p, z, bytes(32), 1, None, s, keys) != z
    pair = masking.pair_mask
    monkeypatch.setattr(masking, "pair_mask", lambda context, one, other, *rest: pair(context, 0, 1, *rest))
    assert masks.blind(p, z, bytes(32), 1, None, s, keys) == z
