"""The codec one value at a time, with a CBOR library: what the fast one must agree with, bytes and refusals alike."""

from __future__ import annotations

from typing import Any

import cbor2

from protocols.errors import DecodeError, LocalError
from protocols.runtime import message as codec
from protocols.runtime.message import Keys, Layout, Message


def encode(message: Message, layout: Layout, keys: Keys) -> bytes:
    """The canonical bytes of plain fields; raises `LocalError` for a value that does not fit."""
    items: list[Any] = []
    for slot in message.slots:
        value, width = getattr(message, slot.name), layout[slot.protection.width]
        if slot.count is not None and len(value) != layout[slot.count]:
            raise LocalError("message.another_number_of_values")
        items.append(b"".join(_packed(x, slot, width) for x in (value if slot.count is not None else (value,))))
    return cbor2.dumps(items, canonical=True)


def decode(kind: type[Message], data: bytes, layout: Layout, keys: Keys) -> Message:
    """The message; raises `DecodeError` unless a parser finds it, and writing it again gives the same bytes."""
    try:
        items = cbor2.loads(data)
    except (cbor2.CBORError, ValueError, TypeError, OverflowError, MemoryError) as error:
        raise DecodeError("message.no_cbor", why=str(error)) from None
    if not isinstance(items, list) or len(items) != len(kind.slots):
        raise DecodeError("message.no_array")
    values: dict[str, Any] = {}
    for slot, item in zip(kind.slots, items, strict=True):
        width = layout[slot.protection.width]
        count = layout[slot.count] if slot.count is not None else 1
        if type(item) is not bytes or len(item) != count * width:
            raise DecodeError("message.no_byte_string")
        pieces = [item[i * width : (i + 1) * width] for i in range(count)]
        read = [piece if slot.type is bytes else int.from_bytes(piece, "big") for piece in pieces]
        if slot.type is bool and any(number > 1 for number in read):
            raise DecodeError("message.not_a_bit")
        values[slot.name] = tuple(read) if slot.count is not None else read[0]
    if cbor2.dumps(items, canonical=True) != data:
        raise DecodeError("message.not_canonical")
    return kind(**values)


def _packed(value: Any, slot: codec.FieldSpec, width: int) -> bytes:
    if slot.type is bytes:
        if not isinstance(value, bytes) or len(value) != width:
            raise LocalError("message.wanted_bytes")
        return value
    most = 2 if slot.type is bool else 1 << (8 * width)
    if not isinstance(value, int) or not 0 <= value < most:
        raise LocalError("integer.too_large")
    return int(value).to_bytes(width, "big")
