"""Shares of a number by exclusive or: two halves, each uniform by itself."""

from __future__ import annotations

from protocols.arithmetic.rng import Stream


def split(n: int, bits: int, rng: Stream) -> tuple[int, int]:
    """Halves (a, b) of n in [0, 2**bits): a xor b = n. Either half alone is uniform, whatever n is."""
    a = rng.bits(bits)
    return a, n ^ a


def join(a: int, b: int) -> int:
    """The number of which these are the halves."""
    return a ^ b
