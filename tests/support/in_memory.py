"""A carrier over a relay in this process: for trials of many sites in one program."""

from __future__ import annotations

import time
from collections.abc import Sequence

from smc_dp.deploy.frame import Frame, Lane
from smc_dp.deploy.relay_store import RelayStore

_LOOKS = 0.005  # seconds between two looks


class InMemoryCarrier:
    """One site's way to a `RelayStore`; with `everything` it also brings the mail between others."""

    def __init__(self, relay: RelayStore, name: str, *, everything: bool = False) -> None:
        self._relay, self._name, self._everything = relay, name, everything
        self._positions: dict[bytes, int] = {}
        self._at = 0

    def send(self, frames: Sequence[Frame]) -> None:
        """As `Carrier`."""
        for frame in frames:
            self._relay.put(frame)

    def fetch(self, seconds: float) -> list[Frame]:
        """As `Carrier`."""
        until = time.monotonic() + seconds
        while True:
            found = self._relay.since(self._at, self._name, everything=self._everything)
            if found or time.monotonic() >= until:
                break
            time.sleep(_LOOKS)
        self._positions.update((frame.digest, at) for at, frame in found)
        return [frame for _, frame in found]

    def taken(self, frames: Sequence[Frame]) -> None:
        """As `Carrier`."""
        self._at = max([self._at, *(self._positions.pop(frame.digest, 0) for frame in frames)])

    def last(self, to: str, lane: Lane) -> Frame | None:
        """As `Carrier`."""
        return self._relay.last(self._name, to, lane)

    def close(self) -> None:
        """As `Carrier`; the relay stays."""
