"""How large a session of comparisons may be."""

from __future__ import annotations

from types import MappingProxyType

from protocols.runtime.limits import KeyLimits, Limits

LIMITS = Limits(
    MappingProxyType({"comparisons": 1000, "bits": 512, "key_bits": 16384}),
    1,
    KeyLimits("key_bits", shortest=2048, replayed=6144),
)
