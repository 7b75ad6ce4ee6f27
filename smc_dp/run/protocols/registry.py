"""The settings of each protocol: one table, by the name of the protocol.

What every run agrees on (method, target, parties, bounds) stands in `smc_dp.run.agreement`. What one protocol needs
besides is a small class of its own: what it has, how it is written and read, which parameters of the program it makes,
and the form in which the program computes a method.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from smc_dp.core.documents import refuse_all
from smc_dp.core.errors import InputError, InputFault, shown
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
"""By the name of the program that they are about."""
DERIVED_SETTINGS = ("ring_bits", "fraction_bits")
"""Of a sum's settings, what follows from the rest: whoever states it states it right."""


def find_terms(protocol: str) -> type[Any]:
    """The class of the settings of this protocol; InputError for one that computes no method."""
    if protocol not in TERMS:
        raise InputError("protocol.unknown", terms=list(TERMS), got=shown(protocol))
    return TERMS[protocol]


def settle_protocol(protocol: str, method: Any, named: Mapping[str, Any]) -> ProtocolTerms:
    """The settings of this protocol that somebody named, beside what the method prefers.

    Raises an InputError with every setting of another protocol, by its name.
    """
    kind, about = find_terms(protocol), {"method": method.name, "protocol": protocol}
    others = [name for name in named if name not in setting_names(kind)]
    refuse_all(InputFault("protocol.no_such_setting", {"setting": name, **about}) for name in others)
    made: ProtocolTerms = kind(**{**kind.preferred(method), **named})
    return made
