"""Bytes of messages: those of a CBOR library, one value at a time."""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Any

import cbor2
import pytest

from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.errors import DecodeError, LocalError
from protocols.runtime import message as codec
from protocols.runtime.message import PARTY, Message, Times, message, public
from tests.support.refusals import refused

WIDTHS = (1, 2, 3, 4, 5, 8, 16, 23, 24, 255, 256)
COUNTS = (0, 1, 2, 3, 23, 24, 25, 255, 256, 1000)


@message("1", PARTY >> PARTY)
class Numbers(Message):
    """Integers before and after other fields."""

    one: Annotated[int, public("width")]
    many: Annotated[Vector, public("width"), Times("count")]
    texts: Annotated[tuple[bytes, ...], public("text"), Times("texts")]
    bits: Annotated[tuple[bool, ...], public("bit"), Times("bits")]
    last: Annotated[Vector, public("width"), Times("count")]


class Five(IntEnum):
    """An integer of another class."""

    FIVE = 5


def layout(width: int, count: int) -> dict[str, int]:
    return {"width": width, "count": count, "text": width + 1, "texts": count % 7, "bit": 1, "bits": 3}


def drawn(width: int, count: int, seed: int) -> Numbers:
    rng = Stream.insecure_from_seed(f"bulk {width} {count} {seed}")
    edge = (0, (1 << 8 * width) - 1)

    def numbers() -> tuple[int, ...]:
        return tuple(edge[rng.bits(1)] if not rng.bits(2) else rng.bits(8 * width) for _ in range(count))

    texts = tuple(rng.bytes(width + 1) for _ in range(count % 7))
    return Numbers(rng.bits(8 * width), numbers(), texts, (True, False, True), numbers())


def written_out(sent: Numbers, width: int) -> bytes:
    """A byte string for each field, of numbers that are as long as each other."""

    def numbers(values: tuple[int, ...], size: int) -> bytes:
        return b"".join(x.to_bytes(size, "big") for x in values)

    fields = (numbers((sent.one,), width), numbers(sent.many, width), b"".join(sent.texts), numbers(sent.bits, 1))
    return cbor2.dumps([*fields, numbers(sent.last, width)], canonical=True)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_same_bytes_and_values_as_one_at_a_time(width: int) -> None:
    for count in COUNTS:
        sent, given = drawn(width, count, 1), layout(width, count)
        data = codec.encode(sent, given, {})
        assert data == written_out(sent, width)
        assert len(data) == codec.size(Numbers, given)
        assert codec.decode(Numbers, data, given, {}) == sent


@pytest.mark.parametrize(("width", "count"), [(1, 3), (8, 24), (5, 4), (24, 2)])
def test_what_is_read_has_those_bytes(width: int, count: int) -> None:
    """Every byte of a message changed in every bit: it is refused, or read as what has these bytes."""
    given = layout(width, count)
    data = codec.encode(drawn(width, count, 2), given, {})
    taken = 0
    for place in range(len(data)):
        for bit in range(8):
            other = bytearray(data)
            other[place] ^= 1 << bit
            try:
                read = codec.decode(Numbers, bytes(other), given, {})
            except DecodeError:
                continue
            taken += 1
            assert written_out(read, width) == other
    assert 0 < taken < 8 * len(data)
    for cut in (data[:-1], data + b"\0", b"\x9f" + data[1:] + b"\xff"):
        with pytest.raises(DecodeError):
            codec.decode(Numbers, cut, given, {})


@pytest.mark.parametrize("wrong", [-1, 1 << 64, 1.0, "1", b"1", None, 1 << 200])
@pytest.mark.parametrize("place", [0, 1, 7])
def test_a_number_that_does_not_fit_is_refused_wherever_it_stands(wrong: Any, place: int) -> None:
    numbers: list[Any] = list(range(8))
    numbers[place] = wrong
    sent = Numbers(1, tuple(numbers), (b"123456789",), (True, True, True), tuple(range(8)))
    given = layout(8, 8)
    with refused("integer.too_large", error=LocalError, bits=64):
        codec.encode(sent, given, {})


def test_integers_of_other_classes_are_integers() -> None:
    made = [Numbers(1, many, (b"12",) * 3, (True,) * 3, many) for many in ((True, Five.FIVE, 7), (1, 5, 7))]
    one, other = (codec.encode(sent, layout(1, 3), {}) for sent in made)
    assert one == other


@pytest.mark.parametrize("place", range(6))
def test_heads_that_are_not_due_are_refused(place: int) -> None:
    """That of the array, and that of each field."""
    given = layout(8, 3)
    data = bytearray(codec.encode(drawn(8, 3, 3), given, {}))
    at = [0, 1, 10, 36, 65, 69][place]
    data[at] ^= 1
    with refused("message.not_canonical", error=DecodeError):
        codec.decode(Numbers, bytes(data), given, {})
