"""A class that is named as the only answer is that of every row; corners of the bounds say where there may be two."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.raw_models import draw_model

from smc_dp.cli.main import main
from smc_dp.data.bounds import Bounds, CategoricalColumn, NumericColumn
from smc_dp.data.preprocess import examine_table
from smc_dp.data.table import Table
from smc_dp.methods.model import classify, scores
from smc_dp.pages.blocks import texts_by_code
from smc_dp.run.one_class import only_class
from smc_dp.run.prediction import predict_rows
from smc_dp.run.prediction_report import prediction_blocks
from smc_dp.run.release_report import run_page
from smc_dp.run.run_protocol import run_protocol
from smc_dp.run.threshold import HALF, Threshold

AGE, SEX = NumericColumn("age", 0, 120), CategoricalColumn("sex", ("f", "m"))


def shifted(weights: Any, by: float) -> Any:
    """The weights with more weight of the constant, of the first class where there are more than two."""
    W = np.array(weights, dtype=np.float64)
    W[(-1,) if W.ndim == 1 else (0, -1)] += by
    return tuple(W.tolist()) if W.ndim == 1 else tuple(map(tuple, W.tolist()))


@given(st.integers(0, 10**9), st.floats(-60, 60), st.floats(0.05, 0.95))
def test_the_class_that_is_named_is_that_of_every_row(seed: int, by: float, probability: float) -> None:
    model = draw_model(seed, 40)
    weights, limit = shifted(model.weights, by), Threshold(probability)
    rows = examine_table(Table("rows", dict(model.cells), range(model.rows)), model.bounds).X
    found = only_class(weights, model.bounds, limit, None)
    if found is not None and len(rows):
        two = len(model.bounds.classes) == 2
        at = limit.passed(scores(weights, rows)).astype(int) if two else classify(weights, rows)
        assert {model.bounds.classes[c] for c in at.tolist()} == {found}


@pytest.mark.parametrize("w", [(0.5, 0.2, -0.3), (-0.4, 0.3, 0.1), (0.6, -0.5, -0.2), (-0.1, 0.5, 0.6)])
@pytest.mark.parametrize("clip", [0.7, 1.2, math.sqrt(2), 3.0])
def test_corners_say_from_which_constant_on_there_is_one_class(w: tuple[float, ...], clip: float) -> None:
    bounds = Bounds((AGE, SEX), ("no", "yes"), "y", clip, 1.0)
    ages, sexes = zip(*product(("0", "60", "120"), ("f", "m")), strict=True)
    of_rows = scores((*w, 0.0), examine_table(Table("rows", {"age": ages, "sex": sexes}, range(6)), bounds).X)
    for sign, name, edge in ((1, "yes", of_rows.min()), (-1, "no", -of_rows.max())):
        need = -float(edge) / bounds.constant
        assert only_class((*w, sign * (need + 1.0)), bounds, HALF, None) == name
        assert only_class((*w, sign * (need - 0.01)), bounds, HALF, None) is None  # a row has the other class
        if clip >= math.sqrt(2):  # no row is shortened, so the corner is reached
            assert only_class((*w, sign * (need + 0.01)), bounds, HALF, None) == name


def test_a_threshold_and_more_classes_count() -> None:
    bounds = Bounds((AGE, SEX), ("no", "yes"), "y", 2.0, 1.0)
    w = (0.1, 0.0, 0.0, 1.0)
    assert only_class(w, bounds, HALF, None) == "yes"
    assert only_class(w, bounds, Threshold(0.9), None) == "no"
    three = replace(bounds, classes=("a", "b", "c"))
    assert only_class((w, (0.0,) * 4, (0.1, 0.0, 0.0, 2.0)), three, HALF, None) == "c"
    assert only_class((w, (0.0,) * 4, w), three, HALF, None) is None  # the first of equals wins, and may be another's


def test_large_weights_that_nearly_cancel_name_no_class() -> None:
    bounds = Bounds((AGE, NumericColumn("height", 0, 1)), ("a", "b", "c"), "y", 2.0, 1.0)
    weights = ((1e15, 3e14, 0.0), (1e15, 3e14, 0.01), (0.0, 0.0, -4e15))  # in reals "b" is ahead by .007 everywhere
    numbers = np.random.default_rng(5).uniform(0, 1, (500, 2))
    cells = {"age": tuple(f"{120 * x:.2f}" for x in numbers[:, 0]), "height": tuple(f"{x:.3f}" for x in numbers[:, 1])}
    rows = examine_table(Table("rows", cells, range(500)), bounds).X
    assert set(classify(weights, rows).tolist()) == {0, 1}  # scores are rounded
    assert only_class(weights, bounds, HALF, None) is None
    assert only_class((*weights[:1], (1e15, 3e14, 1e9), *weights[2:]), bounds, HALF, None) == "b"


def test_a_run_a_page_and_a_prediction_say_that_a_release_answers_one_class(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng, bounds = np.random.default_rng(1), Bounds((AGE, SEX), ("no", "yes"), "y", 2.0, 1.0)
    files = {name: tmp_path / f"{name}.csv" for name in ("north", "south")}
    for path in files.values():
        rows = [(int(age), "fm"[i % 2], "yes" if i % 10 else "no") for i, age in enumerate(rng.uniform(0, 120, 200))]
        path.write_text("age,sex,y\n" + "".join(f"{age},{sex},{y}\n" for age, sex, y in rows))
    run = tmp_path / "run"
    report = run_protocol(files, method="wsum", lam=1, target=100.0, bounds=bounds, test=files["north"], out=run)
    assert [fault.code for fault in report.remarks] == ["run.one_class"]
    said = texts_by_code(block for section in run_page(run).sections for block in section.blocks)
    assert "yes" in said["run.one_class"]
    found = predict_rows(run, files["south"])
    assert set(found.labels) == {found.one_class} == {"yes"}
    assert {"prediction.one_class", "metrics.nearly_one_class"} <= set(texts_by_code(prediction_blocks(found, "south")))
    main(["predict", str(run), "--data", str(files["south"]), "--json"])
    assert json.loads(capsys.readouterr().out)["one_class"] == "yes"
