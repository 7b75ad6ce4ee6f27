"""Bounds without a label: `describe` takes them in runs and studies, and what learns a model refuses them early."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from smc_dp import SecureSumClassifier, audit_run, plan, run_protocol
from smc_dp.cli.main import main
from smc_dp.data.bounds import Bounds, parse_bounds, read_bounds
from smc_dp.data.federation import Federation, Rows
from smc_dp.deploy.study import JointStudy
from smc_dp.run.verify_release import verify_release
from tests.support.refusals import refused

BOUNDS = '[columns]\nage = [0, 120]\nsex = ["f", "m"]\n[missing]\nsex = "category"\n[aliases.sex]\nf = ["female"]\n'
SIZES = {"north": 40, "south": 30, "west": 25}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unlabelled")
    rng = np.random.default_rng(8)
    for name, size in SIZES.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            rows = ([rng.integers(20, 90), rng.choice(["female", "m", ""])] for _ in range(size))
            csv.writer(file).writerows([["age", "sex"], *rows])
    (folder / "bounds.toml").write_text(BOUNDS)
    return folder


def parties(files: Path) -> list[str]:
    return [word for name in SIZES for word in ("--party", f"{name}={files / name}.csv")]


def test_a_run_needs_no_label(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bounds = ["--bounds", str(files / "bounds.toml")]
    assert main(["run", "--method", "describe", *parties(files), *bounds, "--out", str(tmp_path / "run")]) == 0
    release = verify_release(tmp_path / "run").release
    assert release.description is not None
    assert [column.name for column in release.description.columns] == ["age", "sex"]
    assert len(release.description.sums) == 5
    assert release.description.rows == sum(SIZES.values())
    assert release.bounds == read_bounds(files / "bounds.toml").whole
    document = json.loads((tmp_path / "run" / "release.json").read_text())
    assert (document["classes"], document["parameters"]["label"]) == ([], None)
    assert audit_run(tmp_path / "run").passed
    for more in ([], ["--details"], ["--html", str(tmp_path / "page.html")], ["--csv", str(tmp_path / "t.csv")]):
        assert main(["show", str(tmp_path / "run"), *more]) == 0
    assert main(["audit", str(tmp_path / "run"), "--report", str(tmp_path / "audit.html")]) == 0
    for page in ("page.html", "audit.html"):
        assert "None" not in (tmp_path / page).read_text()
    assert "None" not in capsys.readouterr().out


def test_a_release_that_takes_its_label_away_is_refused(files: Path, tmp_path: Path) -> None:
    labelled = parse_bounds(BOUNDS + '[label]\nclasses = ["f", "m"]\ncolumn = "class"\n')
    tables = {name: pd.read_csv(files / f"{name}.csv").assign(**{"class": "m"}) for name in SIZES}
    run_protocol(tables, method="describe", bounds=labelled, out=tmp_path / "run")
    document = json.loads((tmp_path / "run" / "release.json").read_text())
    document["classes"], document["parameters"]["label"] = [], None
    (tmp_path / "run" / "release.json").write_text(json.dumps(document))
    assert not audit_run(tmp_path / "run").passed


def test_what_learns_a_model_refuses_them_before_it_reads_a_row(files: Path, tmp_path: Path) -> None:
    bounds = read_bounds(files / "bounds.toml")
    absent = {"north": tmp_path / "no.csv", "south": tmp_path / "nowhere.csv"}
    for method in ("newton", "logistic", "prr_mean"):
        with refused("bounds.without_label"):
            run_protocol(absent, method=method, bounds=bounds, out=tmp_path / "run")
    with refused("bounds.without_label"):
        plan([100, 100], bounds=bounds)
    with refused("bounds.without_label"):
        SecureSumClassifier("newton", bounds=bounds).fit(pd.DataFrame({"age": [1.0]}), [1], parties=["a"])
    rows = Rows(np.zeros((5, 4)), np.zeros(5, dtype=np.int64))
    with refused("bounds.without_label"):
        run_protocol(Federation((rows, rows), 2), method="newton", bounds=replace(bounds, bias=0.0), out=tmp_path / "r")
    given = [*parties(files), "--bounds", str(files / "bounds.toml")]
    assert main(["run", *given, "--out", str(tmp_path / "run")]) == 2
    assert not (tmp_path / "run").exists()


def test_a_name_of_a_label_needs_classes(files: Path) -> None:
    with refused("classes.of_no_label"):
        Bounds(read_bounds(files / "bounds.toml").columns, label="ill")
    tables = {name: files / f"{name}.csv" for name in SIZES}
    with refused("classes.of_no_label"):
        run_protocol(tables, method="describe", bounds=files / "bounds.toml", label="ill")


def test_a_file_is_checked_without_a_label(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bounds = ["--bounds", str(files / "bounds.toml")]
    assert main(["bounds", "check", *bounds]) == 0
    assert main(["bounds", "check", *bounds, "--json"]) == 0
    capsys.readouterr()
    assert main(["bounds", "check", str(files / "north.csv"), *bounds, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["rows"], found["classes"]) == (SIZES["north"], None)
    assert main(["bounds", "check", str(files / "north.csv"), *bounds]) == 0


def test_a_study_agrees_on_them(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (*SIZES, "charlie"):
        assert main(["identities", "new", name]) == 0
    keys = [word for name in SIZES for word in ("--party", f"{name}.pub")]
    around = ["--title", "T", "--purpose", "research", "--relay", "nats://relay.example:4222"]
    new = ["study", "new", *keys, "--curator", "charlie.pub", "--bounds", str(files / "bounds.toml"), *around]
    assert main([*new, "--method", "describe", "--out", "study.toml"]) == 0
    assert main([*new, "--method", "newton", "--out", "other.toml"]) == 2
    assert not JointStudy.read(Path("study.toml")).bounds.has_label
    label = '[label]\nclasses = ["no", "yes"]\ncolumn = "ill"\n'
    Path("labelled.toml").write_text(BOUNDS + label)
    assert main([*new, "--method", "newton", "--bounds", "labelled.toml", "--out", "newton.toml"]) == 0
    text = Path("newton.toml").read_text()
    assert label.replace("[label]", "[bounds.label]") in text
    Path("newton.toml").write_text(text.replace(label.replace("[label]", "[bounds.label]"), ""))
    with refused("bounds.without_label"):
        JointStudy.read(Path("newton.toml"))
    assert main(["study", "show", "study.toml"]) == 0
    assert main(["run", "--study", "study.toml", "--out", "made-up"]) == 0
    assert main(["run", "--study", "study.toml", *parties(files), "--out", "rehearsed"]) == 0
    assert audit_run("rehearsed").passed
