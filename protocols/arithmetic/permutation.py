"""Permutations of (0, ..., K-1)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from protocols.arithmetic.rng import Stream

T = TypeVar("T")
_WORD = 16  # bytes


@dataclass(frozen=True, repr=False)
class Permutation:
    """`images[j]` is where j goes. `pi(x)` moves the element at place j to place pi[j], as the paper's pi(a) does."""

    images: tuple[int, ...]

    def __post_init__(self) -> None:
        if sorted(self.images) != list(range(len(self.images))):
            raise ValueError(f"not a permutation of {len(self.images)} places")

    def __getitem__(self, j: int) -> int:
        return self.images[j]

    def __call__(self, values: Sequence[T]) -> list[T]:
        """Return the sequence y with y[pi[j]] = values[j]."""
        if len(values) != len(self.images):
            raise ValueError(f"wanted {len(self.images)} values, got {len(values)}")
        moved = list(values)
        for j, value in enumerate(values):
            moved[self.images[j]] = value
        return moved

    @property
    def inverse(self) -> Permutation:
        """Permutation that undoes this one."""
        return Permutation(tuple(self(range(len(self.images)))))

    @classmethod
    def random(cls, size: int, rng: Stream) -> Permutation:
        """Draw a permutation, uniform over all (Fisher and Yates)."""
        images = list(range(size))
        for i in reversed(range(1, size)):
            j = rng.below(i + 1)
            images[i], images[j] = images[j], images[i]
        return cls(tuple(images))


def drawn(seed: bytes, size: int) -> tuple[int, ...]:
    """Return the order of `size` things that these bytes determine: the order of their words of SHAKE-256. It is
    uniform but for `bias`, with SHAKE-256 as a random oracle.
    """
    raw = hashlib.shake_256(b"smc-dp order\0" + seed).digest(_WORD * size)
    words = [raw[i : i + _WORD] for i in range(0, len(raw), _WORD)]
    return tuple(sorted(range(size), key=words.__getitem__))


def bias(size: int) -> Fraction:
    """Return a bound on the statistical distance of `drawn` from uniform: the probability that two words are equal."""
    return Fraction(size * (size - 1), 2 << 8 * _WORD)
