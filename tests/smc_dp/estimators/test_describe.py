"""`SecureSumDescribe` releases what a run of `describe` releases, as typed rows and as a data frame."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from smc_dp import RowsClippedWarning, SecureSumDescribe
from smc_dp.cli.main import main
from smc_dp.data.bounds import parse_bounds
from smc_dp.run.run_protocol import run_protocol
from tests.support.refusals import refused

BOUNDS = parse_bounds('[columns]\nage = [0, 120]\nsex = ["f", "m"]\nstay = {bins = [0, 2, 5, 30]}\n')
LABELLED = parse_bounds('[columns]\nage = [0, 120]\n[label]\nclasses = ["f", "m"]\ncolumn = "sex"\n')
ROWS = 900


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    columns = {"age": rng.integers(20, 90, ROWS), "sex": rng.choice(["f", "m"], ROWS), "stay": rng.uniform(0, 30, ROWS)}
    return pd.DataFrame(columns)


FRAME = frame()
HOSPITAL = np.repeat(["north", "south", "west"], ROWS // 3)


def test_the_release_is_that_of_a_run(tmp_path: Path) -> None:
    """With the noise of the same settings: the guarantee, the widths, and the order of figures."""
    tables = {name: FRAME[name == HOSPITAL] for name in ("north", "south", "west")}
    run = run_protocol(tables, method="describe", bounds=BOUNDS, out=tmp_path / "run", by="sex")
    made = SecureSumDescribe(BOUNDS, by="sex").fit_parties(tables)
    assert (made.result_.rows, made.result_.parties) == (run.described.rows, run.described.parties)
    key = [(row.group, row.column, row.level, row.figure) for row in made.table()]
    assert key == [(row.group, row.column, row.level, row.figure) for row in run.described.table()]
    for own, other in zip(made.table(), run.described.table(), strict=True):
        if own.figure == "count":
            assert own.found.high - own.found.low == pytest.approx(other.found.high - other.found.low, rel=1e-6)
    for name in ("kind", "epsilon", "delta", "mu", "unit", "adjacency"):
        assert getattr(made.privacy_, name) == getattr(run.privacy, name), name


def test_a_label_is_described_like_any_other_column() -> None:
    made = SecureSumDescribe(LABELLED, epsilon=np.inf).fit(FRAME)
    (men,) = (row.found for row in made.table() if (row.column, row.level) == ("sex", "m"))
    assert men.estimate == (FRAME["sex"] == "m").sum()
    with refused("table.no_column"):
        SecureSumDescribe(LABELLED).fit(FRAME[["age"]])


def test_a_label_that_is_a_number_is_described_as_one() -> None:
    bounds = parse_bounds('[columns]\nsex = ["f", "m"]\n[label]\nrange = [0, 120]\ncolumn = "age"\n')
    found = SecureSumDescribe(bounds, by="sex", epsilon=np.inf).fit(FRAME).to_frame()
    means = found[found["figure"] == "mean"].set_index("group")["estimate"]
    assert means[""] == pytest.approx(FRAME["age"].mean(), rel=1e-6)
    assert means["m"] == pytest.approx(FRAME.loc[FRAME["sex"] == "m", "age"].mean(), rel=1e-6)


def test_arrays_have_the_columns_of_the_bounds_in_their_order() -> None:
    bounds = parse_bounds("[columns]\na = [0, 1]\nb = [0, 2]\n")
    X = np.random.default_rng(1).uniform(0, 1, (60, 2))
    found = [row.found for row in SecureSumDescribe(bounds, epsilon=np.inf).fit(X).table() if row.figure == "mean"]
    assert [one.estimate for one in found if one] == pytest.approx(X.mean(axis=0).tolist(), abs=1e-6)
    both = SecureSumDescribe(bounds, epsilon=np.inf).fit_parties([X[:20], X[20:]])
    assert (both.result_.rows, both.result_.parties) == (60, 2)


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"bounds": None}, "bounds.none_to_describe_by"),
        ({"bounds": 3}, "bounds.no_bounds"),
        ({"by": "ward"}, "describe.no_such_column"),
        ({"by": "age"}, "describe.column_of_numbers"),
        ({"tables": "sex*sex"}, "describe.no_pair"),
        ({"delta": np.inf}, "delta.infinite"),
        ({"n_parties": ROWS + 1}, "parameter.wrong"),
        (
            {"bounds": parse_bounds('[columns]\nage = [0, 120]\n[label]\nclasses = ["f", "m"]')},
            "bounds.label_in_no_column",
        ),
    ],
)
def test_settings_that_no_fit_can_use_are_refused(settings: dict[str, Any], code: str) -> None:
    made = SecureSumDescribe(**{"bounds": BOUNDS, **settings})
    with refused(code):
        made.fit(FRAME)
    with pytest.raises(NotFittedError):
        made.table()


def test_a_refused_fit_leaves_no_earlier_release() -> None:
    made = SecureSumDescribe(BOUNDS).fit(FRAME)
    with refused("describe.no_such_column"):
        made.set_params(by="ward").fit(FRAME)
    with pytest.raises(NotFittedError):
        made.to_frame()
    assert not hasattr(made, "privacy_")


def test_a_seed_leaves_no_guarantee_and_gives_the_same_release() -> None:
    one, other = (SecureSumDescribe(BOUNDS, insecure_seed=3).fit(FRAME) for _ in range(2))
    assert one.privacy_.kind == "none"
    assert one.result_ == other.result_


def test_numbers_beyond_the_bounds_are_told_and_not_released() -> None:
    with pytest.warns(RowsClippedWarning):
        made = SecureSumDescribe(parse_bounds("[columns]\nage = [0, 50]\n"), epsilon=np.inf).fit(FRAME)
    (mean,) = (row.found for row in made.table() if row.figure == "mean")
    assert mean.estimate == pytest.approx(FRAME["age"].clip(0, 50).mean(), abs=1e-5)


def test_a_ledger_is_charged_once_for_each_fit(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    assert main(["ledger", "init", str(ledger), "--budget", "2.5", "--delta", "1e-3"]) == 0
    made = SecureSumDescribe(BOUNDS, ledger=ledger).fit(FRAME)
    first = made.privacy_.epsilon
    made.fit(FRAME)
    assert 1.3 * first < made.privacy_.epsilon < 2 * first
    with refused("ledger.insecure_seed"):
        made.set_params(insecure_seed=1).fit(FRAME)


def test_without_pandas_there_is_a_table_and_no_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    made = SecureSumDescribe(BOUNDS).fit(FRAME)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with refused("frame.no_pandas"):
        made.to_frame()
    assert made.table()
