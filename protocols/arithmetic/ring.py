"""The ring Z_M with M = 2**bits, its vectors, and additive sharing in it.

Vectors are tuples of plain integers, so they are added up by what Python does with a whole column: to look at each
number before a faster kind of arithmetic takes it costs more than that saves, and an audit's unknowns pass here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from protocols.arithmetic.rng import Stream

Vector = tuple[int, ...]


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
        M, half = self.modulus, self.modulus // 2
        return tuple([(x + half) % M - half for x in elements])

    def random_vector(self, length: int, rng: Stream) -> Vector:
        """Draw a uniform vector: the same as so many draws of `random`."""
        return rng.numbers(length, self.bits)

    def add_vectors(self, *vectors: Vector) -> Vector:
        """Return the sum, place by place."""
        M = self.modulus
        return tuple([x % M for x in map(sum, zip(*vectors, strict=True))])

    def subtract_vectors(self, x: Vector, y: Vector) -> Vector:
        """Return the difference, place by place."""
        M = self.modulus
        return tuple([(a - b) % M for a, b in zip(x, y, strict=True)])

    def split_vector(self, x: Vector, count: int, rng: Stream) -> list[Vector]:
        """Return `count` additive shares of x; any count - 1 of them are uniform and independent of x."""
        shares = [self.random_vector(len(x), rng) for _ in range(count - 1)]
        return [*shares, self.subtract_vectors(x, self.add_vectors((0,) * len(x), *shares))]
