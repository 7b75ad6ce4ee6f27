"""`publish` copies what may be published, whole or not at all, and what it makes can be audited and used."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support import forgeries as f
from support.audited import Folders, toy_run

from smc_dp.cli.main import main
from smc_dp.core import writing
from smc_dp.run.release import RELEASE, SHARES, TRANSCRIPT
from tests.support.commands import refusal

PUBLIC = {RELEASE, SHARES, TRANSCRIPT}


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    made = toy_run(tmp_path_factory.mktemp("honest"), (12, 8), key_bits=256)
    (made.run / "notes.txt").write_text("rows of north: 12")
    (made.run / ".hidden").write_text("x")
    (made.run.parent / "rows.csv").write_text("x0,x1\n0.5,-0.5\n")
    return made


def wrong(run: Path, to: Path) -> set[str]:
    """The files that are there and should not be, or the other way round, or are not what they were."""
    names = {path.name for path in to.iterdir()}
    return (names ^ PUBLIC) | {n for n in names & PUBLIC if (to / n).read_bytes() != (run / n).read_bytes()}


@pytest.mark.parametrize("empty", [False, True], ids=["new", "empty"])
def test_what_is_published_can_be_audited_and_used(
    empty: bool, honest: Folders, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    to, data = tmp_path / "a" / "published", str(honest.run.parent / "rows.csv")
    if empty:
        to.mkdir(parents=True)
    assert main(["publish", str(honest.run), "--to", str(to)]) == 0
    assert capsys.readouterr() == (f"Written to {to}: release.json, shares.json, transcript.jsonl\n", "")
    assert wrong(honest.run, to) == set()
    assert [path.name for path in to.parent.iterdir()] == ["published"]
    for run in (honest.run, to):
        assert main(["predict", str(run), "--data", data]) == 0
    out, err = capsys.readouterr()
    assert len(set(out.splitlines())) == 1
    assert "not verified" not in err


def without(name: str) -> Callable[[Path, Path], Path]:
    def made(run: Path, target: Path) -> Path:
        shutil.copytree(run, target)
        (target / name).unlink()
        return target

    return made


def linked(run: Path, target: Path) -> Path:
    without(TRANSCRIPT)(run, target)
    (target / TRANSCRIPT).symlink_to(run / TRANSCRIPT)
    return target


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (without(TRANSCRIPT), "wanted a whole run, but"),
        (without(SHARES), "wanted a whole run, but"),
        (without(RELEASE), "has no release.json"),
        (linked, "transcript.jsonl: cannot be read"),
        (f.altered_weight, "are not the sum of the shares"),
        (lambda r, t: f.edited(r, t, RELEASE, lambda d: d["classes"].reverse()), "classes"),
        (lambda r, t: f.altered_timings(r, t), "timings.json does not have the digest"),
    ],
)
def test_a_run_that_is_not_whole_is_not_published(
    make: Callable[[Path, Path], Path],
    words: str,
    honest: Folders,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = make(honest.run, tmp_path / "run")
    assert words in refusal(capsys, tmp_path, "publish", str(run), "--to", str(tmp_path / "published"))


@pytest.mark.parametrize("where", ["file", "full", "dangling", "link to an empty folder", "run", "run/inside", "."])
def test_no_folder_is_written_over_and_none_lies_in_the_run(
    where: str, honest: Folders, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(honest.run, "run")
    Path("file").write_text("x")
    Path("full").mkdir()
    Path("full/x").write_text("x")
    Path("empty").mkdir()
    Path("dangling").symlink_to("nowhere")
    Path("link to an empty folder").symlink_to("empty")
    assert refusal(capsys, tmp_path, "publish", "run", "--to", where).startswith("--to: ")


def test_what_cannot_be_written_leaves_nothing(
    honest: Folders, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "published").mkdir()
    monkeypatch.setattr(writing.os, "fsync", full)
    assert main(["publish", str(honest.run), "--to", str(tmp_path / "published")]) == 2
    assert capsys.readouterr().err.endswith("cannot be written: No space left on device\n")
    assert [path.name for path in tmp_path.rglob("*")] == ["published"]
