"""Every method by its name: the same in Python, on the command line and in files."""

from __future__ import annotations

from types import MappingProxyType

from smc_dp.errors import InputError, shown
from smc_dp.methods.method import Method
from smc_dp.methods.weighted_sum import WeightedSum

_CLASSES: tuple[type[Method], ...] = (WeightedSum,)

METHODS = MappingProxyType({method.name: method for method in _CLASSES})


def find(name: str) -> type[Method]:
    """The method of that name; InputError with all names if there is none."""
    if name not in METHODS:
        raise InputError(f"method: wanted one of {', '.join(METHODS)}, got {shown(name)}")
    return METHODS[name]
