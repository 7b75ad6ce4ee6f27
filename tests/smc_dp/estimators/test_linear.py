"""`SecureSumLinearRegression` states what a run of `linear` releases, by the names of the columns."""

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

from smc_dp import SecureSumLinearRegression, predict, run_protocol
from smc_dp.data.bounds import parse_bounds
from tests.support.refusals import refused

TEXT = """
[columns]
age = [18, 98]
ward = ["a", "b", "c"]
[label]
column = "stay"
range = [0, 60]
"""
BOUNDS = parse_bounds(TEXT)


def drawn(n: int = 3000) -> tuple[pd.DataFrame, pd.Series[float]]:
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"age": rng.integers(18, 99, n), "ward": rng.choice(["a", "b", "c"], n)})
    spread = 1 + 0.05 * X.age  # robust errors differ from the others
    stay = 8 + 0.2 * X.age + 4.0 * (X.ward == "b") - 3.0 * (X.ward == "c") + spread * rng.uniform(-1.5, 1.5, n)
    return X, stay.rename("stay")


X, y = drawn()
HOSPITAL = np.repeat(["north", "south", "west"], len(X) // 3)


def fitted(**settings: Any) -> SecureSumLinearRegression:
    return SecureSumLinearRegression(**{"bounds": BOUNDS, "epsilon": 5.0, "insecure_seed": 3, **settings}).fit(X, y)


def test_a_frame_has_the_rows_of_the_table() -> None:
    made = fitted()
    found, row = made.to_frame({"age": 10.0}), made.table({"age": 10.0})[1]
    assert row.interval is not None
    assert found.loc[1, ["column", "kind", "units", "estimate"]].tolist() == ["age", "slope", 10.0, row.estimate]
    assert found.loc[1, [*row.interval._fields]].tolist() == [*row.interval]
    assert made.to_frame()[["low", "high"]].to_numpy() == pytest.approx(made.conf_int())
    assert found.loc[:, "p_value_holm"].isna().tolist() == [True, False, False, False]
    assert fitted(epsilon=0.05).to_frame()[["standard_error", "low", "high", "p_value"]].isna().all(axis=None)


def test_the_weights_of_encoded_features_predict() -> None:
    made = fitted()
    Z = np.column_stack([(X.age - 58) / 40, X.ward == "a", X.ward == "b", X.ward == "c"]).astype(float)
    assert made.coef_.shape == (4,)
    assert made.coef_[1] == 0.0  # the reference
    assert Z @ made.coef_ + made.intercept_ == pytest.approx(made.predict(X))
    of_arrays = clone(made).fit(X.to_numpy(), y.to_numpy())  # the columns in their order
    assert of_arrays.predict(X.to_numpy()) == pytest.approx(made.predict(X))


def test_it_keeps_scikit_learns_conventions() -> None:
    made = fitted()
    assert is_regressor(made)
    assert (made.n_features_in_, [*made.feature_names_in_]) == (2, ["age", "ward"])
    again = pickle.loads(pickle.dumps(made))
    assert again.table() == made.table()
    assert clone(made).fit(X, y).table() == made.table()  # the same seed
    assert cross_val_score(clone(made), X, y, cv=3).min() > 0.5


def test_the_release_is_that_of_a_run(tmp_path: Path) -> None:
    """But for the noise: figures nearly without any, and the guarantee of the same settings."""
    (tmp_path / "bounds.toml").write_text(TEXT)
    tables = {name: X.assign(stay=y)[name == HOSPITAL] for name in ("north", "south", "west")}
    how: dict[str, Any] = {"method": "linear", "bounds": tmp_path / "bounds.toml"}
    report = run_protocol(tables, out=tmp_path / "run", epsilon=1000, **how)
    stated = report.as_dict()["inference"]
    parties = {name: (table[["age", "ward"]], table["stay"]) for name, table in tables.items()}
    made = SecureSumLinearRegression(BOUNDS, epsilon=1000.0).fit_parties(parties)
    assert [term["estimate"] for term in made.inference_["terms"]] == pytest.approx(
        [term["estimate"] for term in stated["terms"]], abs=0.1
    )
    assert made.inference_.keys() == stated.keys()
    numbers = [float(text) for text in predict(tmp_path / "run", X[:5]).labels]
    assert made.predict(X[:5]) == pytest.approx(numbers, abs=0.1)
    for name in ("kind", "epsilon", "delta", "mu", "unit", "adjacency"):
        assert getattr(made.privacy_, name) == getattr(report.privacy, name), name


@pytest.mark.parametrize("outcome", [61.0, -0.1, float("nan"), float("inf")])
def test_an_outcome_outside_its_range_is_refused_at_its_row(outcome: float) -> None:
    wrong = y.copy()
    wrong[1001] = outcome
    with refused("outcome.out_of_range") as raised:
        SecureSumLinearRegression(BOUNDS).fit(X, wrong, parties=HOSPITAL)
    assert raised.value.fault.fields["where"] == "party south: row 2"


CLASSES = parse_bounds('[columns]\nage = [18, 98]\n[label]\ncolumn = "died"\nclasses = ["no", "yes"]\n')


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"bounds": None}, "bounds.no_range_of_outcome"),
        ({"bounds": CLASSES}, "bounds.no_range_of_outcome"),
        ({"bounds": 3}, "bounds.no_bounds"),
        ({"adjacency": "both"}, "adjacency.unknown"),
        ({"delta": np.inf}, "delta.infinite"),
        ({"epsilon": -1.0}, "setting.not_positive"),
        ({"n_parties": len(X) + 1}, "n_parties.out_of_range"),
    ],
)
def test_settings_that_no_fit_can_use_are_refused(settings: dict[str, Any], code: str) -> None:
    with refused(code):
        fitted(**settings)


def test_what_is_no_number_is_refused() -> None:
    with refused("outcome.no_numbers"):
        SecureSumLinearRegression(BOUNDS).fit(X, ["long"] * len(X))
    with refused("array.wrong_shape"):
        SecureSumLinearRegression(BOUNDS).fit(X, y[:-1])


def test_a_refused_fit_leaves_no_earlier_release() -> None:
    made = fitted()
    with refused("bounds.no_range_of_outcome"):
        made.set_params(bounds=None).fit(X, y)
    for what in (made.table, made.conf_int, lambda: made.predict(X), lambda: made.coef_):
        with pytest.raises(NotFittedError):
            what()
    assert not hasattr(made, "privacy_")
