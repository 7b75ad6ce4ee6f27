"""Exclusive-or shares of a number: two shares, each uniform by itself."""

from __future__ import annotations

from protocols.arithmetic.rng import Stream


def split(n: int, bits: int, rng: Stream) -> tuple[int, int]:
    """Return shares (a, b) of n in [0, 2**bits): a xor b = n. Either share alone is uniform, whatever n is."""
    a = rng.bits(bits)
    return a, n ^ a


def join(a: int, b: int) -> int:
    """Return the number of which these are the shares."""
    return a ^ b
