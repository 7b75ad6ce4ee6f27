"""Relay of one study. Each site fetches its own frames and those for all, and hands in only its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping

from protocols.curator import CURATOR_NAME
from smc_dp.deploy.frame import LANES, CarrierError, Frame
from smc_dp.deploy.relay_store import RelayStore
from smc_dp.deploy.relay_wire import (
    BATCH_BYTES,
    FETCH,
    LAST,
    LONGEST_WAIT,
    SEND,
    decode_frame,
    decode_parts,
    decode_row,
    encode_parts,
)

_AT_ONCE = 16  # frames read from the store at a time: one may be large
_WAITING = 32  # questions that are kept open at a time: FLARE, the only engine with a limit, answers from 64 threads


class RelayService:
    """Relay of one study; `sites` maps an engine's names to participants.

    The curator builds the transcript, so it also gets the envelopes between others.
    """

    def __init__(self, study: str, store: RelayStore, sites: Mapping[str, str]) -> None:
        self._study, self._store, self._sites = study, store, sites
        self._news = threading.Condition()
        self._places = threading.BoundedSemaphore(_WAITING)
        self._open = True

    def answer(self, site: str, topic: str, request: bytes) -> bytes:
        """Return the answer to a site's request. CarrierError for what the site may not ask."""
        name = self._sites.get(site)
        if name is None:
            raise CarrierError("relay.unknown_site", site=site)
        if topic == SEND:
            return self._take(name, [decode_frame(data) for data in decode_parts(request, bytes)])
        if topic == FETCH:
            return self._hand_on(name, *decode_row(request, int, int))
        if topic == LAST:
            return self._look_up(name, *decode_row(request, str, str))
        raise CarrierError("relay.unknown_topic", topic=topic)

    def close(self) -> None:
        """End all open requests."""
        with self._news:
            self._open = False
            self._news.notify_all()

    def _take(self, name: str, frames: list[Frame]) -> bytes:
        for one in frames:
            if one.study != self._study or one.sender != name:
                raise CarrierError("relay_frame.of_another", name=name)
        for one in frames:
            self._store.put(one)
        with self._news:
            self._news.notify_all()
        return encode_parts([])

    def _hand_on(self, name: str, at: int, milliseconds: int) -> bytes:
        until = time.monotonic() + min(milliseconds / 1000, LONGEST_WAIT)
        with self._news:
            found = self._heap(name, at)
            if not found and self._places.acquire(blocking=False):
                try:
                    while not found and self._open and (left := until - time.monotonic()) > 0:
                        self._news.wait(left)
                        found = self._heap(name, at)
                finally:
                    self._places.release()
        return encode_parts(found)

    def _heap(self, name: str, at: int) -> list[int | bytes]:
        found: list[int | bytes] = []
        size = 0
        while rows := self._store.since(at, name, everything=name == CURATOR_NAME, most=_AT_ONCE):
            for at, one in rows:
                data = one.encode()
                if found and size + len(data) > BATCH_BYTES:
                    return found
                found += [at, data]
                size += len(data)
        return found

    def _look_up(self, name: str, to: str, lane: str) -> bytes:
        if lane not in LANES:
            raise CarrierError("relay.unknown_lane", lane=lane)
        one = self._store.last(name, to, lane)
        return encode_parts([] if one is None else [one.encode()])
