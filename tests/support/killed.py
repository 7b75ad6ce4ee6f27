"""Sites and a relay that are processes of their own and die by SIGKILL, begun anew until all is over. A program:

    python killed.py FOLDER < runs.json

where `runs.json` holds for each run the places to die at; what each run left behind is printed as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import cbor2

from protocols.curator import CURATOR_NAME
from smc_dp.deploy.frame import Carrier, CarrierError, Frame, Lane
from smc_dp.deploy.relay_store import RelayStore
from support import sites
from support.dying import DyingBusiness, DyingCarrier, DyingRelay, DyingStore, Fate
from support.sites import AtHand, Sites

_LOOKS = 0.01
_PATIENCE = 5.0
_RELAY = "relay"


class SocketCarrier:
    """A site's way to a relay behind a socket: one question, one answer."""

    def __init__(self, address: Path, name: str, *, everything: bool) -> None:
        self._address, self._name, self._everything = address, name, everything
        self._at = 0
        self._positions: dict[bytes, int] = {}

    def send(self, frames: Sequence[Frame]) -> None:
        for frame in frames:
            self._ask("put", frame.encode())

    def fetch(self, seconds: float) -> list[Frame]:
        until = time.monotonic() + seconds
        while not (found := self._ask("since", self._at, self._name, self._everything)) and time.monotonic() < until:
            time.sleep(_LOOKS)
        frames = [Frame.decode(body) for _, body in found]
        self._positions.update((frame.digest, at) for frame, (at, _) in zip(frames, found, strict=True))
        return frames

    def taken(self, frames: Sequence[Frame]) -> None:
        self._at = max([self._at, *(self._positions.pop(frame.digest, 0) for frame in frames)])

    def last(self, to: str, lane: Lane) -> Frame | None:
        found = self._ask("last", self._name, to, lane)
        return None if found is None else Frame.decode(found)

    def close(self) -> None:
        """Nothing stays open."""

    def _ask(self, *said: Any) -> Any:
        try:
            with socket.socket(socket.AF_UNIX) as line:
                line.settimeout(_PATIENCE)
                line.connect(str(self._address))
                line.sendall(cbor2.dumps(said))
                line.shutdown(socket.SHUT_WR)
                return cbor2.loads(_all_of(line))
        except (OSError, cbor2.CBORError):
            raise CarrierError("the relay does not answer") from None


def _all_of(line: socket.socket) -> bytes:
    return b"".join(iter(partial(line.recv, 1 << 16), b""))


def serve(address: Path, store: RelayStore) -> None:
    """Answer whoever asks, for ever."""
    with socket.socket(socket.AF_UNIX) as door:
        address.unlink(missing_ok=True)
        door.bind(str(address))
        door.listen(16)
        while True:
            line, _ = door.accept()
            with line, suppress(OSError):
                line.sendall(cbor2.dumps(_answer(store, *cbor2.loads(_all_of(line)))))


def _answer(store: RelayStore, what: str, *said: Any) -> Any:
    if what == "put":
        store.put(Frame.decode(*said))
        return None
    if what == "since":
        at, name, everything = said
        return [[place, frame.encode()] for place, frame in store.since(at, name, everything=everything)]
    last = store.last(*said)
    return None if last is None else last.encode()


def take_part(here: AtHand, address: Path, fate: Fate) -> None:
    """The program of one site."""
    way: Carrier = SocketCarrier(address, here.name, everything=here.name == CURATOR_NAME)
    store = here.store(partial(DyingStore, fate))
    business = DyingBusiness(here.name, fate, here.business())
    going = here.participation(
        store,
        DyingCarrier(fate, way),
        business,
        clock=lambda: sites.NOON,  # nobody is late, however busy the machine is
        sleep=lambda seconds: time.sleep(_LOOKS),
    )
    end = going.run()
    if end != "released":
        raise AssertionError(f"{here.name}: {end}, {store.facts()}")


def begun(program: Callable[[], None]) -> int:
    """A process of its own for this."""
    child = os.fork()
    if child == 0:
        try:
            program()
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
    return child


def one_run(folder: Path, places: Collection[str]) -> dict[str, Any]:
    """Everybody is begun anew whenever they die; what they leave."""
    study = sites.joint(sites.LINEAR)
    given = sites.approvals(study)
    at = {name: AtHand(study, name, folder / name, given[name]).prepared() for name in study.names}
    address, kept, met = folder / "relay.socket", folder / "relay.db", folder / "met"
    met.mkdir()
    fate = Fate(places, met, lambda: os.kill(os.getpid(), signal.SIGKILL))
    programs: dict[str, Callable[[], None]] = {
        name: partial(take_part, here, address, fate) for name, here in at.items()
    }
    programs[_RELAY] = lambda: serve(address, DyingRelay(fate, kept))
    going = {begun(program): name for name, program in programs.items()}
    try:
        while set(going.values()) != {_RELAY}:
            child, status = os.wait()
            name = going.pop(child)
            if os.WIFSIGNALED(status):
                going[begun(programs[name])] = name
            elif os.WEXITSTATUS(status):
                raise AssertionError(f"{name} did not come to its end")
    finally:
        for child in going:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return {
        "frames": [p.encode().hex() for _, p in RelayStore(kept).since(0, "", everything=True, most=1 << 20)],
        "releases": {name: here.release.read_text() for name, here in at.items()},
        "entries": [at[name].entries() for name in study.parties],
        "deaths": fate.deaths(),
    }


def main() -> None:
    """All runs, one after the other."""
    folder, runs = Path(sys.argv[1]), json.load(sys.stdin)
    Sites(sites.joint(sites.LINEAR), folder / "loaded").run().close()  # so that no process has to import by itself
    left = []
    for number, places in enumerate(runs):
        own = folder / str(number)
        own.mkdir()
        left.append(one_run(own, places))
    json.dump(left, sys.stdout)


if __name__ == "__main__":
    main()
