"""Pydantic model of a file of bounds, from which its schema is published.

The classes of columns are in `columns.py`, those of whole bounds in `bounds.py`.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema, model_validator
from typing_extensions import override

from smc_dp.core.documents import CHOICE, Document, PathStep
from smc_dp.core.errors import Fault, InputError, InputFault, UnfitError, shown
from smc_dp.core.kinds import limit_keys
from smc_dp.core.toml import toml_key
from smc_dp.data.columns import (
    EMPTY_CELL_RULES,
    NUMERIC_OUTCOME,
    Aliases,
    BinnedColumn,
    CategoricalColumn,
    Column,
    DateColumn,
    NumericColumn,
    canonical_level,
)
from smc_dp.data.open_lines import open_lines
from smc_dp.data.row_weights import RowWeights

DEFAULT_BIAS = 0.1
_MANY = 1 << 12  # columns
_SHOWN = 40  # characters of a column's name
_LONGEST_LEVEL = 1 << 12  # bits of a whole number as a level or class: `str` refuses more than 4,300 digits


def _level(value: object) -> str:
    """Return a level as text; a truth value in TOML is the text that it is in a CSV file."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) or (isinstance(value, int) and value.bit_length() <= _LONGEST_LEVEL):
        return str(value)
    raise InputError("columns.wrong_level", got=shown(value))


def _class_name(value: object) -> str:
    if isinstance(value, float):
        raise InputError("classes.regression", why=NUMERIC_OUTCOME, got=shown(value))
    return _level(value)


def _is_date(value: object) -> bool:
    return isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)


def _empty_cell(value: object) -> Any:
    if isinstance(value, str | float) or (isinstance(value, int) and value.bit_length() <= _LONGEST_LEVEL):
        return value
    if isinstance(value, datetime.date) and _is_date(value):
        return value.isoformat()
    raise InputError("missing.wrong_rule", wanted=f"a value of the column or one of {_RULES}", got=shown(value))


def _column(value: object) -> object:
    """Return the value of a column once it looks like one of the four kinds; raise InputError otherwise."""
    kind = _kind(value)
    if isinstance(value, dict) or kind in (_LEVELS, _DATES):
        return value
    if isinstance(value, list) and len(value) == 2 and not any(isinstance(v, str | datetime.date) for v in value):
        return value
    raise InputError("columns.wrong_kind", wanted=_KINDS, got=shown(value))


def _undotted(found: object, *, are_rules: bool = False) -> object:
    """Return a section of columns; raise UnfitError for those that are sections in it.

    TOML takes a name with a point for a section: one fault for each name. Or somebody wrote the bounds of a column
    below each other: one fault for all of them.
    """
    faults: list[Fault] = []
    left: list[tuple[str, object]] = [*found.items()] if isinstance(found, dict) else []
    for name, value in left:  # what is in a section is looked at after it
        if isinstance(value, dict) and value and "bins" not in value:
            inside = [(f"{name}.{step}"[: _SHOWN + 1], inner) for step, inner in value.items()]
            if are_rules or any(isinstance(inner, list | dict | str) for inner in value.values()):
                left += inside
            else:
                fields = {"name": inside[0][0][:_SHOWN], "key": toml_key(name[:_SHOWN])}
                faults.append(InputFault("columns.section", fields))
        elif name not in found:  # type: ignore[operator]
            faults.append(InputFault("columns.dotted_name", {"name": name[:_SHOWN]}))
    if faults:
        raise UnfitError("", faults)
    return found


def _undotted_rules(found: object) -> object:
    return _undotted(found, are_rules=True)


def _kind(value: object) -> str:
    """Return the tag of the kind of column that a value is meant to be."""
    if not isinstance(value, list):
        return _BINS
    if value and all(isinstance(item, str | bool) for item in value):
        return _LEVELS
    return _DATES if len(value) == 2 and all(map(_is_date, value)) else _NUMBERS


_RULES = ", ".join(f'"{word}"' for word in EMPTY_CELL_RULES)
_KINDS = "two numbers [low, high], two dates without time, a list of texts or {bins = [...]}"
_BINS, _LEVELS, _DATES, _NUMBERS = (f"{CHOICE}{kind}" for kind in ("bins", "levels", "dates", "numbers"))
_SCALAR = {"type": ["string", "integer", "boolean"]}
LevelText: TypeAlias = Annotated[str, BeforeValidator(_level), WithJsonSchema(_SCALAR)]
ClassName: TypeAlias = Annotated[str, BeforeValidator(_class_name), WithJsonSchema(_SCALAR)]
EmptyCellRule: TypeAlias = Annotated[
    Any, BeforeValidator(_empty_cell), WithJsonSchema({"type": ["string", "number", "boolean"]})
]
LevelList: TypeAlias = Annotated[list[LevelText], Field(min_length=1, fail_fast=True)]


class BinsValue(Document):
    """Rising edges of bins: of a number only the bin counts."""

    bins: Annotated[list[float], Field(fail_fast=True)]


ColumnValue: TypeAlias = Annotated[
    Annotated[list[float], Field(min_length=2, max_length=2), Tag(_NUMBERS)]
    | Annotated[list[datetime.date], Field(min_length=2, max_length=2), Tag(_DATES)]
    | Annotated[
        list[Annotated[str, BeforeValidator(_level), WithJsonSchema({"type": ["string", "boolean"]})]],
        Field(min_length=1, fail_fast=True),
        Tag(_LEVELS),
    ]
    | Annotated[BinsValue, Tag(_BINS)],
    Discriminator(_kind),
    BeforeValidator(_column),
]


class LabelSection(Document):
    """Section [label]: two or more classes in their order, and the column that has them unless stated elsewhere.

    A label that is a number has its `range`, in place of classes.
    """

    classes: Annotated[list[ClassName], Field(min_length=2, fail_fast=True)] = Field(default_factory=list)
    range: Annotated[list[float], Field(min_length=2, max_length=2)] | None = None
    column: str | None = None

    @model_validator(mode="after")
    def _has_one_kind(self) -> LabelSection:
        if bool(self.classes) == (self.range is not None):
            raise InputError("label.classes_and_range" if self.classes else "label.no_classes")
        return self


class RowsSection(Document):
    """Section [rows]: the norm at which rows are clipped (None: the usual one), the appended constant, and centring."""

    clip: float | None = None
    bias: float = DEFAULT_BIAS
    center: bool = True


def _class_weights(value: object) -> object:
    if isinstance(value, str):
        raise InputError("row_weights.from_private_counts", got=shown(value))
    return value


ClassWeights: TypeAlias = Annotated[list[float], Field(fail_fast=True), BeforeValidator(_class_weights)]


class WeightsSection(Document):
    """Section [weights]: a number for each class in their order; the column of the rows' weights, from 0 to `most`."""

    classes: ClassWeights = Field(default_factory=list)
    column: str | None = None
    most: float = 1.0

    @property
    def made(self) -> RowWeights:
        """Weights that the section describes."""
        return RowWeights(tuple(self.classes), self.column, self.most)


class BoundsFile(Document):
    """File of bounds.

    `missing`: the rule for empty cells of a column, a value, "category", "indicator" or "leave out". `aliases`: other
    texts for the levels of a column, or for the classes under the column that has them.
    """

    columns: Annotated[dict[str, ColumnValue], limit_keys(_MANY), BeforeValidator(_undotted)]
    label: LabelSection | None = None
    rows: RowsSection = Field(default_factory=RowsSection)
    weights: WeightsSection | None = None
    missing: Annotated[dict[str, EmptyCellRule], limit_keys(_MANY), BeforeValidator(_undotted_rules)] = Field(
        default_factory=dict
    )
    aliases: Annotated[dict[str, dict[str, LevelList]], limit_keys(_MANY)] = Field(default_factory=dict)

    @classmethod
    @override
    def place(cls, path: tuple[PathStep, ...]) -> str:
        if path[:1] == ("aliases",) and len(path) > 1:
            path = (f"aliases.{str(path[1])[:_SHOWN]}", *path[2:])
        return f"[{path[0]}]{' ' if len(path) > 1 else ': '}{super().place(path[1:])}" if path else ""

    @model_validator(mode="before")
    @classmethod
    def _is_complete(cls, found: object) -> object:
        if still_open := list(open_lines(found)):
            raise UnfitError("", still_open)
        return found

    @model_validator(mode="after")
    def _fits_together(self) -> BoundsFile:
        if found := list(self._faults()):
            raise UnfitError("bounds", found)
        return self

    @cached_property
    def made(self) -> tuple[Column, ...]:
        """Columns that the file describes."""
        return tuple(self._column(name) for name in self.columns)

    @property
    def label_name(self) -> str | None:
        """Column of the classes; None without a label, and where it is stated elsewhere."""
        return None if self.label is None else self.label.column

    @property
    def class_aliases(self) -> Aliases:
        """Other texts for the classes."""
        if self.label is None or self.label.column is None:
            return ()
        return self._aliases(self.label.column, self.label.classes)

    @property
    def class_missing(self) -> str | None:
        """Rule for a row without a class; None where it is refused."""
        return None if self.label_name is None else self.missing.get(self.label_name)

    def _faults(self) -> Iterator[Fault]:
        label = self.label_name
        for section in ("missing", "aliases"):
            for name in getattr(self, section):
                if name not in self.columns and name != label:
                    unnamed = (
                        "[label] is missing" if self.label is None else "the line column = ... of [label] is missing"
                    )
                    which = f". If it is the label: {unnamed}" if label is None else f" {label!r}"
                    fault = InputFault("columns.unknown", {"which": which})
                    yield fault.within(f"[{section}] {name[:_SHOWN]}")
        for name in self.columns:
            try:
                self._column(name).check()
            except InputError as error:
                yield error.fault

    def _column(self, name: str) -> Column:
        stated: Any = self.columns[name]
        rule = self.missing.get(name)
        if name in self.aliases and _kind(stated) != _LEVELS:
            raise InputError("aliases.not_categorical", name=name[:_SHOWN])
        if isinstance(stated, BinsValue):
            return BinnedColumn(name, tuple(stated.bins), rule)
        if _kind(stated) == _LEVELS:
            known = {canonical_level(level): level for level in stated}
            level = None if rule is None else str(rule).lower() if isinstance(rule, bool) else str(rule)
            missing = None if level is None else known.get(canonical_level(level), level)
            return CategoricalColumn(name, tuple(stated), missing, self._aliases(name, stated))
        if _kind(stated) == _DATES:
            return DateColumn(name, stated[0], stated[1], rule)
        return NumericColumn(name, stated[0], stated[1], rule)

    def _aliases(self, name: str, levels: list[str]) -> Aliases:
        """Return the other texts of each level; a section may write a level in any form that is compared as equal."""
        known = {canonical_level(level): level for level in levels}
        stated = self.aliases.get(name, {})
        return tuple((known.get(canonical_level(key), key), tuple(texts)) for key, texts in stated.items())
