"""The model as a pipeline of scikit-learn that skops keeps, against `predict`."""

from __future__ import annotations

import datetime
import math
import zipfile
from dataclasses import replace
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.raw_models import RawModel, draw_model, large_model
from support.repetitions import with_slow

from smc_dp.data.bounds import Bounds, CategoricalColumn, NumericColumn
from smc_dp.run.export.exported_model import ExportedModel
from smc_dp.run.threshold import HALF

DAY_ZERO = datetime.date(1970, 1, 1)


def loaded(model: ExportedModel) -> Any:
    """The pipeline as skops, which takes long to load, reads it when nothing is trusted."""
    from skops import io

    from smc_dp.run.export.skops_model import write_skops_model

    content = write_skops_model(model)
    assert io.get_untrusted_types(data=content) == []
    with zipfile.ZipFile(BytesIO(content)) as members:
        for name in members.namelist():
            if name != "schema.json":
                np.load(BytesIO(members.read(name)), allow_pickle=False)
    return io.loads(content)


def frame(model: RawModel, kept: Any = slice(None)) -> pd.DataFrame:
    """The rows as a user of pandas has them, columns in another order and one more."""
    columns: dict[str, Any] = {"not a column": np.zeros(model.rows)}
    for column in reversed(model.bounds.columns):
        cells = model.cells[column.name]
        if isinstance(column, CategoricalColumn):
            columns[column.name] = pd.Series(cells, dtype=object)
        else:
            days = [(cell - DAY_ZERO).days if isinstance(cell, datetime.date) else cell for cell in cells]
            columns[column.name] = np.array([math.nan if cell is None else cell for cell in days], dtype=np.float64)
    return pd.DataFrame(columns)[kept]


@given(seed=st.integers(0, 10**9))
@example(seed=7)  # with empty cells of a column of bins
@settings(max_examples=12)
def test_scikit_learn_finds_the_same_probabilities(seed: int) -> None:
    model = draw_model(seed, 12)
    pipeline, wanted = loaded(model.exported), model.probabilities()
    kept = ~np.isnan(wanted[:, 0])
    if kept.any():
        found = pipeline.predict_proba(frame(model, kept))
        np.testing.assert_allclose(found, wanted[kept], rtol=0, atol=1e-6)
        chosen = pipeline.predict(frame(model, kept))
        assert all(name in model.answers(each) for name, each in zip(chosen, wanted[kept], strict=True))
    if not kept.all():
        with pytest.raises(ValueError, match=r"NaN|unknown categories"):
            pipeline.predict_proba(frame(model))


def test_a_thousand_rows_of_all_kinds_of_columns_agree() -> None:
    model = large_model(4, 20, 300)
    np.testing.assert_allclose(
        loaded(model.exported).predict_proba(frame(model)), model.probabilities(), rtol=0, atol=1e-6
    )


COLUMNS = (NumericColumn("a", 0.0, 10.0), CategoricalColumn("b", ("f", "m"), "f", (("m", ("M",)),)))


def small(**rules: Any) -> RawModel:
    bounds = Bounds(COLUMNS, ("no", "yes"), "y", **rules)
    return RawModel(bounds, tuple(np.linspace(-1, 1, bounds.dimension).tolist()), {})


@pytest.mark.parametrize(("a", "b"), [(3.0, "x"), (3.0, " m"), (math.nan, "m"), (math.inf, "m"), (-math.inf, "m")])
def test_a_cell_that_cannot_be_used_is_refused(a: float, b: str) -> None:
    with pytest.raises(ValueError, match=r"unknown categories|NaN|infinity"):
        loaded(small().exported).predict_proba(pd.DataFrame({"a": [1.0, a], "b": ["f", b]}))


@pytest.mark.parametrize("kind", [object, "str"])
@pytest.mark.parametrize("nothing", [None, math.nan, ""])
def test_nothing_is_nothing_in_every_spelling(kind: Any, nothing: Any) -> None:
    pipeline = loaded(small().exported)
    rows = pd.DataFrame({"a": [1.0, 1.0], "b": pd.Series([nothing, "f"], dtype=kind)})
    first, second = pipeline.predict_proba(rows)
    assert first.tolist() == second.tolist()


def test_the_pipeline_says_what_it_was_made_of() -> None:
    model = draw_model(11, 2)
    stated = loaded(model.exported).smc_dp_
    assert (stated["release"], stated["classes"]) == (model.exported.release, list(model.bounds.classes))


@pytest.mark.parametrize("seed", with_slow([2, 4, 5, 8], 5, 8))
def test_scores_of_an_unknown_length_are_no_probabilities(seed: int) -> None:
    model = draw_model(seed, 12)
    pipeline, wanted = loaded(model.without_probabilities), model.scores()
    assert not hasattr(pipeline, "predict_proba")
    kept = ~np.isnan(wanted.reshape(model.rows, -1)[:, 0])
    rows = frame(model, kept)
    np.testing.assert_allclose(pipeline.decision_function(rows), wanted[kept], rtol=1e-6, atol=1e-6)
    assert pipeline.predict(rows).tolist() == loaded(replace(model, threshold=HALF).exported).predict(rows).tolist()
