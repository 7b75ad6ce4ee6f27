"""What a state keeps of a session on the linear path: nothing that the search for the smallest has used."""

from __future__ import annotations

from typing import Any

import pytest

from protocols.crypto import oblivious
from protocols.linear import unspent
from protocols.linear.parameters import Parameters
from protocols.linear.values import (
    CuratorKeys,
    Gathered,
    Halves,
    Masks,
    OpenedRow,
    PartyInput,
    PartyKeys,
    Submitted,
)  # fmt: skip

P = Parameters(("P1", "P2", "P3"), 2, 64)
MINE, MASKS = PartyInput(7, (1, 2), (3, 4)), Masks((b"plus",), (b"minus",))
KEYS, LEFT = PartyKeys(b"box", b"A"), Submitted(b"epk", MASKS)
ALL = Gathered((1,), (b"epk",), ((5,),), oblivious.Choice(b"delta", (b"key",), (b"point",)))
CHARLIE, HIS = CuratorKeys(b"secret", oblivious.Offer(b"x", b"A")), Halves((6,), (b"point",), MASKS)
ROW = OpenedRow(b"epk", (8,))
W = PartyInput(0, MINE.w, ())


@pytest.mark.parametrize(
    ("name", "results", "mine", "left"),
    [
        ("P1", [KEYS], MINE, [KEYS]),
        ("P1", [KEYS, (LEFT, ALL)], W, [None, (LEFT, ALL)]),
        ("P1", [KEYS, (LEFT, ALL), (9,)], PartyInput(0, (), ()), [None, (LEFT, None), (9,)]),
        ("P2", [KEYS], MINE, [KEYS]),
        ("P2", [KEYS, LEFT], W, [None, LEFT]),
        ("charlie", [CHARLIE, HIS], None, [CHARLIE, HIS]),
        ("charlie", [CHARLIE, HIS, ROW], None, [None, Halves((), (), MASKS), ROW]),
    ],
)
def test_what_a_later_stage_does_not_use_is_not_kept(
    name: str, results: list[Any], mine: PartyInput | None, left: list[Any]
) -> None:
    given, before = (P, MINE) if mine else (P,), list(results)
    assert unspent(P, name, given, results) == ((P, mine) if mine else (P,), left)
    assert results == before  # the role itself goes on with what it has
