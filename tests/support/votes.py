"""A small protocol: parties state votes and tell each other the sum; its stages can be put together anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from protocols.crypto.identity import SIGNATURE_BYTES
from protocols.runtime import state as states
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import CURATOR, PARTY, PUBLIC, Message, message, public
from protocols.runtime.session import Program, Role, Session
from support.parties import Parties
from support.sessions import Setup, start

NAMES = ("P1", "P2", "P3")


@message("1", PARTY >> PUBLIC)
class Vote(Message):
    """What a party states."""

    value: Annotated[int, public("number")]


@message("1", PARTY >> PUBLIC)
class Veto(Message):
    """Another statement that looks the same."""

    value: Annotated[int, public("number")]


@message("1", CURATOR >> PUBLIC)
class Ruling(Message):
    """A statement that no party may make."""

    value: Annotated[int, public("number")]


@message("1", PARTY >> PUBLIC)
class Opinion(Message):
    """No statement of this protocol."""

    value: Annotated[int, public("number")]


@message("1", PARTY >> PARTY)
class Signed(Message):
    """A vote and its signature."""

    value: Annotated[int, public("number")]
    signature: Annotated[bytes, public("signature")]


@message("2", PARTY >> PARTY)
class Word(Message):
    """The sum of all votes."""

    value: Annotated[int, public("number")]


@message("2", PARTY >> PUBLIC)
class Outcome(Message):
    """The same, published."""

    value: Annotated[int, public("number")]


async def stating(me: Endpoint, mine: int) -> int:
    """Tell all others one's vote, signed; the sum of all."""
    me.broadcast(me.others, Signed(mine, me.attest(Vote(mine))))
    for sender, said in (await me.collect(me.others, Signed)).items():
        if not me.attested(sender, Vote(said.value), said.signature):
            me.refuse(sender, "vote.not_signed")
        mine += said.value
    return mine


async def confirming(me: Endpoint, total: int) -> tuple[int, ...]:
    """Pay, and tell all others the sum; what they say it is."""
    me.spend("release")
    me.broadcast(me.others, Word(total))
    said = await me.gather(me.others, Word)
    me.publish(Outcome(total))
    return tuple(word.value for word in said)


def of_two(first: Any, second: Any = confirming, *, replaces: bool = False) -> Role:
    """A party with two stages, of which the second works on what the first leaves."""

    async def party(me: Endpoint, p: Parties, mine: int) -> Any:
        left = await me.stage(first, mine, name="stating")
        return await me.stage(second, left, name="confirming", replaces=replaces)

    return party


def made(party: Role | None = None, seed: int = 1) -> Setup:
    """A session in which each Pj votes j."""
    program = Program(
        "votes",
        1,
        {PARTY: party or of_two(stating)},
        (Signed, Word, Outcome),
        (),
        Parties,
        participants=lambda p: dict.fromkeys(p.parties, PARTY),
        statements=(Vote, Veto, Ruling),
    )
    p = Parties(NAMES, {"number": 4, "signature": SIGNATURE_BYTES})
    return start(program, p, {name: (p, j) for j, name in enumerate(NAMES, start=1)}, seed)


def alone(action: Callable[[Endpoint], Any]) -> Setup:
    """A session in which everybody does this in its first stage, and no more."""

    async def doing(me: Endpoint, mine: int) -> Any:
        return action(me)

    async def party(me: Endpoint, p: Parties, mine: int) -> Any:
        return await me.stage(doing, mine, name="stating")

    return made(party)


def kept_in(state: bytes, session: Session) -> dict[str, Any]:
    """What a state holds."""
    kept: dict[str, Any] = states.load_state(state, (Parties,))
    return kept
