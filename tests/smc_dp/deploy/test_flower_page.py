"""HOWTO_FLOWER.md is followed as it is, by organisations with a folder each, over a SuperLink and four SuperNodes."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest
from support.flare_sites import environment as installed
from support.flare_sites import kill, processes_in, until
from support.organisations import Organisation, loaded, organisations
from support.pages import ROOT, blocks, write_program
from support.relay_carriers import listens
from support.relays import free_port, joint_study

from smc_dp.deploy.flower.carrier import SOCKET
from smc_dp.deploy.flower.provision import provision_flower
from smc_dp.privacy.ledger.ledger import Ledger
from tests.smc_dp.deploy.test_operator_page import EVERYBODY, PARTIES, follow, rows, steps

PAGE = (ROOT / "smc_dp" / "deploy" / "HOWTO_FLOWER.md").read_text(encoding="utf-8")
HOST, PORT = "relay.example", "8000"
"""The address of the relay, the one thing on the page that is not taken as it stands, beside SuperNodes' own ports."""
environment = partial(installed, called="Flower", given="SMC_DP_FLOWER", install=["flwr>=1.42,<1.43"])
"""The programs of an environment with Flower, without anything of ours; the variable names one that is there."""
PROGRAMS = ("flwr", "flwr-clientapp", "flwr-serverapp", "flower-superexec", "flower-superlink", "flower-supernode")
LOADS = """
import runpy, time
import alembic.command, httpcore, prompt_toolkit.application, sqlalchemy.orm, uvicorn, yaml
os.environ["FLWR_TELEMETRY_ENABLED"] = "0"
import flwr.cli.install, flwr.common.config
time.sleep = lambda seconds, wait=time.sleep: wait({3: 1, 0.2: 0.5}.get(seconds, seconds))

def run(programs):
    os.environ.update(FLWR_DISABLE_UPDATE_CHECK="1", FLWR_SUPEREXEC_TASK_POLL_INTERVAL="0.5")
    if "PYTHONPATH" in os.environ:
        import sitecustomize
    runpy.run_path(os.path.join(programs, os.path.basename(sys.argv[0])), run_name="__main__")
"""
"""What Flower's programs are made of, and what a pin loads before it is in force; then each program as Python runs it.
A SuperNode looks for messages every three seconds, here more often, and our ServerApp five times a second, here less
often: on a busy machine they would look in vain most of the time.
"""
GOING_ON = ("flower-superlink ", "flower-supernode ", "smc-dp join ", "smc-dp serve ")
REGISTER, RUN, AFTERWARDS = "supernode register", "flwr run", "7. Afterwards"


def test_every_block_of_the_page_is_followed_but_the_installation() -> None:
    found = [block.text.rstrip("\n") for block in blocks(PAGE)]
    followed = {step.text for step in steps(PAGE)}
    assert [text for text in found if text not in followed] == [found[0]]
    assert "pip install" in found[0]


def ended(one: Organisation) -> bool:
    return any(" join " in line or " serve " in line for line in one.started) and all(
        process.poll() is not None for line, process in one.started.items() if "smc-dp" in line
    )


BUNDLE = "smc_dp_flower/client_app.py"
RUN_BUNDLE = """
import hashlib, sys
from pathlib import Path
from flwr.supernode.runtime import run_clientapp  # what a SuperNode starts for each message
content, version = Path(sys.argv[1]).read_bytes(), sys.argv[2]
print(run_clientapp.install_from_fab(content, skip_prompt=True).resolve())
load = run_clientapp.get_load_client_app_fn(default_app_ref="", app_path=None, multi_app=True)
load("smc-dp/smc-dp-flower", version, hashlib.sha256(content).hexdigest())
print(Path(sys.modules["smc_dp_flower.client_app"].__file__).resolve().parents[1])
"""
START = next(line.rpartition("&& ")[0] for line in PAGE.splitlines() if "flower-supernode --superlink" in line)
"""What is done at a node before its SuperNode starts."""


def altered(bundle: Path, to: Path, version: str) -> Path:
    """The same bundle with a line more and another version, whole to Flower."""
    with zipfile.ZipFile(bundle) as old:
        files = {name: old.read(name) for name in old.namelist() if not name.startswith(".info")}
    files[BUNDLE] += b"EVIL = True\n"
    files["pyproject.toml"] = files["pyproject.toml"].replace(b'"1.0.0"', f'"{version}"'.encode())
    listed = [f"{name},{hashlib.sha256(content).hexdigest()},{8 * len(content)}" for name, content in files.items()]
    with zipfile.ZipFile(to, "w") as new:
        for name, content in {**files, ".info/CONTENT": "\n".join(listed)}.items():
            new.writestr(name, content)
    return to


@dataclass(frozen=True)
class Node:
    """A node with the programs of a real Flower, and the bundle that it has pinned."""

    folder: Path
    programs: Path
    bundle: Path

    @property
    def alone(self) -> dict[str, str]:
        """What Flower's programs are told without the pin."""
        known = {"PATH": f"{self.programs}:{os.environ['PATH']}", "HOME": str(self.folder), "FLWR_HOME": "home"}
        return {**known, "FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}

    @property
    def pinned(self) -> dict[str, str]:
        return {**self.alone, "PYTHONPATH": str(self.folder / "pin")}

    def shell(self, line: str, place: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", line], cwd=place or self.folder, env=self.alone, capture_output=True, text=True
        )

    def ran(self, bundle: Path, known: Mapping[str, str], version: str = "1.0.0") -> list[Path]:
        """Where a bundle was installed, and from where it was loaded, if the SuperLink names this version of it."""
        command = [str(self.programs / "python3"), "-c", RUN_BUNDLE, str(bundle), version]
        done = subprocess.run(command, cwd=self.folder, env=known, capture_output=True, text=True)
        return [Path(line) for line in done.stdout.splitlines() if line.startswith("/")]


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Node:
    kit = tmp_path_factory.mktemp("node") / "kit"
    provision_flower(joint_study("flower://relay.example"), kit)
    found = Node(kit / "sites" / PARTIES[0], environment(tmp_path_factory.getbasetemp().parent), kit)
    made = found.shell("flwr build --app ../../app && sha256sum *.fab > pin/digest")
    assert made.returncode == 0, made.stderr
    (bundle,) = found.folder.glob("*.fab")
    return replace(found, bundle=bundle)


@pytest.mark.slow
def test_a_real_flower_installs_and_loads_nothing_but_the_pinned_bundle(node: Node, tmp_path: Path) -> None:
    """Flower alone takes a bundle out of its folder, if the version of the bundle says so, and loads a folder that
    somebody has made elsewhere, if the version that the SuperLink names says so.
    """
    apps = node.folder / "home" / "apps"
    place, loaded_from = node.ran(node.bundle, node.pinned)
    assert (place.parent, loaded_from) == (apps, place)
    beyond = f"{place.name.split('-flower.')[1]}/../../../beyond"
    for number, version in enumerate(("1.0.0", beyond)):
        other = altered(node.bundle, tmp_path / f"{number}.fab", version)
        assert node.ran(other, node.pinned) == []
    assert list(apps.iterdir()) == [place]
    outside = node.ran(other, node.alone)[0]
    assert outside.parent == node.folder, "Flower has learned where a bundle belongs: the page may say so"
    digits = place.suffix
    foreign = Path(shutil.copytree(place, node.folder / f"foreign{digits}"))
    version = f"1.0.0{digits}/../../../foreign"
    assert node.ran(node.bundle, node.pinned, version) == [place]
    assert node.ran(node.bundle, node.alone, version) == [place, foreign], "Flower loads what it has installed now"


@pytest.mark.slow
def test_a_supernode_starts_only_if_the_pin_refuses_another_bundle(node: Node, tmp_path: Path) -> None:
    """Python passes over a path with a colon, and starts a program without the pin."""
    for name, said in {"site": True, "with:colon": False, "without": False}.items():
        shutil.copytree(node.folder, tmp_path / name / "node")
        if name == "without":
            (tmp_path / name / "node" / "pin" / "sitecustomize.py").unlink()
        done = node.shell(f"{START}&& echo starts", tmp_path / name)
        assert ("bundle refused" in done.stdout, "starts" in done.stdout) == (said, said), done


@pytest.mark.slow
def test_the_page_leads_to_one_release_at_every_site(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    programs = environment(tmp_path_factory.getbasetemp().parent)
    runs = f"run({str(programs)!r})"
    port = str(free_port())
    page = PAGE.replace(f"{HOST}:{PORT}", f"localhost:{port}").replace(f"--port {PORT}", f"--port {port}")
    with (
        loaded(tmp_path / "flower", programs / "python3", LOADS, runs) as flower,
        loaded(tmp_path / "door") as program,
        organisations(tmp_path, EVERYBODY) as everybody,
    ):
        for one in everybody.values():
            write_program(one.folder / "bin" / "smc-dp", program)
            for name in PROGRAMS:
                write_program(one.folder / "bin" / name, flower)
        for name, count in zip(PARTIES, (600, 450, 300), strict=True):
            rows(everybody[name].folder, count)
        sites = {name: everybody[name] for name in EVERYBODY[:-1]}
        doors = [site.folder / "line" / SOCKET for site in sites.values()]
        try:
            for step in steps(page):
                one = everybody[step.at]
                if "flwr build" in step.text:
                    (one.folder / "node" / "a.of-before.1-0-0.01234567.fab").write_bytes(b"of another version")
                if REGISTER in step.text:
                    until("the SuperLink", lambda: listens(port), 90)
                if RUN in step.text:  # the page wants all sites started: a turn that finds no site is lost
                    until("all sites", lambda: all(door.exists() for door in doors))
                if step.heading == AFTERWARDS:
                    until("all releases", lambda: all(map(ended, sites.values())), 900)
                if any(word in step.text for word in GOING_ON) and not step.to and not step.file:
                    one.start(step.text.replace("flower-supernode ", f"flower-supernode --port {free_port()} "))
                else:
                    follow(step, everybody, "")
        finally:
            kill(*processes_in(tmp_path))
        runs = [one.folder / f"study.{name}.state" / "run" for name, one in sites.items()]
        for file in ("release.json", "transcript.jsonl"):
            assert len({(run / file).read_bytes() for run in runs}) == 1
        assert json.loads((runs[0] / "release.json").read_text())
        for name in PARTIES:
            with Ledger.open(sites[name].folder / f"{name}.ledger") as ledger:
                assert [entry.state for entry in ledger.history().entries] == ["limit", "reserved", "released"]
