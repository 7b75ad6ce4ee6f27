"""One of Charlie's own in a secure sum, who enters something else than it should: a program for each way.

Charlie helps: he waits for everybody else, and shows the last party the masked input of the first before it sends its
own, in every sum. He may say that a sum is another than it is, the same to all: then they answer what he likes to the
next. Both follow the protocol otherwise. What the last party has really added, whatever it sent, is that without the
masks that it knows; its role returns it, Charlie's the sums as they are, and these without that is all that the two can
make of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Literal, TypeAlias

from protocols import secure_sum
from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import CURATOR, PARTY, Kind, Message, Times, masked, message
from protocols.runtime.session import Program, Role
from protocols.secure_sum import complete, masks, publishing, setup, steps
from protocols.secure_sum.messages import Masked
from protocols.secure_sum.parameters import Parameters, stage
from protocols.secure_sum.values import Addends, Book, Opening, Sums, Vault, joined

Deviation: TypeAlias = Literal["nothing", "negated", "constant", "zero", "copied", "garbage"]

ABOUT: Mapping[Deviation, str] = MappingProxyType(
    {
        "nothing": "enters no rows and no noise",
        "negated": "enters its own rows negated, and no noise",
        "constant": "enters a constant that it chose, and no noise",
        "zero": "sends zeros in place of a masked input",
        "copied": "sends another's masked input as its own",
        "garbage": "sends random numbers in place of a masked input",
    }
)

SentInstead: TypeAlias = Callable[[Parameters, Vector, Vector, Vector, Stream], Vector]
"""What is sent: from the parameters, the own numbers, the masks of zeros, what was shown, and coins."""

ToldSum: TypeAlias = Callable[[Parameters, Vector], Vector]
"""What Charlie says that a sum is: from the parameters, and what it is."""

_CHOSEN = 12345

WAYS: Mapping[Deviation, SentInstead] = MappingProxyType(
    {
        "nothing": lambda p, mine, blinds, shown, rng: blinds,
        "negated": lambda p, mine, blinds, shown, rng: p.ring.subtract_vectors(blinds, mine),
        "constant": lambda p, mine, blinds, shown, rng: p.ring.add_vectors(blinds, (_CHOSEN,) * len(blinds)),
        "zero": lambda p, mine, blinds, shown, rng: (0,) * len(blinds),
        "copied": lambda p, mine, blinds, shown, rng: shown,
        "garbage": lambda p, mine, blinds, shown, rng: p.ring.random_vector(len(blinds), rng),
    }
)


@message("2", CURATOR >> PARTY)
class ShownInput(Message):
    """Another's masked input, for the one that is Charlie's own."""

    y: Annotated[tuple[int, ...], masked("word"), Times("length")]


def truth(p: Parameters, S: Vector) -> Vector:
    """Charlie says what a sum is."""
    return S


def nothing(p: Parameters, S: Vector) -> Vector:
    """Charlie says that a sum is zero."""
    return (0,) * len(S)


def program(deviation: Deviation | None, told: ToldSum = truth) -> Program:
    """The secure sum with nobody who may vanish, in which the last party deviates like this in every sum, or not at
    all, and Charlie says that sums are other ones.
    """

    async def party(me: Endpoint, p: Parameters, mine: Addends, *later: Addends) -> Sums | tuple[Vector, ...]:
        if me.name != p.parties[-1] or deviation is None:
            return await secure_sum.party(me, p, mine, *later)
        added: tuple[Vector, ...] = ()
        mine = joined(p, mine, *later)
        vault = await me.stage(setup.party, p)
        for r in range(p.R):
            if r == mine.count:
                mine = joined(p, mine, me.ask(vault.values))
            numbers = mine.numbers[r]
            vault, added = await me.stage(_deviating, p, vault, added, numbers, deviation, name=stage(r), replaces=True)
        return added

    async def curator(me: Endpoint, p: Parameters) -> tuple[Vector, ...]:
        """Charlie, who has a party of his own."""
        book = await me.stage(setup.curator, p)
        for r in range(p.R):
            book = await me.stage(_summing, p, book, r, deviation, told, name=stage(r), replaces=True)
        await me.stage(publishing.publish, p, book)
        return tuple(opening.y[0] for opening in book.openings)

    roles: dict[Kind, Role] = {PARTY: party, CURATOR: curator}
    kinds = (*secure_sum.PROGRAM.kinds, ShownInput)
    return replace(
        secure_sum.PROGRAM, roles=roles, kinds=kinds, broken_commitment=None
    )  # who deviates leaves what it added


async def _deviating(
    me: Endpoint, p: Parameters, vault: Vault, added: tuple[Vector, ...], mine: Vector, deviation: Deviation
) -> tuple[Vault, tuple[Vector, ...]]:
    """The last party in the next sum. Returns what it has added so far as well."""
    r = len(added)
    at = steps.context(me, vault, r)
    blinds = masks.cover(p, (0,) * p.length(r), at, vault.pairs)
    shown = (await me.receive(me.curator, ShownInput)).y
    y = WAYS[deviation](p, mine, blinds, shown, me.rng)
    steps.send_masked(me, p, at, y)
    vault = complete.turned(p, await steps.result(me, p, vault, r, at, p.everybody))
    return vault, (*added, p.ring.subtract_vectors(y, blinds))


async def _summing(me: Endpoint, p: Parameters, book: Book, r: int, deviation: Deviation | None, told: ToldSum) -> Book:
    """Charlie in sum r; he keeps what it is."""
    at = steps.context(me, book.vault, r)
    *others, own = p.parties
    got = dict(zip(others, await me.gather(others, Masked), strict=True))
    if deviation is not None:
        me.send(own, ShownInput(got[others[0]].y))
    got[own] = await me.receive(own, Masked)
    y = {i: sent.y for i, sent in steps.admitted(me, p, at, got).items()}
    S = masks.lift(p, at, y, {}, book.vault.keys[r])
    after = steps.announce(me, p, book, r, p.everybody, told(p, S), Opening((), (), (), ()))
    return replace(after, openings=(*book.openings, Opening((S,), (), (), ())))
