"""Runs with weights of classes and rows: agreed on, published, audited, and of use."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from protocols.arithmetic.rng import Stream
from smc_dp import audit_run, plan, predict, run_protocol
from smc_dp.data.bounds import read_bounds
from smc_dp.data.federation import Federation, Rows
from smc_dp.data.preprocess import encode_labelled_rows
from smc_dp.data.row_weights import RowWeights
from smc_dp.data.table_reader import read_table
from smc_dp.deploy.preflight import encode_party_rows
from smc_dp.deploy.rehearsal import made_up
from smc_dp.planning.report import recommendation_blocks
from smc_dp.run.documents import ReleaseFile
from smc_dp.run.folder import parse_release, read_release_file
from smc_dp.run.local_evaluation import evaluate_locally
from smc_dp.run.report import Report
from smc_dp.run.report_blocks import accuracy_blocks
from tests.support.refusals import refused

BOUNDS = """[columns]
a = [-3, 3]
b = [-3, 3]
[label]
classes = ["no", "yes"]
column = "outcome"
"""
WEIGHTS = '[weights]\nclasses = [1, 8]\ncolumn = "w"\nmost = 2\n'
RARE = 0.1


def write_weighted_files(folder: Path) -> Path:
    """Write three files in which one row of ten is of the second class, and the bounds with weights and without."""
    rng = np.random.default_rng(1)
    for name in ("north", "south", "test"):
        y = rng.random(600) < RARE
        X = np.clip(rng.normal(size=(600, 2)) + 1.5 * y[:, np.newaxis], -3, 3)
        lines = [f"{a:.3f},{b:.3f},{w:.1f},{'yes' if c else 'no'}" for (a, b), w, c in zip(
            X, rng.uniform(1, 2, 600), y, strict=True)]  # fmt: skip
        (folder / f"{name}.csv").write_text("\n".join(["a,b,w,outcome", *lines]) + "\n")
    (folder / "bounds.toml").write_text(BOUNDS + WEIGHTS)
    (folder / "plain.toml").write_text(BOUNDS)
    return folder


def trained_with_weights(files: Path, out: Path, bounds: str = "bounds.toml", **settings: object) -> Report:
    parties = [str(files / f"{name}.csv") for name in ("north", "south")]
    return run_protocol(
        parties,
        bounds=files / bounds,
        test=files / "test.csv",
        out=out,
        **{"method": "newton", "epsilon": 50, **settings},
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_weighted_files(tmp_path_factory.mktemp("weighted"))


def found_of(run: Path, files: Path) -> float:
    """The part of the rows of the second class that the release finds."""
    truth = [line.endswith("yes") for line in (files / "test.csv").read_text().splitlines()[1:]]
    labels = predict(run, files / "test.csv").labels
    return float(np.mean([label == "yes" for label, is_yes in zip(labels, truth, strict=True) if is_yes]))


def test_a_rare_class_is_found_more_often_at_the_same_guarantee(files: Path, tmp_path: Path) -> None:
    both = {name: trained_with_weights(files, tmp_path / name, f"{name}.toml") for name in ("plain", "bounds")}
    assert found_of(tmp_path / "bounds", files) > found_of(tmp_path / "plain", files) + 0.3
    ours, plain = (json.loads((tmp_path / name / "release.json").read_text()) for name in ("bounds", "plain"))
    for name in ("epsilon", "delta", "rho", "mu"):
        assert ours["privacy"][name] == pytest.approx(plain["privacy"][name], rel=1e-6)
    assert ours["row_weights"] == {"classes": [1.0, 8.0], "column": "w", "most": 2.0}
    assert "row_weights" not in plain
    codes = {
        name: [getattr(b, "code", "") for b in accuracy_blocks(r.comparison, r.planned)] for name, r in both.items()
    }
    assert "run.compared_without_weights" in codes["bounds"]
    assert {"run.compared_without_weights", "run.lost_as_planned"} & {*codes["plain"]} == {"run.lost_as_planned"}
    assert audit_run(tmp_path / "bounds").passed
    assert ReleaseFile.model_validate(ours).bounds == read_bounds(files / "bounds.toml")


def test_rows_with_weights_need_bounds_that_say_so(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    plain = tuple(Rows(rng.uniform(-0.5, 0.5, (20, 2)), rng.integers(2, size=20)) for _ in range(3))
    weighted = Federation(tuple(replace(rows, weights=np.full(20, 0.5)) for rows in plain), 2)
    report = run_protocol(weighted, method="newton", epsilon=50, out=tmp_path / "run")
    assert report.agreement.bounds.weights == RowWeights(column="weight")
    without = replace(report.agreement.bounds, weights=None)
    for data, bounds in ((weighted, without), (Federation(plain, 2), report.agreement.bounds)):
        with refused("bounds.other_weights"):
            run_protocol(data, method="newton", bounds=bounds, out=tmp_path / "no")


def test_a_site_is_not_told_that_it_is_better_alone(files: Path, tmp_path: Path) -> None:
    trained_with_weights(files, tmp_path / "run")
    rows = encode_labelled_rows(read_table(files / "north.csv", "n"), read_bounds(files / "bounds.toml"), "outcome")
    release = parse_release(read_release_file(tmp_path / "run"), None)
    assert evaluate_locally(release, rows) is None
    assert evaluate_locally(release, replace(rows, weights=None)) is not None


def test_made_up_rows_have_weights(files: Path) -> None:
    bounds = read_bounds(files / "bounds.toml")
    found = encode_party_rows(made_up(bounds, Stream.insecure_from_seed(1), "north"), bounds)
    assert len(set(found.weights.tolist())) > 10


def test_other_methods_are_refused_and_left_out_of_plans(files: Path, tmp_path: Path) -> None:
    with refused("rows.weights_not_used"):
        trained_with_weights(files, tmp_path / "run", method="wsum")
    made = plan({"north": 600, "south": 600}, bounds=files / "bounds.toml")
    assert {found.method for found in made.methods if found.refused is None} == {"newton", "gd"}
    assert "plan.rows_have_weights" in [getattr(block, "code", "") for block in recommendation_blocks(made)]
