"""The comparison at sizes at which everything can be tried."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from protocols.comparison import ideal
from protocols.comparison.parameters import Comparisons
from protocols.comparison.signs import CHOOSER, HOLDER
from protocols.runtime.claims import Inputs
from support.exact.matrix import SmallCase

# One comparison in which bits have others above them, and two, which must have nothing in common; short and long keys.
SMALL = tuple(Comparisons(*size, bits) for size in ((1, 3), (2, 2)) for bits in (ideal.DRY_RUN_KEY_BITS, 3072))
_OFFERED = 3  # of all vectors of the holder's shares: the first, the last and one between


def every_input(p: Comparisons) -> Iterator[Inputs]:
    """All shares of the chooser, with some of the holder's."""
    everything = list(product(range(p.ring.modulus), repeat=p.comparisons))
    for i in range(_OFFERED):
        held = everything[i * (len(everything) - 1) // (_OFFERED - 1)]
        yield from ({CHOOSER: (p, chosen), HOLDER: (p, held)} for chosen in everything)


CASE = SmallCase(SMALL, every_input, ideal.gives)
