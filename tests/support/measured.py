"""What a study costs each of its sites over a carrier, in processor seconds and bytes: to hold against one process.

All sites are on this machine and take part from their own files: over memory as threads of one process, over
nats-server (`over_nats`) as processes of their own. Loading the program and drawing up the study do not count.
"""

from __future__ import annotations

import csv
import importlib
import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from protocols.curator import CURATOR_NAME
from smc_dp.cli.main import main
from smc_dp.data.sources import dataset
from smc_dp.data.table import Table
from smc_dp.deploy.frame import Carrier, Frame
from smc_dp.deploy.join import OpenCarrier, SiteFiles, open_carrier, take_part
from smc_dp.deploy.nats.provision import open_study, provision_relay
from smc_dp.deploy.relay_carrier import RelayCarrier
from smc_dp.deploy.relay_service import RelayService
from smc_dp.deploy.relay_store import RelayStore
from smc_dp.deploy.study import JointStudy
from support.relay_carriers import PassingCarrier
from support.relays import free_port, served, wait_for

ROOT = Path(__file__).parents[2]
BOUNDS = ROOT / "smc_dp" / "data" / "breast_cancer.toml"
METHODS: Mapping[str, tuple[str, ...]] = {
    "prr_mean": ("--method", "prr_mean", "--lambda", "0.1"),
    "newton": ("--method", "newton", "--colluders", "1"),
}


@dataclass(frozen=True)
class SiteCost:
    """Of one site in one study. `seconds` are of the processor; bytes are those of frames."""

    name: str
    end: str
    seconds: float
    sent: int
    received: int
    sends: int
    fetches: int


class Counted(PassingCarrier):
    """A carrier that counts what goes through it."""

    def __init__(self, carrier: Carrier) -> None:
        super().__init__(carrier)
        self.sent = self.received = self.sends = self.fetches = 0

    def send(self, frames: Sequence[Frame]) -> None:
        self.sends += bool(frames)
        self.sent += sum(len(frame.encode()) for frame in frames)
        super().send(frames)

    def fetch(self, seconds: float) -> list[Frame]:
        found = super().fetch(seconds)
        self.fetches += 1
        self.received += sum(len(frame.encode()) for frame in found)
        return found


def drawn_up(folder: Path, method: str, parties: int, relay: str) -> tuple[Path, dict[str, SiteFiles]]:
    """A study that all have approved, and each one's files, which nobody else has."""
    folder.mkdir(parents=True)
    data = dataset("breast_cancer", parties=parties).as_read
    names = [f"site-{j}" for j in range(1, parties + 1)]
    command("identities", "new", str(folder / "ids"), *names)
    keys = json.loads((folder / "ids" / "identities.json").read_text())
    chosen = [word for name in names for word in ("--party", f"{name}={keys[name]}")]
    chosen += ["--curator", keys[CURATOR_NAME], "--bounds", str(BOUNDS), "--relay", relay]
    study = folder / "study.toml"
    command("study", "new", "--out", str(study), *chosen, "--title", "T", "--purpose", "research", *METHODS[method])
    files = {}
    for name, table in zip((*names, CURATOR_NAME), (*data.values(), None), strict=True):
        files[name] = at_home(folder / name, study, folder / "ids" / f"{name}.key", table)
    return study, files


def at_home(home: Path, study: Path, key: Path, table: object) -> SiteFiles:
    """The folder of a site, with its approval."""
    home.mkdir()
    policy = home / "own.toml"
    policy.write_text("[limits]\nmax_epsilon = 10\nmax_delta = 1e-4\n")
    own = {"state": home / "state", "counters": home / "counters", "out": home / "run"}
    if isinstance(table, Table):
        with (home / "rows.csv").open("w", newline="") as file:
            csv.writer(file).writerows([table.columns, *zip(*map(table.texts, table.columns), strict=True)])
        command("ledger", "init", str(home / "own.ledger"), "--budget", "10", "--delta", "1e-3")
        found = SiteFiles(key, policy, home / "rows.csv", home / "own.ledger", **own)
    else:
        found = SiteFiles(key, **own)
    command("study", "approve", str(study), "--key", str(key), *(("--policy", str(policy)) if found.policy else ()))
    return found


def command(*words: str) -> None:
    with redirect_stdout(io.StringIO()):
        code = main(list(words))
    if code:
        raise RuntimeError(f"{' '.join(words)} ended with {code}")


def part(study_file: Path, files: SiteFiles, carrier: OpenCarrier, clock: Callable[[], float]) -> SiteCost:
    """One site's whole part, timed by this clock."""
    opened: list[Counted] = []

    def counted(study: JointStudy, name: str, credentials: Path | None) -> Carrier:
        opened.append(Counted(carrier(study, name, credentials)))
        return opened[0]

    start = clock()
    ended = take_part(study_file, files, lambda line: None, counted)
    (way,) = opened
    return SiteCost(ended.name, ended.end, clock() - start, way.sent, way.received, way.sends, way.fetches)


def over_memory(folder: Path, method: str, parties: int) -> tuple[float, list[SiteCost]]:
    """Seconds by the clock on the wall, and each site's cost."""
    study, files = drawn_up(folder, method, parties, "nats://127.0.0.1:1")
    agreed, relay, found = JointStudy.read(study), RelayStore(), list[SiteCost]()
    service = RelayService(agreed.digest, relay, {name: name for name in agreed.names})

    def carrier(study: JointStudy, name: str, credentials: Path | None) -> Carrier:
        return RelayCarrier(lambda topic, request, seconds: service.answer(name, topic, request))

    def whole(own: SiteFiles) -> None:
        try:
            found.append(part(study, own, carrier, time.thread_time))
        except BaseException:
            relay.close()  # or the others wait for ever
            raise

    threads = [threading.Thread(target=whole, args=[own]) for own in files.values()]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - start
    relay.close()
    return seconds, sorted(found, key=lambda cost: list(files).index(cost.name))


def over_nats(folder: Path, method: str, parties: int) -> tuple[float, list[SiteCost]]:
    """As `over_memory`, with a nats-server and a process for each site."""
    study_file, files = drawn_up(folder, method, parties, f"tls://127.0.0.1:{free_port()}")
    study = JointStudy.read(study_file)
    provision_relay(study, folder / "kit")
    server = served(folder / "kit" / "operator")
    with ExitStack() as stack:
        stack.callback(server.wait)
        stack.callback(server.kill)
        wait_for(study)
        open_study(study, folder / "kit")
        sites = [stack.enter_context(process(study_file, name, own, folder / "kit")) for name, own in files.items()]
        for site in sites:
            line(site)  # everything is loaded
        start = time.perf_counter()
        for site in sites:
            print("go", file=site.stdin, flush=True)
        found = [SiteCost(**json.loads(line(site))) for site in sites]
        return time.perf_counter() - start, found


def line(site: subprocess.Popen[str]) -> str:
    found = "" if site.stdout is None else site.stdout.readline()
    if not found:
        raise RuntimeError(f"a site ended with {site.wait()}")
    return found


def process(study_file: Path, name: str, files: SiteFiles, kit: Path) -> subprocess.Popen[str]:
    """A process that has loaded everything and waits for a word."""
    stated = {k: None if v is None else str(v) for k, v in vars(files).items()}
    stated["credentials"] = str(kit / "sites" / name)
    words = [sys.executable, "-m", "support.measured", str(study_file), json.dumps(stated)]
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "tests")))
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def loaded(study_file: Path) -> None:
    """Load what a site loads when it first needs it."""
    for name in ("dp_accounting.pld", "encodings.idna", "nats", "scipy.stats", "sklearn.linear_model", "ssl"):
        importlib.import_module(name)
    if not JointStudy.read(study_file).agreement().statement.plain_words():
        raise RuntimeError("a study states nothing")


def alone(study_file: Path, stated: Mapping[str, str | None]) -> None:
    """What such a process does."""
    given = {field.name: stated[field.name] for field in fields(SiteFiles)}
    files = SiteFiles(**{name: None if path is None else Path(path) for name, path in given.items()})  # type: ignore[arg-type]
    loaded(study_file)
    print("ready", flush=True)
    sys.stdin.readline()
    cost = part(study_file, files, open_carrier, time.process_time)
    print(json.dumps(asdict(cost)), flush=True)


if __name__ == "__main__":
    alone(Path(sys.argv[1]), json.loads(sys.argv[2]))
