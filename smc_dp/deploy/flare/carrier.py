"""The way of one site to the relay inside FLARE's server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from smc_dp.deploy.flare.wire import FETCH, LAST, LONGEST_WAIT, SEND, heaps, parcel, several, written
from smc_dp.deploy.frame import MOST_BYTES, Lane, Parcel

Ask: TypeAlias = Callable[[str, bytes, float], bytes]
"""Topic, request, seconds until a question without any progress counts as lost -> answer; raises CarrierError."""

_PATIENCE = 30.0


class FlareCarrier:
    """A `Carrier` through the job that FLARE runs for this site; who asks and for which study, the relay knows.

    `most_bytes`: of a parcel; a longer one is not decoded, and left out as if the relay had lost it.
    """

    def __init__(self, ask: Ask, most_bytes: int = MOST_BYTES) -> None:
        self._ask, self._most = ask, most_bytes
        self._places: dict[bytes, int] = {}
        self._at = 0

    def send(self, parcels: Sequence[Parcel]) -> None:
        """As `Carrier`."""
        for heap in heaps(parcels):
            self._ask(SEND, heap, _PATIENCE)

    def fetch(self, seconds: float) -> list[Parcel]:
        """As `Carrier`."""
        wait = min(seconds, LONGEST_WAIT)
        answer = self._ask(FETCH, written([self._at, round(wait * 1000)]), _PATIENCE + wait)
        parts = several(answer, int, bytes)
        came = [(at, data) for at, data in zip(parts[::2], parts[1::2], strict=True) if len(data) <= self._most]
        if parts and not came:  # nothing else has come, and these need not come again
            self._at = max(parts[::2])
        found = [parcel(data) for _, data in came]
        self._places.update(zip((one.digest for one in found), (at for at, _ in came), strict=True))
        return found

    def taken(self, parcels: Sequence[Parcel]) -> None:
        """As `Carrier`."""
        self._at = max([self._at, *(self._places.pop(one.digest, 0) for one in parcels)])

    def last(self, to: str, lane: Lane) -> Parcel | None:
        """As `Carrier`."""
        found = several(self._ask(LAST, written([to, lane]), _PATIENCE), bytes)
        return parcel(found[0]) if found else None

    def close(self) -> None:
        """As `Carrier`; the job is FLARE's to end."""
