"""`show`, `publish` and `export` verify a release, and write what they say they write or nothing."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import forgeries as f
from support.audited import Folders, toy_run
from support.shown import ShownPage

from smc_dp.cli import export
from smc_dp.cli.main import main
from smc_dp.core import writing
from smc_dp.run.export.export_run import WRITERS, export_run
from smc_dp.run.folder import PAGE
from smc_dp.run.publication import publish_run
from smc_dp.run.release import RELEASE, SHARES, TRANSCRIPT
from smc_dp.run.release_report import run_page
from tests.support.commands import refusal
from tests.support.refusals import refused

LIE = "epsilon 0.01, as the ministry says"


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    made = toy_run(tmp_path_factory.mktemp("honest"), (12, 8), key_bits=256)
    (made.run / "notes.txt").write_text("rows of north: 12")
    (made.run / ".hidden").write_text("x")
    (made.run.parent / "rows.csv").write_text("x0,x1\n0.5,-0.5\n")
    return made


def closed(text: str) -> str:
    """Return a text without spaces and in small letters: a terminal breaks lines, and its headings are capitals."""
    return "".join(text.split()).casefold()


def test_the_terminal_and_the_page_say_the_same(
    honest: Folders, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "page.html"
    assert main(["show", str(honest.run)]) == 0
    brief = capsys.readouterr().out
    assert main(["show", str(honest.run), "--details"]) == 0
    printed, err = capsys.readouterr()
    assert err == ""
    assert main(["show", str(honest.run), "--html", str(file)]) == 0
    assert capsys.readouterr() == (f"Written to {file}.\n", "")
    texts = [text for text in ShownPage(file.read_text()).texts if text.strip()]
    assert len(texts) > 100
    assert unsaid(texts, printed) == []
    *_, detail = (section.heading for section in run_page(honest.run).sections if section.details)
    assert detail in unsaid(texts, brief)
    assert f"smc-dp show {honest.run} --details" in brief
    assert unsaid(texts, printed.replace(max(texts, key=len), "")) != []


def unsaid(texts: list[str], printed: str) -> list[str]:
    """Return the texts of a page that were not printed."""
    return [text for text in texts if closed(text) not in closed(printed)]


@pytest.mark.parametrize(("command", "option"), [("show", "--html"), ("audit", "--report")])
@pytest.mark.parametrize("where", ["run/page.html", "link/x.html", "nowhere/x.html", "there.html", "dangling"])
def test_a_page_is_a_new_file_outside_of_the_run(
    where: str, command: str, option: str, honest: Folders, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(honest.run, tmp_path / "run")
    (tmp_path / "link").symlink_to(tmp_path / "run")
    (tmp_path / "dangling").symlink_to("nowhere at all")
    (tmp_path / "there.html").write_text("x")
    assert refusal(capsys, tmp_path, command, str(tmp_path / "run"), option, str(tmp_path / where)).startswith(option)


def test_a_folder_that_contradicts_itself_is_not_shown(
    honest: Folders, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = f.altered_weight(honest.run, tmp_path / "run")
    (run / PAGE).write_text(LIE)
    for place in (run, tmp_path / "nowhere"):
        refusal(capsys, tmp_path, "show", str(place))
        refusal(capsys, tmp_path, "show", str(place), "--html", str(tmp_path / "page.html"))


COMMANDS = {
    "show": (),
    "audit": ("--json",),
    "predict": ("--data", "rows.csv"),
    "publish": ("--to", "published"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_of_an_earlier_version_is_ignored_with_one_line(
    command: str,
    honest: Folders,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(honest.run, "run")
    shutil.copy(honest.run.parent / "rows.csv", tmp_path)
    (tmp_path / "run" / PAGE).write_text(LIE)
    code = main([command, "run", *COMMANDS[command]])
    out, err = capsys.readouterr()
    assert (code, [line for line in err.splitlines() if PAGE in line or line.startswith("error")]) == (
        0,
        [f"warning: {Path('run') / PAGE}: ignored. An earlier version wrote it, and nothing verifies it. Delete it."],
    )
    assert LIE not in out
    assert PAGE not in out
    if command == "audit":
        assert {f["file"] for f in json.loads(out)["files"]} >= {RELEASE, TRANSCRIPT}
    if command == "publish":
        assert sorted(os.listdir("published")) == sorted({RELEASE, "shares.json", TRANSCRIPT})


def test_a_folder_of_runs_names_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("newton", "prr_mean"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "release.json").write_text("{}")
    for command in (["show"], ["audit"], ["predict", "--data", "x.csv"]):
        assert main([command[0], str(tmp_path), *command[1:]]) == 2
        said = capsys.readouterr().err
        assert f"{tmp_path}/newton" in said
        assert "prr_mean" in said


# Published.


PUBLIC = {RELEASE, SHARES, TRANSCRIPT}


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
    ("make", "code", "named"),
    [
        (without(TRANSCRIPT), "run.not_whole", TRANSCRIPT),
        (without(SHARES), "run.not_whole", SHARES),
        (without(RELEASE), "run.no_release", RELEASE),
        (linked, "file.unreadable", TRANSCRIPT),
        (f.altered_weight, "release.weights_not_of_shares", RELEASE),
        (lambda r, t: f.edited(r, t, RELEASE, lambda d: d["classes"].reverse()), "session.bound_to_another", "classes"),
        (lambda r, t: f.altered_timings(r, t), "release.other_digest", "timings.json"),
    ],
)
def test_a_run_that_is_not_whole_is_not_published(
    make: Callable[[Path, Path], Path], code: str, named: str, honest: Folders, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    run = make(honest.run, tmp_path / "run")
    said = refusal(capsys, tmp_path, "publish", str(run), "--to", str(tmp_path / "published"))
    with refused(code) as caught:
        publish_run(run, tmp_path / "published")
    assert (said, named in said) == (str(caught.value), True)


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


# Exported.


def test_the_file_names_its_release(honest: Folders, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(honest.run), "--to", "json", "--out", str(tmp_path / "model.json")]) == 0
    out, err = capsys.readouterr()
    assert out == f"Written to {tmp_path / 'model.json'}.\n"
    assert [line.partition(":")[0] for line in err.splitlines()] == ["warning"] * err.count("\n")
    stated = json.loads((tmp_path / "model.json").read_text())
    assert stated["release"] == hashlib.sha256((honest.run / RELEASE).read_bytes()).hexdigest()
    assert stated["insecure"] == json.loads((honest.run / RELEASE).read_text())["insecure"]
    assert stated["privacy"] == json.loads((honest.run / RELEASE).read_text())["privacy"]


def test_the_command_offers_every_format_and_no_other() -> None:
    assert set(export.EXPORT_FORMATS) == set(WRITERS)


def test_nothing_is_replaced_and_nothing_is_written_into_the_run(honest: Folders, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for out in (tmp_path / "there", tmp_path / "link", honest.run / "model.json", tmp_path / "no" / "model.json"):
        assert main(["export", str(honest.run), "--to", "json", "--out", str(out)]) == 2
    assert (tmp_path / "there").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "there"]
    with refused("file.exists"):
        export_run(honest.run, "json", tmp_path / "there")
    with refused("export.unknown_format"):
        export_run(honest.run, "pickle", tmp_path / "model")


def test_a_forged_release_is_not_exported(honest: Folders, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forged = f.altered_weight(honest.run, tmp_path / "forged")
    assert main(["export", str(forged), "--to", "json", "--out", str(tmp_path / "model.json")]) == 2
    assert not (tmp_path / "model.json").exists()


def test_without_a_transcript_it_says_that_nothing_was_audited(
    honest: Folders, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(honest.run, tmp_path / "run")
    (tmp_path / "run" / TRANSCRIPT).unlink()
    assert main(["export", str(tmp_path / "run"), "--to", "json", "--out", str(tmp_path / "model.json")]) == 0
    assert capsys.readouterr().err.splitlines()[0].endswith(f": {tmp_path / 'run'} has no {TRANSCRIPT}")


def test_a_format_whose_package_is_not_there_names_the_extra(
    honest: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.delitem(sys.modules, "smc_dp.run.export.onnx_model", raising=False)
    assert main(["export", str(honest.run), "--to", "onnx", "--out", str(tmp_path / "model")]) == 2
    assert "smc-dp[export]" in capsys.readouterr().err
    assert not (tmp_path / "model").exists()
