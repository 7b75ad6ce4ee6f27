"""Runs on files with empty cells, dates, truth values, other texts for levels: what is agreed on, published, used."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import studies
from support.audits import OF_THE_RUN
from support.deployed import deployed

from smc_dp import audit_run, predict, run_protocol
from smc_dp.audit.run import checks
from smc_dp.core.errors import UnfitError
from smc_dp.data.bounds import Bounds, parse_bounds, read_bounds
from smc_dp.data.columns import LEAVE_OUT, NumericColumn
from smc_dp.data.preprocess import encode_rows
from smc_dp.data.sources import PreparedData, read_own_files
from smc_dp.data.table_reader import read_table
from smc_dp.methods.registry import find_method
from smc_dp.privacy.target import Target
from smc_dp.run import folder
from smc_dp.run.agreement import Agreement, SettledRun
from smc_dp.run.export.exported_model import read_model
from smc_dp.run.protocols.secure_sum import SumTerms
from smc_dp.run.threshold import HALF, Threshold
from tests.support.refusals import refused

COLUMNS = """[columns]
age = [0, 120]
weight = [2, 300]
sex = ["f", "m"]
smoker = [false, true]
admitted = [2010-01-01, 2025-12-31]
bmi = {bins = [0, 18, 25, 60]}
[label]
column = "outcome"
classes = ["no", "yes"]
[rows]
clip = 3
[missing]
age = "leave out"
weight = "indicator"
sex = "category"
admitted = 2012-01-01
bmi = 20
outcome = "leave out"
[aliases.sex]
f = ["F", "female"]
[aliases.outcome]
yes = [1]
"""
HEADER = "id,age,weight,sex,smoker,admitted,bmi,outcome\n"
ROWS = (
    "a,30,70,F,true,2015-03-01,20,1\n"
    "b,,80,m,false,2015-03-02,30,no\n"
    "c,50,,female,true,,,yes\n"
    "d,60,90,,false,2015-03-04,17,no\n"
    "e,40,60,m,true,2015-03-05,22,\n"
)


def rows_of(party: str) -> str:
    """Rows that differ between parties in the column `id` alone, which is in no bounds."""
    return "".join(f"{party}-{line}" for line in ROWS.splitlines(keepends=True))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two parties' files, their bounds, and a run of them under a guarantee that allows to leave out."""
    place = tmp_path_factory.mktemp("columns")
    (place / "bounds.toml").write_text(COLUMNS)
    for name in ("north", "south", "west"):
        (place / f"{name}.csv").write_text(HEADER + rows_of(name))
    given: dict[str, Any] = {"bounds": place / "bounds.toml", "method": "wsum_ar", "insecure_seed": 1}
    run_protocol([place / "north.csv", place / "south.csv"], out=place / "run", **given)
    return place


def test_a_release_states_its_columns_and_what_reads_it_encodes_alike(made: Path) -> None:
    stated = json.loads((made / "run" / "release.json").read_text())
    assert stated["dates"] == {"admitted": ["2010-01-01", "2025-12-31"]}
    assert stated["bins"] == {"bmi": [0.0, 18.0, 25.0, 60.0]}
    numbers = {"age": "leave out", "weight": "indicator", "admitted": "2012-01-01", "bmi": 20.0}
    assert stated["missing"] == numbers | {"sex": "category", "outcome": "leave out"}
    assert stated["aliases"] == {"sex": {"f": ["F", "female"]}, "outcome": {"yes": ["1"]}}
    found = folder.parse_release(folder.read_release_file(made / "run")).bounds
    assert found == read_bounds(made / "bounds.toml")
    assert found.dimension == 1 + 2 + 3 + 2 + 1 + 3 + 1 == len(stated["weights"])


def test_rows_that_are_left_out_get_no_class_and_no_score(made: Path, tmp_path: Path) -> None:
    found = predict(made / "run", made / "north.csv", "id")
    assert found.ids == tuple(f"north-{name}" for name in "abcde")
    assert [label == "" for label in found.labels] == [False, True, False, False, False]
    assert [score is None for score in found.scores] == [False, True, False, False, False]
    weights = np.array(folder.parse_release(folder.read_release_file(made / "run")).weights)
    X = encode_rows(read_table(made / "north.csv", "t"), read_bounds(made / "bounds.toml"))
    assert [score for score in found.scores if score is not None] == pytest.approx((X @ weights).tolist())
    right = sum(label == wanted for label, wanted in zip(found.labels, ("yes", "no", "yes", "no", ""), strict=True))
    assert (found.accuracy, found.tested) == (pytest.approx(right / 3), 3)  # the last row has a class, and no label
    (tmp_path / "none.csv").write_text(HEADER + "b,,80,m,false,2015-03-02,30,no\n")
    found = predict(made / "run", tmp_path / "none.csv")
    assert (found.labels, found.scores, found.accuracy) == (("",), (None,), None)


LEAVING = Bounds((NumericColumn("age", 0.0, 120.0, LEAVE_OUT),), ("no", "yes"), "outcome")


def agreed(method: Any, noise: Any = "ddg", bounds: Bounds = LEAVING, **terms: Any) -> Agreement:
    settled = SettledRun(method, Target(1, noise=noise), "secure_sum", SumTerms(**terms))
    return settled.with_parties(("a", "b", "c"), bounds)


@pytest.mark.parametrize("name", ["newton", "gd", "wsum", "wsum_ar", "avg_clip"])
def test_rows_are_left_out_only_where_their_number_may_change(name: str) -> None:
    method = find_method(name)()
    adjacency = "addremove" if name == "wsum_ar" else "party" if name == "avg_clip" else "replace"
    terms = {} if name == "wsum" else {"sizes": "hidden", "most_rows": 100}
    kept = replace(LEAVING, columns=(NumericColumn("age", 0.0, 120.0, 3.0),))
    assert agreed(method, bounds=kept, **terms).statement.adjacency == adjacency
    if adjacency == "replace":
        with refused("bounds.rows_left_out", leave_out="leave out", left_out="'age'"):
            agreed(method, **terms)
        with refused("bounds.rows_left_out", left_out="'outcome'"):
            agreed(method, bounds=replace(kept, missing=LEAVE_OUT), **terms)
    else:
        agreed(method, **terms)
    if name in ("newton", "gd"):
        agreed(replace(method, adjacency="addremove"), **terms)


def test_a_study_states_all_of_its_columns_and_refuses_to_leave_out_under_replace() -> None:
    stated = "".join(f"[bounds.{line[1:]}" if line.startswith("[") else line for line in COLUMNS.splitlines(True))
    with refused("bounds.rows_left_out", error=UnfitError, leave_out="leave out", left_out="'age'"):
        studies.study(studies.text(bounds=stated))
    made = studies.study(studies.text(method='name = "newton"\nadjacency = "addremove"', bounds=stated))
    assert made.bounds == parse_bounds(COLUMNS)
    assert json.loads(made.content)["bounds"] == json.loads(json.dumps(parse_bounds(COLUMNS).as_dict()))


def of_three(made: Path) -> PreparedData:
    parties = zip("abc", ("north", "south", "west"), strict=True)
    return read_own_files([f"{a}={made / name}.csv" for a, name in parties], parse_bounds(COLUMNS))


def test_a_study_of_such_columns_ends_in_a_release_that_can_be_audited_and_used(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "CHECKS", OF_THE_RUN)  # the others do not look at this run
    data = of_three(made)
    done = deployed(data, agreed(find_method("wsum_ar")(), "vg", bounds=data.bounds, sizes="hidden", most_rows=100))
    folders = done.write(tmp_path)
    assert audit_run(folders.run, views=folders.views).passed
    assert [label == "" for label in predict(folders.run, made / "north.csv").labels] == [False, True, *[False] * 3]
    assert json.loads((folders.run / "study.json").read_text())["bounds"]["columns"][4]["first"] == "2010-01-01"


def test_the_threshold_of_a_study_decides_the_classes(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "CHECKS", OF_THE_RUN)
    data = of_three(made)
    method = find_method("newton")(adjacency="addremove")
    agreement = agreed(method, "ddg", bounds=data.bounds, sizes="hidden", most_rows=100)
    done = deployed(data, agreement, study=lambda document: document.update(threshold="1/10"))
    run = done.write(tmp_path).run
    assert [(f.check.name, str(f.outcome)) for f in audit_run(run).findings if f.outcome.status == "failed"] == []
    found = predict(run, made / "north.csv")
    assert found.threshold == Threshold(0.1)
    assert found.probabilities is not None
    sure = [p for p in found.probabilities if isinstance(p, float)]
    assert [label for label in found.labels if label] == ["yes" if p > 0.1 else "no" for p in sure]
    assert predict(run, made / "north.csv", threshold=0.5).threshold == HALF
    assert read_model(run).threshold == Threshold(0.1)
