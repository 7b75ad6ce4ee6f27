"""Circuit that finds the place of the smallest of K numbers, bit by bit.

A wire here is what a side of the gates has of it, so this is read once and runs for both, and no bit is ever looked at.
Arrays hold a number's bits in their first axis, the lowest one first, and the numbers in the second. Neighbours meet,
the one on the right wins when it is strictly smaller, and an odd one out passes; so the lowest place wins among equals.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from protocols.crypto.half_gates import PendingAnds, Wires

AndRows = Callable[[Wires], PendingAnds]
"""Takes the first inputs of rows of AND gates; returns for each row the function from its second inputs to its
outputs.
"""


def index_bits(K: int) -> int:
    """Return the number of bits of a place among K."""
    return (K - 1).bit_length()


def and_count(K: int, width: int) -> int:
    """Return the number of gates of `smallest` for K numbers of `width` bits: comparisons, and what the winners take
    along.
    """
    found = (K - 1) * width + (K - 2) * width
    for known in range(index_bits(K)):
        found += K // 2 * known
        K -= K // 2
    return found


def smallest(ands: AndRows, numbers: Wires) -> Wires:
    """Return the bits of the place of the smallest, the lowest one first."""
    places = numbers[:0]
    while (K := numbers.shape[1]) > 1:
        right_wins = _less(ands, numbers[:, 1::2], numbers[:, : K - 1 : 2])
        kept = numbers if K > 2 else numbers[:0]  # the smallest number itself is no output
        carried = _winners(ands, right_wins, np.concatenate((kept, places)))
        top = np.zeros((1, carried.shape[1], 2), numbers.dtype)  # an odd one out stays on the left, by a constant wire
        top[0, : K // 2] = right_wins
        numbers, places = carried[: len(kept)], np.concatenate((carried[len(kept) :], top))
    place: Wires = places[:, 0]
    return place


def _less(ands: AndRows, x: Wires, y: Wires) -> Wires:
    """Return the bit x < y: the borrow of x - y, which passes bits that are equal and else becomes that of y."""
    borrow: Wires = np.zeros_like(x[0])
    for differ, bit in zip(ands(x ^ y), y, strict=True):
        borrow = borrow ^ differ(borrow ^ bit)
    return borrow


def _winners(ands: AndRows, right_wins: Wires, carried: Wires) -> Wires:
    """Return for each pair what the winner carries, and for an odd one out its own."""
    bits, pairs = len(carried), len(right_wins)
    left, right = carried[:, 0 : 2 * pairs : 2], carried[:, 1 : 2 * pairs : 2]
    (choose,) = ands(np.broadcast_to(right_wins, (bits, pairs, 2)).reshape(1, bits * pairs, 2))
    taken = left ^ choose((left ^ right).reshape(bits * pairs, 2)).reshape(bits, pairs, 2)
    return np.concatenate((taken, carried[:, 2 * pairs :]), axis=1)
