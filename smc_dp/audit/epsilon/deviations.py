"""Secure sums in which one of Charlie's own parties enters something else: a program for each deviation.

Charlie helps: he waits for everybody else, and shows the last party the masked input of the first before it sends its
own, in every sum. He may announce another sum, the same to all: then they answer what he likes to the next. Both follow
the protocol otherwise. What the last party has really added, whatever it sent, is that without the masks that it knows;
its role returns it, Charlie's the sums as they are, and these without that is all that the two can make of a run.
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
from protocols.secure_sum.values import Addends, CuratorState, Opening, Sums, Vault, join_addends

Deviation: TypeAlias = Literal["nothing", "negated", "constant", "zero", "copied", "garbage"]

DEVIATIONS: Mapping[Deviation, str] = MappingProxyType(
    {
        "nothing": "enters no rows and no noise",
        "negated": "enters its own rows negated, and no noise",
        "constant": "enters a constant that it chose, and no noise",
        "zero": "sends zeros in place of a masked input",
        "copied": "sends another's masked input as its own",
        "garbage": "sends random numbers in place of a masked input",
    }
)

SubstituteInput: TypeAlias = Callable[[Parameters, Vector, Vector, Vector, Stream], Vector]
"""Function of the parameters, the own numbers, the masks of zeros, what was shown, and randomness."""

AnnouncedSum: TypeAlias = Callable[[Parameters, Vector], Vector]
"""Function of the parameters and the true sum: the sum that Charlie announces."""

_CHOSEN = 12345

SUBSTITUTES: Mapping[Deviation, SubstituteInput] = MappingProxyType(
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
    """Masked input of another party, for Charlie's own."""

    y: Annotated[Vector, masked("word"), Times("length")]


def announce_truth(p: Parameters, S: Vector) -> Vector:
    """Announce the true sum."""
    return S


def announce_zero(p: Parameters, S: Vector) -> Vector:
    """Announce that the sum is zero."""
    return (0,) * len(S)


def deviating_program(deviation: Deviation | None, announce: AnnouncedSum = announce_truth) -> Program:
    """Return the secure sum whose last party deviates so in every sum; Charlie announces sums by `announce`."""

    async def party(me: Endpoint, p: Parameters, mine: Addends, *later: Addends) -> Sums | tuple[Vector, ...]:
        if me.name != p.parties[-1] or deviation is None:
            return await secure_sum.party(me, p, mine, *later)
        added: tuple[Vector, ...] = ()
        mine = join_addends(p, mine, *later)
        vault = await me.stage(setup.party, p)
        for r in range(p.R):
            if r == mine.count:
                mine = join_addends(p, mine, me.ask(vault.values))
            numbers = mine.numbers[r]
            vault, added = await me.stage(_deviating, p, vault, added, numbers, deviation, name=stage(r), replaces=True)
        return added

    async def curator(me: Endpoint, p: Parameters) -> tuple[Vector, ...]:
        """Charlie, who has a party of his own."""
        state = await me.stage(setup.curator, p)
        for r in range(p.R):
            state = await me.stage(_summing, p, state, r, deviation, announce, name=stage(r), replaces=True)
        await me.stage(publishing.publish_sums, p, state)
        return tuple(opening.y[0] for opening in state.openings)

    roles: dict[Kind, Role] = {PARTY: party, CURATOR: curator}
    kinds = (*secure_sum.PROGRAM.kinds, ShownInput)
    return replace(
        secure_sum.PROGRAM, roles=roles, kinds=kinds, broken_commitment=None
    )  # who deviates leaves what it added


async def _deviating(
    me: Endpoint, p: Parameters, vault: Vault, added: tuple[Vector, ...], mine: Vector, deviation: Deviation
) -> tuple[Vault, tuple[Vector, ...]]:
    """Run the last party in the next sum; return what it has added so far as well."""
    r = len(added)
    at = steps.own_context(me, vault, r)
    blinds = masks.mask_closed(p, (0,) * p.length(r), at, vault.pairs)
    shown = (await me.receive(me.curator, ShownInput)).y
    y = SUBSTITUTES[deviation](p, mine, blinds, shown, me.rng)
    steps.send_masked(me, p, at, y)
    vault = complete.with_next_pairs(p, await steps.receive_result(me, p, vault, r, at, p.everybody))
    return vault, (*added, p.ring.subtract_vectors(y, blinds))


async def _summing(
    me: Endpoint, p: Parameters, state: CuratorState, r: int, deviation: Deviation | None, announce: AnnouncedSum
) -> CuratorState:
    """Run Charlie in sum r; he keeps its true value."""
    at = steps.own_context(me, state.vault, r)
    *others, own = p.parties
    got = dict(zip(others, await me.gather(others, Masked), strict=True))
    if deviation is not None:
        me.send(own, ShownInput(got[others[0]].y))
    got[own] = await me.receive(own, Masked)
    y = {i: sent.y for i, sent in steps.admit_inputs(me, p, at, got).items()}
    S = masks.unmask_sum(p, at, y, {}, state.vault.keys[r])
    after = steps.announce_result(me, p, state, r, p.everybody, announce(p, S), Opening((), (), (), ()))
    return replace(after, openings=(*state.openings, Opening((S,), (), (), ())))
