"""Random streams that are nearly right."""

from __future__ import annotations

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream


def below_by_remainder(rng: Stream, n: int) -> int:
    """Remainder instead of rejection: small results come too often."""
    return rng.bits((n - 1).bit_length()) % n


def bits_with_top_set(rng: Stream, k: int) -> int:
    """The top bit set, as for a prime."""
    return rng.bits(k) | 1 << (k - 1)


def fork_without_label(rng: Stream, label: str) -> Stream:
    """Every label gives the same stream."""
    return rng.fork("")


def naive_shuffle(size: int, rng: Stream) -> Permutation:
    """Swaps each place with any place: size**size paths, which size! does not divide."""
    images = list(range(size))
    for i in range(size):
        j = rng.below(size)
        images[i], images[j] = images[j], images[i]
    return Permutation(tuple(images))
