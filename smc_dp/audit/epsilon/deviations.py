"""One of Charlie's own in a secure sum, who enters something else than it should: a program for each way.

Charlie helps: he waits for everybody else, and shows the last party the masked input of the first before it sends its
own. Both follow the protocol otherwise. What the last party has really added, whatever it sent, is that without the
masks that it knows; its role returns it, and the sum without it is all that the two can make of a run.
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
from protocols.secure_sum import masks, publishing, setup, steps
from protocols.secure_sum.messages import Masked
from protocols.secure_sum.parameters import Parameters, stage
from protocols.secure_sum.values import Addends, Book, Opening, Sums, Vault

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

SentInstead: TypeAlias = Callable[[Parameters, Addends, Vector, Vector, Stream], Vector]
"""What is sent: from the parameters, the own input, the masks of zeros, what was shown, and coins."""

_CHOSEN = 12345

WAYS: Mapping[Deviation, SentInstead] = MappingProxyType(
    {
        "nothing": lambda p, mine, blinds, shown, rng: blinds,
        "negated": lambda p, mine, blinds, shown, rng: p.ring.subtract_vectors(blinds, mine.numbers[0]),
        "constant": lambda p, mine, blinds, shown, rng: p.ring.add_vectors(blinds, (_CHOSEN,) * p.length(0)),
        "zero": lambda p, mine, blinds, shown, rng: (0,) * p.length(0),
        "copied": lambda p, mine, blinds, shown, rng: shown,
        "garbage": lambda p, mine, blinds, shown, rng: p.ring.random_vector(p.length(0), rng),
    }
)


@message("2", CURATOR >> PARTY)
class ShownInput(Message):
    """Another's masked input, for the one that is Charlie's own."""

    y: Annotated[tuple[int, ...], masked("word"), Times("length")]


def program(deviation: Deviation) -> Program:
    """The secure sum with nobody who may vanish, one sum in a session, in which the last party deviates like this."""

    async def party(me: Endpoint, p: Parameters, mine: Addends) -> Sums | Vector:
        if me.name != p.parties[-1]:
            return await secure_sum.party(me, p, mine)
        vault = await me.stage(setup.party, p)
        return await me.stage(_deviating, p, vault, mine, deviation, name=stage(0), replaces=True)

    roles: dict[Kind, Role] = {PARTY: party, CURATOR: _curator}
    kinds = (*secure_sum.PROGRAM.kinds, ShownInput)
    return replace(secure_sum.PROGRAM, roles=roles, kinds=kinds, kept=None)  # who deviates leaves what it added


async def _deviating(me: Endpoint, p: Parameters, vault: Vault, mine: Addends, deviation: Deviation) -> Vector:
    """The last party. Returns what it has added."""
    at = steps.context(me, vault, 0)
    blinds = masks.blind(p, (0,) * p.length(0), at, me.index, None, vault.of(0).s, vault.keys[0])
    shown = (await me.receive(me.curator, ShownInput)).y
    y = WAYS[deviation](p, mine, blinds, shown, me.rng)
    steps.send_masked(me, p, at, y)
    await steps.result(me, p, vault, 0, at, p.everybody)
    return p.ring.subtract_vectors(y, blinds)


async def _curator(me: Endpoint, p: Parameters) -> Sums:
    """Charlie, who has a party of his own."""
    book = await me.stage(setup.curator, p)
    book = await me.stage(_showing, p, book, name=stage(0), replaces=True)
    return await me.stage(publishing.publish, p, book, replaces=True)


async def _showing(me: Endpoint, p: Parameters, book: Book) -> Book:
    at = steps.context(me, book.vault, 0)
    *others, own = p.parties
    got = dict(zip(others, await me.gather(others, Masked), strict=True))
    me.send(own, ShownInput(got[others[0]].y))
    got[own] = await me.receive(own, Masked)
    y = {i: sent.y for i, sent in steps.admitted(me, p, at, got).items()}
    S = masks.lift(p, at, y, {}, book.vault.keys[0])
    return steps.announce(me, p, book, 0, p.everybody, S, Opening((), (), (), ()))
