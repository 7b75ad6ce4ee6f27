"""`predict --level N`: a release is used only if an audit of the very bytes that predict reaches that level."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from support import forgeries
from support.audited import Folders, long_term
from support.audits import OF_THE_CODE, OF_THE_RUN, Verdict, command

from smc_dp import predict
from smc_dp.audit.run import audited_prediction, checks
from smc_dp.audit.run.check import passed
from smc_dp.core import reading
from smc_dp.run import run_files
from smc_dp.run.folder import FILES, read_run_files
from smc_dp.run.release import AUXILIARY, RELEASE, SHARES, STUDY
from tests.support.refusals import refused as expect_refusal

# The checks of the code are slow and have tests of their own.
ALL = tuple(replace(c, run=lambda _: passed("x.so")) if c.name in OF_THE_CODE else c for c in checks.CHECKS)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    file = tmp_path / "rows.csv"
    file.write_text("x0,x1\n0.5,-0.5\n")
    return file


@pytest.fixture
def run(charged: Folders, tmp_path: Path) -> Path:
    """A copy of an honest run, for adversaries to change."""
    return Path(shutil.copytree(charged.run, tmp_path / "run"))


def given(charged: Folders, level: int) -> tuple[str, ...]:
    """Return the options that a level takes."""
    known = ("--identities", str(charged.run.parent / "identities.json"))
    return ("--level", str(level), *(known if level > 1 else ()), *(("--views", str(charged.views)) * (level > 2)))


def predicted(run: Path, rows: Path, *options: str) -> Verdict:
    return command("predict", str(run), "--data", str(rows), *options, of=ALL)


def refused(run: Path, rows: Path, *options: str) -> str:
    """Return the one line of a refusal, after which nothing was printed or written."""
    out = rows.with_name("out.csv")
    found = predicted(run, rows, "--out", str(out), *options)
    assert (found.code, found.out, found.err.count("\n")) == (2, "", 1)
    assert not out.exists()
    return found.err


@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_level_that_is_reached_predicts(level: int, charged: Folders, rows: Path) -> None:
    found = predicted(charged.run, rows, *given(charged, level), "--json")
    assert (found.code, found.err.count("\n")) == (0, 1)
    assert found.err.endswith(f" level {level} of 3\n")
    plain = json.loads(predicted(charged.run, rows, "--json").out)
    assert json.loads(found.out) == {**plain, "level": level}
    if level > 1:  # the level that was reached is told rather than the one wanted
        assert predicted(charged.run, rows, "--level", "1", *given(charged, level)[2:], "--json") == found


def test_a_file_that_exists_is_refused_before_the_audit(
    charged: Folders, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audited_prediction, "read_run_files", lambda folder: pytest.fail("the run was read"))
    found = predicted(charged.run, rows, "--level", "1", "--out", str(rows))
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith(f"error: --out: {rows}: exists")


@pytest.mark.parametrize("name", [AUXILIARY, STUDY])
def test_a_stray_file_that_cannot_be_read_does_not_matter(name: str, run: Path, rows: Path) -> None:
    (run / name).mkdir()
    assert {predicted(run, rows, *options).code for options in ((), ("--level", "1"))} == {0}


@pytest.mark.parametrize(("level", "missing"), [(2, "(--identities)"), (3, "(--views)")])
def test_a_level_that_is_missed_says_what_is_missing(level: int, missing: str, charged: Folders, rows: Path) -> None:
    options = ("--level", str(level), *given(charged, level - 1)[2:])
    line = refused(charged.run, rows, *options)
    assert line.startswith("error: --level: ")
    assert f" {level} of 3, " in line
    assert missing in line


def test_a_failed_audit_predicts_nothing_at_any_level(charged: Folders, rows: Path, tmp_path: Path) -> None:
    forged = forgeries.altered_weight(charged.run, tmp_path / "forged")
    assert "FAILED: release: " in refused(forged, rows, "--level", "1")
    strangers = {name: key.public.hex() for name, key in long_term(("north-0", "north-1", "north-2"), seed=1).items()}
    (tmp_path / "strangers.json").write_text(json.dumps(strangers))
    line = refused(charged.run, rows, "--level", "1", "--identities", str(tmp_path / "strangers.json"))
    assert "FAILED: identities" in line  # level 1 is reached, and the audit failed
    assert "--seconds allows more" in refused(charged.run, rows, "--level", "1", "--seconds", "1e-5")  # given up


def test_what_an_audit_takes_goes_with_a_level(charged: Folders, rows: Path) -> None:
    for option, value in (("--identities", "i.json"), ("--views", "v"), ("--seconds", "3")):
        assert refused(charged.run, rows, option, value).startswith(f"error: {option}: goes with --level")
    for wrong in ("0", "4", "two"):
        assert refused(charged.run, rows, "--level", wrong).startswith("error: --level: ")
    with expect_refusal("level.unknown", got="4"):
        predict(charged.run, rows, level=4)


@pytest.mark.parametrize("reads_again", [False, True])
def test_a_folder_swapped_after_its_audit_cannot_matter(
    reads_again: bool, charged: Folders, run: Path, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = charged.run.parent / "after"
    audited, swapped = (predict(folder, rows).scores for folder in (charged.run, other))
    assert audited != swapped
    monkeypatch.setattr(checks, "CHECKS", OF_THE_RUN)
    monkeypatch.setattr(reading, "read_file", forgeries.swapped_after_reading(run, other))
    if reads_again:  # the mutant: audit and prediction read the folder each by itself
        monkeypatch.setattr(audited_prediction, "read_run_files", lambda folder: folder)
    found = predict(run, rows, level=1)
    assert (run / RELEASE).read_bytes() == (other / RELEASE).read_bytes()
    assert found.scores == (swapped if reads_again else audited)


def test_files_in_memory_are_those_that_were_read(run: Path) -> None:
    contents = {path.name: path.read_bytes() for path in run.iterdir()}
    files = read_run_files(run)
    shutil.rmtree(run)
    assert {name: run_files.read_run_file(files, name, 1 << 30) for name in contents if name in FILES} == {
        name: content for name, content in contents.items() if name in FILES
    }
    assert not run_files.has_file(files, SHARES)
    for name, limit, code in ((SHARES, 1, "file.unreadable"), (RELEASE, 1, "file.too_large")):
        with expect_refusal(code, at=name):
            run_files.read_run_file(files, name, limit)
