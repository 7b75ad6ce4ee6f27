"""Models of random public bounds, and raw rows that these bounds take: what an export has to carry.

Names and texts are as hostile as bounds allow. What `predict` says of the rows is computed by the project's encoding.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from smc_dp.core.arrays import Array
from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import (
    CATEGORY,
    INDICATOR,
    LEAVE_OUT,
    BinnedColumn,
    CategoricalColumn,
    Column,
    DateColumn,
    NumericColumn,
)
from smc_dp.data.preprocess import examine_table
from smc_dp.data.table import Table
from smc_dp.methods.model import Weights, probabilities, scores
from smc_dp.run.export.exported_model import ExportedModel, column_weights
from smc_dp.run.threshold import HALF, Threshold

TEXTS = (
    "f",
    "m",
    "it's",
    'a "b"',
    "ä ö",
    "17",
    "-3.5",
    "true",
    "false",
    "SELECT",
    "日本",
    "n/a",
    "x,y",
    "\\",
    "%s",
    "?",
)
NAMES = ("age", "emp.var.rate", 'a"b', "it's", "two words", "größe", "select", "x'); --", "smc_dp_score", "t", "data")
FIRST = datetime.date(1900, 1, 1)


@dataclass(frozen=True)
class RawModel:
    """Bounds, weights for them, and cells of rows by column: numbers, texts, dates, None where nothing stands."""

    bounds: Bounds
    weights: Weights
    cells: Mapping[str, Sequence[Any]]
    threshold: Threshold = HALF

    @property
    def rows(self) -> int:
        return len(next(iter(self.cells.values())))

    def row(self, i: int) -> dict[str, Any]:
        return {name: cells[i] for name, cells in self.cells.items()}

    @property
    def exported(self) -> ExportedModel:
        """The model as an export has it, of a release that nobody made."""
        made = ExportedModel(self.bounds, *column_weights(np.atleast_2d(self.weights), self.bounds), "0" * 64, {})
        return replace(made, threshold=self.threshold)

    def answers(self, probabilities: Array) -> list[str]:
        """The classes that a row with these probabilities may get: rounding may choose between equal ones."""
        if np.isnan(probabilities).any():
            return []
        if len(probabilities) == 2:
            above = float(probabilities[1]) - self.threshold.probability
            return [
                name for name, is_it in zip(self.bounds.classes, (above < 1e-9, above > -1e-9), strict=True) if is_it
            ]
        return [self.bounds.classes[i] for i in np.flatnonzero(probabilities > probabilities.max() - 1e-9)]

    @property
    def without_probabilities(self) -> ExportedModel:
        """The same of a release whose scores are of an unknown length."""
        return replace(self.exported, gives_probabilities=False, threshold=HALF)

    def scores(self) -> Array:
        """The score of each row, (n,), or of each class, (n, k); nan for a row that is left out."""
        table = Table("rows", self.cells, range(1, self.rows + 1))
        made = examine_table(table, self.bounds).checked("rows")
        found = scores(self.weights, made.X)
        every = np.full((self.rows, *found.shape[1:]), np.nan)
        every[made.kept] = found
        return every

    def probabilities(self) -> Array:
        """The probability of each class, (n, k), as `predict` has it; nan for a row that is left out."""
        found = self.scores()
        if found.ndim == 1:
            return np.stack([probabilities(-found), probabilities(found)], axis=1)
        return probabilities(found)


def draw_model(seed: int, rows: int = 40, **fixed: Any) -> RawModel:
    """A model of one to six columns of all kinds; `fixed` fields of the bounds are as given."""
    rng = np.random.default_rng(seed)
    names = rng.permutation(NAMES)[: rng.integers(1, 7)].tolist()
    columns = tuple(_MAKERS[rng.integers(len(_MAKERS))](name, rng) for name in names)
    count = int(rng.integers(2, 5))
    drawn: dict[str, Any] = {
        "clip": float(rng.choice([0.5, 1.0, 2.0, 100.0])),
        "bias": float(rng.choice([0.0, 1.0, 0.3])),
        "center": bool(rng.integers(2)),
        "classes": tuple(rng.permutation(TEXTS)[:count].tolist()),
    }
    bounds = Bounds(columns, label="outcome of it", **(drawn | fixed))
    W = rng.normal(size=(len(bounds.classes), bounds.dimension)) * 3
    weights: Any = tuple(map(tuple, W.tolist())) if len(bounds.classes) > 2 else tuple(W[0].tolist())
    cells = {column.name: [_cell(column, rng) for _ in range(rows)] for column in columns}
    is_usual = len(bounds.classes) > 2 or rng.integers(2)
    return RawModel(bounds, weights, cells, HALF if is_usual else Threshold(float(rng.uniform(0.05, 0.95))))


def _number(name: str, rng: np.random.Generator) -> Column:
    low = float(rng.normal() * 10.0 ** rng.integers(-3, 7))
    high = low + float(10.0 ** rng.uniform(-2, 6)) + abs(low) * 1e-6
    rules = (None, None, float(rng.uniform(low, high)), INDICATOR, LEAVE_OUT)
    return NumericColumn(name, low, high, rules[rng.integers(len(rules))])


def _levels(name: str, rng: np.random.Generator) -> Column:
    texts = rng.permutation(TEXTS).tolist()
    levels, others = texts[: rng.integers(1, 5)], texts[5 : 5 + rng.integers(0, 4)]
    aliases = tuple(
        (level, tuple(others[i :: len(levels)])) for i, level in enumerate(levels) if others[i :: len(levels)]
    )
    rules = (None, None, levels[0], CATEGORY, LEAVE_OUT)
    return CategoricalColumn(name, tuple(levels), rules[rng.integers(len(rules))], aliases)


def _days(name: str, rng: np.random.Generator) -> Column:
    first = FIRST + datetime.timedelta(int(rng.integers(0, 40_000)))
    last = first + datetime.timedelta(int(rng.integers(1, 40_000)))
    rules = (None, None, first.isoformat(), INDICATOR, LEAVE_OUT)
    return DateColumn(name, first, last, rules[rng.integers(len(rules))])


def _bins(name: str, rng: np.random.Generator) -> Column:
    edges = np.cumsum(rng.uniform(0.1, 9, rng.integers(2, 6))) + float(rng.normal() * 100)
    rules = (None, None, float(edges[0]), CATEGORY, LEAVE_OUT)
    return BinnedColumn(name, tuple(edges.tolist()), rules[rng.integers(len(rules))])


_MAKERS: tuple[Callable[[str, np.random.Generator], Column], ...] = (_number, _levels, _days, _bins)


def _cell(column: Column, rng: np.random.Generator) -> Any:
    if column.missing is not None and rng.random() < 0.25:
        return None
    if isinstance(column, CategoricalColumn):
        texts = [*column.categories, *(text for _, others in column.aliases for text in others)]
        return texts[rng.integers(len(texts))]
    if isinstance(column, DateColumn):
        days = (column.last - column.first).days
        return column.first + datetime.timedelta(int(rng.integers(-days // 5, days + days // 5 + 1)))
    if isinstance(column, BinnedColumn):
        if rng.random() < 0.3:
            return column.edges[rng.integers(len(column.edges))]
        low, high = column.edges[0], column.edges[-1]
    else:
        low, high = column.low, column.high
    return float(rng.uniform(low - (high - low) / 5, high + (high - low) / 5))
