"""A sum of bytes among parties without a curator, some of whom may vanish: the smallest protocol with a drop-out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from protocols.arithmetic.ring import Ring, Vector
from protocols.runtime.claims import Unknown
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import PARTY, PUBLIC, Message, Times, masked, message, public
from protocols.runtime.session import Program, Role
from support.sessions import Setup, start

BYTES = Ring(8)


@message("1", PARTY >> PARTY)
class Part(Message):
    """A share of the sender's numbers."""

    x: Annotated[Vector, masked("byte"), Times("numbers")]


@message("2", PARTY >> PARTY)
class Heard(Message):
    """Whose shares the sender has, as bits."""

    members: Annotated[int, public("byte")]


@message("3", PARTY >> PUBLIC)
class Total(Message):
    """The sum of the shares that the sender has, and whose they are."""

    y: Annotated[Vector, public("byte"), Times("numbers")]
    members: Annotated[int, public("byte")]


@dataclass(frozen=True)
class Sums:
    """Parties by name; `patient` ones go on without those who are absent, others stop."""

    parties: tuple[str, ...]
    patient: bool = True
    numbers: int = 1

    @classmethod
    def from_dict(cls, stated: Mapping[str, Any]) -> Sums:
        return cls(tuple(stated["parties"]), stated["patient"], stated["numbers"])

    def as_dict(self) -> dict[str, Any]:
        return {"parties": list(self.parties), "patient": self.patient, "numbers": self.numbers}

    def layout(self) -> dict[str, int]:
        return {"byte": 1, "numbers": self.numbers}


async def split(me: Endpoint, p: Sums, x: Vector) -> dict[str, Vector]:
    """1. a share to everybody; what came of those who are there."""
    me.spend("sum")  # from here on the budget is spent
    own, *shares = BYTES.split_vector(x, len(me.parties), me.rng)
    for other, share in zip(me.others, shares, strict=True):
        me.send(other, Part(share))
    got = await me.collect(me.others, Part) if p.patient else await _all_of(me)
    return {me.name: own, **{name: part.x for name, part in got.items()}}


async def _all_of(me: Endpoint) -> dict[str, Part]:
    return dict(zip(me.others, await me.gather(me.others, Part), strict=True))


async def add_up(me: Endpoint, p: Sums, parts: dict[str, Vector]) -> Vector:
    """2. and 3. say whose shares are there, hear the others, and publish."""
    members = sum(1 << j for j, name in enumerate(me.parties) if name in parts)
    me.broadcast(me.others, Heard(members))
    await me.collect(me.others, Heard)
    y = BYTES.add_vectors(*parts.values())
    me.publish(Total(y, members))
    return y


async def party(me: Endpoint, p: Sums, x: Vector) -> Vector:
    """P_j with numbers x below 256."""
    parts = await me.stage(split, p, x, name="share")
    return await me.stage(add_up, p, parts, name="count")


def inputs(p: Sums, unknown: Unknown) -> dict[str, tuple[Any, ...]]:
    """Everybody's numbers."""
    parties = enumerate(p.parties, start=1)
    return {name: (p, tuple(unknown(f"x_{j}({i})", 8) for i in range(1, p.numbers + 1))) for j, name in parties}


PROGRAM = Program(
    "toy-sum", 1, {PARTY: party}, (Part, Heard, Total), (), Sums, participants=lambda p: dict.fromkeys(p.parties, PARTY)
)


def toy(role: Role = party, *, patient: bool = True, seed: int = 1) -> Setup:
    """Three parties, each with its name's number; all play this role."""
    p = Sums(("P1", "P2", "P3"), patient)
    program = replace(PROGRAM, roles={PARTY: role})
    return start(program, p, inputs(p, lambda name, bits: sum(name.encode()) % 256), seed)
