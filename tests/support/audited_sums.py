"""Protocols without keys, for tests of audits: additive shares of a sum mod 2**8; and runs of them as folders."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from protocols.arithmetic.ring import Ring, Vector
from protocols.curator import CURATOR_NAME, parties_and_curator
from protocols.programs import Protocol
from protocols.runtime.claims import Claim, Hygiene, Model, Unknown
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import CURATOR, PARTY, PUBLIC, Message, Times, message, public, shared
from protocols.runtime.protocol import Limits
from protocols.runtime.session import Greeting, Program
from protocols.runtime.simulate import Run
from smc_dp.audit.run import checks
from smc_dp.audit.run.check import CheckOutcome
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.report import audit_evidence
from smc_dp.run.agreement import SEEDED
from smc_dp.run.documents import RELEASE_FORMAT
from smc_dp.run.release import RELEASE, SHARES, TRANSCRIPT
from support.audited import Folders
from support.sessions import Setup, start

# A curator who adds up.

BYTES = Ring(8)
PARTIES, NUMBERS = ("P1", "P2", "P3"), 2


@message("1", PARTY >> CURATOR)
class Part(Message):
    """A share of the sender's numbers."""

    x: Annotated[Vector, shared("byte"), Times("numbers")]


@message("2", (PARTY >> PUBLIC) | (CURATOR >> PUBLIC))
class Sum(Message):
    """The sender's share of the sum."""

    y: Annotated[Vector, public("byte"), Times("numbers")]


@dataclass(frozen=True)
class Sums:
    """Parties by name, and how many numbers each has."""

    parties: tuple[str, ...]
    numbers: int

    @classmethod
    def from_dict(cls, stated: Mapping[str, Any]) -> Sums:
        return cls(tuple(stated["parties"]), stated["numbers"])

    def as_dict(self) -> dict[str, Any]:
        return {"parties": list(self.parties), "numbers": self.numbers}

    def layout(self) -> dict[str, int]:
        return {"byte": 1, "numbers": self.numbers}


async def split(me: Endpoint, mine: Vector) -> None:
    own, other = BYTES.split_vector(mine, 2, me.rng)
    me.send(me.curator, Part(other))
    me.publish(Sum(own))


async def add_up(me: Endpoint) -> None:
    me.publish(Sum(BYTES.add_vectors(*(part.x for part in await me.gather(me.parties, Part)))))


async def party(me: Endpoint, p: Sums, mine: Vector) -> None:
    await me.stage(split, mine)


async def curator(me: Endpoint, p: Sums) -> None:
    await me.stage(add_up)


def inputs(p: Sums, unknown: Unknown) -> dict[str, tuple[Any, ...]]:
    made = {name: (p, tuple(unknown(f"x_{name}({i})", 8) for i in range(p.numbers))) for name in p.parties}
    return {**made, CURATOR_NAME: (p,)}


def agrees(p: Sums, given: Mapping[str, tuple[Any, ...]], published: Mapping[str, Sum]) -> bool:
    total = BYTES.add_vectors(*(share.y for share in published.values()))
    return total == BYTES.add_vectors(*(given[name][1] for name in p.parties))


HYGIENE = Hygiene(40, lambda p: (), (), lambda p: (8, 0), agrees, lambda p: 8)
MODEL = Model(lambda p: p, inputs, (), lambda p: (), lambda K: Sums(PARTIES, 1), lambda p, j: {}, HYGIENE)
PROGRAM = Program("sums", 1, {PARTY: party, CURATOR: curator}, (Part, Sum), (), Sums, participants=parties_and_curator)
KEYLESS = Protocol(PROGRAM, MODEL, Claim({}, ()), Limits({"numbers": 8}, 5, None))


# Its sibling without a curator: everybody shares with everybody, and says a word in its greeting.


@message("0", PARTY >> PUBLIC)
class Word(Message):
    """A number that everybody may know."""

    word: Annotated[int, public("byte")]


@message("1", PARTY >> PARTY)
class Piece(Message):
    """A share of the sender's numbers."""

    x: Annotated[Vector, shared("byte"), Times("numbers")]


@message("2", PARTY >> PUBLIC)
class Column(Message):
    """What a party was given, added up."""

    y: Annotated[Vector, public("byte"), Times("numbers")]


async def exchange(me: Endpoint, mine: Vector) -> None:
    await me.greetings(Word)
    own, *pieces = BYTES.split_vector(mine, len(me.parties), me.rng)
    for other, piece in zip(me.others, pieces, strict=True):
        me.send(other, Piece(piece))
    got = await me.gather(me.others, Piece)
    me.publish(Column(BYTES.add_vectors(own, *(piece.x for piece in got))))


async def equal(me: Endpoint, p: Sums, mine: Vector) -> None:
    await me.stage(exchange, mine)


def of_equals(p: Sums, unknown: Unknown) -> dict[str, tuple[Any, ...]]:
    return {name: (p, tuple(unknown(f"x_{name}({i})", 8) for i in range(p.numbers))) for name in p.parties}


EQUALS = Protocol(
    Program(
        "equals", 1, {PARTY: equal}, (Piece, Column), (), Sums,
        participants=lambda p: dict.fromkeys(p.parties, PARTY),
        greeting=Greeting(Word, lambda p, rng: rng.bits(8), lambda p, name, drawn: Word(drawn)),
    ),
    Model(lambda p: p, of_equals, (), lambda p: (), lambda K: Sums(PARTIES[:K], 1), lambda p, j: {}, HYGIENE),
    Claim({}, ()),
    Limits({"numbers": 8}, 5, None),
)  # fmt: skip


# Its sibling whose curator goes on without whoever is absent.


async def add_up_whatever(me: Endpoint) -> None:
    parts = await me.collect(me.parties, Part)
    me.publish(Sum(BYTES.add_vectors(*(part.x for part in parts.values()))))


async def tolerant_curator(me: Endpoint, p: Sums) -> None:
    await me.stage(add_up_whatever)


TOLERANT = replace(
    KEYLESS, program=replace(PROGRAM, name="tolerant sums", roles={PARTY: party, CURATOR: tolerant_curator})
)
TOYS = {toy.program.name: toy for toy in (KEYLESS, EQUALS, TOLERANT)}


def recorded(
    folder: Path, numbers: int = NUMBERS, parties: tuple[str, ...] = PARTIES, protocol: Protocol = KEYLESS, **how: Any
) -> Folders:
    """A run of the toy as a folder, with its views; the release states nothing, for no method makes one."""
    p = Sums(parties, numbers)
    made: Setup = start(protocol.program, p, protocol.model.inputs(p, lambda name, bits: len(name)))
    done = made.simulate(marks=(SEEDED,), views=True, **how)
    return written(folder, made, done, 256)


def written(folder: Path, made: Setup, done: Run, modulus: int | None) -> Folders:
    """A run as a folder with its views, whatever became of it; the release states nothing.

    Without a modulus nobody publishes shares, and there is no file of them.
    """
    found = Folders(folder / "run", folder / "views")
    found.run.mkdir(parents=True)
    found.views.mkdir()
    (found.run / RELEASE).write_text(json.dumps({"format": RELEASE_FORMAT, "digests": {}}))
    if modulus is not None:
        shares = {name: [str(y) for y in published.y] for name, published in done.published.items()}
        (found.run / SHARES).write_text(json.dumps({"modulus": str(modulus), "fraction_bits": 0, "shares": shares}))
    (found.run / TRANSCRIPT).write_text(done.transcript.dumps())
    for name, view in done.recorded.items():
        (found.views / f"{name}.view").write_bytes(view.dumps(made.session))
    return found


def outcomes(evidence: Evidence) -> dict[str, CheckOutcome]:
    return {f.check.name: f.outcome for f in audit_evidence(evidence, checks.CHECKS).findings}


OF_THE_RELEASE = {"files", "release", "agreed", "cost", "mechanism", "statement", "insecure-markers", "noise", "models"}
