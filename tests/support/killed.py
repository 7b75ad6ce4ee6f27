"""Sites and a relay that are processes of their own and die by SIGKILL, begun anew until all is over. A program:

    python killed.py FOLDER [flower] < runs.json

where `runs.json` holds for each run the places to die at; what each run left behind is printed as JSON. With `flower`
the relay gives turns, as Flower's ServerApp does, and the sites have sockets.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from typing_extensions import override

from smc_dp.deploy.flower.app.smc_dp_flower.turns import TurnRelay, decode_turn
from smc_dp.deploy.flower.carrier import FlowerCarrier
from smc_dp.deploy.frame import Carrier, Frame
from smc_dp.deploy.relay_carrier import RelayCarrier
from smc_dp.deploy.relay_service import RelayService
from smc_dp.deploy.relay_store import RelayStore
from smc_dp.deploy.study import JointStudy
from support import sites
from support.dying import KEPT, PUT, DyingBusiness, DyingCarrier, DyingRelay, DyingStore, Fate
from support.flower_turns import give_turns
from support.relay_carriers import asks, serve
from support.sites import AtHand, Sites

_LOOKS = 0.01
_PATIENCE = 5.0
_PAUSE = 0.1
_RELAY = "relay"
Ways: TypeAlias = Callable[[str], Carrier]
Kept: TypeAlias = Callable[[], list[Frame]]
Over: TypeAlias = Callable[[Path, JointStudy, Fate], tuple[Callable[[], None], Ways, Kept]]


def take_part(here: AtHand, way: Callable[[], Carrier], fate: Fate) -> None:
    """The program of one site."""
    store = here.store(partial(DyingStore, fate))
    business = DyingBusiness(here.name, fate, here.business())
    going = here.participation(
        store,
        DyingCarrier(fate, way()),
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


class DyingTurns(TurnRelay):
    """Dies before and after it stores the frames of a turn."""

    def __init__(self, fate: Fate, path: Path, names: Sequence[str]) -> None:
        self._fate = fate
        super().__init__(str(path), names, _PAUSE)

    @override
    def take(self, name: str, answer: bytes) -> None:
        frames = [Frame.decode(data) for data in decode_turn(answer)[1]] if answer else []
        self._fate.of(frames, PUT)
        super().take(name, answer)
        self._fate.of(frames, KEPT)


def over_sockets(folder: Path, study: JointStudy, fate: Fate) -> tuple[Callable[[], None], Ways, Kept]:
    """A relay that answers whoever asks, the ways of sites there, and how to read what it has."""
    address, kept = folder / "relay.socket", folder / "relay.db"
    service = partial(RelayService, study.digest, sites={name: name for name in study.names})
    return (
        lambda: serve(address, service(store=DyingRelay(fate, kept))),
        lambda name: RelayCarrier(asks(address, name)),
        lambda: [frame for _, frame in RelayStore(kept).since(0, "", everything=True, most=1 << 20)],
    )


def over_turns(folder: Path, study: JointStudy, fate: Fate) -> tuple[Callable[[], None], Ways, Kept]:
    """A relay that calls the sites' sockets in turns, as under Flower."""
    lines = {name: folder / f"{name}.line" for name in study.names}
    for line in lines.values():
        line.mkdir(mode=0o700)

    def kept() -> list[Frame]:
        with closing(sqlite3.connect(folder / "frames")) as relay:
            return [Frame.decode(data) for (data,) in relay.execute("SELECT frame FROM frames ORDER BY position")]

    return (
        lambda: give_turns(DyingTurns(fate, folder / "frames", study.names), lines, lambda: False),
        lambda name: FlowerCarrier(lines[name], longest=0.01),
        kept,
    )


def one_run(folder: Path, over: Over, places: Collection[str]) -> dict[str, Any]:
    """Everybody is begun anew whenever they die; what they leave."""
    study = sites.joint(sites.LINEAR)
    given = sites.approvals(study)
    at = {name: AtHand(study, name, folder / name, given[name]).prepared() for name in study.names}
    met = folder / "met"
    met.mkdir()
    fate = Fate(places, met, lambda: os.kill(os.getpid(), signal.SIGKILL))
    relay, way, kept = over(folder, study, fate)
    programs: dict[str, Callable[[], None]] = {
        name: partial(take_part, here, partial(way, name), fate) for name, here in at.items()
    }
    programs[_RELAY] = relay
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
        "frames": [frame.encode().hex() for frame in kept()],
        "releases": {name: here.release.read_text() for name, here in at.items()},
        "entries": [at[name].entries() for name in study.parties],
        "deaths": fate.deaths(),
    }


def main() -> None:
    """All runs, one after the other."""
    folder, runs, over = Path(sys.argv[1]), json.load(sys.stdin), over_turns if sys.argv[2:] else over_sockets
    Sites(sites.joint(sites.LINEAR), folder / "loaded").run().close()  # so that no process has to import by itself
    left = []
    for number, places in enumerate(runs):
        own = folder / str(number)
        own.mkdir()
        left.append(one_run(own, over, places))
    json.dump(left, sys.stdout)


if __name__ == "__main__":
    main()
