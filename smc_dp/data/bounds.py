"""What is publicly known about the columns: ranges, categories, classes, the norm at which rows are clipped.

Bounds are given by a person from general knowledge (a form, a code book, an instrument's range). They are
never computed from the private rows: a bound measured on the rows would itself be a release.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from smc_dp.data.federation import MOST_CLASSES
from smc_dp.errors import InputError, shown
from smc_dp.files import reading
from smc_dp.files.toml import parse_toml

DEFAULT_CLIP = 2.0
DEFAULT_BIAS = 0.1
_MAX_COLUMNS = 4096
_MAX_DIMENSION = 100_000
_MAX_BYTES = 1 << 22  # of a file
_SHOWN = 40  # characters of a column's name
_LONGEST_CLASS = 1 << 12  # bits of a whole number that is a class


@dataclass(frozen=True)
class NumericColumn:
    """A number known to lie in [low, high]; values outside are clipped to it."""

    name: str
    low: float
    high: float

    def __post_init__(self) -> None:
        as_floats(self, "low", "high")

    @property
    def width(self) -> int:
        """Number of features this column becomes."""
        return 1


@dataclass(frozen=True)
class CategoricalColumn:
    """One of several texts, one feature each, in the listed order."""

    name: str
    categories: tuple[str, ...]

    @property
    def width(self) -> int:
        """Number of features this column becomes."""
        return len(self.categories)


Column: TypeAlias = NumericColumn | CategoricalColumn


@dataclass(frozen=True)
class Bounds:
    """The public description of a table.

    `classes[c]` is what class c is called; of two, the second is the class +1. `label` names the column of
    classes, None if it is said elsewhere. Rows are clipped to the norm `clip`; `bias` is the constant appended
    to each row, 0 for none. With `center` a numeric column is moved so that its range becomes [-1, 1]; without,
    it is only divided by its largest absolute bound (0 stays 0).

    Raises InputError when the parts do not fit together.
    """

    columns: tuple[Column, ...]
    classes: tuple[str, ...]
    label: str | None = None
    clip: float = DEFAULT_CLIP
    bias: float = DEFAULT_BIAS
    center: bool = True

    def __post_init__(self) -> None:
        as_floats(self, "clip", "bias")
        if not isinstance(self.center, bool):
            raise InputError(f"center: wanted True or False, got {shown(self.center)}")
        if not 1 <= len(self.columns) <= _MAX_COLUMNS:
            raise InputError(f"columns: wanted 1 to {_MAX_COLUMNS}, got {len(self.columns)}")
        names = [column.name for column in self.columns]
        if len(set(names)) != len(names):
            raise InputError("columns: a name occurs twice")
        if self.label in names:
            raise InputError(f"columns: the label {shown(self.label)} is also listed as a feature")
        for column in self.columns:
            _check_column(column)
        if self.dimension > _MAX_DIMENSION:
            raise InputError(
                f"columns: wanted at most {_MAX_DIMENSION:,} features of an encoded row, got {self.dimension:,}"
            )
        if not all(name.strip() and name.isprintable() for name in self.classes):
            raise InputError(f"classes: wanted printable texts, got {shown(list(self.classes))}")
        if not 2 <= len(self.classes) <= MOST_CLASSES:
            raise InputError(f"classes: wanted 2 to {MOST_CLASSES}, got {len(self.classes)}")
        if len({canonical(name) for name in self.classes}) != len(self.classes):
            raise InputError(f"classes: wanted different classes, got {shown(list(self.classes))}")
        if not (math.isfinite(self.clip) and self.clip > 0):
            raise InputError(f"clip: wanted a positive finite number, got {self.clip}")
        if not (math.isfinite(self.bias) and self.bias >= 0):
            raise InputError(f"bias: wanted a finite number, at least 0, got {self.bias}")

    @property
    def dimension(self) -> int:
        """Number of features of an encoded row, the bias included."""
        return sum(column.width for column in self.columns) + (1 if self.bias else 0)

    @property
    def constant(self) -> float:
        """The last entry of every encoded row, up to 2^-40 of it; 0 where there is no bias, and so no such entry."""
        return self.bias / math.hypot(1.0, self.bias)


def as_floats(frozen: object, *names: str) -> None:
    """Whole numbers become floats, so that 0 and 0.0 are one bound, in a digest too."""
    for name in names:
        value = getattr(frozen, name)
        if isinstance(value, int) and not isinstance(value, bool):
            object.__setattr__(frozen, name, float(value))


def canonical(text: str) -> str:
    """The form in which labels and categories are compared: spaces stripped, plain numbers in shortest form.

    So 1, +1, 01 and 1.0 are alike, and so are -0 and 0; any other text is compared as it is.
    """
    text = text.strip()
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text.removeprefix("+"))
    whole, point, fraction = digits.partition(".")
    if not (whole + fraction).isdecimal() or not digits.isascii() or not whole or (point and not fraction):
        return text
    fraction = fraction.rstrip("0")
    number = (whole.lstrip("0") or "0") + ("." + fraction if fraction else "")
    return number if number == "0" else sign + number


def read_bounds(path: Path) -> Bounds:
    """The bounds in a TOML file; raises InputError naming the file and the field."""
    content = reading.read_file(path, _MAX_BYTES, where=f"bounds file {path}", links=True)
    try:
        return parse_bounds(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(f"bounds file {path}: is not UTF-8 text") from error
    except InputError as error:
        raise InputError(f"bounds file {path}: {error}") from error


def parse_bounds(text: str) -> Bounds:
    """The bounds in the text of a TOML file.

    `[columns]` holds `age = [0, 120]` or `sex = ["f", "m"]`, `[label]` holds `classes = ["no", "yes"]` (two or
    more; of two, the second is +1) and optionally `column`, the optional `[rows]` holds `clip`, `bias` and `center`.
    """
    return bounds_in(parse_toml(text))


def bounds_in(document: Mapping[str, Any]) -> Bounds:
    """The bounds in what was read of such a file, or of a part of another that says the same."""
    _only("the file", document, {"columns", "label", "rows"})
    columns = _section(document, "columns", required=True)
    label = _section(document, "label", required=True)
    rows = _section(document, "rows", required=False)
    _only("[label]", label, {"classes", "column"})
    _only("[rows]", rows, {"clip", "bias", "center"})
    name, center = label.get("column"), rows.get("center", True)
    if name is not None and not isinstance(name, str):
        raise InputError(f"[label] column: wanted a column's name, got {shown(name)}")
    if not isinstance(center, bool):
        raise InputError(f"[rows] center: wanted true or false, got {shown(center)}")
    return Bounds(
        columns=tuple(_column(key, value) for key, value in columns.items()),
        classes=_classes(label.get("classes")),
        label=name,
        clip=_number("[rows] clip", rows.get("clip", DEFAULT_CLIP)),
        bias=_number("[rows] bias", rows.get("bias", DEFAULT_BIAS)),
        center=center,
    )


def _check_column(column: Column) -> None:
    where = f"column {shown(column.name)}"
    if isinstance(column, CategoricalColumn):
        forms = [canonical(category) for category in column.categories]
        if not forms:
            raise InputError(f"{where}: wanted at least one category, got none")
        if "" in forms:
            raise InputError(f"{where}: an empty text is not a category")
        if len(set(forms)) != len(forms):
            raise InputError(f"{where}: a category occurs twice")
    elif not (math.isfinite(column.low) and math.isfinite(column.high)):
        raise InputError(f"{where}: bounds must be finite, got [{column.low}, {column.high}]")
    elif not column.high / 2 - column.low / 2 > 0:  # the halves cannot overflow
        raise InputError(f"{where}: wanted low < high, got [{column.low}, {column.high}]")


def _column(name: str, value: object) -> Column:
    where = f"[columns] {name[:_SHOWN]}"
    if not isinstance(value, list):
        raise InputError(f"{where}: wanted [low, high] or a list of texts, got {shown(value)}")
    if value and all(isinstance(item, str) for item in value):
        return CategoricalColumn(name, tuple(value))
    if len(value) != 2 or any(isinstance(item, str) for item in value):
        raise InputError(f"{where}: wanted two numbers [low, high] or a list of texts, got {shown(value)}")
    return NumericColumn(name, _number(where, value[0]), _number(where, value[1]))


def _classes(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) < 2:
        raise InputError(f"[label] classes: wanted a list of two or more classes, got {shown(value)}")
    return tuple(_class_name(item) for item in value)


def _class_name(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value.strip() and value.isprintable():
        return value
    if isinstance(value, int) and value.bit_length() <= _LONGEST_CLASS:
        return str(value)
    raise InputError(f"[label] classes: wanted texts or whole numbers, got {shown(value)}")


def _number(where: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{where}: wanted a number, got {shown(value)}")
    try:
        return float(value)
    except OverflowError as error:
        raise InputError(f"{where}: {shown(value)} is too large a number") from error


def _section(document: Mapping[str, Any], name: str, *, required: bool) -> dict[str, Any]:
    section = document.get(name, None if required else {})
    if not isinstance(section, dict):
        raise InputError(f"[{name}]: wanted a section, got {'none' if section is None else shown(section)}")
    return section


def _only(where: str, got: Mapping[str, object], wanted: set[str]) -> None:
    for key in got:
        if key not in wanted:
            raise InputError(f"{where}: unknown key {shown(key)}, wanted {', '.join(sorted(wanted))}")
