"""Carrier of one site to a relay with a store of ours, over whatever brings a question there and an answer back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from typing_extensions import override

from smc_dp.deploy.frame import MOST_FRAME_BYTES, Carrier, Frame, Lane
from smc_dp.deploy.relay_wire import (
    FETCH,
    LAST,
    LONGEST_WAIT,
    SEND,
    decode_frame,
    decode_parts,
    encode_parts,
    frame_batches,
)

Ask: TypeAlias = Callable[[str, bytes, float], bytes]
"""Topic, request, seconds until a question without any progress counts as lost -> answer; raises CarrierError."""

_PATIENCE = 30.0


class RelayCarrier(Carrier):
    """A `Carrier` to a `RelayService`, which knows who asks and for which study.

    `most_bytes`: of a frame; a longer one is not decoded, and left out as if the relay had lost it.
    """

    def __init__(self, ask: Ask, most_bytes: int = MOST_FRAME_BYTES) -> None:
        self._ask, self._most = ask, most_bytes
        self._positions: dict[bytes, int] = {}
        self._at = 0

    @override
    def send(self, frames: Sequence[Frame]) -> None:
        for heap in frame_batches(frames):
            self._ask(SEND, heap, _PATIENCE)

    @override
    def fetch(self, seconds: float) -> list[Frame]:
        wait = min(seconds, LONGEST_WAIT)
        answer = self._ask(FETCH, encode_parts([self._at, round(wait * 1000)]), _PATIENCE + wait)
        parts = decode_parts(answer, int, bytes)
        came = [(at, data) for at, data in zip(parts[::2], parts[1::2], strict=True) if len(data) <= self._most]
        if parts and not came:  # nothing else has come, and these need not come again
            self._at = max(parts[::2])
        found = [decode_frame(data) for _, data in came]
        self._positions.update(zip((one.digest for one in found), (at for at, _ in came), strict=True))
        return found

    @override
    def taken(self, frames: Sequence[Frame]) -> None:
        self._at = max([self._at, *(self._positions.pop(one.digest, 0) for one in frames)])

    @override
    def last(self, to: str, lane: Lane) -> Frame | None:
        found = decode_parts(self._ask(LAST, encode_parts([to, lane]), _PATIENCE), bytes)
        return decode_frame(found[0]) if found else None

    @override
    def close(self) -> None:
        pass
