"""Shares, masks and slots without the room they need."""

from __future__ import annotations

from protocols.arithmetic.packing import Packing
from protocols.arithmetic.ring import Ring, Vector
from protocols.arithmetic.rng import Stream


def clamped_sum(ring: Ring, *vectors: Vector) -> Vector:
    """Saturates where the ring wraps."""
    return tuple(min(sum(column), ring.modulus - 1) for column in zip(*vectors, strict=True))


def short_mask(value_bits: int, sigma: int, rng: Stream) -> int:
    """As long as what it hides: the carry beyond it tells of the value."""
    return rng.bits(value_bits)


def packing_without_slack(packing: Packing) -> Packing:
    """Slots as wide as a mask: mask plus noise carries into the neighbour."""
    return Packing(packing.slot_bits - 1, packing.slots, packing.length)


def repeated_shares(ring: Ring, x: Vector, count: int, rng: Stream) -> list[Vector]:
    """One random vector, used for every share but the last: any one is uniform, two together are not."""
    share = ring.random_vector(len(x), rng)
    rest = ring.vector([v - (count - 1) * s for v, s in zip(x, share, strict=True)])
    return [share] * (count - 1) + [rest]
