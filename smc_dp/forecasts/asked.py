"""Which session a forecast is about: the program and its parameters, as a run would make them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any, NamedTuple

from protocols.errors import LocalError
from protocols.programs import PROTOCOLS, Protocol
from protocols.runtime.limits import Limits
from protocols.secure_sum.parameters import Block
from smc_dp.data.federation import Public
from smc_dp.errors import InputError, shown
from smc_dp.methods.method import NeedsRows
from smc_dp.methods.registry import find
from smc_dp.privacy.target import DEFAULT_DELTA, Calibration, Target
from smc_dp.run import agreement as agreements
from smc_dp.run.protocol import LAMBDA
from smc_dp.run.terms import TERMS, settled, terms_of
from smc_dp.run.terms.curator import check_keys

HOLDER = "hospital"
"""What parties are called before their numbers: as in a run of the data set that comes with the package."""
_LAW = "none"  # of the noise, which changes no size


class Asked(NamedTuple):
    """A protocol, and its parameters."""

    protocol: Protocol
    parameters: Any


def called(parties: int, holder: str = HOLDER) -> tuple[str, ...]:
    """So many names, as a run gives them."""
    return tuple(f"{holder}-{j}" for j in range(1, parties + 1))


def by_method(
    method: str, names: Sequence[str], dimension: int, protocol: str | None, named: Mapping[str, Any],
    *, classes: int, epsilon: Fraction, delta: Fraction | None, test_keys: bool,
) -> Asked:  # fmt: skip
    """The session in which a run would compute this method; InputError for what no run agrees on."""
    given = [name for name, value in named.items() if value is not None]
    by = protocol or agreements.usual_protocol(method, len(names), given)
    agreements.secure_form(method, by)
    made: Any = agreements.method_for(method, by, {"lam": LAMBDA} if hasattr(find(method), "lam") else {})
    if getattr(made, "on_public_rows", False):
        raise InputError(f"method: the sums of {method} are as long as its public rows, give `protocol` {by} instead")
    if isinstance(made, NeedsRows) and getattr(made, "rows", None) is None:
        raise InputError(f"method: the ring of {method} follows from the number of rows, give `protocol` {by} instead")
    noise = terms_of(by).noise(made, has_delta=delta is not None)
    calibration: Calibration = "paper" if agreements.as_printed(by) else "proven"
    target = Target(epsilon, calibration, noise, DEFAULT_DELTA if delta is None else delta)
    terms = settled(by, made, named)
    agreements.check(made, target, by, terms, test_keys=test_keys)
    form = terms.form(made, Public(len(names), dimension, classes), target)
    found = PROTOCOLS[by]
    _check_limits(found.limits, len(names), {"dimension": dimension})
    return Asked(found, terms.program_parameters(by, form, tuple(names), ""))


def by_protocol(
    protocol: str,
    names: Sequence[str],
    dimension: int,
    named: Mapping[str, Any],
    *,
    rounds: int | None,
    test_keys: bool,
) -> Asked:
    """A session of this protocol on vectors of so many numbers, sums in `rounds`; InputError where there is none."""
    found = PROTOCOLS.get(protocol)
    kind = None if found is None else found.program.parameters
    known = () if kind is None else tuple(field.name for field in fields(kind))
    if found is None or kind is None or "parties" not in known:
        wanted = ", ".join(TERMS)
        raise InputError(f"protocol: wanted one of {wanted}, got {shown(protocol)}")
    given = {name: value for name, value in named.items() if value is not None}
    if "sums" in known:
        given["sums"] = ((Block(dimension, _LAW),),) * (rounds or 1)
        given = {"colluders": 1, "dropouts": 0, **given}
    else:
        given["dimension"] = dimension
        if rounds is not None:
            raise InputError(f"rounds: {protocol} has one sum, wanted none")
    for name in given:
        if name not in known:
            raise InputError(f"{name}: does not go with protocol {protocol}")
    _check_limits(found.limits, len(names), given)
    if "key_bits" in known:
        check_keys(protocol, given.get("key_bits", kind.key_bits), test_keys)
    try:
        return Asked(found, kind(parties=tuple(names), **given))
    except LocalError as error:
        raise InputError(str(error)) from None


def _check_limits(limits: Limits, parties: int, given: Mapping[str, Any]) -> None:
    if not 2 <= parties <= limits.parties:
        raise InputError(f"parties: wanted 2 to {limits.parties}, got {parties}")
    for name, most in limits.largest.items():
        if type(value := given.get(name)) is int and value > most:
            raise InputError(f"{name}: wanted at most {most}, got {value}")
