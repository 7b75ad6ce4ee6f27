"""Parameters that every protocol of the noisy sum has: parties, and vectors of one length over one ring.

`linear` computes the same sum by other means, and takes its parameters and its inputs from here.
"""

from __future__ import annotations

from protocols.arithmetic.ring import Ring, Vector
from protocols.errors import LocalError

SIZE_BITS = 32  # L: sizes are below 2**32


class WeightParameters:
    """K parties by name and d weights in Z_M with M = 2**ring_bits; each protocol adds parameters of its own."""

    parties: tuple[str, ...]
    dimension: int
    ring_bits: int

    def check_weights(self) -> None:
        """Raise `LocalError` for parties and vectors that no protocol can work with."""
        if self.K < 2 or len(set(self.parties)) != self.K:
            raise LocalError("parties.too_few_or_twice", parties=self.parties)
        if self.dimension < 1 or self.ring_bits < 8 or self.ring_bits % 8:
            raise LocalError("vectors.no_dimension_or_ring")

    @property
    def K(self) -> int:  # noqa: N802
        """Number of parties."""
        return len(self.parties)

    @property
    def weights(self) -> Ring:
        """Ring Z_M of the weights, the noise and the shares."""
        return Ring(self.ring_bits)

    def check_length(self, *vectors: Vector) -> None:
        """Raise `LocalError` unless each of a party's own vectors has d numbers, or none where it is spent."""
        for vector in vectors:
            if vector and len(vector) != self.dimension:
                raise LocalError("vector.of_another_length", dimension=self.dimension, length=len(vector))
