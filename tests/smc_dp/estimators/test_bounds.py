"""Estimators with public bounds: rows are encoded as a run encodes those of a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from smc_dp import (
    CollaborativeClassifier,
    EnsembleClassifier,
    FeatureMethodClassifier,
    RowsClippedWarning,
    SecureSumClassifier,
)
from smc_dp.data.bounds import parse_bounds
from smc_dp.data.frames import read_frame
from smc_dp.data.preprocess import encode_rows
from smc_dp.estimators.base import CLASSES_FROM_LABELS
from tests.support.families import FAMILIES
from tests.support.refusals import refused

TEXT = """
[columns]
age = [0, 100]
sex = ["f", "m"]
weight = [30, 200]
[missing]
weight = "indicator"
[label]
classes = ["no", "yes"]
column = "out"
"""
BOUNDS = parse_bounds(TEXT)


def patients(n: int, seed: int) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, n)
    weight = np.where(rng.random(n) < 0.1, np.nan, rng.normal(75, 12, n).clip(40, 150))
    frame = pd.DataFrame({"id": range(n), "weight": weight, "sex": rng.choice(["f", "m"], n), "age": age})
    return frame, pd.Series(np.where(age + rng.normal(0, 8, n) > 50, "yes", "no"))


X, Y = patients(400, 1)


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_with_bounds_are_those_of_a_file(family: Any) -> None:
    """Twin: the same rows, encoded by hand."""
    model = family(epsilon=5.0, bounds=BOUNDS, insecure_seed=3, n_parties=2).fit(X, Y)
    assert model.classes_.tolist() == ["no", "yes"]
    assert CLASSES_FROM_LABELS not in model.privacy_.caveats
    bounds = replace(BOUNDS, bias=0.0) if family is CollaborativeClassifier else BOUNDS
    encoded = encode_rows(read_frame(X, "X"), bounds)
    numbers = family(epsilon=5.0, radius=1.0, insecure_seed=3, n_parties=2, classes=["no", "yes"])
    numbers = numbers.set_params(**({} if family is CollaborativeClassifier else {"bias": 0.0})).fit(encoded, Y)
    if family is EnsembleClassifier:  # whose points of the ball have other widths
        assert set(model.predict(X)) <= {"no", "yes"}
        return
    assert np.allclose(model.decision_function(X), numbers.decision_function(encoded), atol=1e-6)
    if family is SecureSumClassifier:
        assert model.coef_.shape == (1, 5)
        features = encoded[:, :-1] / encoded[:, -1:] * bounds.bias * bounds.clip  # in the units of encoded columns
        found = features @ model.coef_[0] + model.intercept_
        assert np.allclose(found, model.decision_function(X), atol=1e-6)


def test_frames_of_any_library_arrays_and_files_of_bounds_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "bounds.toml").write_text(TEXT)
    options: dict[str, Any] = {"insecure_seed": 3, "n_parties": 2}
    wanted = SecureSumClassifier(bounds=BOUNDS, **options).fit(X, Y).decision_function(X)
    rows = X[["age", "sex", "weight"]].to_numpy(dtype=object)
    polars = pl.from_dict(X.to_dict("list"))
    for given in (polars, rows):
        model = SecureSumClassifier(bounds=tmp_path / "bounds.toml", **options).fit(given, Y.to_numpy())
        assert np.array_equal(model.decision_function(given), wanted)
    assert model.n_features_in_ == 3
    fitted = SecureSumClassifier(bounds=str(tmp_path / "bounds.toml"), **options).fit(X, Y)
    assert fitted.feature_names_in_.tolist() == ["id", "weight", "sex", "age"]


def test_parties_bring_frames_of_their_own() -> None:
    whose = np.repeat(["north", "south"], 200)
    wanted = SecureSumClassifier(bounds=BOUNDS, insecure_seed=3).fit(X, Y, parties=whose)
    parties = {name: (X[whose == name], Y[whose == name]) for name in ("north", "south")}
    found = SecureSumClassifier(bounds=BOUNDS, insecure_seed=3).fit_parties(parties)
    assert list(found.feature_names_in_) == list(X.columns)  # the index of a part is no column
    assert np.array_equal(found.decision_function(X), wanted.decision_function(X))
    other = {"north": parties["north"], "south": (X[whose == "south"].rename(columns={"age": "years"}), Y[200:])}
    with refused("cell.empty"):
        SecureSumClassifier(bounds=BOUNDS).fit_parties(other)


def test_public_rows_are_encoded_too() -> None:
    public, labels = patients(60, 2)
    model = EnsembleClassifier(bounds=BOUNDS, n_parties=4, epsilon=50.0).fit(X, Y, auxiliary=public)
    assert set(model.predict(public)) <= {"no", "yes"}
    model = FeatureMethodClassifier(bounds=BOUNDS, n_parties=2).fit(X, Y, public_X=public, public_y=labels)
    assert model.predict_proba(public).shape == (60, 2)


def test_what_does_not_go_with_bounds_is_refused(tmp_path: Path) -> None:
    def fit(bounds: Any = BOUNDS, rows: Any = X, labels: Any = Y, **given: Any) -> None:
        SecureSumClassifier(bounds=bounds, **given).fit(rows, labels)

    with refused("setting.beside_bounds", name="radius", got="2.0"):
        fit(radius=2.0)
    with refused("setting.beside_bounds", name="bias"):
        fit(bias=0.1)
    with refused("bounds.no_bounds"):
        fit(bounds=3)
    with refused("bounds.leave_rows_out", column="weight"):
        fit(bounds=parse_bounds(TEXT.replace('"indicator"', '"leave out"')))
    with refused("bounds.with_weights"):
        fit(bounds=parse_bounds(TEXT + "[weights]\nclasses = [1, 2]\n"))
    with refused("array.wrong_shape", name="X", shape="(400, 4)"):
        fit(rows=X.to_numpy())
    with refused("array.wrong_shape", name="X"):
        fit(rows=scipy.sparse.csr_matrix(np.eye(3)))
    with refused("array.wrong_shape", name="y"):
        fit(labels=Y[:-1])
    with refused("table.no_column"):
        fit(rows=X.drop(columns="age"))
    with refused("cell.unknown_level", at="X: column 'sex', row 400"):
        fit(rows=X.assign(sex=[*X.sex[:-1], "x"]))
    with refused("label.unknown_class"):
        fit(labels=[*Y[:-1], "maybe"])
    model = SecureSumClassifier(bounds=BOUNDS, n_parties=2).fit(X, Y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X.rename(columns={"id": "number"}))
    assert CLASSES_FROM_LABELS in SecureSumClassifier(bounds=BOUNDS).fit(X, Y == "yes").privacy_.caveats


def test_rows_that_bounds_shorten_are_told_to_their_owner() -> None:
    with pytest.warns(RowsClippedWarning) as caught:
        SecureSumClassifier(bounds=replace(BOUNDS, clip=1.0)).fit(X, Y)
    assert "write clip = 1.74 under [rows]" in str(caught[0].message)
