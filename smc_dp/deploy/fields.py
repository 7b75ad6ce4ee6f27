"""The kinds of values in the documents of a deployment, each read in one place and said in one way."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, TypeAlias
from urllib.parse import urlsplit

from pydantic import BeforeValidator, WithJsonSchema

from smc_dp.core.errors import InputError, shown
from smc_dp.data.partition import check_letters
from smc_dp.run.identities import PublicKeyText as PublicKeyText
from smc_dp.run.identities import SignatureText as SignatureText

_LONGEST_LINE = 500
_PLAIN = re.compile(r"[0-9]{1,100}(\.[0-9]{1,100})?([eE][+-]?[0-9]{1,3})?|[0-9]{1,200}/[1-9][0-9]{0,199}", re.ASCII)
_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)([dhms])", re.ASCII)
_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_LONGEST_WAIT = 366 * _UNITS["d"]


def _line(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > _LONGEST_LINE:
        raise InputError(f"wanted a printable text of 1 to {_LONGEST_LINE} characters, got {shown(value)}")
    return value


def relay_host(relay: str, schemes: Collection[str], usual_port: int) -> tuple[str, int] | None:
    """Host and port in an address of a relay, and None for what is no such address and nothing else."""
    try:
        parts = urlsplit(relay)
        host, port = parts.hostname, parts.port or usual_port
    except ValueError:
        return None
    if not host or parts.scheme not in schemes or f"{parts.path}{parts.query}{parts.fragment}{parts.username or ''}":
        return None
    return host, port


def _relay(value: object) -> str:
    if relay_host(relay := _line(value), ("nats", "tls", "flare"), 0) is None:
        raise InputError(f"wanted an address such as tls://relay.example:4222, nats:// or flare://, got {shown(value)}")
    return relay


def _ratio(value: object) -> str:
    """A number in the one form that a release has it in: a fraction in lowest terms, as a text."""
    text = repr(value) if type(value) in (int, float) else value
    if not isinstance(text, str) or not _PLAIN.fullmatch(text):
        raise InputError(f'wanted a number that is not negative, such as 0.5 or "1/3", got {shown(value)}')
    return str(Fraction(text) if "/" in text else Fraction(Decimal(text)))


def _positive(value: object) -> str:
    text = _ratio(value)
    if Fraction(text) == 0:
        raise InputError(f"wanted a number above 0, got {shown(value)}")
    return text


def _seconds(value: object) -> float:
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if found is not None:
        value = float(found[1]) * _UNITS[found[2]]
    if type(value) not in (int, float) or not math.isfinite(value) or not 0 < value <= _LONGEST_WAIT:  # type: ignore[arg-type,operator]
        raise InputError(
            f'wanted seconds, or a text such as "7d", "12h", "30m", "20s", up to a year, got {shown(value)}'
        )
    return float(value)  # type: ignore[arg-type]


def _setting(value: object) -> Any:
    """A setting of a method as a release has it: a number as a fraction, a word as it is."""
    number = type(value) in (int, float) or (isinstance(value, str) and _PLAIN.fullmatch(value))
    return _ratio(value) if number else _line(value)


def _name(value: object) -> str:
    check_letters(name := _line(value))
    return name


_NUMBER = {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]}
OneLine: TypeAlias = Annotated[
    str, BeforeValidator(_line), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": _LONGEST_LINE})
]
RelayAddress: TypeAlias = Annotated[
    str,
    BeforeValidator(_relay),
    WithJsonSchema({"type": "string", "pattern": "^(nats|tls|flare)://", "maxLength": _LONGEST_LINE}),
]
Ratio: TypeAlias = Annotated[str, BeforeValidator(_ratio), WithJsonSchema(_NUMBER)]
PositiveRatio: TypeAlias = Annotated[str, BeforeValidator(_positive), WithJsonSchema(_NUMBER)]
Duration: TypeAlias = Annotated[float, BeforeValidator(_seconds), WithJsonSchema(_NUMBER)]
SiteName: TypeAlias = Annotated[
    str,
    BeforeValidator(_name),
    WithJsonSchema({"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"}),
]
MethodSetting: TypeAlias = Annotated[str, BeforeValidator(_setting), WithJsonSchema({"type": ["string", "number"]})]
