"""The provisioning kit of a study over Flower."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import load_ssh_private_key, load_ssh_public_key
from support.relays import PARTIES, joint_study

from protocols.curator import CURATOR_NAME
from smc_dp.deploy.flower import provision
from smc_dp.deploy.flower.provision import README_FILE, provision_flower
from smc_dp.deploy.nats import certificates
from tests.support.refusals import refused

NAMES = (*PARTIES, CURATOR_NAME)
APP = Path(provision.__file__).parent / "app"


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    folder, before = tmp_path / "kit", os.umask(0o077)  # that of a careful administrator
    try:
        handed = provision_flower(joint_study("flower://relay.example:8123"), folder)
    finally:
        os.umask(before)
    assert handed == [folder / "app", *(folder / "sites" / name for name in NAMES)]
    return folder


def test_each_site_has_the_key_that_is_registered_under_its_name(kit: Path) -> None:
    for name in NAMES:
        secret = load_ssh_private_key((kit / "sites" / name / "node.key").read_bytes(), None)
        assert secret.public_key() == load_ssh_public_key((kit / "relay" / f"{name}.pub").read_bytes())  # type: ignore[union-attr]
    assert len({(kit / "relay" / f"{name}.pub").read_bytes() for name in NAMES}) == len(NAMES)


def test_the_certificate_is_also_for_the_calls_of_the_superlink_to_itself(kit: Path) -> None:
    certificate = (kit / "relay" / "server.crt").read_bytes()
    assert certificates.is_for(certificate, "relay.example")
    assert certificates.is_for(certificate, "127.0.0.1")


def test_nobody_else_can_read_what_is_secret(kit: Path) -> None:
    secret = [kit, kit / "relay", *(kit / "sites" / name for name in NAMES)]
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in secret} == {0o700}


def test_the_app_is_that_of_this_package_and_needs_nothing_but_flower(kit: Path) -> None:
    files = {
        str(path.relative_to(APP)): path.read_bytes() for path in APP.rglob("*") if path.suffix in (".py", ".toml")
    }
    assert {str(path.relative_to(kit / "app")): path.read_bytes() for path in (kit / "app").rglob("*.*")} == files
    project = tomllib.loads(files["pyproject.toml"].decode())["project"]
    assert [one.partition(">")[0] for one in project["dependencies"]] == ["flwr"]
    assert sum(len(text.splitlines()) for text in files.values()) < 250


def test_the_settings_are_those_of_the_study(kit: Path) -> None:
    assert tomllib.loads((kit / "relay" / "run.toml").read_text()) == {
        "names": " ".join(NAMES),
        "store": "frames.sqlite",
    }
    relay = tomllib.loads((kit / "relay" / "flwr" / "config.toml").read_text())["superlink"]["relay"]
    assert relay == {"address": "relay.example:8123", "root-certificates": "ca.crt"}
    assert f"for name in {' '.join(NAMES)}; do " in (kit / README_FILE).read_text()


def test_a_folder_that_is_there_and_another_address_are_refused(kit: Path) -> None:
    with refused("kit.exists"):
        provision_flower(joint_study("flower://relay.example"), kit)
    with refused("relay.of_another_carrier"):
        provision_flower(joint_study("nats://relay.example"), kit / "other")


# The pin, which Flower's programs load first.

INSTALL = """
from pathlib import Path
def install_from_fab(fab_file, skip_prompt=False):
    print("installed", fab_file if isinstance(fab_file, bytes) else fab_file.read_bytes(), skip_prompt)
    return Path("apps/pinned")
"""
CONFIG = """
from pathlib import Path
def get_project_dir(version):
    return Path("apps") / version
"""
ASK = """
import sys
from pathlib import Path
from flwr.cli.install import install_from_fab
from flwr.common.config import get_project_dir
if sys.argv[1] != "nothing":
    install_from_fab(Path("bundle") if sys.argv[1] == "file" else sys.argv[1].encode(), skip_prompt=True)
print(get_project_dir(sys.argv[2]))
"""


def pinned(kit: Path, folder: Path, asked: str, version: str = "pinned") -> subprocess.CompletedProcess[str]:
    """Ask to install and load a bundle at a node, with no more of Flower than the functions that do it."""
    for place, content in {"cli/install.py": INSTALL, "common/config.py": CONFIG}.items():
        (folder / "flwr" / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / "flwr" / place).write_text(content)
    known = {"PYTHONPATH": f"{kit / 'sites' / 'north' / 'pin'}:{folder}"}
    command = [sys.executable, "-c", ASK, asked, version]
    return subprocess.run(command, cwd=folder, env=known, capture_output=True, text=True)


LINE = b"%b  smc-dp.smc-dp-flower.1-0-0.01234567.fab\n" % hashlib.sha256(b"pinned").hexdigest().encode()


def pin_of(kit: Path) -> Path:
    """The file with the digest at a node, which pins the bundle `pinned`."""
    digest = kit / "sites" / "north" / "pin" / "digest"
    digest.write_bytes(LINE)
    return digest


def test_a_node_installs_the_pinned_bundle_and_no_other(kit: Path, tmp_path: Path) -> None:
    (tmp_path / "bundle").write_bytes(b"pinned")
    pin = pin_of(kit).parent
    modes = [path.stat().st_mode & 0o777 for path in (pin, pin / "sitecustomize.py", pin / "other.fab")]
    assert modes == [0o755, 0o644, 0o644]  # Python passes over what the SuperNode's user may not read
    assert (kit / "app" / "smc_dp_flower").stat().st_mode & 0o777 == 0o755
    for asked in ("pinned", "file"):
        assert pinned(kit, tmp_path, asked).stdout == "installed b'pinned' True\napps/pinned\n"
    other = pinned(kit, tmp_path, "another")
    assert (other.returncode, other.stdout) == (1, "")
    assert "bundle refused" in other.stderr


@pytest.mark.parametrize(("asked", "version"), [("pinned", "../beyond"), ("nothing", "pinned")])
def test_a_node_loads_the_folder_of_the_bundle_that_it_installed_and_no_other(
    asked: str, version: str, kit: Path, tmp_path: Path
) -> None:
    pin_of(kit)
    found = pinned(kit, tmp_path, asked, version)
    assert found.returncode == 1
    assert "apps" not in found.stdout
    assert "folder refused" in found.stderr


@pytest.mark.parametrize("content", [None, b"", b"\xff", 2 * LINE])
def test_without_the_digest_of_one_bundle_nothing_runs_at_a_node(
    content: bytes | None, kit: Path, tmp_path: Path
) -> None:
    if content is not None:
        (kit / "sites" / "north" / "pin" / "digest").write_bytes(content)
    found = pinned(kit, tmp_path, "pinned")
    assert (found.returncode, found.stdout) == (1, "")
