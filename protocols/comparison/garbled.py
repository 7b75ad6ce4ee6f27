"""The messages of a garbled argmin, in the order they are sent: Charlie evaluates what a party garbles.

Letters as in Chou and Orlandi (2015) and in Ishai, Kilian, Nissim and Petrank (2003): A = x B and R_i = r_i B + Delta_i
A are points, U are the columns by which Charlie's choices reach the garbler.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from protocols.runtime.message import CURATOR, PARTY, Message, Times, masked, message, public

LONGEST_PART = 1 << 22


@message("transfer 0", CURATOR >> PARTY)
class OtKey(Message):
    """Point A with which the oblivious transfers begin, new in each session."""

    A: Annotated[bytes, public("point")]


@message("transfer 1", PARTY >> CURATOR)
class Choices(Message):
    """R_1 ... R_128: the garbler's choices, the bits of Delta, perfectly hidden."""

    R: Annotated[tuple[bytes, ...], public("point"), Times("points")]


@message("transfer 2", CURATOR >> PARTY)
class Extension(Message):
    """U: the evaluator's choices, masked with numbers from the first transfers. The garbler can make half of these."""

    u: Annotated[bytes, masked("extension")]


@message("transfer 3", PARTY >> CURATOR)
class Tables(Message):
    """Part of the garbled gates."""

    part: Annotated[bytes, public("tables part")]


KINDS = (OtKey, Choices, Extension, Tables)


def part_count(total: int) -> int:
    """Return the number of messages for so many bytes: each has at most `LONGEST_PART`."""
    return max(1, -(-total // LONGEST_PART))


def part_bytes(total: int, count: int | None = None) -> int:
    """Return the bytes of each of these messages, or of `count` messages; the last one is padded with zeros."""
    return -(-total // (part_count(total) if count is None else count))


def split_parts(data: bytes, count: int | None = None) -> Iterator[bytes]:
    """Yield the parts, all of one length; `count` of them if given."""
    count = part_count(len(data)) if count is None else count
    width = part_bytes(len(data), count)
    for at in range(0, count * width, width):
        yield data[at : at + width].ljust(width, b"\0")


def join_parts(found: Sequence[bytes], total: int) -> bytes:
    """Return the data that was split, without the padding."""
    return b"".join(found)[:total]
