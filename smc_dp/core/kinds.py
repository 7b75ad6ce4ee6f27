"""Kinds of values in documents, each read in one place and refused in one way.

The validation itself looks at lists of many values, never a function of ours for each of them, and no further than to
the first that does not fit: a file of strangers may hold a million.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, WithJsonSchema
from pydantic_core import CoreSchema, core_schema

from smc_dp.core import reading
from smc_dp.core.errors import InputError, shown

_DIGEST_BYTES = 32
_LONGEST_LINE = 500
# An exponent has three digits at most, for a ratio writes it out.
_PLAIN = re.compile(r"[0-9]{1,100}(\.[0-9]{1,100})?([eE][+-]?[0-9]{1,3})?|[0-9]{1,200}/[1-9][0-9]{0,199}", re.ASCII)
LARGEST_FINITE_NUMBER = 1e300
"""Bound of the absolute value of a number in a document; the sum of up to 10^8 such floats is finite."""
_DIGITS = "^(0|[1-9][0-9]{0,1299})$"  # long enough for 4096 bits, short enough for Python to read
PATTERN_MEANINGS: Mapping[str, str] = MappingProxyType({_DIGITS: "a whole number as a text of digits"})
"""Descriptions of the patterns that texts have to match."""


@dataclass(frozen=True)
class OneOf:
    """Annotation of a text that is one of these; `wanted` describes them where the list would be too long to read."""

    values: Collection[str]
    wanted: str | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"type": "string", "enum": list(self.values)}

    def _check(self, value: str) -> str:
        if value not in self.values:
            wanted = self.wanted or f"one of {', '.join(self.values)}"
            raise InputError("value.unknown", wanted=wanted, got=shown(value))
        return value


def refuse_many_keys(value: object, most: int, *, deep: bool = False) -> object:
    """Return the value; InputError for an object of more than so many keys, `deep` with those of objects in it."""
    if isinstance(value, dict):
        inner = (len(found) for found in value.values() if deep and isinstance(found, dict))
        if (count := len(value) + sum(inner)) > most:
            raise InputError("document.too_many_keys", most=most, got=count)
    return value


def limit_keys(most: int, *, deep: bool = False) -> Any:
    """Return the annotation of an object of at most so many keys, which are counted before any is looked at."""
    return BeforeValidator(partial(refuse_many_keys, most=most, deep=deep))


def _digest(value: object) -> str:
    return reading.require_hex("a digest", value, _DIGEST_BYTES).hex()


def check_line(value: object) -> str:
    """Return the value; InputError unless it is a printable text on one line."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > _LONGEST_LINE:
        raise InputError("text.not_one_line", most=_LONGEST_LINE, got=shown(value))
    return value


def is_number(value: object) -> bool:
    """Return whether the value is a number, or a text that is one."""
    # By type, not isinstance: a bool is an int, and no number of a document.
    return type(value) in (int, float) or (isinstance(value, str) and bool(_PLAIN.fullmatch(value)))


def parse_ratio(value: object) -> str:
    """Return a number in the one form that a release has it in: a fraction in lowest terms, as a text."""
    text = repr(value) if type(value) in (int, float) else value
    if not isinstance(text, str) or not _PLAIN.fullmatch(text):
        raise InputError("number.not_a_ratio", got=shown(value))
    return str(Fraction(text) if "/" in text else Fraction(Decimal(text)))


def _positive(value: object) -> str:
    text = parse_ratio(value)
    if Fraction(text) == 0:
        raise InputError("number.not_positive", got=shown(value))
    return text


def check_finite_number(value: object) -> Any:
    """Return the value; InputError unless it is a finite number."""
    if type(value) not in (int, float) or abs(value) > LARGEST_FINITE_NUMBER or not math.isfinite(value):  # type: ignore[arg-type]
        raise InputError("value.not_finite", got=shown(value))
    return value


def _check_setting(value: object) -> Any:
    """Return the value; InputError unless a setting can have it: a text, a whole number, a bool, or texts."""
    names = isinstance(value, list) and all(type(name) is str for name in value)
    if type(value) not in (str, int, bool) and not names:
        raise InputError("value.no_setting", got=shown(value))
    return value


FiniteNumber: TypeAlias = Annotated[
    float, Field(ge=-LARGEST_FINITE_NUMBER, le=LARGEST_FINITE_NUMBER, allow_inf_nan=False)
]
"""A finite number, which becomes a float."""
FiniteFigure: TypeAlias = Annotated[
    Any,
    BeforeValidator(check_finite_number),
    WithJsonSchema({"type": "number", "minimum": -LARGEST_FINITE_NUMBER, "maximum": LARGEST_FINITE_NUMBER}),
]
"""A finite number, whole or not as it was written."""
FiniteNumbers: TypeAlias = Annotated[list[FiniteNumber], Field(fail_fast=True)]
TwoNumbers: TypeAlias = Annotated[FiniteNumbers, Field(min_length=2, max_length=2)]
Texts: TypeAlias = Annotated[list[str], Field(fail_fast=True)]
WholeNumberText: TypeAlias = Annotated[str, Field(pattern=_DIGITS)]
"""A number, not negative, of any length up to 4096 bits, as a text of decimal digits."""
WholeNumberTexts: TypeAlias = Annotated[list[WholeNumberText], Field(fail_fast=True)]
DigestText: TypeAlias = Annotated[
    str, BeforeValidator(_digest), WithJsonSchema({"type": "string", "pattern": "^[0-9a-f]{64}$"})
]
SettingValue: TypeAlias = Annotated[
    Any,
    BeforeValidator(_check_setting),
    WithJsonSchema({"type": ["string", "integer", "boolean", "array"], "items": {"type": "string"}}),
]
OneLine: TypeAlias = Annotated[
    str, BeforeValidator(check_line), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": _LONGEST_LINE})
]
NUMBER_SCHEMA = {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]}
Ratio: TypeAlias = Annotated[str, BeforeValidator(parse_ratio), WithJsonSchema(NUMBER_SCHEMA)]
PositiveRatio: TypeAlias = Annotated[str, BeforeValidator(_positive), WithJsonSchema(NUMBER_SCHEMA)]
