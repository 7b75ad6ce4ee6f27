"""The regressions with intervals state what runs of `logistic` and `linear` release, by the names of the columns."""

from __future__ import annotations

import pickle  # noqa: TID251  # an estimator must survive it, and nothing here reads what others wrote
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from smc_dp import SecureSumLinearRegression, SecureSumLogisticRegression, predict, run_protocol
from smc_dp.data.bounds import parse_bounds
from tests.support.refusals import refused
from tests.support.regressions import least_squares, logit

COLUMNS = '[columns]\nage = [18, 98]\nward = ["a", "b", "c"]\n[label]\n'
CLASSES = parse_bounds(COLUMNS + 'column = "died"\nclasses = ["no", "yes"]\n')
NUMBER = parse_bounds(COLUMNS + 'column = "stay"\nrange = [0, 60]\n')
HOSPITAL = np.repeat(["north", "south", "west"], 1000)


def drawn(n: int = 3000) -> tuple[pd.DataFrame, pd.Series[str], pd.Series[float]]:
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"age": rng.integers(18, 99, n), "ward": rng.choice(["a", "b", "c"], n)})
    score = 0.04 * (X.age - 60) + 0.8 * (X.ward == "b") - 0.6 * (X.ward == "c")
    spread = 1 + 0.05 * X.age  # robust errors differ from the others
    stay = 8 + 0.2 * X.age + 4.0 * (X.ward == "b") - 3.0 * (X.ward == "c") + spread * rng.uniform(-1.5, 1.5, n)
    died = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no")
    return X, pd.Series(died, name="died"), stay.rename("stay")


X, DIED, STAY = drawn()


def of_classes(**settings: Any) -> SecureSumLogisticRegression:
    made = SecureSumLogisticRegression(**{"bounds": CLASSES, "epsilon": 5.0, "insecure_seed": 3, **settings})
    return made.fit(X, DIED)


def of_number(**settings: Any) -> SecureSumLinearRegression:
    made = SecureSumLinearRegression(**{"bounds": NUMBER, "epsilon": 5.0, "insecure_seed": 3, **settings})
    return made.fit(X, STAY)


@pytest.mark.filterwarnings("ignore::smc_dp.core.errors.RowsClippedWarning")
@pytest.mark.slow
def test_scikit_learns_checks_pass() -> None:
    results = check_estimator(SecureSumLogisticRegression(epsilon=np.inf), on_fail=None, on_skip=None)
    assert len(results) > 45
    assert not [result["check_name"] for result in results if result["status"] == "failed"]


def test_rows_have_the_names_of_the_columns_and_the_intervals_of_their_level() -> None:
    made = of_classes()
    rows = made.table()
    assert [(row.column, row.what) for row in rows] == [("", ""), ("age", "a unit"), ("ward", "b"), ("ward", "c")]
    ends = [(row.interval.low, row.interval.high) for row in rows if row.interval]
    assert made.conf_int() == pytest.approx(np.array(ends))
    wide, narrow = np.diff(made.conf_int(0.99)), np.diff(made.conf_int(0.5))
    assert (wide / narrow).ravel() == pytest.approx([2.5758 / 0.67449] * 4, rel=1e-3)  # of the normal law
    assert made.table({"age": 10.0})[1].estimate == pytest.approx(10 * rows[1].estimate)
    assert made.bse == pytest.approx([row.interval.standard_error for row in rows if row.interval])
    assert made.predict_proba(X).shape == (len(X), 2)


@pytest.mark.parametrize("kind", ["logistic", "linear"])
def test_without_noise_p_values_and_intervals_are_those_of_statsmodels(kind: str) -> None:
    """Of an outcome in another order, so that p-values are not near 0."""
    design, half = np.column_stack([np.ones(len(X)), X.age, X.ward == "b", X.ward == "c"]), np.array([0.0, 40, 1, 1])
    y = (DIED if kind == "logistic" else STAY).sample(frac=1, random_state=1).to_numpy()
    made: Any
    if kind == "logistic":
        made, wanted = SecureSumLogisticRegression(bounds=CLASSES, epsilon=np.inf), logit(design, y == "yes", half)
    else:
        made, wanted = SecureSumLinearRegression(NUMBER, epsilon=np.inf), least_squares(design, y, half)
    rows = made.fit(X, y).table()
    wanted.check(np.array([row.estimate for row in rows]), made.cov)
    wanted.check_tests(np.array([row.interval.p_value for row in rows]), made.conf_int(0.95))


def test_where_a_rule_forbids_intervals_there_are_none() -> None:
    made = of_classes(epsilon=0.05)
    assert made.inference_["obstacles"]
    assert {row.interval for row in made.table()} == {None}
    assert np.isnan(made.conf_int()).all()
    assert np.isnan(made.cov).all()


@pytest.mark.parametrize(
    ("method", "kind", "bounds", "y", "off"),
    [
        ("logistic", SecureSumLogisticRegression, CLASSES, DIED, 0.02),
        ("linear", SecureSumLinearRegression, NUMBER, STAY, 0.1),
    ],
)
def test_the_release_is_that_of_a_run(
    method: str, kind: Any, bounds: Any, y: pd.Series[Any], off: float, tmp_path: Path
) -> None:
    """But for the noise: figures nearly without any, and the guarantee of the same settings."""
    tables = {name: X.assign(**{y.name: y})[name == HOSPITAL] for name in ("north", "south", "west")}
    report = run_protocol(tables, method=method, bounds=bounds, epsilon=1000, out=tmp_path / "run")
    stated = report.as_dict()["inference"]
    parties = {name: (table[["age", "ward"]], table[y.name]) for name, table in tables.items()}
    made = kind(bounds=bounds, epsilon=1000.0).fit_parties(parties)
    estimates = [[term["estimate"] for term in found["terms"]] for found in (made.inference_, stated)]
    assert estimates[0] == pytest.approx(estimates[1], abs=off)
    assert made.inference_.keys() == stated.keys()
    scores = made.predict(X[:5]) if method == "linear" else made.decision_function(X[:5])
    assert scores == pytest.approx(np.array(predict(tmp_path / "run", X[:5]).scores, dtype=float), abs=off)
    for name in ("kind", "epsilon", "delta", "mu", "unit", "adjacency"):
        assert getattr(made.privacy_, name) == getattr(report.privacy, name), name


def test_without_bounds_it_is_a_classifier_that_states_no_intervals() -> None:
    Z = np.column_stack([(X.age - 58) / 40, X.ward == "b"]).astype(float)
    made = SecureSumLogisticRegression(radius=2.0, epsilon=np.inf).fit(Z, DIED)
    assert made.score(Z, DIED) > 0.6
    for what in (made.table, made.conf_int, lambda: made.bse, lambda: made.inference_):
        with refused("bounds.none_to_infer_by"):
            what()


@pytest.mark.parametrize("level", [0.0, 1.0, 95, "0.95", float("nan")])
def test_a_level_is_a_probability(level: Any) -> None:
    with refused("level.no_probability"):
        of_classes(epsilon=np.inf).conf_int(level)


def test_a_frame_has_the_rows_of_the_table() -> None:
    made = of_number()
    found, row = made.to_frame({"age": 10.0}), made.table({"age": 10.0})[1]
    assert found.loc[1, ["column", "kind", "units", "estimate"]].tolist() == ["age", "slope", 10.0, row.estimate]
    assert found.loc[1, [*row.interval._fields]].tolist() == [*row.interval]
    assert made.to_frame()[["low", "high"]].to_numpy() == pytest.approx(made.conf_int())
    assert found.loc[:, "p_value_holm"].isna().tolist() == [True, False, False, False]
    assert of_number(epsilon=0.05).to_frame()[["standard_error", "low", "high", "p_value"]].isna().all(axis=None)


def test_the_weights_of_encoded_features_predict_a_number() -> None:
    made = of_number()
    Z = np.column_stack([(X.age - 58) / 40, X.ward == "a", X.ward == "b", X.ward == "c"]).astype(float)
    assert made.coef_.shape == (4,)
    assert made.coef_[1] == 0.0  # the reference
    assert Z @ made.coef_ + made.intercept_ == pytest.approx(made.predict(X))
    of_arrays = clone(made).fit(X.to_numpy(), STAY.to_numpy())  # the columns in their order
    assert of_arrays.predict(X.to_numpy()) == pytest.approx(made.predict(X))


def test_a_regression_of_a_number_keeps_scikit_learns_conventions() -> None:
    made = of_number()
    assert is_regressor(made)
    assert (made.n_features_in_, [*made.feature_names_in_]) == (2, ["age", "ward"])
    again = pickle.loads(pickle.dumps(made))
    assert again.table() == made.table()
    assert clone(made).fit(X, STAY).table() == made.table()  # the same seed
    assert cross_val_score(clone(made), X, STAY, cv=3).min() > 0.5


@pytest.mark.parametrize("outcome", [61.0, -0.1, float("nan"), float("inf")])
def test_an_outcome_outside_its_range_is_refused_at_its_row(outcome: float) -> None:
    wrong = STAY.copy()
    wrong[1001] = outcome
    with refused("outcome.out_of_range") as raised:
        SecureSumLinearRegression(NUMBER).fit(X, wrong, parties=HOSPITAL)
    assert raised.value.fault.fields["where"] == "party south: row 2"


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"bounds": None}, "bounds.no_range_of_outcome"),
        ({"bounds": CLASSES}, "bounds.no_range_of_outcome"),
        ({"bounds": 3}, "bounds.no_bounds"),
        ({"adjacency": "both"}, "setting.unknown_value"),
        ({"epsilon": -1.0}, "parameter.wrong"),
    ],
)
def test_settings_that_no_fit_can_use_are_refused(settings: dict[str, Any], code: str) -> None:
    with refused(code):
        of_number(**settings)


def test_what_is_no_number_is_refused() -> None:
    with refused("outcome.no_numbers"):
        SecureSumLinearRegression(NUMBER).fit(X, ["long"] * len(X))
    with refused("array.wrong_shape"):
        SecureSumLinearRegression(NUMBER).fit(X, STAY[:-1])


def test_a_refused_fit_leaves_no_earlier_release() -> None:
    made = of_number()
    with refused("bounds.no_range_of_outcome"):
        made.set_params(bounds=None).fit(X, STAY)
    for what in (made.table, made.conf_int, lambda: made.predict(X), lambda: made.coef_):
        with pytest.raises(NotFittedError):
            what()
    assert not hasattr(made, "privacy_")
