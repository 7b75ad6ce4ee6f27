"""The secure sum with one participant who says something else in one field of one kind of message, and is honest
otherwise: any content that fits the message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from protocols.curator import CURATOR_NAME
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import CURATOR, PARTY, Slot
from protocols.runtime.session import Greeting
from support.coalition import Coalition, session
from support.role_code import Code

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

    async def gather(self, senders: Any, kind: Any) -> Any:
        senders = tuple(senders)
        got = await super().gather(senders, kind)
        self.heard.got.extend(zip(senders, got, strict=True))
        return got

    async def collect(self, senders: Any, kind: Any) -> Any:
        got = await super().collect(senders, kind)
        self.heard.got.extend(got.items())
        return got


def places(code: Code) -> Iterator[tuple[str, str, Slot]]:
    """Every field of every message of the protocol, with who writes it: the last party, or Charlie."""
    m = code.messages
    for kind in (m.MaskKeys, m.Shares, m.Ready, m.Masked, m.Signed, m.Unmask):
        yield from (("P4", kind.__name__, slot) for slot in kind.slots)
    for kind in (m.Start, m.Survivors, m.Certificate, m.Result):
        yield from ((CURATOR_NAME, kind.__name__, slot) for slot in kind.slots)


def twisted(message: Any, slot: Slot, how: str, layout: Any) -> Any:
    """The message with this field twisted: the first value of a vector, all of them with a name in capitals."""
    value, width = getattr(message, slot.name), layout[slot.protection.width]
    if slot.count is None:
        return replace(message, **{slot.name: TWISTS[how.lower()](value, width)})
    if how in WHOLE:
        other: Sequence[Any] = value[::-1] if how == "reversed" else value[-1:] * len(value)
    else:
        some = len(value) if how.isupper() else 1
        other = [TWISTS[how.lower()](x, width) if i < some else x for i, x in enumerate(value)]
    return replace(message, **{slot.name: tuple(other)})


def run(code: Code, liar: str, kind: str, slot: Slot, how: str, to: Sequence[str]) -> tuple[Coalition, Heard]:
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

    def greets(p: Any, name: str, rng: Any) -> Any:
        made = code.dealing.greeting(p, name, rng)
        return twisted(made, slot, how, layout) if (name, kind) == (liar, "MaskKeys") else made

    roles = {end: role_of(code.PROGRAM.roles[end]) for end in (PARTY, CURATOR)}
    program = replace(code.PROGRAM, roles=roles, greeting=Greeting(code.messages.MaskKeys, greets))
    c = session(code.running(program), 4, 1, 1, sums=(2, 2), colluding=(), charlie=False)
    layout |= c.session.layout_in("sum0")
    c.greet()
    c.settle()
    return c, heard
