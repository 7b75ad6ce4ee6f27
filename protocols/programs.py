"""Registry of protocols by the name in their transcripts, for audits."""

from __future__ import annotations

from types import MappingProxyType

from protocols.comparison.protocol import COMPARISON
from protocols.errors import LocalError
from protocols.linear.protocol import LINEAR
from protocols.pathak2010.protocol import AS_PUBLISHED, HARDENED
from protocols.runtime.protocol import Protocol as Protocol
from protocols.secure_sum.protocol import SECURE_SUM

PROTOCOLS = MappingProxyType(
    {
        protocol.program.name: protocol
        for protocol in (
            HARDENED,
            AS_PUBLISHED,
            COMPARISON,
            LINEAR,
            SECURE_SUM,
        )
    }
)

LAST_RELEASE, LAST_FORMAT = "0.1.0", 2
"""Version of this package that reads, audits and uses sessions of the protocols' earlier versions; its wire format."""


def find_protocol(name: str, version: int) -> Protocol:
    """Return the protocol of this name and version; raises `LocalError` when this code does not have it."""
    if name in PROTOCOLS and 0 < version < PROTOCOLS[name].program.version:
        raise LocalError("program.of_an_earlier_version", name=name, version=version, reads=LAST_RELEASE)
    if name not in PROTOCOLS or PROTOCOLS[name].program.version != version:
        known = ", ".join(f"{p.program.name} {p.program.version}" for p in PROTOCOLS.values())
        raise LocalError("program.unknown", known=known, got=name[:40], version=version)
    return PROTOCOLS[name]
