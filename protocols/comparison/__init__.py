"""Comparison of Damgard, Geisler and Kroigaard (2007) with Veugen's term for equality (2012).

`chooser` holds x, `holder` holds y and the key. Only the holder learns whether x <= y; the chooser learns nothing. It
is a step of other protocols; for a separate audit, `PROGRAM` is a protocol of two participants.
"""

from __future__ import annotations

from protocols.comparison import signs
from protocols.comparison.messages import Bits, ComparisonKey, Differences
from protocols.comparison.parameters import Comparisons
from protocols.crypto import dgk
from protocols.runtime.message import CURATOR, PARTY, Kind
from protocols.runtime.session import Program


def participants(p: Comparisons) -> dict[str, Kind]:
    """Return the kinds of the chooser, and of the holder in the curator's place."""
    return {signs.CHOOSER: PARTY, signs.HOLDER: CURATOR}


PROGRAM = Program(
    "comparison",
    1,
    {PARTY: signs.chooser, CURATOR: signs.holder},
    (ComparisonKey, Bits, Differences),
    (signs.ChooserKey, signs.HolderKey, dgk.DgkPublicKey, dgk.DgkPrivateKey),
    Comparisons,
    participants=participants,
)
