"""The ring Z_M with M = 2**bits, its vectors, and additive sharing in it.

Vectors are tuples of plain integers. In rings of at most 64 bits they are added up as machine words, which wrap as the
ring does. An audit's unknowns are no machine words, nor are the numbers of wider rings: they are added one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from protocols.arithmetic.rng import Stream

Vector = tuple[int, ...]
_Words = npt.NDArray[np.uint64]
_WORD_BITS = 64


@dataclass(frozen=True)
class Ring:
    """Ring Z_M for M = 2**bits; elements are integers in [0, M)."""

    bits: int

    @property
    def modulus(self) -> int:
        """Modulus M of the ring."""
        return 1 << self.bits

    def reduce(self, x: int) -> int:
        """Return the element congruent to the integer x."""
        return x % self.modulus

    def add(self, x: int, y: int) -> int:
        """Return x + y mod M."""
        return (x + y) % self.modulus

    def subtract(self, x: int, y: int) -> int:
        """Return x - y mod M."""
        return (x - y) % self.modulus

    def random(self, rng: Stream) -> int:
        """Draw a uniform element."""
        return rng.bits(self.bits)

    def split(self, x: int, rng: Stream) -> tuple[int, int]:
        """Return additive shares (a, b) of x: a + b = x mod M. Either share alone is uniform, whatever x is."""
        a = self.random(rng)
        return a, self.subtract(x, a)

    def vector(self, integers: Sequence[int]) -> Vector:
        """Return the vector congruent to the given integers."""
        M = self.modulus
        return tuple([x % M for x in integers])

    def nearest(self, elements: Sequence[int]) -> Vector:
        """Return for each element the integer nearest to zero that it stands for, from -M/2 to M/2 - 1."""
        words = self._words(elements)
        if words is not None:
            spare = np.uint64(_WORD_BITS - self.bits)
            return tuple(((words[0] << spare).view(np.int64) >> spare.astype(np.int64)).tolist())
        M, half = self.modulus, self.modulus // 2
        return tuple([(x + half) % M - half for x in elements])

    def random_vector(self, length: int, rng: Stream) -> Vector:
        """Draw a uniform vector: the same as so many draws of `random`."""
        return rng.numbers(length, self.bits)

    def add_vectors(self, *vectors: Vector) -> Vector:
        """Return the sum, place by place."""
        M = self.modulus
        words = self._words(*vectors)
        if words is not None:
            total: _Words = np.sum(words, axis=0, dtype=np.uint64)
            return tuple((total & np.uint64(M - 1)).tolist())
        return tuple([x % M for x in map(sum, zip(*vectors, strict=True))])

    def _words(self, *vectors: Sequence[int]) -> list[_Words] | None:
        """Return vectors of one length as machine words; None unless all numbers are such words."""
        if self.bits > _WORD_BITS or len(set(map(len, vectors))) != 1:
            return None
        if not all(set(map(type, vector)) <= {int} for vector in vectors):  # to ask an unknown for its value is refused
            return None
        try:
            return [np.fromiter(vector, np.uint64, len(vector)) for vector in vectors]
        except OverflowError:
            return None

    def subtract_vectors(self, x: Vector, y: Vector) -> Vector:
        """Return the difference, place by place."""
        M = self.modulus
        return tuple([(a - b) % M for a, b in zip(x, y, strict=True)])

    def split_vector(self, x: Vector, count: int, rng: Stream) -> list[Vector]:
        """Return `count` additive shares of x; any count - 1 of them are uniform and independent of x."""
        shares = [self.random_vector(len(x), rng) for _ in range(count - 1)]
        return [*shares, self.subtract_vectors(x, self.add_vectors((0,) * len(x), *shares))]
