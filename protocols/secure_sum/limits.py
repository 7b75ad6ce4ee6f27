"""How large a session of sums may be: an audit must fit into 2 GB of memory, whatever a record states."""

from __future__ import annotations

from types import MappingProxyType

from protocols.runtime.limits import Limits
from protocols.secure_sum.graph import MOST_DEGREE
from protocols.secure_sum.parameters import LONGEST_RING, MOST_PARTIES

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
