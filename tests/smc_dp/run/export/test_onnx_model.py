"""The model as ONNX, run by onnxruntime, against `predict`."""

from __future__ import annotations

import datetime
import json
import math
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.raw_models import RawModel, draw_model

from smc_dp.core.arrays import Array
from smc_dp.data.bounds import Bounds, CategoricalColumn, NumericColumn
from smc_dp.run.export.onnx_model import write_onnx_model

DAY_ZERO = datetime.date(1970, 1, 1)


def as_input(cell: Any, column: Any) -> Any:
    if isinstance(column, CategoricalColumn):
        return "" if cell is None else cell
    if cell is None:
        return math.nan
    return float((cell - DAY_ZERO).days) if isinstance(cell, datetime.date) else cell


def inputs(model: RawModel) -> dict[str, Any]:
    given = {}
    for column in model.bounds.columns:
        cells = [[as_input(cell, column)] for cell in model.cells[column.name]]
        given[column.name] = np.array(cells, dtype=object if isinstance(column, CategoricalColumn) else np.float64)
    return given


def run(model: RawModel) -> tuple[list[str], Array]:
    """The classes and probabilities that onnxruntime finds."""
    session = onnxruntime.InferenceSession(write_onnx_model(model.exported), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    assert [name.rpartition("_")[2] for name in names] == ["class", "scores", "probabilities"]
    classes, _, probabilities = session.run(names, inputs(model))
    assert probabilities.dtype == np.float64
    return classes.tolist(), probabilities


@given(seed=st.integers(0, 10**9))
@settings(max_examples=60)
def test_onnxruntime_finds_the_same_probabilities(seed: int) -> None:
    model = draw_model(seed, 12)
    classes, found = run(model)
    wanted = model.probabilities()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)
    for chosen, each in zip(classes, wanted, strict=True):
        assert chosen in (model.answers(each) or [""])


@pytest.mark.parametrize(("a", "b", "fits"), [
    (3.0, "m", True), (3.0, "M", True), (3.0, "x", False), (3.0, " m", False), (3.0, None, False),
    (math.inf, "m", False), (-math.inf, "m", False), (None, "m", False), (1.7e308, "m", True),
])  # fmt: skip
def test_a_row_with_a_cell_that_cannot_be_used_has_no_class(a: Any, b: Any, fits: bool) -> None:
    columns = (NumericColumn("a", 0.0, 10.0), CategoricalColumn("b", ("f", "m"), None, (("m", ("M",)),)))
    bounds = Bounds(columns, ("no", "yes"), "y")
    weights = tuple(np.linspace(-1, 1, bounds.dimension).tolist())
    (chosen,), ((no, yes),) = run(RawModel(bounds, weights, {"a": [a], "b": [b]}))
    assert (chosen in bounds.classes, no + yes == pytest.approx(1)) == (fits, fits)
    assert math.isnan(yes) != fits


def test_the_graph_says_what_it_is_made_of() -> None:
    model = draw_model(11, 2)
    made = onnx.load_from_string(write_onnx_model(model.exported))
    stated = {prop.key: prop.value for prop in made.metadata_props}
    assert stated["release"] == model.exported.release
    assert json.loads(stated["classes"]) == list(model.bounds.classes)
    assert [given.name for given in made.graph.input] == [column.name for column in model.bounds.columns]
    kinds = {given.type.tensor_type.elem_type for given in [*made.graph.input, *made.graph.output]}
    assert kinds <= {onnx.TensorProto.DOUBLE, onnx.TensorProto.STRING}
    assert write_onnx_model(model.exported) == write_onnx_model(model.exported)


@pytest.mark.parametrize("seed", range(6))
def test_scores_of_an_unknown_length_are_no_probabilities(seed: int) -> None:
    model = draw_model(seed, 12)
    content = write_onnx_model(model.without_probabilities)
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    assert [output.name.rpartition("_")[2] for output in session.get_outputs()] == ["class", "scores"]
    classes, scores = session.run(None, inputs(model))
    np.testing.assert_allclose(scores, model.scores().reshape(model.rows, -1), rtol=1e-6, atol=1e-6)
    assert classes.tolist() == run(model)[0]
