"""Four parties and Charlie, each a process of the operating system with a folder of its own, over a real nats-server.

One of them is killed and goes on, another is killed and never returns.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest
from support.organisations import CHARGED_ONCE, ROOT, Organisation, entries, organisations, wait_until
from support.relays import free_port, served, without_server

from protocols.arithmetic.rng import Stream
from smc_dp.audit.run.checks import audit_run
from smc_dp.deploy.approval import RANDOM_BYTES, Approval
from smc_dp.deploy.nats.connection import relay_address
from smc_dp.deploy.nats.provision import open_study, provision_relay
from smc_dp.deploy.study import JointStudy
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.run import identities

pytestmark = [without_server, pytest.mark.slow]
PARTIES = ("north", "south", "west", "east")
SITES = (*PARTIES, "charlie")
KILLED, GONE = "south", "east"
BOUNDS = '[label]\nclasses = ["no", "yes"]\ncolumn = "back"\n[columns]\nage = [18, 100]\ndays = [0, 30]\n'
TERMS = """\
data = "rows.csv"
[limits]
max_epsilon = 1
max_delta = 1e-5
min_parties = 3
min_colluders = 1
[relay]
credentials = "credentials"
"""
JOIN = "smc-dp join study.toml --key {0}.key --ledger {0}.ledger --policy own.toml"
SERVE = "smc-dp serve study.toml --key charlie.key --credentials credentials --out run"
OF_THE_MACHINE = ("/usr/", "/lib", "/dev/null", "/etc/", "/proc/meminfo")  # libc asks for the size of the memory
INSTALLED = (*OF_THE_MACHINE, *(os.path.realpath(place) for place in (sys.prefix, sys.base_prefix, ROOT)))
"""What every program of the machine reads, and this one."""


@dataclass
class Seen:
    """What was seen of one process: the files that it had open, the folder that it stood in, its variables, and the
    ports at the other ends of its sockets, 0 where it listens.
    """

    files: set[str] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)
    ports: set[int] = field(default_factory=set)

    def look(self, process: int) -> None:
        """Look at it now; it may be gone."""
        place = Path(f"/proc/{process}")
        with suppress(OSError):
            self.variables |= set(filter(None, (place / "environ").read_text().split("\0")))
            self.files.add(os.readlink(place / "cwd"))
            for link in (place / "fd").iterdir():
                with suppress(OSError):
                    self.files.add(os.readlink(link))
            for line in (Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()).splitlines():
                _, _, other, _, *more = line.split()
                if f"socket:[{more[5]}]" in self.files:
                    self.ports.add(int(other.rpartition(":")[2], 16))


def in_common(seen: Mapping[str, Seen], libraries: Iterable[str]) -> Iterator[str]:
    """What two of them have both, but for what everybody reads of the machine."""
    shared = tuple(libraries)
    for (one, first), (other, second) in combinations(seen.items(), 2):
        for file in first.files & second.files:
            if file.startswith("/") and not file.startswith(shared):
                yield f"{one} and {other} have {file}"
        for variable in first.variables & second.variables:
            yield f"{one} and {other} have {variable}"


@dataclass(frozen=True)
class Played:
    """A study that is over: where, and what was seen of each process while it went on."""

    sites: Mapping[str, Organisation]
    study: JointStudy
    seen: Mapping[str, Seen]
    relay: Seen


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    with organisations(tmp_path_factory.mktemp("sites"), (*SITES, "relay")) as found:
        relay = found.pop("relay")
        study = agreed(found, relay)
        provision_relay(study, relay.folder / "kit")
        for name in SITES:
            shutil.move(relay.folder / "kit" / "sites" / name, found[name].folder / "credentials")
        relay.started["relay"] = served(relay.folder / "kit" / "operator")
        of_relay = Seen()
        try:
            open_study(study, relay.folder / "kit")
            of_relay.look(relay.started["relay"].pid)
            seen = play(found)
        finally:
            relay.kill("relay")
        yield Played(found, study, seen, of_relay)


def agreed(found: Mapping[str, Organisation], relay: Organisation) -> JointStudy:
    """Every site has its key, rows, book, terms, the study and its approval of it."""
    charlie = found["charlie"]
    for name in SITES:
        _, public, _ = identities.create_identity(found[name].folder, name, Stream.from_system())
        if name != "charlie":
            shutil.copy(public, charlie.folder)
    (charlie.folder / "bounds.toml").write_text(BOUNDS)
    charlie.run(
        "smc-dp study new --out study.toml --title Readmission --purpose trial --curator charlie.pub "
        f"{' '.join(f'--party {name}.pub' for name in PARTIES)} --bounds bounds.toml --method newton --colluders 1 "
        f"--dropouts 1 --most-rows 1000 --greetings 60s --messages 10s --relay tls://127.0.0.1:{free_port()}"
    )
    study = JointStudy.read(charlie.folder / "study.toml")
    for number, name in enumerate(SITES):
        folder = found[name].folder
        key = identities.read_identity(folder / f"{name}.key")
        approval = Approval.made(study, name, key, Stream.from_system().bytes(RANDOM_BYTES))
        (folder / f"study.{name}.approval").write_bytes(approval.encode())
        if name in PARTIES:
            shutil.copy(charlie.folder / "study.toml", folder)
            (folder / "own.toml").write_text(TERMS)
            (folder / "rows.csv").write_text(rows(number, 300 - 40 * number))
            Ledger.create(folder / f"{name}.ledger", Fraction(2), Fraction(1, 1000)).close()
    return study


def rows(number: int, count: int) -> str:
    """Rows that show at which site a cell was: the days have digits of its own."""
    cells = (f"{20 + i % 75},{i % 30}.{number}{i:06},{'yes' if i % 30 > 12 else 'no'}" for i in range(count))
    return "\n".join(["age,days,back", *cells]) + "\n"


def play(found: Mapping[str, Organisation]) -> dict[str, Seen]:
    """All take part; one is killed in the middle of the session for good, then one that goes on."""
    command = {name: SERVE if name == "charlie" else JOIN.format(name) for name in SITES}
    seen = {name: Seen() for name in SITES}

    def look() -> bool:
        for name, site in found.items():
            for process in site.started.values():
                seen[name].look(process.pid)
        return str(found[GONE].stands().get("stage", "")).startswith("sum")

    for name, site in found.items():
        site.start(command[name])
    wait_until(look)
    found[GONE].kill(command[GONE])
    assert found[GONE].stands().get("end") is None
    found[KILLED].kill(command[KILLED])
    assert found[KILLED].stands().get("end") is None
    found[KILLED].start(command[KILLED])
    wait_until(lambda: look() and found["charlie"].started[SERVE].poll() is not None)
    for name in set(SITES) - {GONE}:
        assert found[name].ended(command[name]) == 0, found[name].said
    return seen


def releases(played: Played) -> dict[str, Path]:
    """Where each site that came to the end has its run folder."""
    found = {n: played.sites[n].folder / f"study.{n}.state" / "run" for n in PARTIES if n != GONE}
    return found | {"charlie": played.sites["charlie"].folder / "run"}


def test_the_processes_have_no_file_no_folder_and_no_variable_in_common(played: Played) -> None:
    assert list(in_common(played.seen, INSTALLED)) == []
    for name, site in played.sites.items():
        state = site.folder / f"study.{name}.state" / "site.db"
        assert {str(state), str(site.folder)} <= played.seen[name].files
        assert {f"HOME={site.folder}"} <= played.seen[name].variables


def test_each_site_connects_to_the_relay_alone_and_listens_nowhere(played: Played) -> None:
    _, port = relay_address(played.study.relay)
    assert {name: seen.ports for name, seen in played.seen.items()} == {name: {port} for name in SITES}
    assert 0 in played.relay.ports


def test_a_file_that_two_processes_have_open_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "common").touch()
    seen = {"one": Seen(), "other": Seen()}
    for name, found in seen.items():
        command = ["/bin/sh", "-c", "exec sleep 60 < common"]
        process = subprocess.Popen(command, cwd=tmp_path, env={"HOME": name, "KEY": "the same"})
        # The kernel names the new programme a moment before it has laid out its variables.
        wait_until(lambda process=process: Path(f"/proc/{process.pid}/cmdline").read_bytes().startswith(b"sleep"))  # type: ignore[misc]
        wait_until(lambda process=process: b"KEY=" in Path(f"/proc/{process.pid}/environ").read_bytes())  # type: ignore[misc]
        found.look(process.pid)
        process.kill()
        process.wait()
    said = " ".join(in_common(seen, OF_THE_MACHINE))
    assert f"one and other have {tmp_path / 'common'}" in said
    assert "one and other have KEY=the same" in said
    assert "HOME" not in said


def test_no_key_and_no_cell_is_in_the_folder_of_another(played: Played) -> None:
    for number, name in enumerate(PARTIES):
        secret = (played.sites[name].folder / f"{name}.key").read_bytes().strip()
        cell = f".{number}000007,".encode()
        assert cell in (played.sites[name].folder / "rows.csv").read_bytes()
        for other in set(SITES) - {name}:
            content = b"".join(p.read_bytes() for p in played.sites[other].folder.rglob("*") if p.is_file())
            assert secret not in content
            assert bytes.fromhex(secret.decode()) not in content
            assert cell not in content


def test_everybody_who_stayed_has_the_same_release_and_the_record_passes(played: Played) -> None:
    folders = releases(played)
    for file in ("release.json", "transcript.jsonl"):
        assert len({(folder / file).read_bytes() for folder in folders.values()}) == 1
    pinned = played.sites["north"].folder / "identities.json"
    pinned.write_text(json.dumps({name: key.hex() for name, key in played.study.identities.items()}))
    report = audit_run(folders["north"], identities=pinned)
    assert [finding for finding in report.findings if finding.outcome.status == "failed"] == []
    assert report.passed


def test_everybody_is_charged_once_and_who_vanished_stays_charged(played: Played) -> None:
    for name in PARTIES:
        found = entries(played.sites[name].folder / f"{name}.ledger")
        assert found == (CHARGED_ONCE[:-1] if name == GONE else CHARGED_ONCE)
