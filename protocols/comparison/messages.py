"""Messages of the comparison, in the order they are sent.

Letters as in the paper: x and y are the inputs, x_i and y_i their bits, c_i the blinded differences, delta the masks.
"""

from __future__ import annotations

from typing import Annotated

from protocols.crypto.dgk import BitCiphertext
from protocols.runtime.message import CURATOR, PARTY, Message, Times, encrypted, masked, message, public, returned

DGK = "dgk"  # the holder's key


@message("compare 0", CURATOR >> PARTY)
class ComparisonKey(Message):
    """DGK key of the holder."""

    n: Annotated[int, public("dgk")]
    g: Annotated[int, public("dgk")]
    h: Annotated[int, public("dgk")]


@message("compare 1", CURATOR >> PARTY)
class Bits(Message):
    """[y_i]: the holder's input, bit by bit, lowest first."""

    y: Annotated[tuple[BitCiphertext, ...], encrypted(DGK), Times("compared_bits")]


@message("compare 2", PARTY >> CURATOR)
class Differences(Message):
    """[c_i], blinded and shuffled: one for each bit, one more for x = y; delta: delta_a xor the chooser's top bit."""

    c: Annotated[tuple[BitCiphertext, ...], returned(DGK), Times("differences")]
    delta: Annotated[bool, masked("bit")]
