"""`show` prints a verified release or writes it as a page; a page of an earlier version is ignored."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from support import forgeries as f
from support.audited import Folders, toy_run
from support.shown import ShownPage

from smc_dp.cli.main import main
from smc_dp.run.folder import PAGE
from smc_dp.run.release import RELEASE, TRANSCRIPT
from tests.support.commands import refusal

LIE = "epsilon 0.01, as the ministry says"


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    made = toy_run(tmp_path_factory.mktemp("honest"), (12, 8), key_bits=256)
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
    assert "What it does not guarantee" in unsaid(texts, brief)
    assert f"smc-dp show {honest.run} --details" in brief
    assert unsaid(texts, printed.replace("Several releases of the same rows add up.", "")) != []


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
