"""The page on containers is carried out without a container engine: each service by its own command."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from support import compose
from support.organisations import CHARGED_ONCE, entries, loaded, organisations
from support.pages import write_program
from support.relays import free_port, without_server

SITES = ("north", "south", "west")
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", (compose.CONTAINER / "README.md").read_text(), re.MULTILINE | re.DOTALL)


def test_no_service_can_write_outside_its_folders_or_gain_rights() -> None:
    services = yaml.safe_load((compose.CONTAINER / "compose.yaml").read_text())["services"]
    assert set(services) == {"relay", "open", "charlie", *SITES}
    for name, found in services.items():
        assert (found["read_only"], found["cap_drop"]) == (True, ["ALL"]), name
        assert found["security_opt"] == ["no-new-privileges:true"]
        mounted = {outside for outside, _, _ in (mount.partition(":") for mount in found["volumes"])}
        assert mounted == ({"./relay"} if name in ("relay", "open") else {f"./{name}", f"./counters/{name}"})


def test_the_first_block_builds_the_image_from_the_checkout() -> None:
    (built,) = re.findall(r"--file (\S+) \.$", BLOCKS[0], re.MULTILINE)
    root = compose.CONTAINER.parents[2]
    assert (root / built).samefile(compose.CONTAINER / "Dockerfile")
    first, *others = (compose.CONTAINER / "Dockerfile.dockerignore").read_text().splitlines()[1:]
    copied = {line[1:] for line in others if line.startswith("!")}
    assert (first, copied) == ("*", {"LICENSE", "README.md", "protocols", "pyproject.toml", "smc_dp"})
    assert all((root / name).exists() for name in copied)


@without_server
@pytest.mark.slow
def test_the_page_leads_to_one_release_at_every_site(tmp_path: Path) -> None:
    address = f"tls://127.0.0.1:{free_port()}"
    with loaded(tmp_path / "door") as program, organisations(tmp_path, ("home",)) as made:
        home = made["home"]
        docker = home.folder / "bin" / "docker"
        write_program(docker, f'#!/bin/sh\nexec {sys.executable} {compose.__file__} "$@"\n')
        write_program(home.folder / "bin" / "smc-dp", program)
        shutil.copy(compose.CONTAINER / "compose.yaml", home.folder)
        try:
            for block in BLOCKS[1:]:
                lines = f"set -e\n{block.replace('tls://relay:4222', address)}"
                if "compose up" in block:  # its programs go on
                    subprocess.run(["/bin/sh", "-c", lines], cwd=home.folder, env=home.environment, check=True)
                else:
                    home.run(lines)
                for site in SITES:  # there is a folder from the first block on
                    write_rows(home.folder / site / "rows.csv")
        finally:
            subprocess.run([str(docker), "compose", "down"], cwd=home.folder, check=True)
    runs = [home.folder / site / f"study.{site}.state" / "run" for site in SITES] + [home.folder / "charlie" / "run"]
    assert len({(run / "release.json").read_bytes() for run in runs}) == 1
    for site in SITES:
        assert len(list((home.folder / "counters" / site).iterdir())) > 0
        assert entries(home.folder / site / f"{site}.ledger") == CHARGED_ONCE


def write_rows(path: Path) -> None:
    rows = [f"{20 + i % 75},{i % 30},{'fm'[i % 2]},{'yes' if i % 30 > 12 else 'no'}" for i in range(300)]
    path.write_text("\n".join(["age,days,sex,back", *rows]) + "\n")
