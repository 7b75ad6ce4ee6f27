"""Model as ONNX, in float64: an input for each column, and the class and the probabilities of each row, or the number.

Columns of numbers are doubles, of dates doubles that count days since 1970-01-01, NaN where nothing stands; columns of
levels are texts, "" where nothing stands. A row with a cell that cannot be used gets the class "" and NaN, or NaN.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from smc_dp.core.arrays import Array
from smc_dp.core.version import __version__
from smc_dp.data.columns import INDICATOR, BinnedColumn, CategoricalColumn, Column, DateColumn, NumericColumn
from smc_dp.run.export.exported_model import (
    ExportedModel,
    empty_features,
    first_day,
    model_properties,
    new_prefix,
    number_of,
    texts_of,
)

_OPSETS = (("", 17), ("ai.onnx.ml", 3))
_IR_VERSION = 8  # of the same year as the operators
_LARGEST = float(np.finfo(np.float64).max)


def write_onnx_model(model: ExportedModel) -> bytes:
    """Return the graph as the content of a file."""
    graph = _Graph(new_prefix(model.bounds))
    _add_scores(graph, model)
    inputs = [helper.make_tensor_value_info(column.name, _type(column), ["rows", 1]) for column in model.bounds.columns]
    is_number = model.bounds.outcome is not None
    numbers = [("prediction" if is_number else "scores", len(model.scored))]
    if model.gives_probabilities:
        numbers.append(("probabilities", len(model.bounds.classes)))
    of_class = helper.make_tensor_value_info(graph.named("class"), TensorProto.STRING, ["rows"])
    outputs = [
        *([] if is_number else [of_class]),
        *(helper.make_tensor_value_info(graph.named(what), TensorProto.DOUBLE, ["rows", n]) for what, n in numbers),
    ]
    made = helper.make_model(
        helper.make_graph(graph.nodes, "smc_dp", inputs, outputs, graph.constants),
        opset_imports=[helper.make_opsetid(domain, version) for domain, version in _OPSETS],
        ir_version=_IR_VERSION,
        producer_name="smc-dp",
        producer_version=__version__,
    )
    helper.set_model_props(
        made, {name: v if isinstance(v, str) else json.dumps(v) for name, v in model_properties(model).items()}
    )
    onnx.checker.check_model(made)
    content: bytes = made.SerializeToString(deterministic=True)
    return content


def _type(column: Column) -> int:
    return int(TensorProto.STRING if isinstance(column, CategoricalColumn) else TensorProto.DOUBLE)


@dataclass
class _Graph:
    """Graph that grows: each step adds a node and returns the name of its result."""

    prefix: str
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def named(self, what: str) -> str:
        return self.prefix + what

    def constant(self, values: Any) -> str:
        found = np.asarray(values)
        name = self.named(f"constant_{len(self.constants)}")
        if found.dtype.kind == "U":
            texts = np.array([text.encode() for text in found.tolist()], dtype=object)
            self.constants.append(helper.make_tensor(name, TensorProto.STRING, found.shape, texts))
        else:
            self.constants.append(numpy_helper.from_array(found, name))
        return name

    def step(self, operator: str, *inputs: str, result: str | None = None, domain: str = "", **options: Any) -> str:
        name = result or self.named(f"step_{len(self.nodes)}")
        self.nodes.append(helper.make_node(operator, [*inputs], [name], domain=domain, **options))
        return name

    def where(self, condition: str, then: Any, otherwise: str) -> str:
        return self.step("Where", condition, then if isinstance(then, str) else self.constant(then), otherwise)


def _add_scores(graph: _Graph, model: ExportedModel) -> None:
    features: list[str] = []
    weights: list[Array] = []
    added: list[str] = []
    squares = 0.0
    for column, of in model.parts:
        empty = empty_features(column, center=model.bounds.center)
        if isinstance(column, NumericColumn | DateColumn):
            features += _number(graph, column, empty, center=model.bounds.center)
            weights.append(of)
        else:
            place = (
                _level(graph, column, empty) if isinstance(column, CategoricalColumn) else _bin(graph, column, empty)
            )
            unusable = np.full((1, len(of)), np.nan)
            rows = graph.step("Gather", graph.constant(np.concatenate([of.T, unusable])), place, axis=0)
            added.append(graph.step("Squeeze", rows, graph.constant([1])))
            squares += 1.0
    squared = graph.constant([[squares]])
    if features:
        row = graph.step("Concat", *features, axis=1)
        lengths = graph.step("ReduceSum", graph.step("Mul", row, row), graph.constant([1]), keepdims=1)
        squared = graph.step("Add", lengths, squared)
        added.append(graph.step("MatMul", row, graph.constant(np.concatenate(weights, axis=1).T)))
    clip = graph.constant([[model.bounds.clip]])
    shrink = graph.step("Div", clip, graph.step("Max", graph.step("Sqrt", squared), clip))
    total = graph.step("Mul", graph.step("Sum", *added), shrink)
    is_number = model.bounds.outcome is not None
    result = graph.named("prediction" if is_number else "scores")
    scores = graph.step("Add", total, graph.constant([model.constants]), result=result)
    if is_number:
        return
    if model.gives_probabilities:
        _add_probabilities(graph, model, scores)
    _add_classes(graph, model, scores)


def _add_probabilities(graph: _Graph, model: ExportedModel, scores: str) -> None:
    if len(model.scored) > 1:
        graph.step("Softmax", scores, result=graph.named("probabilities"), axis=1)
        return
    both = graph.step("Concat", graph.step("Neg", scores), scores, axis=1)
    graph.step("Sigmoid", both, result=graph.named("probabilities"))


def _add_classes(graph: _Graph, model: ExportedModel, scores: str) -> None:
    classes = model.bounds.classes
    if len(classes) == 2:
        above = graph.step("Greater", scores, graph.constant([[model.threshold.score]]))
        place = graph.step("Cast", graph.step("Squeeze", above, graph.constant([1])), to=TensorProto.INT64)
    else:
        place = graph.step("ArgMax", scores, axis=1, keepdims=0)
    first = graph.step("Gather", scores, graph.constant(np.int64(0)), axis=1)
    place = graph.where(graph.step("IsNaN", first), [len(classes)], place)
    graph.step("Gather", graph.constant([*classes, ""]), place, axis=0, result=graph.named("class"))


def _usable(graph: _Graph, column: str) -> str:
    """Return whether the numbers of an input are finite."""
    return graph.step("LessOrEqual", graph.step("Abs", column), graph.constant([[_LARGEST]]))


def _number(graph: _Graph, column: NumericColumn | DateColumn, empty: list[float] | None, *, center: bool) -> list[str]:
    """Return the features of a column of numbers or days, each (rows, 1)."""
    number, start = number_of(column), first_day(column)
    offset, scale = number.scale(center=center)
    usable = _usable(graph, column.name)
    value = graph.step("Where", usable, column.name, graph.constant([[start]]))  # bounds of NaN differ among runtimes
    value = graph.step("Sub", value, graph.constant([[start]])) if start else value
    inside = graph.step(
        "Min", graph.step("Max", value, graph.constant([[number.low]])), graph.constant([[number.high]])
    )
    feature = graph.step("Div", graph.step("Sub", inside, graph.constant([[offset]])), graph.constant([[scale]]))
    feature = graph.step("Where", usable, feature, graph.constant([[np.nan]]))
    if empty is None:
        return [feature]
    is_empty = graph.step("IsNaN", column.name)
    feature = graph.where(is_empty, [[empty[0]]], feature)
    return [feature, *([graph.step("Cast", is_empty, to=TensorProto.DOUBLE)] if column.missing == INDICATOR else [])]


def _bin(graph: _Graph, column: BinnedColumn, empty: list[float] | None) -> str:
    """Return the place of the bin of each row, (rows, 1), that behind all bins for a number that is none."""
    usable = _usable(graph, column.name)
    if column.bins == 1:
        place = graph.constant([[0]])
    else:
        value = graph.step("Where", usable, column.name, graph.constant([[0.0]]))
        reached = graph.step("GreaterOrEqual", value, graph.constant([column.edges[1:-1]]))
        whole = graph.step("Cast", reached, to=TensorProto.INT64)
        place = graph.step("ReduceSum", whole, graph.constant([1]), keepdims=1)
    place = graph.step("Where", usable, place, graph.constant([[column.width]]))
    return place if empty is None else graph.where(graph.step("IsNaN", column.name), [[empty.index(1.0)]], place)


def _level(graph: _Graph, column: CategoricalColumn, empty: list[float] | None) -> str:
    """Return the place of the level of each row, (rows, 1), that behind all levels for a text that is none."""
    texts: Iterable[tuple[str, int]] = texts_of(column)
    keys = {**dict(texts), **({} if empty is None else {"": empty.index(1.0)})}
    return graph.step(
        "LabelEncoder", column.name, domain="ai.onnx.ml",
        keys_strings=[*keys], values_int64s=[*keys.values()], default_int64=column.width,
    )  # fmt: skip
