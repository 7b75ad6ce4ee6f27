"""What a site and the relay inside FLARE's server write to each other: a topic and bytes of our own, both ways.

So neither side is handed an object that FLARE decoded; who asks, FLARE says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import cbor2

from smc_dp.core.errors import InputError, InputFault
from smc_dp.deploy.frame import CarrierError, Parcel

CHANNEL = "smc_dp"
SEND, FETCH, LAST = TOPICS = ("send", "fetch", "last")
TASK = "take_part"
CODE = "smc_dp_code"
DONE, STOPPED, REFUSED, FAILED = CODES = ("done", "stopped", "refused", "failed")
"""Under the name `CODE` a site tells the job how its part ended: one of these, never a text."""
LONGEST_WAIT = 5.0
"""Seconds for which the relay keeps a question for new parcels open."""
HEAP_BYTES = 4 << 20
"""Parcels travel in heaps of about this size; a larger one travels alone."""
_MALFORMED = InputFault("relay.malformed_message")


def written(parts: Sequence[object]) -> bytes:
    """An array of numbers, texts and bytes."""
    return cbor2.dumps(list(parts))


def several(data: bytes, *kinds: type) -> list[Any]:
    """The array, whose parts are of these kinds, over and over; CarrierError for anything else."""
    try:
        parts = cbor2.loads(data, max_depth=1, allow_indefinite=False)
        fits = isinstance(parts, list) and len(parts) % len(kinds) == 0
        if fits and all(_is(kinds[i % len(kinds)], part) for i, part in enumerate(parts)):
            return list(parts)
    except (cbor2.CBORError, ArithmeticError, LookupError, TypeError, ValueError):
        pass
    raise CarrierError(_MALFORMED)


def _is(kind: type, part: object) -> bool:
    """Whether it is of this kind, and a number one that a store can hold."""
    return type(part) is kind and not (isinstance(part, int) and not 0 <= part < 1 << 63)


def row(data: bytes, *kinds: type) -> list[Any]:
    """The array of one part of each kind; CarrierError for anything else."""
    if len(parts := several(data, *kinds)) != len(kinds):
        raise CarrierError(_MALFORMED)
    return parts


def parcel(data: bytes) -> Parcel:
    """The parcel in these bytes; CarrierError if it is none."""
    try:
        return Parcel.decode(data)
    except InputError as error:
        raise CarrierError(error.fault) from None


def heaps(parcels: Sequence[Parcel]) -> Iterator[bytes]:
    """These parcels in their order, so many in an array as fit."""
    heap: list[bytes] = []
    for data in (parcel.encode() for parcel in parcels):
        if heap and sum(map(len, heap)) + len(data) > HEAP_BYTES:
            yield written(heap)
            heap = []
        heap.append(data)
    if heap:
        yield written(heap)
