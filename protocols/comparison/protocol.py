"""Comparison as a protocol of its own, with the limits of a session of comparisons."""

from __future__ import annotations

from types import MappingProxyType

from protocols.comparison import PROGRAM
from protocols.comparison.conversation import conversation
from protocols.comparison.ideal import CLAIM, MODEL
from protocols.comparison.sentences import SENTENCES
from protocols.runtime.protocol import KeyLimits, Limits, Protocol

LIMITS = Limits(
    MappingProxyType({"comparisons": 1000, "bits": 512, "key_bits": 16384}),
    1,
    KeyLimits("key_bits", shortest=2048, replayed=6144),
)
COMPARISON = Protocol(PROGRAM, MODEL, CLAIM, LIMITS, conversation=conversation, sentences=SENTENCES)
