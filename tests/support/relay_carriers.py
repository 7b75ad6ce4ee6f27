"""Carriers to a relay of tests: in this process, or behind a socket in one that can be killed; and what passes on."""

from __future__ import annotations

import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import cbor2
from typing_extensions import override

from smc_dp.deploy.frame import Carrier, CarrierError, Frame, Lane
from smc_dp.deploy.relay_carrier import Ask, RelayCarrier
from smc_dp.deploy.relay_service import RelayService
from smc_dp.deploy.relay_store import RelayStore


class InMemoryCarrier(RelayCarrier):
    """One participant's way to a relay in this process."""

    def __init__(self, relay: RelayStore, name: str, study: str) -> None:
        self.relay = relay
        service = RelayService(study, relay, {name: name})
        self.ask: Ask = lambda topic, request, seconds: service.answer(name, topic, request)
        super().__init__(self.ask)


class PassingCarrier(Carrier):
    """Hands on whatever it is asked; what stands between a site and its relay is one with something else to do."""

    def __init__(self, inner: Carrier) -> None:
        self.inner = inner

    @override
    def send(self, frames: Sequence[Frame]) -> None:
        self.inner.send(frames)

    @override
    def fetch(self, seconds: float) -> list[Frame]:
        return self.inner.fetch(seconds)

    @override
    def taken(self, frames: Sequence[Frame]) -> None:
        self.inner.taken(frames)

    @override
    def last(self, to: str, lane: Lane) -> Frame | None:
        return self.inner.last(to, lane)

    @override
    def close(self) -> None:
        self.inner.close()


def listens(port: str) -> bool:
    """Tell whether somebody listens on a port."""
    with suppress(OSError), socket.create_connection(("localhost", int(port)), 1):
        return True
    return False


def asks(address: Path, name: str) -> Ask:
    """How a participant asks a relay behind a socket: one question, one answer, one connection."""

    def ask(topic: str, request: bytes, seconds: float) -> bytes:
        try:
            with socket.socket(socket.AF_UNIX) as line:
                line.settimeout(seconds)
                line.connect(str(address))
                line.sendall(cbor2.dumps([name, topic, request]))
                line.shutdown(socket.SHUT_WR)
                answer: bytes = cbor2.loads(_all_of(line))
                return answer
        except (OSError, cbor2.CBORError):
            raise CarrierError("the relay does not answer") from None

    return ask


def serve(address: Path, service: RelayService) -> None:
    """Answer whoever asks, for ever."""
    with socket.socket(socket.AF_UNIX) as door:
        address.unlink(missing_ok=True)
        door.bind(str(address))
        door.listen(16)
        while True:
            line, _ = door.accept()
            threading.Thread(target=_answer, args=[line, service], daemon=True).start()


def _answer(line: socket.socket, service: RelayService) -> None:
    asked: list[Any] = cbor2.loads(_all_of(line))
    with line:
        try:
            line.sendall(cbor2.dumps(service.answer(*asked)))
        except (OSError, CarrierError):
            return


def _all_of(line: socket.socket) -> bytes:
    return b"".join(iter(partial(line.recv, 1 << 20), b""))
