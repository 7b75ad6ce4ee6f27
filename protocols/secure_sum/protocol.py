"""The secure sum, and how large a session of sums may be: an audit fits into 2 GB of memory, whatever is stated."""

from __future__ import annotations

from types import MappingProxyType

from protocols.runtime.protocol import Limits, Protocol
from protocols.secure_sum import PROGRAM
from protocols.secure_sum.conversation import conversation
from protocols.secure_sum.graph import MOST_DEGREE
from protocols.secure_sum.ideal import CLAIM, MODEL
from protocols.secure_sum.parameters import LONGEST_RING, MOST_PARTIES
from protocols.secure_sum.public_verification import PUBLIC_VERIFICATION
from protocols.secure_sum.sentences import SENTENCES, SYMBOLS

MOST_NUMBERS = 10_000_000

LIMITS = Limits(
    MappingProxyType(
        {
            **{"colluders": MOST_PARTIES - 1, "dropouts": MOST_PARTIES, "quorum": MOST_PARTIES},
            **{"threshold": MOST_PARTIES, "honest": MOST_PARTIES, "numbers": MOST_NUMBERS, "ring_bits": LONGEST_RING},
            **{"degree": MOST_DEGREE},
        }
    ),
    MOST_PARTIES,
    None,
    may_be_zero=frozenset({"colluders", "degree", "dropouts", "quorum", "threshold"}),
    may_be_absent=frozenset({"degree"}),
)
SECURE_SUM = Protocol(PROGRAM, MODEL, CLAIM, LIMITS, PUBLIC_VERIFICATION, conversation, SENTENCES, SYMBOLS)
