"""The ring Z_M with M = 2**bits, its vectors, and additive sharing in it.

In rings of at most 64 bits vectors are machine words, which wrap as the ring does. An audit's unknowns are no machine
words, nor are the numbers of wider rings: they stand in tuples and are added one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from protocols.arithmetic.rng import Stream
from protocols.arithmetic.words import MACHINE_BYTES, Words
from protocols.arithmetic.words import Vector as Vector

_Array = npt.NDArray[np.uint64]
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
        elements = tuple([x % M for x in integers])
        words = self._arrays(elements)
        return elements if words is None else self._vector(words[0])

    def nearest(self, elements: Vector) -> Vector:
        """Return for each element the integer nearest to zero that it stands for, from -M/2 to M/2 - 1."""
        words = self._arrays(elements)
        if words is not None:
            spare = np.uint64(_WORD_BITS - self.bits)
            return Words((words[0] << spare).view(np.int64) >> spare.astype(np.int64))
        M, half = self.modulus, self.modulus // 2
        return tuple([(x + half) % M - half for x in elements])

    def random_vector(self, length: int, rng: Stream) -> Vector:
        """Draw a uniform vector: the same as so many draws of `random`."""
        return rng.numbers(length, self.bits)

    def add_vectors(self, *vectors: Vector) -> Vector:
        """Return the sum, place by place."""
        words = self._arrays(*vectors)
        if words is not None:
            return self._vector(reduce(np.add, words))
        M = self.modulus
        return tuple([x % M for x in map(sum, zip(*vectors, strict=True))])

    def subtract_vectors(self, x: Vector, y: Vector) -> Vector:
        """Return the difference, place by place."""
        words = self._arrays(x, y)
        if words is not None:
            return self._vector(words[0] - words[1])
        M = self.modulus
        return tuple([(a - b) % M for a, b in zip(x, y, strict=True)])

    def _vector(self, array: _Array) -> Words:
        """Return the elements that are congruent to these words."""
        width = next(width for width in MACHINE_BYTES if self.bits <= 8 * width)
        return Words((array & np.uint64(self.modulus - 1)).astype(f"=u{width}"))

    def _arrays(self, *vectors: Vector) -> list[_Array] | None:
        """Return vectors of one length as arrays of words; None unless all numbers are such words."""
        if self.bits > _WORD_BITS or len(set(map(len, vectors))) != 1:
            return None
        if not all(isinstance(vector, Words) or set(map(type, vector)) <= {int} for vector in vectors):
            return None  # to ask an unknown for its value is refused
        try:
            return [
                vector.array.astype(np.uint64, copy=False)
                if isinstance(vector, Words)
                else np.fromiter(vector, np.uint64, len(vector))
                for vector in vectors
            ]
        except OverflowError:
            return None

    def split_vector(self, x: Vector, count: int, rng: Stream) -> list[Vector]:
        """Return `count` additive shares of x; any count - 1 of them are uniform and independent of x."""
        shares = [self.random_vector(len(x), rng) for _ in range(count - 1)]
        return [*shares, self.subtract_vectors(x, self.add_vectors((0,) * len(x), *shares))]
