"""Real numbers that are known as well as is needed: uniform ones as endless bit strings, and decisions about them.

Of each uniform a prefix of its bits is read, which makes it an interval. What is computed of it is a ball that contains
the true value, and a decision that the ball leaves open is put off until more bits of the *same* uniforms are read. So
how many bits are looked at first changes the time and never the outcome, and no float has a say in it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from flint import arb, ctx, fmpq

from protocols.arithmetic.rng import Stream

WORD = 64
"""Bits of each uniform in one forked stream, and how many more are read at a time."""
_GUARD_BITS = 64  # of working precision beyond those known of the uniforms

_T = TypeVar("_T")


class Uniforms:
    """Numbers uniform on [0, 1], of which more and more bits are read from forks of one stream."""

    def __init__(self, count: int, draw: Stream) -> None:
        self._draw, self._prefixes, self._read = draw, [0] * count, 0

    def balls(self, bits: int) -> list[arb]:
        """Return the intervals in which they lie when this many bits of each are known."""
        while self._read < bits:
            octets = self._draw.fork(f"word {self._read // WORD}").bytes(WORD // 8 * len(self._prefixes))
            words = struct.iter_unpack(">Q", octets)
            self._prefixes = [prefix << WORD | word for prefix, (word,) in zip(self._prefixes, words, strict=True)]
            self._read += WORD
        return [_interval(prefix >> (self._read - bits), bits) for prefix in self._prefixes]


def evaluate_lazily(evaluate: Callable[[int], _T | None], bits: int) -> _T:
    """Evaluate with so many bits of the uniforms, or with as many more as it takes to find anything."""
    while True:
        with ctx.workprec(bits + _GUARD_BITS):
            found = evaluate(bits)
        if found is not None:
            return found
        bits += WORD


def exact_ball(value: Fraction) -> arb:
    """Return a rational number as a ball, as narrow as the precision that is set allows."""
    return arb(fmpq(value.numerator, value.denominator))


def _interval(prefix: int, known: int) -> arb:
    """Return [prefix, prefix + 1] / 2^known."""
    return arb((2 * prefix + 1, -known - 1), (1, -known - 1))
