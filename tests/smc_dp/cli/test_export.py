"""`smc-dp export`: what it writes, and what it refuses."""

from __future__ import annotations

import datetime
import hashlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from support import forgeries as f
from support.audited import toy_run

from smc_dp import RowsClippedWarning, predict, run_protocol
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


@pytest.mark.parametrize("to", ["onnx"])
def test_a_format_whose_package_is_not_there_names_the_extra(
    to: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, to, None)
    monkeypatch.delitem(sys.modules, f"smc_dp.run.export.{to}_model", raising=False)
    assert main(["export", str(run), "--to", to, "--out", str(tmp_path / "model")]) == 2
    assert "smc-dp[export]" in capsys.readouterr().err
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("to", WRITERS)
def test_every_format_is_written(to: str, run: Path, tmp_path: Path) -> None:
    assert main(["export", str(run), "--to", to, "--out", str(tmp_path / "model")]) == 0
    assert (tmp_path / "model").stat().st_size > 500


BOUNDS = """[columns]
age = [0, 120]
weight = [2, 300]
sex = ["f", "m"]
admitted = [2010-01-01, 2025-12-31]
bmi = {bins = [0, 18, 25, 60]}
[label]
column = "outcome"
classes = ["no", "yes"]
[rows]
clip = 1.2
[missing]
weight = "indicator"
sex = "category"
admitted = 2012-01-01
bmi = 20
[aliases.sex]
f = ["F", "female"]
"""


def rows_of(seed: int, count: int) -> str:
    rng, lines = np.random.default_rng(seed), ["age,weight,sex,admitted,bmi,outcome"]
    for _ in range(count):
        day = datetime.date(2010, 1, 1) + datetime.timedelta(days=int(rng.integers(-200, 6000)))
        cells: list[object] = [rng.choice(["", f"{rng.normal(75, 40):.1f}"], p=[0.1, 0.9])]
        cells += [rng.choice(["f", "m", "F", "female", ""]), rng.choice(["", str(day)], p=[0.1, 0.9])]
        cells += [rng.choice(["", f"{rng.normal(25, 9):.1f}"], p=[0.1, 0.9]), rng.choice(["no", "yes"])]
        lines.append(",".join(map(str, (rng.integers(0, 130), *cells))))
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on files with empty cells, dates, bins and aliases, and a file of 1,000 other rows."""
    place = tmp_path_factory.mktemp("raw")
    (place / "bounds.toml").write_text(BOUNDS)
    for name, count in (("north", 60), ("south", 50), ("new", 1000)):
        (place / f"{name}.csv").write_text(rows_of(count, count))
    given: dict[str, Any] = {"bounds": place / "bounds.toml", "method": "newton", "insecure_seed": 1}
    with pytest.warns(RowsClippedWarning):
        run_protocol([place / "north.csv", place / "south.csv"], out=place / "run", **given)
    return place


def test_predict_and_a_database_agree_on_a_thousand_rows_of_a_file(made: Path, tmp_path: Path) -> None:
    """As a user does it: DuckDB reads the file itself."""
    export_run(made / "run", "sql", tmp_path / "model.sql")
    base = duckdb.connect()
    base.execute("CREATE TABLE data AS SELECT * FROM read_csv(?)", [str(made / "new.csv")])
    found = base.execute((tmp_path / "model.sql").read_text()).fetchall()
    wanted = predict(made / "run", made / "new.csv")
    assert [row[-3] for row in found] == list(wanted.labels)
    np.testing.assert_allclose([row[-1] for row in found], wanted.probabilities, rtol=0, atol=1e-6)
