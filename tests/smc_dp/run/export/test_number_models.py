"""Exports of a release that predicts a number: in each format the numbers that `predict` gives, for the same cells."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import pytest

from smc_dp import predict, run_protocol
from smc_dp.core.arrays import Array
from smc_dp.run.export.export_run import export_run

BOUNDS = """
[columns]
age = [18, 98]
ward = ["a", "b", "c"]
seen = [2020-01-01, 2020-12-31]
size = {bins = [0, 10, 20, 40]}
dose = [0, 10]
[missing]
dose = "indicator"
size = "category"
[label]
column = "stay"
range = [0, 60]
"""


def drawn(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    seen = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 366, n), unit="D")
    found = pd.DataFrame(
        {
            "age": rng.uniform(17, 99, n),  # a few beyond the bounds
            "ward": rng.choice(["a", "b", "c"], n),
            "seen": [day.strftime("%Y-%m-%d") for day in seen],
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.uniform(0, 40, n)),
            "dose": np.where(rng.random(n) < 0.2, np.nan, rng.uniform(0, 10, n)),
        }
    )
    stay = 0.2 * found.age + 4 * (found.ward == "b") + 1.5 * found.dose.fillna(2) + rng.normal(8, 3, n)
    return found.assign(stay=stay.clip(0, 60))


ROWS = drawn(200, 2).drop(columns="stay")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("number")
    (folder / "bounds.toml").write_text(BOUNDS)
    rows = drawn(3000, 1)
    tables = {name: rows.iloc[j::3] for j, name in enumerate(("north", "south", "west"))}
    run_protocol(tables, method="linear", epsilon=10, bounds=folder / "bounds.toml", out=folder / "run")
    return folder / "run"


@pytest.fixture(scope="module")
def predicted(release: Path) -> Array:
    return np.array(predict(release, ROWS).scores, dtype=np.float64)


def as_days(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(seen=(pd.to_datetime(rows.seen) - pd.Timestamp(0)).dt.days.astype(float))


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
    given: dict[str, Any] = {name: as_days(rows)[[name]].to_numpy() for name in rows}
    (found,) = session.run(None, given)
    assert [output.name for output in session.get_outputs()] == ["smc_dp_prediction"]
    flat: Array = found[:, 0]
    return flat


FORMATS: list[tuple[str, Callable[[Path, pd.DataFrame], Array]]] = [
    ("sql", in_sqlite), ("sql", in_duckdb), ("onnx", in_onnx),
]  # fmt: skip


@pytest.mark.parametrize(("to", "run"), FORMATS)
def test_another_program_predicts_the_same_numbers(
    to: str, run: Callable[[Path, pd.DataFrame], Array], release: Path, predicted: Array, tmp_path: Path
) -> None:
    export_run(release, to, tmp_path / "model")
    assert run(tmp_path / "model", ROWS) == pytest.approx(predicted, abs=1e-6)


@pytest.mark.parametrize(("to", "run"), FORMATS)
def test_a_row_with_a_cell_that_cannot_be_used_has_no_number(
    to: str, run: Callable[[Path, pd.DataFrame], Array], release: Path, tmp_path: Path
) -> None:
    export_run(release, to, tmp_path / "model")
    found = run(tmp_path / "model", ROWS.iloc[:3].assign(ward=["a", "x", "b"]))
    assert np.isnan(found).tolist() == [False, True, False]
