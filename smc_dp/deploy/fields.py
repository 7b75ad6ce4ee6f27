"""The kinds of values in the documents of a deployment, each read in one place and said in one way."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from typing import Annotated, TypeAlias
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, WithJsonSchema

from smc_dp.core.errors import InputError, shown
from smc_dp.core.kinds import NUMBER_SCHEMA, check_line
from smc_dp.data.partition import check_name
from smc_dp.deploy.carriers import find_carrier
from smc_dp.run.identities import PublicKeyText as PublicKeyText
from smc_dp.run.identities import SignatureText as SignatureText

_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)([dhms])", re.ASCII)
_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_LONGEST_WAIT = 366 * _UNITS["d"]


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


def require_relay_host(relay: str, schemes: Sequence[str], usual_port: int) -> tuple[str, int]:
    """Return host and port in an address of a relay of one carrier. InputError for any other address."""
    found = relay_host(relay, schemes, usual_port)
    if found is None:
        wanted = f"{schemes[0]}://relay.example.org:{usual_port}"
        raise InputError("relay.of_another_carrier", wanted=wanted, got=shown(relay))
    return found


def _relay(value: object) -> str:
    scheme = (relay := check_line(value)).partition("://")[0]
    if find_carrier(scheme) is None or relay_host(relay, (scheme,), 0) is None:
        raise InputError("relay.no_address", got=shown(value))
    return relay


def _seconds(value: object) -> float:
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if found is not None:
        value = float(found[1]) * _UNITS[found[2]]
    if type(value) not in (int, float) or not math.isfinite(value) or not 0 < value <= _LONGEST_WAIT:  # type: ignore[arg-type,operator]
        raise InputError("deadline.no_duration", got=shown(value))
    return float(value)  # type: ignore[arg-type]


def _name(value: object) -> str:
    check_name(name := check_line(value))
    return name


RelayAddress: TypeAlias = Annotated[
    str,
    BeforeValidator(_relay),
    WithJsonSchema({"type": "string", "pattern": "^[a-z][a-z0-9+.-]*://", "maxLength": 500}),
]
Count: TypeAlias = Annotated[int, Field(ge=0)]
Duration: TypeAlias = Annotated[float, BeforeValidator(_seconds), WithJsonSchema(NUMBER_SCHEMA)]
SiteName: TypeAlias = Annotated[
    str, BeforeValidator(_name), WithJsonSchema({"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"})
]
