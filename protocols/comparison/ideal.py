"""What the comparison is worth: the holder learns one bit, the chooser nothing."""

from __future__ import annotations

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.runtime.claims import Claim, Readings, Unclaimed


def functionality(x: int, y: int, flip: int) -> int:
    """[x <= y] xor flip, to the holder alone."""
    return int(x <= y) ^ flip


def simulate_holder(answer: int, compared_bits: int, rng: Stream) -> Readings:
    """All that the holder reads, made from the answer alone: whether one of the shuffled terms is zero, and delta."""
    zero = rng.bits(1)
    return {
        "Differences.c": Permutation.random(compared_bits + 1, rng)([zero] + [0] * compared_bits),
        "Differences.delta": [answer ^ zero],
    }


CLAIM = Claim(
    simulators={"the holder": simulate_holder},
    not_claimed=(
        Unclaimed("A holder that makes its key or its bits against the rules may learn more of the chooser's input."),
    ),
)
