"""The wheel that is built contains both packages and their data files, and runs from an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content, built from a copy so that nothing is left in the tree."""
    copy, out = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("out")
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout
    for name in filter(None, tracked.decode().split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(out),
        ".",
    ]
    subprocess.run(command, cwd=copy, check=True)
    with zipfile.ZipFile(next(out.glob("smc_dp-*.whl"))) as wheel:
        wheel.extractall(out / "content")
    return out / "content"


def test_everything_is_in_the_wheel(unpacked: Path) -> None:
    for package in ("protocols", "smc_dp"):
        wanted = {
            p.relative_to(ROOT)
            for p in (ROOT / package).rglob("*")
            if p.suffix in (".py", ".json", ".md", ".toml", ".txt", ".typed")
        }
        found = {p.relative_to(unpacked) for p in (unpacked / package).rglob("*")}
        assert wanted <= found, sorted(map(str, wanted - found))


FILES = ("release.json", "timings.json", "transcript.jsonl")


def test_runs_from_an_empty_folder(unpacked: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(unpacked)}

    def python(*arguments: str) -> str:
        command = [sys.executable, "-P", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout

    assert python("-c", "import smc_dp; print(smc_dp.__file__)").startswith(str(unpacked))
    assert "together by secure sums (newton)" in python("-m", "smc_dp.cli", "run", "--out", "first")
    written = {str(path.relative_to(tmp_path / "first")) for path in (tmp_path / "first").rglob("*.json*")}
    each = {f"{name}/{file}" for name in ("prr_mean", "newton") for file in FILES}
    assert written == each | {"prr_mean/shares.json"}
