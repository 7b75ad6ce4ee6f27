"""Curator protocol, fixed and as published, with the limits of a run: an audit fits into 2 GB."""

from __future__ import annotations

from types import MappingProxyType

from protocols.pathak2010 import PROGRAM, as_published, conversation_as_published, ideal
from protocols.pathak2010.conversation import conversation
from protocols.pathak2010.parameters import MAX_KEY_BITS
from protocols.pathak2010.sentences import SENTENCES, SYMBOLS, SYMBOLS_AS_PUBLISHED
from protocols.runtime.protocol import KeyLimits, Limits, Protocol

MAX_PARTIES, MAX_DIMENSION, MAX_RING_BITS = 1000, 100_000, 4096

LIMITS = Limits(
    MappingProxyType({"dimension": MAX_DIMENSION, "key_bits": MAX_KEY_BITS, "ring_bits": MAX_RING_BITS}),
    MAX_PARTIES,
    KeyLimits("key_bits", shortest=2048, replayed=6144),
)
HARDENED = Protocol(PROGRAM, ideal.MODEL, ideal.CLAIM, LIMITS, None, conversation, SENTENCES, SYMBOLS)
AS_PUBLISHED = Protocol(
    as_published.PROGRAM,
    as_published.MODEL,
    None,
    LIMITS,
    None,
    conversation_as_published.conversation,
    SENTENCES,
    SYMBOLS_AS_PUBLISHED,
)
