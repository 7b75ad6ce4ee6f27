"""Sites and a relay that are processes of their own and die by SIGKILL, begun anew until all is over. A program:

    python killed.py FOLDER < runs.json

where `runs.json` holds for each run the places to die at; what each run left behind is printed as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any

from smc_dp.deploy.relay_carrier import RelayCarrier
from smc_dp.deploy.relay_service import RelayService
from smc_dp.deploy.relay_store import RelayStore
from support import sites
from support.dying import DyingBusiness, DyingCarrier, DyingRelay, DyingStore, Fate
from support.relay_carriers import asks, serve
from support.sites import AtHand, Sites

_LOOKS = 0.01
_PATIENCE = 5.0
_RELAY = "relay"


def take_part(here: AtHand, address: Path, fate: Fate) -> None:
    """The program of one site."""
    way = RelayCarrier(asks(address, here.name))
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
    programs[_RELAY] = lambda: serve(
        address, RelayService(study.digest, DyingRelay(fate, kept), {name: name for name in study.names})
    )
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
