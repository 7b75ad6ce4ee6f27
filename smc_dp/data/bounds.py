"""Public description of the columns of a table: ranges, categories, classes, and the norm at which rows are clipped.

A person gives bounds from general knowledge (a form, a data dictionary, an instrument's range). They are never computed
from the private rows: a bound measured on the rows would itself be a release.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from smc_dp.core import reading
from smc_dp.core.documents import validate_document
from smc_dp.core.errors import InputError, UnfitError, shown
from smc_dp.core.toml import parse_toml
from smc_dp.data.bounds_file import DEFAULT_BIAS, BoundsFile
from smc_dp.data.columns import (
    LEAVE_OUT,
    NUMERIC_OUTCOME,
    Aliases,
    BinnedColumn,
    CategoricalColumn,
    Column,
    NumericColumn,
    canonical_level,
    check_aliases,
    column_as_dict,
    set_floats,
)
from smc_dp.data.federation import MOST_CLASSES, FeatureBox
from smc_dp.data.row_weights import RowWeights
from smc_dp.data.usual_clip import longest_norm, usual_clip

__all__ = [
    "Bounds",
    "CategoricalColumn",
    "NumericColumn",
    "bounds_from_document",
    "bounds_from_file",
    "canonical_level",
    "parse_bounds",
    "read_bounds",
]

_MAX_COLUMNS = 4096
_MAX_DIMENSION = 100_000
_MAX_BYTES = 1 << 22  # of a file
_LARGEST_OUTCOME = 1e140  # whose square, and that of the shortest range, is a float with room beside it
_OPTIONAL = ("aliases", "missing", "weights", "outcome")
_USUAL: Any = None  # a norm that follows from the columns


@dataclass(frozen=True)
class Bounds:
    """Public description of a table.

    `classes[c]` is the name of class c; of two classes, the second is +1. `outcome`: the range of a label that is a
    number, which has no classes. Without both rows have no label, and no model can be learned from them. `label` names
    the column of the label, None if the caller names it. Rows are clipped to the norm `clip`, which follows from the
    columns where none is given; `bias` is the constant appended to each row, 0 for none. With `center` the range of a
    numeric column is mapped to [-1, 1]; without, the column is only divided by its largest absolute bound (0 stays 0).
    `aliases`: other texts for the classes. `missing`: "leave out" where a row
    without a class is dropped, None where it is refused. `weights`: terms of the rows' weights, None where rows have
    none.

    Raises InputError when the parts do not fit together.
    """

    columns: tuple[Column, ...]
    classes: tuple[str, ...] = ()
    label: str | None = None
    clip: float = _USUAL
    bias: float = DEFAULT_BIAS
    center: bool = True
    aliases: Aliases = ()
    missing: str | None = None
    weights: RowWeights | None = None
    outcome: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        set_floats(self, "clip", "bias")
        if not 1 <= len(self.columns) <= _MAX_COLUMNS:
            raise InputError("columns.wrong_number", most=_MAX_COLUMNS, got=len(self.columns))
        names = [column.name for column in self.columns]
        if len(set(names)) != len(names):
            raise InputError("columns.same_name")
        if self.label in names:
            with_range = not isinstance(self.columns[names.index(self.label)], CategoricalColumn)
            why = (
                f"is a number among the features; remove it from [columns]. Then, {NUMERIC_OUTCOME}"
                if with_range
                else "is also listed as a feature; remove it from [columns]"
            )
            raise InputError("columns.label_among_them", label=shown(self.label), why=why)
        for column in self.columns:
            column.check()
        if self.dimension > _MAX_DIMENSION:
            raise InputError("columns.too_many_features", most=_MAX_DIMENSION, got=self.dimension)
        self._check_label()
        if getattr(self, "clip") is None:  # noqa: B009  no number that its type could say
            object.__setattr__(self, "clip", usual_clip(self.columns))
        if not (math.isfinite(self.clip) and self.clip > 0):
            raise InputError("bounds.clip_not_positive", got=self.clip)
        if not (math.isfinite(self.bias) and self.bias >= 0):
            raise InputError("bounds.negative_bias", got=self.bias)
        if not isinstance(self.center, bool):
            raise InputError("bounds.center_not_bool", got=shown(self.center))
        check_aliases("classes", self.classes, self.aliases)
        if self.missing not in (None, LEAVE_OUT):
            came = shown(self.missing)
            raise InputError("missing.no_rule_for_label", rule=LEAVE_OUT, got=came)
        if self.weights is not None:
            self.weights.check(len(self.classes), (self.label, *names))

    def _check_label(self) -> None:
        if self.outcome is not None:
            object.__setattr__(self, "outcome", tuple(map(float, self.outcome)))
            if self.classes or self.aliases:
                raise InputError("label.classes_and_range")
            NumericColumn(self.label or "label", *self.outcome, self.missing).check()
            (low, high), most, least = self.outcome, _LARGEST_OUTCOME, 1 / _LARGEST_OUTCOME
            if not (max(-low, high) <= most and high - low >= least):
                raise InputError("label.range_beyond_floats", low=low, high=high, most=most, least=least)
            return
        if not self.has_label:
            if self.label is not None:
                raise InputError("classes.of_no_label", label=shown(self.label))
            return
        if not all(name.strip() and name.isprintable() for name in self.classes):
            raise InputError("classes.not_printable", got=shown(list(self.classes)))
        if not 2 <= len(self.classes) <= MOST_CLASSES:
            raise InputError("classes.wrong_number", most=MOST_CLASSES, got=len(self.classes))
        if len({canonical_level(name) for name in self.classes}) != len(self.classes):
            raise InputError("classes.not_different", got=shown(list(self.classes)))

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, without empty `aliases`, `missing`, `weights` and `outcome`."""
        plain = {**asdict(self), "columns": [column_as_dict(column) for column in self.columns]}
        plain["weights"] = None if self.weights is None else self.weights.as_dict()
        return {name: value for name, value in plain.items() if value or name not in _OPTIONAL}

    @property
    def leaving(self) -> tuple[str, ...]:
        """Columns in which an empty cell drops the row; the column of classes is the last."""
        named = [column.name for column in self.columns if column.missing == LEAVE_OUT]
        return (*named, *([self.label or "label"] if self.missing == LEAVE_OUT else []))

    @property
    def whole(self) -> Bounds:
        """Bounds that shorten no row, with centred ranges and without a bias: those of rows that are described."""
        return replace(self, clip=longest_norm(len(self.columns)), bias=0.0, center=True)

    @property
    def has_label(self) -> bool:
        """True where rows have a label."""
        return bool(self.classes) or self.outcome is not None

    def require_label(self) -> None:
        """Raise InputError without a label, which a model would predict."""
        if not self.has_label:
            raise InputError("bounds.without_label")

    @property
    def class_count(self) -> int:
        """Number of classes of encoded rows, 0 where the label is a number.

        Rows of a table without a label are all encoded as class 0 of 2.
        """
        return len(self.classes) or (2 if self.outcome is None else 0)

    @property
    def label_column(self) -> CategoricalColumn | NumericColumn | None:
        """Column of the classes, or of the outcome; None without a label."""
        if self.outcome is not None:
            return NumericColumn(self.label or "label", *self.outcome, self.missing)
        if not self.has_label:
            return None
        return CategoricalColumn(self.label or "label", self.classes, self.missing, self.aliases)

    @property
    def label_range(self) -> str:
        """Range of a label that is a number, as text; empty for classes, which have names."""
        return "" if self.outcome is None else f"a number in [{self.outcome[0]:g}, {self.outcome[1]:g}]"

    @property
    def dimension(self) -> int:
        """Number of features of an encoded row, the bias included."""
        return sum(column.width for column in self.columns) + (1 if self.bias else 0)

    @property
    def constant(self) -> float:
        """Last entry of every encoded row, up to 2^-40 of it; 0 without a bias."""
        return self.bias / math.hypot(1.0, self.bias)

    @property
    def box(self) -> FeatureBox | None:
        """Where features lie in an encoded row, and which of them stand for levels; None without a bias."""
        if not self.bias:
            return None
        at, levels = 0, []
        for column in self.columns:
            levels += [(at, column.width)] * isinstance(column, CategoricalColumn | BinnedColumn)
            at += column.width
        reach = 1 / (self.clip * math.hypot(1.0, self.bias))
        return FeatureBox(reach, self.constant, len(self.columns), tuple(levels))


def read_bounds(path: Path) -> Bounds:
    """Read the bounds in a TOML file; raise InputError naming the file and every field that does not fit."""
    where = f"bounds file {path}"
    content = reading.read_file(path, _MAX_BYTES, where=where, links=True)
    try:
        return parse_bounds(content.decode("utf-8"), where)
    except UnicodeDecodeError:
        raise InputError("file.not_utf8").within(where) from None


def parse_bounds(text: str, where: str = "bounds") -> Bounds:
    """Parse the bounds in the text of a TOML file, which errors call `where`.

    `[columns]` holds `age = [0, 120]`, `sex = ["f", "m"]`, `smoker = [false, true]`, two dates as `admitted =
    [2010-01-01, 2025-12-31]` or `age = {bins = [0, 18, 65, 120]}`. `[label]` holds `classes = ["no", "yes"]` (of two,
    the second is +1) and optionally `column`; `range = [0, 200]` in place of classes for a number; only `describe` does
    without it. Optional sections: `[rows]` with `clip`, `bias` and `center`; `[missing]` with a rule for empty cells
    of a column (a value, "category", "indicator" or "leave out"); `[aliases.sex]` with other texts for a level, `f =
    ["F", "female"]`; `[weights]` with `classes`, a number for each class, and `column` with `most`, the column of the
    rows' weights and the largest of them.
    """
    try:
        return bounds_from_document(parse_toml(text), where)
    except UnfitError:
        raise
    except InputError as error:
        raise error.within(where) from None


def bounds_from_document(document: Mapping[str, Any], where: str = "bounds") -> Bounds:
    """Return the bounds in a parsed file, which errors call `where`."""
    return bounds_from_file(validate_document(BoundsFile, document, where))


def bounds_from_file(said: BoundsFile, clip: float | None = None) -> Bounds:
    """Return the bounds that a valid document describes; raise InputError where its parts do not fit together.

    clip: the norm of a document that states none, None where it follows from the columns.
    """
    label, rows = said.label, said.rows
    classes, aliases = () if label is None else tuple(label.classes), said.class_aliases
    column = None if label is None else label.column
    outcome: Any = None if label is None or label.range is None else tuple(label.range)
    norm: Any = clip if rows.clip is None else rows.clip
    missing, weights = said.class_missing, None if said.weights is None else said.weights.made
    return Bounds(said.made, classes, column, norm, rows.bias, rows.center, aliases, missing, weights, outcome)
