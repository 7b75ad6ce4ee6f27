"""Requests of a site to a relay with a store of ours, and the answers: a topic and bytes.

So neither side is handed an object that an engine decoded; the engine says who asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import cbor2

from smc_dp.core.errors import InputError, InputFault
from smc_dp.deploy.frame import CarrierError, Frame

SEND, FETCH, LAST = TOPICS = ("send", "fetch", "last")
LONGEST_WAIT = 5.0
"""Seconds for which the relay keeps a question for new frames open."""
BATCH_BYTES = 4 << 20
"""Most bytes of a batch of frames, about; a larger frame travels alone."""
_MALFORMED = InputFault("relay.malformed_message")


def encode_parts(parts: Sequence[object]) -> bytes:
    """Encode numbers, texts and bytes as one array."""
    return cbor2.dumps(list(parts))


def decode_parts(data: bytes, *kinds: type) -> list[Any]:
    """Decode an array whose parts have these types in turn. CarrierError for any other bytes."""
    try:
        parts = cbor2.loads(data, max_depth=1, allow_indefinite=False)
        fits = isinstance(parts, list) and len(parts) % len(kinds) == 0
        if fits and all(_is(kinds[i % len(kinds)], part) for i, part in enumerate(parts)):
            return list(parts)
    except (cbor2.CBORError, ArithmeticError, LookupError, TypeError, ValueError):
        pass
    raise CarrierError(_MALFORMED)


def _is(kind: type, part: object) -> bool:
    """Return whether a part has this type; a number must fit a store."""
    return type(part) is kind and not (isinstance(part, int) and not 0 <= part < 1 << 63)


def decode_row(data: bytes, *kinds: type) -> list[Any]:
    """Decode an array of one part of each type. CarrierError for any other bytes."""
    if len(parts := decode_parts(data, *kinds)) != len(kinds):
        raise CarrierError(_MALFORMED)
    return parts


def decode_frame(data: bytes) -> Frame:
    """Decode a frame. CarrierError for any other bytes."""
    try:
        return Frame.decode(data)
    except InputError as error:
        raise CarrierError(error.fault) from None


def frame_batches(frames: Sequence[Frame]) -> Iterator[bytes]:
    """Yield frames in their order, in arrays of bounded size."""
    heap: list[bytes] = []
    for data in (frame.encode() for frame in frames):
        if heap and sum(map(len, heap)) + len(data) > BATCH_BYTES:
            yield encode_parts(heap)
            heap = []
        heap.append(data)
    if heap:
        yield encode_parts(heap)
