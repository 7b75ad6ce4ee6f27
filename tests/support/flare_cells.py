"""Cells of NVIDIA FLARE on this machine, with our jobs at both ends. FLARE's environment loads it once.

The job at the server and the jobs at the sites are those of `smc_dp.deploy.flare`. Their messages go from cell to cell
over TCP, as FLARE brings them. Its engine, its certificates and its check of tokens are not there.
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from nvflare.apis.signal import Signal
from nvflare.fuel.f3.cellnet.cell import Cell
from nvflare.fuel.f3.cellnet.fqcn import FQCN
from nvflare.fuel.f3.streaming import stream_utils
from nvflare.fuel.sec.authn import set_add_auth_headers_filters

from smc_dp.deploy.flare.relay import RelayController
from smc_dp.deploy.flare.site import asks
from smc_dp.deploy.relay_wire import LONGEST_WAIT
from support.relay_carriers import listens, serve

JOB = "job"
_PATIENCE = LONGEST_WAIT + 5.0  # seconds for an answer of a relay that may be dead


def started(port: str, *name: str) -> Cell:
    """A cell of this name: that of the server listens on the port, and others call it there."""
    cell = Cell(fqcn=FQCN.join([*name]), root_url=f"tcp://localhost:{port}", secure=False, credentials={})
    cell.start()
    return cell


def engine_of(cell: Cell, local: Path) -> Any:
    """What our jobs ask of FLARE's engine."""
    workspace = SimpleNamespace(get_site_config_dir=lambda: str(local))
    engine = SimpleNamespace(get_cell=lambda: cell, get_workspace=lambda: workspace, server=None)
    return SimpleNamespace(get_engine=lambda: engine, get_job_id=lambda: JOB)


class Jobs:
    """Jobs of all sites. Each asks the relay what the carrier of its site, in another process, asks it."""

    def __init__(self, port: str, sites: list[str]) -> None:
        self._asks = {}
        for site in sites:
            started(port, site)
            cell = started(port, site, JOB)
            set_add_auth_headers_filters(cell, site, "", "")
            self._asks[site] = asks(engine_of(cell, Path()), Signal())

    def answer(self, site: str, topic: str, request: bytes) -> bytes:
        """Return the relay's answer to a site."""
        return self._asks[site](topic, request, _PATIENCE)


def main() -> None:
    """Run the relay of a study with this folder of its own, or the jobs of its sites."""
    stream_utils.sid_base = time.time_ns() // 1000  # what the relay sends has no numbers of one that was killed
    kind, port, folder, *rest = sys.argv[1:]
    if kind == "relay":
        started(port, FQCN.ROOT_SERVER)
        controller = RelayController(*rest)
        controller.start_controller(engine_of(started(port, FQCN.ROOT_SERVER, JOB), Path(folder)))
        threading.Event().wait()
    while not listens(port):  # a cell that finds nobody there calls again seconds later
        time.sleep(0.05)
    serve(Path(folder) / "socket", Jobs(port, rest))
