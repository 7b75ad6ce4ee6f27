"""Permutations of (0, ..., K-1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from protocols.arithmetic.rng import Stream

T = TypeVar("T")


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
        """The sequence y with y[pi[j]] = values[j]."""
        if len(values) != len(self.images):
            raise ValueError(f"wanted {len(self.images)} values, got {len(values)}")
        moved = list(values)
        for j, value in enumerate(values):
            moved[self.images[j]] = value
        return moved

    @property
    def inverse(self) -> Permutation:
        """The permutation that undoes this one."""
        return Permutation(tuple(self(range(len(self.images)))))

    @classmethod
    def random(cls, size: int, rng: Stream) -> Permutation:
        """Uniform over all permutations (Fisher and Yates)."""
        images = list(range(size))
        for i in reversed(range(1, size)):
            j = rng.below(i + 1)
            images[i], images[j] = images[j], images[i]
        return cls(tuple(images))
