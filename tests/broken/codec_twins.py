"""Codecs that read more than they write, or write more than they should."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cbor2

from protocols.runtime import state
from protocols.runtime.message import Layout


def loose_decode(kind: type[Any], data: bytes, layout: Layout) -> Any:
    """Takes what a CBOR parser takes: second forms, tags, trailing bytes."""
    values = [[int.from_bytes(x, "big") for x in v] if isinstance(v, list) else v for v in cbor2.loads(data)]
    return kind(*(int.from_bytes(v, "big") if isinstance(v, bytes) else tuple(v) for v in values))


def tight_encode(message: Any, layout: Layout) -> bytes:
    """Integers as CBOR has them: as long as they need to be, so that size tells of the value."""
    return cbor2.dumps([getattr(message, slot.name) for slot in message.slots])


def loose_load(data: bytes, records: Sequence[type[Any]]) -> Any:
    """Reads a state without writing it again."""
    return state._value(cbor2.loads(data), {record.__name__: record for record in records})
