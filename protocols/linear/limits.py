"""How large a run of this protocol may be: an audit must fit into 2 GB of memory, whatever a record states."""

from __future__ import annotations

from types import MappingProxyType

from protocols.runtime.limits import Limits

MAX_PARTIES, MAX_DIMENSION, MAX_RING_BITS, MAX_RING_DEGREE = 10_000, 100_000, 4096, 1000

LIMITS = Limits(
    MappingProxyType({"dimension": MAX_DIMENSION, "ring_bits": MAX_RING_BITS, "ring_degree": MAX_RING_DEGREE}),
    MAX_PARTIES,
    None,
)
