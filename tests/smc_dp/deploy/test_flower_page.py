"""HOWTO_FLOWER.md is followed as it is, by organisations with a folder each, over a SuperLink and four SuperNodes."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import socket
import subprocess
import sys
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from support.flare_sites import kill, processes_in, until
from support.organisations import ROOT, Organisation, loaded, organisations
from support.pages import blocks
from support.relays import free_port, joint_study

from smc_dp.deploy.flower.provision import provision_flower
from smc_dp.privacy.ledger.ledger import Ledger
from tests.smc_dp.deploy.test_operator_page import EVERYBODY, PARTIES, follow, rows, steps

PAGE = (ROOT / "smc_dp" / "deploy" / "HOWTO_FLOWER.md").read_text(encoding="utf-8")
HOST, PORT = "relay.example", "8000"
"""The address of the relay, the one thing on the page that is not taken as it stands, beside SuperNodes' own ports."""
GIVEN = "SMC_DP_FLOWER"  # a folder of an environment with Flower, for whoever runs this test often
GOING_ON = ("flower-superlink ", "flower-supernode ", "smc-dp join ", "smc-dp serve ")
REGISTER, RUN, AFTERWARDS = "supernode register", "flwr run", "7. Afterwards"


def test_every_block_of_the_page_is_followed_but_the_installation() -> None:
    found = [block.text.rstrip("\n") for block in blocks(PAGE)]
    followed = {step.text for step in steps(PAGE)}
    assert [text for text in found if text not in followed] == [found[0]]
    assert "pip install" in found[0]


def environment(shared: Path) -> Path:
    """The programs of an environment with Flower, without anything of ours; made once for all workers."""
    if given := os.environ.get(GIVEN):
        return Path(given) / "bin"
    made = shared / f"flower-environment-{zlib.crc32(bytes(ROOT)):x}"
    with made.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(made)], check=True)
            install = [sys.executable, "-m", "pip", "--python", str(made / "bin" / "python3"), "install", "--quiet"]
            done = subprocess.run([*install, "flwr>=1.42,<1.43"], capture_output=True, text=True)
            (made / "failed").write_text(done.stderr if done.returncode else "")
    if why := (made / "failed").read_text().strip():
        pytest.skip(f"Flower cannot be installed here: {why.splitlines()[-1]}")
    return made / "bin"


def with_flower(one: Organisation, programs: Path) -> None:
    """Put Flower's programs on the organisation's path, and on that of its programs."""
    for name in ("flwr", "flower-superlink", "flower-supernode"):
        program = one.folder / "bin" / name
        program.write_text(f'#!/bin/sh\nPATH="{programs}:$PATH" exec {programs / name} "$@"\n')
        program.chmod(0o755)


def listens(port: str) -> bool:
    with suppress(OSError), socket.create_connection(("localhost", int(port)), 1):
        return True
    return False


def ended(one: Organisation) -> bool:
    return any(" join " in line or " serve " in line for line in one.started) and all(
        process.poll() is not None for line, process in one.started.items() if "smc-dp" in line
    )


BUNDLE = "smc_dp_flower/client_app.py"
INSTALL = """
import sys
from pathlib import Path
from flwr.supernode.runtime import run_clientapp  # what a SuperNode starts for each message
print(run_clientapp.install_from_fab(Path(sys.argv[1]).read_bytes(), skip_prompt=True).resolve())
"""


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


@pytest.mark.slow
def test_a_real_flower_installs_no_bundle_but_the_pinned_one(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Flower alone takes one out of its folder, if the version of the bundle says so."""
    programs = environment(tmp_path_factory.getbasetemp().parent)
    provision_flower(joint_study("flower://relay.example"), tmp_path / "kit")
    node = tmp_path / "kit" / "sites" / PARTIES[0]
    alone = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(tmp_path), "FLWR_HOME": "home"}
    alone["FLWR_TELEMETRY_ENABLED"] = "0"
    at_node = {**alone, "PYTHONPATH": str(node / "pin")}
    subprocess.run(
        ["sh", "-c", "flwr build --app ../../app && sha256sum *.fab > pin/digest"], cwd=node, env=alone, check=True
    )
    (bundle,) = node.glob("*.fab")

    def installed(file: Path, environ: dict[str, str]) -> tuple[int, str]:
        command = [str(programs / "python3"), "-c", INSTALL, str(file)]
        done = subprocess.run(command, cwd=node, env=environ, capture_output=True, text=True)
        return done.returncode, done.stdout.rpartition("\n")[0].rpartition("\n")[2]

    code, place = installed(bundle, at_node)
    assert (code, Path(place).parent) == (0, node / "home" / "apps")
    beyond = f"{Path(place).name.split('-flower.')[1]}/../../../beyond"
    for number, version in enumerate(("1.0.0", "2.0.0", beyond)):
        other = altered(bundle, tmp_path / f"{number}.fab", version)
        assert installed(other, at_node) == (1, "")
    assert sorted(path.name for path in (node / "home" / "apps").iterdir()) == [Path(place).name]
    code, place = installed(other, alone)
    assert (code, Path(place).parent) == (0, node), "Flower has learned where a bundle belongs: the page may say so"


@pytest.mark.slow
def test_the_page_leads_to_one_release_at_every_site(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    programs = environment(tmp_path_factory.getbasetemp().parent)
    port = str(free_port())
    page = PAGE.replace(f"{HOST}:{PORT}", f"localhost:{port}").replace(f"--port {PORT}", f"--port {port}")
    with loaded(tmp_path / "door") as program, organisations(tmp_path, EVERYBODY, program) as everybody:
        for one in everybody.values():
            with_flower(one, programs)
        for name, count in zip(PARTIES, (600, 450, 300), strict=True):
            rows(everybody[name].folder, count)
        sites = {name: everybody[name] for name in EVERYBODY[:-1]}
        try:
            for step in steps(page):
                one = everybody[step.at]
                if REGISTER in step.text:
                    until("the SuperLink", lambda: listens(port), 90)
                if step.heading == AFTERWARDS:
                    until("all releases", lambda: all(map(ended, sites.values())), 480)
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
