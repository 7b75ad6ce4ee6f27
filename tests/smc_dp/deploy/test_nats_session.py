"""A whole study over a real nats-server: three parties and Charlie, with short test keys."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from support.organisations import organisations, wait_until
from support.relays import PARTIES, NatsRelay, joint_study, ready, relay, served, study_text, without_server

from protocols.curator import CURATOR_NAME
from smc_dp.audit.run.checks import audit_run
from smc_dp.deploy.join import Part, take_part
from smc_dp.deploy.nats.provision import provision_relay
from smc_dp.deploy.study import JointStudy
from smc_dp.privacy.ledger.ledger import Ledger

RELAY_HOST = "10.77.0.1"
_PREFIX = 24


@cache
def can_make() -> bool:
    """Whether this process may make network namespaces, and bridges in them."""
    if shutil.which("ip") is None or os.geteuid() != 0:
        return False
    name = f"smc-probe-{os.getpid()}"
    commands = (f"ip netns add {name}", f"ip -n {name} link add br0 type bridge")
    done = [subprocess.run(command.split(), capture_output=True, check=False).returncode for command in commands]
    subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
    return done == [0, 0]


without_namespaces = pytest.mark.skipif(
    not can_make(),
    reason="network namespaces cannot be made here (wanted root, and iproute2)",
)


@dataclass(frozen=True)
class Networks:
    """One namespace for the relay and one for each site."""

    prefix: str
    sites: tuple[str, ...]

    def inside(self, name: str | None) -> tuple[str, ...]:
        """What comes before a command that runs at this site, or at the relay."""
        return ("ip", "netns", "exec", self.space(name))

    def space(self, name: str | None) -> str:
        return f"{self.prefix}-{'relay' if name is None else self.sites.index(name)}"

    def host(self, name: str) -> str:
        """The address of a site."""
        return f"10.77.0.{self.sites.index(name) + 2}"


@contextmanager
def networks(sites: Sequence[str], *, isolated: bool = True) -> Iterator[Networks]:
    """A wire from each site to the relay's bridge, which hands on nothing from one wire to another if `isolated`."""
    made = Networks(f"smc{os.getpid()}{'' if isolated else 'x'}", tuple(sites))
    try:
        bridge = made.space(None)
        _ip(f"netns add {bridge}")
        _ip(f"-n {bridge} link add br0 type bridge")
        _ip(f"-n {bridge} address add {RELAY_HOST}/{_PREFIX} dev br0")
        for device in ("lo", "br0"):
            _ip(f"-n {bridge} link set {device} up")
        for n, name in enumerate(sites):
            space = made.space(name)
            _ip(f"netns add {space}")
            _ip(f"link add wire{n} netns {bridge} type veth peer name eth0 netns {space}")
            _ip(f"-n {bridge} link set wire{n} master br0 up")
            if isolated:
                _ip(f"-n {bridge} link set wire{n} type bridge_slave isolated on")
            _ip(f"-n {space} address add {made.host(name)}/{_PREFIX} dev eth0")
            for device in ("lo", "eth0"):
                _ip(f"-n {space} link set {device} up")
        yield made
    finally:
        for space in (made.space(None), *map(made.space, sites)):
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)


def _ip(words: str) -> None:
    done = subprocess.run(["ip", *words.split()], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {words}: {done.stderr}"


pytestmark = without_server
SITES = (*PARTIES, CURATOR_NAME)
NORTH, SOUTH = PARTIES[:2]


def play(running: NatsRelay, folder: Path) -> list[Part]:
    """Everybody takes part, in a thread each."""
    with ThreadPoolExecutor(len(SITES)) as pool:
        files = {name: ready(folder / name, name, running.study) for name in SITES}
        for name in SITES:
            shutil.copytree(running.site(name), folder / name / "credentials")
        found = pool.map(lambda name: take_part(folder / name / "study.toml", files[name], lambda line: None), SITES)
        return list(found)


def test_every_site_makes_the_same_release_and_settles_its_own_book(tmp_path: Path) -> None:
    with relay(tmp_path) as running:
        parts = play(running, tmp_path)
    assert [(part.name, part.end, part.why.on_screen()) for part in parts] == [(name, "released", "") for name in SITES]
    rows = [None if part.compared is None else part.compared.rows for part in parts]
    assert rows == [None, 25, 30, None]  # the first has too few to say anything, Charlie none
    for file in ("release.json", "transcript.jsonl"):
        assert len({(part.out / file).read_bytes() for part in parts}) == 1
    for name in PARTIES:
        with Ledger.open(tmp_path / name / f"{name}.ledger") as ledger:
            assert [entry.state for entry in ledger.history().entries] == ["limit", "reserved", "released"]


# Each site in a network of its own, from which only the relay can be reached.

LISTENER = "import socket; s = socket.create_server(('0.0.0.0', 7777)); print(flush=True); s.accept()"
CALLER = "import socket, sys; socket.create_connection((sys.argv[1], 7777), 1)"
LISTENS = "0A"
JOIN = "smc-dp join study.toml --key {0}.key --ledger {0}.ledger --policy own.toml --data rows.csv --out run"
SERVE = "smc-dp serve study.toml --key charlie.key --out run"
AT_HOME = " --credentials credentials --counters counters"


def reaches(found: Networks, one: str, other: str | None) -> bool:
    """Whether a program at one place can connect to one at another, a site or the relay."""
    host = RELAY_HOST if other is None else found.host(other)
    with subprocess.Popen([*found.inside(other), sys.executable, "-c", LISTENER], stdout=subprocess.PIPE) as listener:
        assert listener.stdout is not None
        listener.stdout.readline()
        call = [*found.inside(one), sys.executable, "-c", CALLER, host]
        done = subprocess.run(call, capture_output=True, check=False)
        listener.kill()
    return done.returncode == 0


def listening(process: int) -> set[str]:
    """The sockets that wait for connections in the network of a process, once it has one of its own."""
    place = Path(f"/proc/{process}")
    with suppress(OSError):  # it is over
        if (place / "ns" / "net").readlink() == Path("/proc/self/ns/net").readlink():
            return set()
        tables = ((place / "net" / kind).read_text().splitlines()[1:] for kind in ("tcp", "tcp6"))
        return {line.split()[1] for table in tables for line in table if line.split()[3] == LISTENS}
    return set()


@without_namespaces
@pytest.mark.slow
def test_sites_cannot_reach_each_other_and_a_bridge_that_hands_on_would_let_them() -> None:
    with networks(SITES[:2]) as found:
        assert [reaches(found, NORTH, None), reaches(found, NORTH, SOUTH), reaches(found, SOUTH, NORTH)] == [
            *(True, False, False)
        ]
    with networks(SITES[:2], isolated=False) as twin:
        assert reaches(twin, NORTH, SOUTH)


@without_namespaces
@pytest.mark.slow
def test_a_study_needs_no_other_way_than_each_sites_own_to_the_relay(tmp_path: Path) -> None:
    study = joint_study(f"tls://{RELAY_HOST}:4222")
    provision_relay(study, tmp_path / "kit")
    with networks(SITES) as found, organisations(tmp_path / "sites", (*SITES, "relay")) as places:
        server = served(tmp_path / "kit" / "operator", found.inside(None))
        places["relay"].started["relay"] = server
        opening = f"smc-dp study open study.toml --provisioning-kit {tmp_path / 'kit'}"
        (places["relay"].folder / "study.toml").write_text(study_text(study.relay))
        places["relay"].run(f"{' '.join(found.inside(None))} {opening}")
        lines = {name: line_of(found, name) for name in SITES}
        for name, line in lines.items():
            put(places[name].folder, name, study, tmp_path / "kit" / "sites" / name)
            places[name].start(line)
        running = [places[name].started[line] for name, line in lines.items()]
        heard: set[str] = set()

        def over() -> bool:
            heard.update(*(listening(site.pid) for site in running))
            return all(site.poll() is not None for site in running)

        wait_until(over)
        assert heard == set()
        assert listening(server.pid) != set()
        ends = {name: places[name].ended(line) for name, line in lines.items()}
        assert ends == dict.fromkeys(SITES, 0), [places[name].said for name in SITES]
    runs = [tmp_path / "sites" / name / "run" for name in SITES]
    assert len({(run / "transcript.jsonl").read_bytes() for run in runs}) == 1
    report = audit_run(runs[0])
    assert [finding for finding in report.findings if finding.outcome.status == "failed"] == []


def line_of(found: Networks, name: str) -> str:
    """How this site takes part, in its own network."""
    return f"{' '.join(found.inside(name))} {(SERVE if name == CURATOR_NAME else JOIN.format(name)) + AT_HOME}"


def put(folder: Path, name: str, study: JointStudy, credentials: Path) -> None:
    """What the site has at home, in the folder of its programs."""
    ready(folder / "made", name, study)
    for path in (folder / "made").iterdir():
        path.rename(folder / path.name)
    shutil.copytree(credentials, folder / "credentials")
