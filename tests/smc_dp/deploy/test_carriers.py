"""Every carrier does what `CarrierSuite` says: in memory, over NATS, and from cell to cell of a real FLARE."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest
from support import relays, sites
from support.carrier_suite import ENDURING, CarrierSuite, RunningRelay
from support.flare_sites import environment
from support.organisations import loaded, until
from support.pages import ROOT, write_program
from support.relay_carriers import InMemoryCarrier, asks, listens
from support.relays import free_port, without_server

from smc_dp.deploy import carriers
from smc_dp.deploy.carriers import find_carrier
from smc_dp.deploy.flare.provision import flare_names
from smc_dp.deploy.flare.templates import relay_settings_toml
from smc_dp.deploy.frame import MOST_FRAME_BYTES, Carrier, CarrierError
from smc_dp.deploy.join import open_carrier
from smc_dp.deploy.relay_carrier import RelayCarrier
from smc_dp.deploy.relay_service import RelayService
from smc_dp.deploy.relay_store import RelayStore
from smc_dp.deploy.study import JointStudy
from tests.support.refusals import refused


@dataclass
class RelayInMemory:
    """A relay of ours in this process; its frames are on the disk."""

    folder: Path
    study: JointStudy = field(default_factory=lambda: sites.joint(ENDURING))

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self.start()

    def carrier(self, name: str, patience: float = 2.0, most_bytes: int = MOST_FRAME_BYTES) -> Carrier:
        return RelayCarrier(lambda topic, request, seconds: self.relay.answer(name, topic, request), most_bytes)

    def kill(self) -> None:
        self.store.close()

    def start(self) -> None:
        self.store = RelayStore(self.folder / "frames")
        self.relay = RelayService(self.study.digest, self.store, {name: name for name in self.study.names})


CELLS = f"""
sys.path[:0] = {str(ROOT)!r}, {str(ROOT / "tests")!r}
from support.flare_cells import main
"""


@dataclass
class FlareRelay:
    """The relay of FLARE's job, and the jobs of all sites, in two processes: they ask it from cell to cell."""

    folder: Path
    program: Path
    study: JointStudy = field(default_factory=lambda: sites.joint(ENDURING))
    port: str = field(default_factory=lambda: str(free_port()))

    def __post_init__(self) -> None:
        self.sites = flare_names(self.study)
        own = self.folder / "smc_dp" / self.study.digest
        own.mkdir(parents=True)
        (own / "relay.toml").write_text(relay_settings_toml(self.study, self.sites))
        self.jobs = self.process("jobs", *self.sites)
        self.start()

    def carrier(self, name: str, patience: float = 2.0, most_bytes: int = MOST_FRAME_BYTES) -> Carrier:
        (site,) = (site for site, its in self.sites.items() if its == name)
        return RelayCarrier(asks(self.folder / "socket", site), most_bytes)

    def kill(self) -> None:
        self.relay.kill()
        self.relay.wait()
        until("its end", lambda: not listens(self.port), look=0.005)

    def start(self) -> None:
        self.relay = self.process("relay", self.study.digest)
        for name in self.study.names:  # each calls the relay anew by itself
            for _ in relays.until(60):
                with suppress(CarrierError):
                    self.carrier(name).last(name, "notice")
                    break
                time.sleep(0.05)

    def process(self, kind: str, *rest: str) -> subprocess.Popen[bytes]:
        command, environ = [self.program, kind, self.port, self.folder, *rest], {"HOME": str(self.folder)}
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(command, env=environ, cwd=self.folder, stdout=log, stderr=log)


class TestInMemory(CarrierSuite):
    @contextmanager
    def running(self, folder: Path) -> Iterator[RunningRelay]:
        found = RelayInMemory(folder)
        yield found
        found.kill()


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The program of both processes; what it is made of is loaded once."""
    python, folder = environment(tmp_path_factory.getbasetemp().parent) / "python3", tmp_path_factory.mktemp("cells")
    with loaded(folder / "door", python, CELLS, "main()") as program:
        write_program(folder / "program", program)
        yield folder / "program"


@pytest.mark.slow
class TestFlare(CarrierSuite):
    @pytest.fixture(autouse=True)
    def _program(self, cells: Path) -> None:
        self.program = cells

    @contextmanager
    def running(self, folder: Path) -> Iterator[RunningRelay]:
        found = FlareRelay(folder, self.program)
        try:
            yield found
        finally:
            found.kill()
            found.jobs.kill()
            found.jobs.wait()


@without_server
class TestNats(CarrierSuite):
    @contextmanager
    def running(self, folder: Path) -> Iterator[RunningRelay]:
        with relays.relay(folder, stated=lambda at: sites.joint({**ENDURING, "relay": at})) as found:
            yield found


# Which carrier an address has.


def opened(study: JointStudy, name: str, credentials: Path | None) -> Carrier:
    return InMemoryCarrier(RelayStore(), name, study.digest)


def installed(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """As if other packages had brought carriers of these schemes."""
    points = EntryPoints(EntryPoint(name, f"{__name__}:opened", carriers.GROUP) for name in names)
    monkeypatch.setattr(carriers, "entry_points", lambda **wanted: points.select(**wanted))


def test_a_carrier_of_another_package_goes_to_relays_of_its_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    other = {**sites.LINEAR, "relay": "pigeon://loft.example:1"}
    assert find_carrier("pigeon") is None
    installed(monkeypatch, "pigeon")
    assert isinstance(open_carrier(sites.joint(other), "P1", None), InMemoryCarrier)
    installed(monkeypatch, "pigeon", "pigeon")
    assert find_carrier("pigeon") is None


def test_no_other_package_takes_the_place_of_a_carrier_of_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, "tls", "flare")
    for relay, code in (("tls://relay.example", "relay.no_credentials"), ("flare://relay.example", "relay.of_flare")):
        with refused(code):
            open_carrier(sites.joint({**sites.LINEAR, "relay": relay}), "P1", None)
