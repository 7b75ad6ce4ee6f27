"""`SecureSumLogisticRegression` states what a run of `logistic` releases, by the names of the columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import check_estimator

from smc_dp import SecureSumLogisticRegression, run_protocol
from smc_dp.data.bounds import parse_bounds
from tests.support.refusals import refused

TEXT = """
[columns]
age = [18, 98]
ward = ["a", "b", "c"]
[label]
column = "died"
classes = ["no", "yes"]
"""
BOUNDS = parse_bounds(TEXT)


def drawn(n: int = 3000) -> tuple[pd.DataFrame, pd.Series[str]]:
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"age": rng.integers(18, 99, n), "ward": rng.choice(["a", "b", "c"], n)})
    score = 0.04 * (X.age - 60) + 0.8 * (X.ward == "b") - 0.6 * (X.ward == "c")
    return X, pd.Series(np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no"), name="died")


X, y = drawn()


def fitted(**settings: Any) -> SecureSumLogisticRegression:
    return SecureSumLogisticRegression(**{"bounds": BOUNDS, "epsilon": 5.0, "insecure_seed": 3, **settings}).fit(X, y)


@pytest.mark.filterwarnings("ignore::smc_dp.core.errors.RowsClippedWarning")
@pytest.mark.slow
def test_scikit_learns_checks_pass() -> None:
    results = check_estimator(SecureSumLogisticRegression(epsilon=np.inf), on_fail=None, on_skip=None)
    assert len(results) > 45
    assert not [result["check_name"] for result in results if result["status"] == "failed"]


def test_rows_have_the_names_of_the_columns_and_the_intervals_of_their_level() -> None:
    made = fitted()
    rows = made.table()
    assert [(row.column, row.what) for row in rows] == [("", ""), ("age", "a unit"), ("ward", "b"), ("ward", "c")]
    ends = [(row.interval.low, row.interval.high) for row in rows if row.interval]
    assert made.conf_int() == pytest.approx(np.array(ends))
    wide, narrow = np.diff(made.conf_int(0.99)), np.diff(made.conf_int(0.5))
    assert (wide / narrow).ravel() == pytest.approx([2.5758 / 0.67449] * 4, rel=1e-3)  # of the normal law
    assert made.table({"age": 10.0})[1].estimate == pytest.approx(10 * rows[1].estimate)
    assert made.bse == pytest.approx([row.interval.standard_error for row in rows if row.interval])
    assert made.predict_proba(X).shape == (len(X), 2)


def test_where_a_rule_forbids_intervals_there_are_none() -> None:
    made = fitted(epsilon=0.05)
    assert made.inference_["obstacles"]
    assert {row.interval for row in made.table()} == {None}
    assert np.isnan(made.conf_int()).all()
    assert np.isnan(made.cov).all()


def test_the_same_figures_as_a_run_but_for_the_noise(tmp_path: Any) -> None:
    (tmp_path / "bounds.toml").write_text(TEXT)
    for j, name in enumerate(("north", "south")):
        X.assign(died=y).iloc[j::2].to_csv(tmp_path / f"{name}.csv", index=False)
    tables = {name: tmp_path / f"{name}.csv" for name in ("north", "south")}
    how: dict[str, Any] = {"method": "logistic", "epsilon": 1000, "bounds": tmp_path / "bounds.toml"}
    report = run_protocol(tables, out=tmp_path / "run", **how).as_dict()["inference"]
    found = fitted(epsilon=np.inf).inference_
    assert [term["estimate"] for term in found["terms"]] == pytest.approx(
        [term["estimate"] for term in report["terms"]], abs=0.01
    )
    assert found.keys() == report.keys()


def test_without_bounds_it_is_a_classifier_that_states_no_intervals() -> None:
    Z = np.column_stack([(X.age - 58) / 40, X.ward == "b"]).astype(float)
    made = SecureSumLogisticRegression(radius=2.0, epsilon=np.inf).fit(Z, y)
    assert made.score(Z, y) > 0.6
    for what in (made.table, made.conf_int, lambda: made.bse, lambda: made.inference_):
        with refused("bounds.none_to_infer_by"):
            what()


@pytest.mark.parametrize("level", [0.0, 1.0, 95, "0.95", float("nan")])
def test_a_level_is_a_probability(level: Any) -> None:
    with refused("level.no_probability"):
        fitted(epsilon=np.inf).conf_int(level)
