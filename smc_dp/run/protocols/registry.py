"""Terms of all protocols in one table, by the name of the program.

What every run agrees on (method, target, parties, bounds) is in `smc_dp.run.agreement`. Terms add what one protocol
needs besides: its settings, how they are written and read, the parameters of the program that follow from them, and the
mechanism specification of a method.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from smc_dp.core.errors import InputError, InputFault, refuse_all, shown
from smc_dp.run.protocols.curator import CuratorTerms as CuratorTerms
from smc_dp.run.protocols.linear import LinearTerms as LinearTerms
from smc_dp.run.protocols.secure_sum import SumTerms as SumTerms
from smc_dp.run.protocols.settings import ProtocolTerms as ProtocolTerms
from smc_dp.run.protocols.settings import setting_names as setting_names

TERMS: Mapping[str, type[Any]] = MappingProxyType(
    {
        "pathak2010": CuratorTerms,
        "pathak2010-as-printed-insecure": CuratorTerms,
        "linear": LinearTerms,
        "secure_sum": SumTerms,
    }
)
DERIVED_SETTINGS = ("ring_bits", "fraction_bits")
"""Settings of a sum that follow from the rest: a study may state them, with the values that follow."""


def find_terms(protocol: str) -> type[Any]:
    """Return the class of the settings of this protocol; InputError for one that computes no method."""
    if protocol not in TERMS:
        raise InputError("protocol.unknown", terms=list(TERMS), got=shown(protocol))
    return TERMS[protocol]


def settle_protocol(protocol: str, method: Any, named: Mapping[str, Any]) -> ProtocolTerms:
    """Return the terms of this protocol with the settings that somebody named, then those that the method prefers.

    Raises an InputError with every setting of another protocol, by its name.
    """
    kind, about = find_terms(protocol), {"method": method.name, "protocol": protocol}
    others = [name for name in named if name not in setting_names(kind)]
    refuse_all(InputFault("protocol.no_such_setting", {"setting": name, **about}) for name in others)
    terms: ProtocolTerms = kind(**{**kind.preferred(method), **named})
    return terms
