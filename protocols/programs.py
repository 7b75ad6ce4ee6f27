"""Every protocol of this package by the name that stands in its records: what an audit looks a record up in."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from protocols import comparison, pathak2010, secure_sum
from protocols.comparison import ideal as comparison_ideal
from protocols.comparison import limits as comparison_limits
from protocols.errors import LocalError
from protocols.pathak2010 import as_printed, ideal
from protocols.pathak2010.limits import LIMITS
from protocols.runtime.claims import Checkable, Claim, Model
from protocols.runtime.limits import Limits
from protocols.runtime.session import Program
from protocols.secure_sum import checkable as secure_sum_checkable
from protocols.secure_sum import ideal as secure_sum_ideal
from protocols.secure_sum import limits as secure_sum_limits


@dataclass(frozen=True)
class Protocol:
    """A program, its model for audits, its claim, and its limits; what anybody can check of it, if there is something.

    A protocol that is kept for its flaws runs as printed in its paper; it claims nothing, and its claim is None.
    """

    program: Program
    model: Model
    claim: Claim | None
    limits: Limits
    checkable: Checkable | None = None


PROTOCOLS = MappingProxyType(
    {
        protocol.program.name: protocol
        for protocol in (
            Protocol(pathak2010.PROGRAM, ideal.MODEL, ideal.CLAIM, LIMITS),
            Protocol(as_printed.PROGRAM, as_printed.MODEL, None, LIMITS),
            Protocol(comparison.PROGRAM, comparison_ideal.MODEL, comparison_ideal.CLAIM, comparison_limits.LIMITS),
            Protocol(
                secure_sum.PROGRAM,
                secure_sum_ideal.MODEL,
                secure_sum_ideal.CLAIM,
                secure_sum_limits.LIMITS,
                secure_sum_checkable.CHECKABLE,
            ),
        )
    }
)


def find(name: str, version: int) -> Protocol:
    """The protocol of this name and version; raises `LocalError` when this code does not have it."""
    if name not in PROTOCOLS or PROTOCOLS[name].program.version != version:
        known = ", ".join(f"{p.program.name} {p.program.version}" for p in PROTOCOLS.values())
        raise LocalError(f"wanted one of the protocols {known}, got {name[:40]!r} {version}")
    return PROTOCOLS[name]
