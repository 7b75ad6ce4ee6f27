"""Whatever stands in a message that is well formed, a role goes on, stops, or refuses its sender: no other exception,
no endless wait, no name of somebody honest, no false sum, and nothing is opened without a certificate of what the party
itself signed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from support import role_code
from support.coalition import Coalition, session
from support.role_code import Code

from protocols.curator import CURATOR_NAME
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import CURATOR, PARTY, FieldSpec

Twist = Callable[[Any, int], Any]
"""Of a value and its width in bytes another value."""


def _flipped(value: Any, width: int) -> Any:
    return value ^ 1 if isinstance(value, int) else value[:-1] + bytes([value[-1] ^ 1])


def _like(value: Any, width: int, byte: int) -> Any:
    made = bytes([byte]) * width
    return int.from_bytes(made, "big") if isinstance(value, int) else made


TWISTS: dict[str, Twist] = {
    "zero": lambda value, width: _like(value, width, 0),
    "ones": lambda value, width: _like(value, width, 255),
    "flipped": _flipped,
    "something": lambda value, width: _like(value, width, 0x5A),
}
WHOLE = ("reversed", "repeated")  # of a vector; and every twist of its first value, and of all


@dataclass
class Heard:
    """What Charlie said to each party, and what he got from each."""

    said: list[tuple[str, Any]] = field(default_factory=list)
    got: list[tuple[str, Any]] = field(default_factory=list)


class Twisted(Endpoint):
    """An endpoint that twists what its role sends to some, and keeps what Charlie sends and reads."""

    def __init__(self, me: Endpoint, change: Callable[[str, Any], Any], heard: Heard) -> None:
        self.__dict__.update(me.__dict__)
        self.change, self.heard = change, heard

    def send(self, to: str, message: Any) -> None:
        message = self.change(to, message)
        if self.name == CURATOR_NAME:
            self.heard.said.append((to, message))
        super().send(to, message)

    async def gather(self, senders: Any, kind: Any, **more: Any) -> Any:
        senders = tuple(senders)
        got = await super().gather(senders, kind, **more)
        self.heard.got.extend(zip(senders, got, strict=True))
        return got

    async def collect(self, senders: Any, kind: Any) -> Any:
        got = await super().collect(senders, kind)
        self.heard.got.extend(got.items())
        return got


def places(code: Code) -> Iterator[tuple[str, str, FieldSpec]]:
    """Every field of every message of the protocol, with who writes it: the last party, or Charlie."""
    m = code.messages
    for kind in (m.MaskKeys, m.Shares, m.Ready, m.Masked, m.Signed, m.Unmask):
        yield from (("P4", kind.__name__, slot) for slot in kind.slots)
    for kind in (m.Start, m.Survivors, m.Certificate, m.Result):
        yield from ((CURATOR_NAME, kind.__name__, slot) for slot in kind.slots)


def twisted(message: Any, slot: FieldSpec, how: str, layout: Any) -> Any:
    """The message with this field twisted: the first value of a vector, all of them with a name in capitals."""
    value, width = getattr(message, slot.name), layout[slot.protection.width]
    if slot.count is None:
        return replace(message, **{slot.name: TWISTS[how.lower()](value, width)})
    if how in WHOLE:
        other: Sequence[Any] = value[::-1] if how == "reversed" else tuple(value[-1:]) * len(value)
    else:
        some = len(value) if how.isupper() else 1
        other = [TWISTS[how.lower()](x, width) if i < some else x for i, x in enumerate(value)]
    return replace(message, **{slot.name: tuple(other)})


def run(code: Code, liar: str, kind: str, slot: FieldSpec, how: str, to: Sequence[str]) -> tuple[Coalition, Heard]:
    """Four parties, two sums, one may vanish and one deviate; to these the liar twists this field."""
    heard, layout = Heard(), dict[str, int]()

    def change(at: str, message: Any) -> Any:
        fits = type(message).__name__ == kind and at in to
        return twisted(message, slot, how, layout) if fits else message

    def role_of(honest: Any) -> Any:
        async def role(me: Endpoint, *rest: Any) -> Any:
            straight = me.name not in (liar, CURATOR_NAME)
            keep = (lambda to, message: message) if me.name != liar else change
            return await honest(me if straight else Twisted(me, keep, heard), *rest)

        return role

    def greets(p: Any, name: str, dealt: Any) -> Any:
        made = code.dealing.make_greeting(p, name, dealt)
        return twisted(made, slot, how, layout) if (name, kind) == (liar, "MaskKeys") else made

    roles = {end: role_of(code.PROGRAM.roles[end]) for end in (PARTY, CURATOR)}
    program = replace(code.PROGRAM, roles=roles, greeting=replace(code.PROGRAM.greeting, make=greets))
    c = session(code.running(program), 4, 1, 1, sums=(2, 2), colluding=(), charlie=False)
    layout |= c.session.layout_in("sum0")
    c.greet()
    c.settle()
    for name in [name for name in c.honest if c.plays(name) and liar in c.honest[name].awaited]:
        c.miss(name, liar)  # it said that something will follow, and nothing does
    c.settle()
    return c, heard


CODE = role_code.honest()
PLACES = list(places(CODE))
NAMES = [f"{kind}.{slot.name}" for _, kind, slot in PLACES]
TO = {"P4": ("P1", "P2", "P3", CURATOR_NAME), CURATOR_NAME: ("P1", "P2", "P3", "P4")}


def opened_on_certificates(c: Coalition, heard: Heard) -> None:
    """Every party that opened had been sent a list with itself in it, and a quorum of signatures of that list."""
    m = c.code.messages
    for name in c.p.parties:
        lists = [message for to, message in heard.said if to == name and isinstance(message, m.Survivors)]
        proofs = [message for to, message in heard.said if to == name and isinstance(message, m.Certificate)]
        for r, _ in enumerate(x for x in heard.got if x[0] == name and isinstance(x[1], m.Unmask)):
            said = m.Agreed(r, lists[r].context, lists[r].members, lists[r].inputs)
            U = c.p.members(said.members)
            assert c.p.parties.index(name) in U
            assert len(U) >= c.p.fewest
            actor = c.honest[name]
            assert sum(actor.attested(c.p.parties[i], said, proofs[r].signatures[i]) for i in U) >= c.p.Q


def check(place: tuple[str, str, Any], how: str, to: tuple[str, ...]) -> None:
    liar, kind, slot = place
    c, heard = run(CODE, liar, kind, slot, how, to)  # every exception but `PeerError` comes out here
    assert not [name for name in c.honest if c.plays(name)], "somebody waits for ever"
    assert {error.culprit for error in c.failed.values()} <= {liar}
    opened_on_certificates(c, heard)
    if liar != CURATOR_NAME and c.honest[CURATOR_NAME].end == "done":
        for r, (members, S) in enumerate(zip(*_sums(c), strict=True)):
            U = [name for i, name in enumerate(c.p.parties) if members >> i & 1]
            added = c.total([name for name in U if name != liar], r)
            spoilt = kind == "Masked" and CURATOR_NAME in to  # then it is not what it has signed
            assert liar not in U if spoilt else c.p.ring.add_vectors(added, c.total({liar} & set(U), r)) == S


def _sums(c: Coalition) -> tuple[Any, Any]:
    result = c.honest[CURATOR_NAME].result
    return result.members, result.values


@pytest.mark.parametrize("place", PLACES, ids=NAMES)
def test_every_field_may_hold_anything(place: tuple[str, str, Any]) -> None:
    check(place, "FLIPPED" if place[2].count else "flipped", TO[place[0]])


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES, ids=NAMES)
def test_every_field_may_hold_anything_towards_anybody(place: tuple[str, str, Any]) -> None:
    vectors = (*WHOLE, *(how.upper() for how in TWISTS)) if place[2].count else ()
    for how in (*TWISTS, *vectors):
        for to in (TO[place[0]], TO[place[0]][:1], TO[place[0]][-1:]):
            check(place, how, to)
