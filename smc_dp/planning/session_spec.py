"""Session specifications: the program and the parameters of a run that has not taken place."""

from __future__ import annotations

from typing import Any, NamedTuple

from protocols.programs import PROTOCOLS, Protocol
from smc_dp.core.errors import InputError

HOLDER = "party"
"""What parties are called before their numbers, where nobody names them."""


class SessionSpec(NamedTuple):
    """A protocol, and its parameters."""

    protocol: Protocol
    parameters: Any


def party_names(count: int, holder: str = HOLDER) -> tuple[str, ...]:
    """Return `count` names, as a run gives them."""
    return tuple(f"{holder}-{j}" for j in range(1, count + 1))


def check_limits(protocol: str, parties: int, dimension: int) -> None:
    """Raise InputError for more parties or columns (the constant one among them) than the protocol allows."""
    limits = PROTOCOLS[protocol].limits
    if parties > limits.parties:
        raise InputError(f"sizes: {protocol} is for at most {limits.parties} parties, got {parties}")
    most = limits.largest.get("dimension")
    if most is not None and dimension > most:
        raise InputError(f"columns: {protocol} is for at most {most - 1} columns, got {dimension - 1}")
