"""What it costs to send and to read a letter here and now: real ones between many parties and Charlie."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Annotated, Any

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.curator import CURATOR_NAME, parties_and_curator
from protocols.runtime.channel import GREETING
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import CURATOR, PARTY, Message, Times, message, public
from protocols.runtime.session import Program
from protocols.runtime.simulate import simulate
from smc_dp.aggregation import participants

_PARTIES, _LINES, _COLUMNS, _BLOBS = 40, 6, 4, 8
_WORDS, _WORD, _BLOB = 10_000, 8, 1 << 19
_HEADER = 200  # bytes


@dataclass(frozen=True)
class LetterPrices:
    """Seconds: of a letter sent, of one received, of a byte and a value in each; of a signed post; of beginning, with a
    greeting; of one end of a link.
    """

    sent: float
    received: float
    out_byte: float
    in_byte: float
    out_value: float
    in_value: float
    posted: float
    greeting: float
    link: float

    def out(self, size: float, values: int) -> float:
        """To encode, seal and record a letter."""
        return self.sent + self.out_byte * size + self.out_value * values

    def opened(self, size: float) -> float:
        """To open a letter."""
        return self.received + self.in_byte * size

    def read(self, values: int) -> float:
        """To read what is in it."""
        return self.in_value * values


@message("1", PARTY >> CURATOR)
class ShortLetter(Message):
    """A byte."""

    x: Annotated[int, public("byte")]


@message("2", PARTY >> CURATOR)
class LongLetter(Message):
    """Many numbers."""

    x: Annotated[tuple[int, ...], public("word"), Times("words")]


@message("3", PARTY >> CURATOR)
class BytesLetter(Message):
    """Many bytes."""

    x: Annotated[bytes, public("blob")]


@dataclass(frozen=True)
class Writers:
    """Parties who write to Charlie."""

    parties: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The parameters as plain values."""
        return {"parties": list(self.parties)}

    def layout(self) -> dict[str, int]:
        """The widths, and how many numbers there are."""
        return {"byte": 1, "word": _WORD, "words": _WORDS, "blob": _BLOB}


_LINE = ShortLetter(1)
_OF_ALL = (("links", 1), ("lines", _LINES))
_OF_THE_FIRST: tuple[tuple[str, int, Message], ...] = (
    ("columns", _COLUMNS, LongLetter((1 << 63,) * _WORDS)),
    ("blobs", _BLOBS, BytesLetter(bytes(_BLOB))),
)


async def _tell(me: Endpoint, count: int, letter: Message) -> None:
    for _ in range(count):
        me.send(me.curator, letter)


async def _hear(me: Endpoint, count: int, senders: tuple[str, ...], kind: type[Message]) -> None:
    for _ in range(count):
        await me.gather(senders, kind)


async def _party(me: Endpoint, p: Writers) -> None:
    for name, count in _OF_ALL:
        await me.stage(_tell, count, _LINE, name=name)
    for name, count, letter in () if me.index else _OF_THE_FIRST:
        await me.stage(_tell, count, letter, name=name)


async def _curator(me: Endpoint, p: Writers) -> None:
    for name, count in _OF_ALL:
        await me.stage(_hear, count, p.parties, ShortLetter, name=name)
    for name, count, letter in _OF_THE_FIRST:
        await me.stage(_hear, count, p.parties[:1], type(letter), name=name)


WRITERS = Program(
    "writers", 1, {PARTY: _party, CURATOR: _curator}, (ShortLetter, LongLetter, BytesLetter), (), Writers,
    participants=parties_and_curator,
)  # fmt: skip
"""Parties who each write a few lines to Charlie, and one of them long letters too: as cold as in a run of many."""


def letter_prices() -> LetterPrices:
    """All of them, in less than half a second."""
    rng, p = Stream.from_system(), Writers(tuple(f"P{j}" for j in range(1, _PARTIES + 1)))
    taking_part = participants(WRITERS, p, rng)
    session = taking_part.session
    seeds = {name: rng.fork(f"seed {name}") for name in session.names}
    spent = simulate(session, taking_part.identities, seeds, dict.fromkeys(session.names, (p,))).clock.seconds
    (links, _), (lines, count) = _OF_ALL
    begun, first, more = (median(spent[stage][name] for name in p.parties[1:]) for stage in (GREETING, links, lines))
    sign, read = _signing(rng), sum(spent[stage][CURATOR_NAME] for stage in (GREETING, links, lines))
    sent = (more - sign) / (count + 1)  # the end of a stage is signed, and recorded
    link = max(0.0, first - 2 * sent - sign)
    received = max(0.0, (read - begun) / _PARTIES - link) / (count + 1)  # mail may be opened a stage early
    (out_columns, in_columns), (out_blob, in_blob) = (
        tuple(spent[stage][name] / count for name in (p.parties[0], CURATOR_NAME)) for stage, count, _ in _OF_THE_FIRST
    )
    out_byte, in_byte = max(0.0, out_blob - sent) / _BLOB, max(0.0, in_blob - received) / _BLOB
    size = _WORDS * (_WORD + 1)
    out_values, in_values = out_columns - sent - out_byte * size, in_columns - received - in_byte * size
    return LetterPrices(
        sent, received, out_byte, in_byte, max(0.0, out_values) / _WORDS, max(0.0, in_values) / _WORDS,
        sent + sign, begun, link,
    )  # fmt: skip


def _signing(rng: Stream) -> float:
    me = Identity.generate(rng)
    return seconds_of(lambda: me.sign(bytes(_HEADER)))


def seconds_of(work: Callable[[], Any], budget: float = 0.03, least: int = 3) -> float:
    """Processor seconds of one call, the mean of as many as fit into the budget, and of at least so many."""
    work()
    begun, count = time.process_time(), 0
    while count < least or time.process_time() - begun < budget:
        work()
        count += 1
    return (time.process_time() - begun) / count
