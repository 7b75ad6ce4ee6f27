"""`smc-dp export`: what it writes, and what it refuses."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path

import pytest
from support import forgeries as f
from support.audited import toy_run

from smc_dp.cli import export
from smc_dp.cli.main import main
from smc_dp.run.export.export_run import WRITERS, export_run
from smc_dp.run.release import RELEASE, TRANSCRIPT
from tests.support.refusals import refused


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_run(tmp_path_factory.mktemp("exported"), (12, 8), key_bits=256).run


def test_the_file_names_its_release(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(run), "--to", "json", "--out", str(tmp_path / "model.json")]) == 0
    out, err = capsys.readouterr()
    assert out == f"Written to {tmp_path / 'model.json'}.\n"
    assert [line.partition(":")[0] for line in err.splitlines()] == ["warning"] * err.count("\n")
    stated = json.loads((tmp_path / "model.json").read_text())
    assert stated["release"] == hashlib.sha256((run / RELEASE).read_bytes()).hexdigest()
    assert stated["insecure"] == json.loads((run / RELEASE).read_text())["insecure"]
    assert stated["privacy"] == json.loads((run / RELEASE).read_text())["privacy"]


def test_the_command_offers_every_format_and_no_other() -> None:
    assert set(export.EXPORT_FORMATS) == set(WRITERS)


def test_nothing_is_replaced_and_nothing_is_written_into_the_run(run: Path, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for out in (tmp_path / "there", tmp_path / "link", run / "model.json", tmp_path / "no" / "model.json"):
        assert main(["export", str(run), "--to", "json", "--out", str(out)]) == 2
    assert (tmp_path / "there").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "there"]
    with refused("file.exists"):
        export_run(run, "json", tmp_path / "there")
    with refused("export.unknown_format"):
        export_run(run, "pickle", tmp_path / "model")


def test_a_forged_release_is_not_exported(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forged = f.altered_weight(run, tmp_path / "forged")
    assert main(["export", str(forged), "--to", "json", "--out", str(tmp_path / "model.json")]) == 2
    assert not (tmp_path / "model.json").exists()


def test_without_a_transcript_it_says_that_nothing_was_audited(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(run, tmp_path / "run")
    (tmp_path / "run" / TRANSCRIPT).unlink()
    assert main(["export", str(tmp_path / "run"), "--to", "json", "--out", str(tmp_path / "model.json")]) == 0
    assert (
        capsys.readouterr().err.splitlines()[0]
        == f"not verified against the transcript: {tmp_path / 'run'} has no {TRANSCRIPT}"
    )


def test_a_format_whose_package_is_not_there_names_the_extra(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.delitem(sys.modules, "smc_dp.run.export.onnx_model", raising=False)
    assert main(["export", str(run), "--to", "onnx", "--out", str(tmp_path / "model")]) == 2
    assert "smc-dp[export]" in capsys.readouterr().err
    assert not (tmp_path / "model").exists()
