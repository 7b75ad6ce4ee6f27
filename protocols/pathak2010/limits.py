"""How large a run of this protocol may be: an audit must fit into 2 GB of memory, whatever a record states."""

from __future__ import annotations

from types import MappingProxyType

from protocols.runtime.limits import KeyLimits, Limits

MAX_PARTIES, MAX_DIMENSION, MAX_KEY_BITS, MAX_RING_BITS = 1000, 100_000, 16384, 4096

LIMITS = Limits(
    MappingProxyType({"dimension": MAX_DIMENSION, "key_bits": MAX_KEY_BITS, "ring_bits": MAX_RING_BITS}),
    MAX_PARTIES,
    KeyLimits("key_bits", shortest=2048, replayed=6144),
)
