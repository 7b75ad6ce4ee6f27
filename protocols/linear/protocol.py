"""Linear path with the limits of a run: an audit fits into 2 GB, whatever a transcript states."""

from __future__ import annotations

from types import MappingProxyType

from protocols.linear import PROGRAM
from protocols.linear.conversation import conversation
from protocols.linear.ideal import CLAIM, MODEL
from protocols.linear.public_verification import PUBLIC_VERIFICATION
from protocols.linear.sentences import SENTENCES, SYMBOLS
from protocols.runtime.protocol import Limits, Protocol

MAX_PARTIES, MAX_DIMENSION, MAX_RING_BITS, MAX_RING_DEGREE = 10_000, 100_000, 4096, 1000

LIMITS = Limits(
    MappingProxyType({"dimension": MAX_DIMENSION, "ring_bits": MAX_RING_BITS, "ring_degree": MAX_RING_DEGREE}),
    MAX_PARTIES,
    None,
)
LINEAR = Protocol(PROGRAM, MODEL, CLAIM, LIMITS, PUBLIC_VERIFICATION, conversation, SENTENCES, SYMBOLS)
