"""The wheel runs from an empty folder, the source distribution has every file, and both can be reproduced."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

from smc_dp.core.version import __version__

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    """Names of the files that belong to the repository, also those that are not committed yet."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout
    return [name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()]


def build(copy: Path, out: Path) -> tuple[Path, Path]:
    """Build the source distribution and the wheel, as of one fixed moment."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(out)]
    subprocess.run(command, cwd=copy, check=True, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
    return next(out.glob("smc_dp-*.tar.gz")), next(out.glob("smc_dp-*.whl"))


@pytest.fixture(scope="module")
def built(tracked: list[str], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Source distribution and wheel, built from a copy so that nothing is left in the tree."""
    copy = tmp_path_factory.mktemp("copy")
    for name in tracked:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes((ROOT / name).read_bytes())
    return build(copy, tmp_path_factory.mktemp("out"))


@pytest.fixture(scope="module")
def unpacked(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content."""
    content = tmp_path_factory.mktemp("content")
    with zipfile.ZipFile(built[1]) as wheel:
        wheel.extractall(content)
    return content


def test_the_source_distribution_has_all_files_and_builds_the_same_again(
    tracked: list[str], built: tuple[Path, Path], tmp_path: Path
) -> None:
    with tarfile.open(built[0]) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    found = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()}
    assert found == {*tracked, "PKG-INFO"}
    again = build(source, tmp_path / "again")
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in built]


def test_a_package_index_gets_a_page_without_links_into_the_checkout(unpacked: Path) -> None:
    described = message_from_bytes(next(unpacked.glob("*.dist-info/METADATA")).read_bytes())
    assert described["Version"] == __version__
    page = described.get_payload()
    assert isinstance(page, str)
    assert page.startswith("# smc-dp\n")
    assert "pip install" in page
    assert not re.search(r"\]\((?!https:)|<img|src=", page)


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


def test_the_protocols_run_in_another_package(tmp_path: Path) -> None:
    (tmp_path / "mypkg").mkdir()
    (tmp_path / "mypkg" / "__init__.py").touch()
    page = (ROOT / "protocols" / "HOWTO_VENDOR.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    environment = {**os.environ, "SOURCE": str(ROOT), "PYTHONPATH": str(tmp_path)}
    subprocess.run(["/bin/bash", "-ec", block], cwd=tmp_path, env=environment, check=True)
    demo = (ROOT / "demos" / "in_process_actors.py").read_text(encoding="utf-8")
    assert "smc_dp" not in demo
    (tmp_path / "demo.py").write_text(re.sub(r"(?m)^from protocols\b", "from mypkg.protocols", demo), encoding="utf-8")
    last = "import demo, sys; demo.main(); print(sorted({name.partition('.')[0] for name in sys.modules}))"
    command = [sys.executable, "-P", "-c", last]
    said = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout
    loaded = said.splitlines()[-1]
    assert "'mypkg'" in loaded
    assert "'protocols'" not in loaded
    assert "'smc_dp'" not in loaded
    named = re.findall(r"`([\w-]+)`", page[page.index("The copy needs") : page.index("in the versions")])
    sources = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "mypkg").rglob("*.py"))
    imported = (
        set(re.findall(r"(?m)^ *(?:from|import) (\w+)", sources)) - set(sys.stdlib_module_names) - {"mypkg", "the"}
    )
    assert imported == {{"PyNaCl": "nacl"}.get(name, name).replace("-", "_") for name in named}
