"""Small made-up protocols with a known answer: what the matrix must see, and what it must refuse to judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any

import pytest

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.ring import Ring
from protocols.crypto import paillier
from protocols.curator import parties_and_curator
from protocols.programs import Protocol
from protocols.runtime.claims import Model, Unknown
from protocols.runtime.message import CURATOR, PARTY, Message, encrypted, masked, message
from protocols.runtime.protocol import Limits
from protocols.runtime.session import Program
from smc_dp.leakage import matrix_text
from smc_dp.leakage.matrix import OTHER_SUM, coalition_matrix
from smc_dp.leakage.symbolic.world_runs import SMALLEST

EVERY_PAIR = (PARTY >> PARTY) | (PARTY >> CURATOR) | (CURATOR >> PARTY)
WIDE, NARROW = Ring(64), Ring(32)


@message("1", EVERY_PAIR)
class Word(Message):
    """A number."""

    x: Annotated[int, masked("word")]


@message("1", EVERY_PAIR)
class Locked(Message):
    """A ciphertext."""

    c: Annotated[paillier.Ciphertext, encrypted("somebody's key")]


@dataclass(frozen=True)
class Toy:
    """Parties by name."""

    parties: tuple[str, ...] = ("P1", "P2", "P3")
    dimension: int = 1

    def as_dict(self) -> dict[str, Any]:
        return {}


def inputs(p: Toy, unknown: Unknown) -> dict[str, tuple[Any, ...]]:
    """P1 has x and y; the others have nothing."""
    mine = (unknown("x", 64), unknown("y", 64))
    return {"P1": (p, mine), **{name: (p, None) for name in p.parties[1:]}, "charlie": (p,)}


async def idle(me: Any, p: Any, *mine: Any) -> None:
    """Has nothing to say."""


def protocol(talk: Callable[..., Any], permutations: tuple[str, ...] = ()) -> Protocol:
    """A protocol in which only P1 talks."""

    async def party(me: Any, p: Any, mine: Any) -> None:
        if me.name == "P1":
            await me.stage(talk, *mine)

    model = Model(lambda p: p, inputs, permutations, lambda p: (), lambda K: Toy(), lambda p, j: {})
    roles = {PARTY: party, CURATOR: idle}
    program = Program("toy", 1, roles, (Word, Locked), (), participants=parties_and_curator)
    return Protocol(program, model, None, Limits({}, 3, None))


async def shared(me: Any, x: Any, y: Any) -> None:
    a, b = WIDE.split(x, me.rng)
    me.send("P2", Word(a))
    me.send("P3", Word(b))


async def mask_used_twice(me: Any, x: Any, y: Any) -> None:
    s = WIDE.random(me.rng)
    me.send("P2", Word(WIDE.add(x, s)))
    me.send("P2", Word(WIDE.add(y, s)))


async def mask_published_later(me: Any, x: Any, y: Any) -> None:
    s = WIDE.random(me.rng)
    me.send("P2", Word(WIDE.add(x, s)))
    me.send("P2", Word(WIDE.add(y, WIDE.random(me.rng))))
    me.send("P2", Word(s))


async def mask_known_up_to_a_little(me: Any, x: Any, y: Any) -> None:
    """Each number by itself is well hidden; the difference of the two is x and eight bits."""
    s = me.rng.bits(128)
    me.send("P2", Word(x + s + me.rng.bits(8)))
    me.send("P2", Word(s))


async def mask_too_short_for_the_ring(me: Any, x: Any, y: Any) -> None:
    me.send("P2", Word(WIDE.add(x, NARROW.random(me.rng))))


async def half_of_a_mask(me: Any, x: Any, y: Any) -> None:
    """The lowest 32 bits of the mask, and with them those of x."""
    s = WIDE.random(me.rng)
    me.send("P2", Word(WIDE.add(x, s)))
    me.send("P2", Word(NARROW.reduce(s)))


async def twice_a_mask(me: Any, x: Any, y: Any) -> None:
    """The lowest bit of x shows."""
    me.send("P2", Word(x + 2 * me.rng.bits(128)))


async def twice_in_other_rings(me: Any, x: Any, y: Any) -> None:
    """x + s mod 2^64 and mod 2^32: the second is part of the first."""
    s = WIDE.random(me.rng)
    me.send("P2", Word(WIDE.add(x, s)))
    me.send("P2", Word(NARROW.reduce(WIDE.add(x, s))))


async def locked_for_p3(me: Any, x: Any, y: Any) -> None:
    """P2 has the box and P3 the key."""
    key = me.once("key", lambda rng: paillier.generate(512, rng))
    me.send("P2", Locked(key.public.encrypt(x, me.rng)))
    me.send("P3", Word(key.p))


async def places_in_the_order_of_sending(me: Any, x: Any, y: Any) -> None:
    for name in Permutation.random(3, me.rng)(["P2", "P3", "charlie"]):
        me.send(name, Word(WIDE.random(me.rng)))


# Role, coalition, the levels of x, of y, and of another sum of the two.
KNOWN: dict[str, tuple[Callable[..., Any], tuple[str, ...], tuple[str, str, str]]] = {
    "one share": (shared, ("P2",), ("nothing", "nothing", "nothing")),
    "both shares": (shared, ("P2", "P3"), ("all", "nothing", "nothing")),
    "a mask used twice": (mask_used_twice, ("P2",), ("nothing", "nothing", "all")),
    "a mask published later": (mask_published_later, ("P2",), ("all", "nothing", "nothing")),
    "the same, to others": (mask_published_later, ("P3", "charlie"), ("nothing", "nothing", "nothing")),
    "a mask known up to a little": (mask_known_up_to_a_little, ("P2",), ("partly", "nothing", "nothing")),
    "a mask too short for the ring": (mask_too_short_for_the_ring, ("P2",), ("partly", "nothing", "nothing")),
    "half of a mask": (half_of_a_mask, ("P2",), ("partly", "nothing", "nothing")),
    "twice a mask": (twice_a_mask, ("P2",), ("partly", "nothing", "nothing")),
    "twice in other rings": (twice_in_other_rings, ("P2",), ("nothing", "nothing", "nothing")),
    "a box": (locked_for_p3, ("P2",), ("nothing", "nothing", "nothing")),
    "a key": (locked_for_p3, ("P3",), ("nothing", "nothing", "nothing")),
    "a box and its key": (locked_for_p3, ("P2", "P3"), ("all", "nothing", "nothing")),
}


@pytest.mark.parametrize("name", KNOWN)
def test_matrix_of_a_small_protocol_is_the_known_one(name: str) -> None:
    talk, members, wanted = KNOWN[name]
    for row in coalition_matrix(protocol(talk), 3, chosen=(members,)).rows:
        assert tuple(row.cells[s].level for s in ("x", "y", OTHER_SUM)) == wanted


def test_where_nothing_is_compared_no_row_has_a_smallest_party() -> None:
    m = coalition_matrix(protocol(shared), 3, chosen=(("P2",), ("P2", "P3")))
    assert [row.smallest for row in m.rows] == ["", ""]
    assert m.worlds == 1
    said = matrix_text.matrix_as_text(m)
    assert "Decided by linear algebra for each of 2 coalitions." in said
    assert "all parties but one  all*" in said


def test_the_order_of_sending_shows_a_permutation() -> None:
    rows = coalition_matrix(protocol(places_in_the_order_of_sending, ("pi",)), 3, chosen=(("P2",), ("P1",))).rows
    assert {row.members: row.cells["pi"].level for row in rows} == {("P2",): "all", ("P1",): "own"}
    assert all(SMALLEST not in row.cells for row in rows)  # this protocol compares nothing


def test_two_may_hold_the_same_unknown() -> None:
    """It is asked for by name for each of its holders, and is one secret."""

    async def talk(me: Any, x: Any, y: Any) -> None:
        me.send("P2", Word(x))

    def inputs(p: Any, unknown: Unknown) -> dict[str, tuple[Any, ...]]:
        x, y, again = unknown("x", 64), unknown("y", 64), unknown("x", 64)
        return {"P1": (p, (x, y)), "P2": (p, None), "P3": (p, (again,)), "charlie": (p,)}

    told = protocol(talk)
    shared = replace(told, model=replace(told.model, inputs=inputs))
    (row,) = coalition_matrix(shared, 3, chosen=(("P2",),)).rows
    assert row.cells["x"].level == "all"
