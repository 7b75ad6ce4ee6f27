"""Runs of `linear`: a label that is a number, its coefficients with intervals, predictions and figures."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import pytest
from support import forgeries as f

from smc_dp import audit_run, personalise, predict, run_protocol
from smc_dp.core.arrays import Array
from smc_dp.data.bounds import Bounds, read_bounds
from smc_dp.methods.statistics.coefficient_inference import CoefficientInference
from smc_dp.pages.blocks import PageTable
from smc_dp.run.coefficient_intervals import coefficient_map, make_intervals
from smc_dp.run.export.export_run import export_run
from smc_dp.run.preparation import prepare_run
from smc_dp.run.regression_metrics import RegressionMetrics, measure_regression
from smc_dp.run.release import RELEASE
from smc_dp.run.release_report import run_page
from smc_dp.run.settings import RunRequest
from smc_dp.run.verify_release import verify_release
from tests.smc_dp.run.test_logistic_run import stated
from tests.support.refusals import refused

BOUNDS = """
[columns]
age = [18, 98]
ward = ["a", "b", "c"]
dose = [0, 10]
[missing]
dose = "indicator"
[label]
column = "stay"
range = [0, 60]
"""
NAMES = (("slope", "age", ""), ("level", "ward", "b"), ("level", "ward", "c"), ("slope", "dose", ""))
TRUTH = np.array([0.2, 4.0, -3.0, 1.5, 7.0, 5.0])  # age, two wards, dose, an empty dose, the intercept


def design(n: int, seed: int) -> tuple[list[str], np.ndarray[Any, Any]]:
    """Lines of a file, and the outcomes without noise."""
    rng = np.random.default_rng(seed)
    age, ward, dose = rng.integers(18, 99, n), rng.choice(list("abc"), n), rng.uniform(0, 10, n).round(1)
    empty = rng.random(n) < 0.1
    X = np.column_stack([age, ward == "b", ward == "c", np.where(empty, 0, dose), empty, np.ones(n)])
    y = np.clip((X @ TRUTH + 4 * rng.normal(size=n)).round(2), 0, 60)
    cells = zip(age, ward, ["" if e else d for d, e in zip(dose, empty, strict=True)], y, strict=True)
    return [",".join(map(str, row)) for row in cells], X @ TRUTH


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(["age,ward,dose,stay", *lines]) + "\n")
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("linear")
    (folder / "bounds.toml").write_text(BOUNDS)
    lines, _ = design(6000, 1)
    for j, name in enumerate(("north", "south", "west")):
        write(folder / f"{name}.csv", lines[j::3])
    write(folder / "test.csv", design(800, 2)[0])
    run(folder, folder / "run")
    if stated(folder / "run")["inference"]["obstacles"]:  # in one of 400 runs noise looks like a long tail
        shutil.rmtree(folder / "run")
        run(folder, folder / "run")
    return folder


def run(folder: Path, out: Path, **changes: Any) -> Any:
    parties = {name: folder / f"{name}.csv" for name in ("north", "south", "west")}
    how = {"method": "linear", "epsilon": 5, "bounds": folder / "bounds.toml", **changes}
    return run_protocol(parties, out=out, **how)


def test_coefficients_are_in_the_units_of_the_outcome_and_anybody_can_verify_them(files: Path) -> None:
    document = stated(files / "run")
    assert (document["classes"], document["outcome"]) == ([], [0.0, 60.0])
    found = document["inference"]
    assert (found["obstacles"], found["cautions"]) == ([], [])
    assert found["rows"] == pytest.approx(6000, abs=350)  # 6.7 deviations of its noise
    assert found["residual_deviation"] == pytest.approx(4, rel=0.1)
    named = {(t["kind"], t["column"], t["cell"]): t for t in found["terms"]}
    for key, true in zip((*NAMES, ("empty", "dose", ""), ("intercept", "", "")), TRUTH, strict=True):
        term = named.pop(key)
        assert abs(term["estimate"] - true) < 5 * term["standard_error"]
        assert term["standard_error"] ** 2 == pytest.approx(term["sampling_error"] ** 2 + term["privacy_error"] ** 2)
    assert not named
    assert document["coefficients"]["stay"]["columns"]["age"]["slope"] == pytest.approx(0.2, abs=0.05)
    verified = verify_release(files / "run")
    assert verified.release.bounds.outcome == (0.0, 60.0)
    assert not verified.missing
    assert audit_run(files / "run").passed


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document["inference"]["terms"][1].update(low=document["inference"]["terms"][1]["low"] + 0.5),
        lambda document: document["inference"].update(residual_deviation=None),
        lambda document: document.update(outcome=[0.0, 61.0]),
    ],
)
def test_a_release_with_other_figures_is_refused(
    files: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  by which of the rules, depends on the figure
        verify_release(f.edited(files / "run", tmp_path / "run", RELEASE, change))


def test_predictions_are_numbers_with_their_figures(files: Path, tmp_path: Path) -> None:
    found = predict(files / "run", files / "test.csv")
    _, true = design(800, 2)
    assert np.abs(np.array(found.scores, dtype=float) - true).mean() < 0.5
    assert found.labels[0] == repr(found.scores[0])
    assert (found.classes, found.probabilities, found.threshold, found.accuracy) == ((), None, None, None)
    assert isinstance(found.metrics, RegressionMetrics)
    assert found.metrics.rmse == pytest.approx(4, abs=0.4)
    assert found.metrics.r_squared == pytest.approx(1 - (found.metrics.rmse / found.metrics.base_rmse) ** 2)
    assert found.metrics.slope == pytest.approx(1, abs=0.15)
    found.write(tmp_path / "out.csv")
    heading, first, *_ = (tmp_path / "out.csv").read_text().splitlines()
    assert (heading, first) == ("row,prediction,reason", f"1,{found.labels[0]},")
    below = replace(found, labels=("-1.5", ""), scores=(-1.5, None), ids=("1", "2"), reasons=((), ()))
    below.write(tmp_path / "below.csv")  # a number below 0 is no formula
    assert (tmp_path / "below.csv").read_text().splitlines()[1:] == ["1,-1.5,", "2,,"]
    with refused("threshold.of_number"):
        predict(files / "run", files / "test.csv", threshold=0.4)
    lines = [line.rpartition(",")[0] + ",x" for line in design(3, 3)[0]]
    unknown = predict(files / "run", write(tmp_path / "x.csv", lines))
    assert (unknown.metrics, unknown.unlabelled_rows, len(unknown.labels)) == (None, 3, 3)


def test_a_model_in_json_says_that_it_predicts_a_number(files: Path, tmp_path: Path) -> None:
    export_run(files / "run", "json", tmp_path / "model.json")
    model = json.loads((tmp_path / "model.json").read_text())
    assert (model["outcome"], model["scored"], model["classes"]) == ([0.0, 60.0], ["stay"], [])
    assert (model["threshold"], model["gives_probabilities"]) == (None, False)
    by_name = {column["name"]: column for column in model["columns"]}
    told = predict(files / "run", write(tmp_path / "row.csv", ["58,b,,7"])).scores[0]
    ward = next(level["weights"][0] for level in by_name["ward"]["levels"] if level["texts"] == ["b"])
    assert told == pytest.approx(model["constant"][0] + ward + by_name["dose"]["empty"]["adds"][0])  # age: the middle


def in_sqlite(file: Path, rows: pd.DataFrame) -> Array:
    base = sqlite3.connect(":memory:")
    rows.to_sql("data", base, index=False)
    return pd.read_sql(file.read_text(), base)["smc_dp_prediction"].to_numpy(dtype=np.float64)


def in_duckdb(file: Path, rows: pd.DataFrame) -> Array:
    base = duckdb.connect(config={"threads": 1})
    base.register("data", rows)
    return base.sql(file.read_text()).df()["smc_dp_prediction"].to_numpy(dtype=np.float64)


def in_onnx(file: Path, rows: pd.DataFrame) -> Array:
    session = onnxruntime.InferenceSession(str(file))
    assert [output.name for output in session.get_outputs()] == ["smc_dp_prediction"]
    (found,) = session.run(None, {name: rows[[name]].to_numpy() for name in rows})
    flat: Array = found[:, 0]
    return flat


@pytest.mark.parametrize(("to", "read"), [("sql", in_sqlite), ("sql", in_duckdb), ("onnx", in_onnx)])
def test_another_program_predicts_the_same_numbers(
    to: str, read: Callable[[Path, pd.DataFrame], Array], files: Path, tmp_path: Path
) -> None:
    """And none for a row with a cell that cannot be used."""
    export_run(files / "run", to, tmp_path / "model")
    rows = pd.read_csv(write(tmp_path / "rows.csv", design(200, 4)[0])).drop(columns="stay").astype({"age": float})
    told = np.array(predict(files / "run", rows).scores, dtype=np.float64)
    assert read(tmp_path / "model", rows) == pytest.approx(told, abs=1e-6)
    found = read(tmp_path / "model", rows.iloc[:3].assign(ward=["a", "x", "b"]))
    assert np.isnan(found).tolist() == [False, True, False]


def test_figures_of_predictions_are_those_of_the_textbook() -> None:
    found = measure_regression(np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0, 3.0]))
    assert found.rmse == pytest.approx(np.sqrt(2 / 3))
    assert found.base_rmse == pytest.approx(np.sqrt(14) / 3)
    assert found.r_squared == pytest.approx(1 - 2 / (14 / 3))
    assert (found.slope, found.intercept) == (pytest.approx(1.0), pytest.approx(0.0))
    same = measure_regression(np.array([1.0, 1.0]), np.array([2.0, 2.0]))
    assert (same.r_squared, same.slope, same.intercept) == (None, None, None)


def test_a_simulation_measures_the_release_on_test_rows(files: Path, tmp_path: Path) -> None:
    report = run(files, tmp_path / "run", test=files / "test.csv")
    found = report.regression
    assert report.comparison is None
    assert found.metrics.rows == 800
    assert found.pooled - 0.1 < found.metrics.rmse < found.pooled + 0.5
    assert found.alone.keys() == {"north", "south", "west"}
    assert report.as_dict()["regression"] == found.as_dict()
    assert report.as_dict()["accuracy"] is None


def test_what_it_cannot_do_is_refused(files: Path, tmp_path: Path) -> None:
    request = {"data": {"party": ["nowhere.csv"], "bounds": files / "bounds.toml"}, "method": {"name": "logistic"}}
    with refused("bounds.numeric_outcome"):  # before a file of rows is read
        prepare_run(RunRequest.model_validate(request))
    few = {name: tmp_path / f"{name}.csv" for name in ("north", "south", "west")}
    for name, line in zip(few, design(6000, 1)[0], strict=False):
        write(few[name], [line])
    with refused("rows.no_more_than_coefficients", got=3, coefficients=6):
        run_protocol(few, out=tmp_path / "no", method="linear", bounds=files / "bounds.toml")
    with refused("bounds.no_numeric_outcome"):
        prepare_run(RunRequest.model_validate({"method": {"name": "linear"}}))
    with refused("bounds.numeric_outcome"):
        run(files, tmp_path / "no", method="newton")
    with refused("personal.of_number"):
        personalise(files / "run", files / "north.csv")
    (tmp_path / "b.toml").write_text(BOUNDS.replace("range = [0, 60]", 'classes = ["no", "yes"]'))
    with refused(*["classes.many_numbers"] * 3):
        run(files, tmp_path / "no", bounds=tmp_path / "b.toml")
    (tmp_path / "b.toml").write_text(BOUNDS.replace("[0, 60]", "[0, 9]"))
    with refused(*["cell.outside_bounds"] * 3):
        run(files, tmp_path / "no", bounds=tmp_path / "b.toml")
    for rows, code in (("clip = 1.73", "bounds.rows_shortened"), ("bias = 0", "bounds.no_constant")):
        (tmp_path / "b.toml").write_text(f"{BOUNDS}[rows]\n{rows}\n")
        with refused(code):
            run(files, tmp_path / "no", bounds=tmp_path / "b.toml")
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(("at", "rows", "obstacles"), [(6, 4000, []), (9, 6000, ["other_parties"]), (12, 6000, [])])
def test_after_a_drop_out_it_is_verified_as_well(
    at: int, rows: int, obstacles: list[str], files: Path, tmp_path: Path
) -> None:
    """Before the second sum, before the last one, and after it: between these two no interval would be true."""
    report = run(files, tmp_path / "run", dropouts=1, colluders=0, drop_out={"south": at})
    assert report.present.dropped_out == ("south",)
    found = stated(tmp_path / "run")["inference"]
    assert found["rows"] == pytest.approx(rows, abs=300)
    assert (found["obstacles"], found["cautions"]) == (obstacles, [])
    assert {term["low"] is None for term in found["terms"]} == {bool(obstacles)}
    assert verify_release(tmp_path / "run").release.inference == found
    assert audit_run(tmp_path / "run").passed


def test_the_page_has_coefficients_without_odds(files: Path) -> None:
    section = next(s for s in run_page(files / "run").sections if s.heading == "Coefficients with intervals")
    (table,) = (block for block in section.blocks if isinstance(block, PageTable))
    assert len(table.headings) == 7
    assert [row[:2] for row in table.rows][:3] == [("(intercept)", ""), ("age", "a unit"), ("ward", "b")]


def test_a_cell_with_few_rows_and_rows_with_long_residuals_have_no_interval(files: Path) -> None:
    bounds: Bounds = read_bounds(files / "bounds.toml")
    p = bounds.dimension - 1
    terms, T = coefficient_map(bounds)

    def found(inverse: float, clip: float, *obstacles: str) -> tuple[dict[str, Any], set[str]]:
        own = np.linalg.inv(T)
        inferred = CoefficientInference(
            np.zeros(p), own @ np.eye(p) @ own.T, np.zeros((p, p)), np.zeros(p), 0.0, own, np.zeros(p, dtype=bool),
            own @ np.diag([inverse] * p) @ own.T, obstacles, 5000.0, residual=1.0, clip=clip,
        )  # fmt: skip
        made = make_intervals(inferred, (0.0,) * bounds.dimension, bounds)
        return made, {term["kind"] for term in made["terms"] if term["low"] is None}

    assert len(terms) == p
    every = {"intercept", "slope", "level", "empty"}
    assert found(1 / 21, 10.0)[1] == set()
    made, without = found(1 / 19, 10.0)
    assert (made["cautions"], without) == (["small_cells"], {"level", "empty"})
    made, without = found(1 / 21, 9.0)  # the residuals that tell have the deviation sqrt 21
    assert (made["cautions"], without) == (["clipped_residuals"], every)
    made, without = found(1 / 21, 10.0, "long_tail")
    assert (made["obstacles"], made["cautions"], without) == (["long_tail"], [], every)
