"""The how-to for signed audits: the page's own commands sign, verify, and notice what was changed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.audited import Folders

from smc_dp.run.release import RELEASE, SHARES, TRANSCRIPT

ROOT = Path(__file__).parents[4]
PAGE = ROOT / "smc_dp" / "audit" / "HOWTO_AUDIT.md"
PROGRAM = """#!{python}
import sys
sys.path[:0] = {paths}
from support.audits import command  # without the checks of the code, which are slow and have tests of their own
found = command(*sys.argv[1:])
print(found.out, end="")
sys.exit(found.code)
"""

pytestmark = [
    pytest.mark.slow,  # the page's commands start processes
    pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed"),
]


def steps() -> tuple[str, str]:
    """Return the two blocks of the page: what the auditor types, and what a reader of the audit types."""
    found = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    sign, verify = (block for block in found if "ssh-keygen" in block)
    return sign, verify


def shell(place: Path, script: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": f"{place}:{os.environ['PATH']}", "HOME": str(place), "XDG_CACHE_HOME": str(place / "cache")}
    return subprocess.run(
        ["/bin/bash", "-e", "-c", script], cwd=place, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def signed_once(charged: Folders, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which an auditor signed the audit of `runs/first` by the commands of the page."""
    folder = tmp_path_factory.mktemp("signed")
    shutil.copytree(charged.run, folder / "runs" / "first")
    (folder / "ids").mkdir()
    shutil.copy(charged.run.parent / "identities.json", folder / "ids")
    (folder / ".ssh").mkdir(mode=0o700)
    program = folder / "smc-dp"
    program.write_text(PROGRAM.format(python=sys.executable, paths=[str(ROOT), str(ROOT / "tests")]))
    program.chmod(0o755)
    done = shell(folder, steps()[0])
    assert done.returncode == 0, done.stderr
    assert (folder / "audit.json.sig").exists()
    return folder


@pytest.fixture
def signed(signed_once: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may change."""
    return shutil.copytree(signed_once, tmp_path / "signed")


def test_the_commands_of_the_page_sign_and_verify_an_audit(signed: Path) -> None:
    done = shell(signed, steps()[1])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith('Good "smc-dp-audit" signature for auditor@example.org')
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize("name", [RELEASE, TRANSCRIPT])
def test_a_file_that_was_not_audited_is_named(signed: Path, name: str) -> None:
    with (signed / "runs" / "first" / name).open("a") as file:
        file.write(" ")
    (signed / "runs" / "first" / SHARES).write_text("{}")
    done = shell(signed, steps()[1])
    assert done.stdout.splitlines()[1:] == [
        f"{file} is not the file that was audited" for file in sorted((name, SHARES))
    ]


def test_a_changed_audit_and_another_auditor_are_refused(signed: Path) -> None:
    audit = (signed / "audit.json").read_text()
    (signed / "audit.json").write_text(audit.replace('"number": 2', '"number": 3'))
    assert shell(signed, steps()[1]).returncode != 0
    (signed / "audit.json").write_text(audit)
    (signed / ".ssh" / "id_ed25519").unlink()
    shell(signed, steps()[0].splitlines()[0])  # another key, whose public half is then the one that is allowed
    assert shell(signed, steps()[1]).returncode != 0
