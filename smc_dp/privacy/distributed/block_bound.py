"""Bound on one record's part of a sum of several blocks, whose noise is chosen so that all are free beside the first.

A theorem of a sum says how much weight each block may have for one cost of all: with A the largest of unit^2/(ratio S)
over the blocks, S the variance of the noise of a block less 9, a record costs at most `worst` times A. Of a matrix the
triangle is sent; noise has the variance 9 + S on the diagonal and 9 + S/2 beside it, as in
`smc_dp.privacy.distributed.rounds`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import ceil, sqrt
from typing import NamedTuple

from smc_dp.privacy.distributed.share_distributions import GaussianShares
from smc_dp.privacy.gaussian import LEAST_VARIANCE, VARIANCE_LOST
from smc_dp.privacy.statement import RecordAdjacency


class NoisyBlock(NamedTuple):
    """Block of a sum: so many numbers, or a symmetric matrix of so many columns.

    unit: bound on the length of one record's part. ratio: weight of the block in the theorem.
    """

    length: int
    unit: int
    ratio: Fraction
    matrix: bool = False

    @property
    def lengths(self) -> tuple[int, ...]:
        """Numbers that are sent: of a matrix its diagonal and, with more than one column, what stands above it."""
        d = self.length
        return (d, d * (d - 1) // 2) if self.matrix and d > 1 else (d,)


@dataclass(frozen=True)
class BlockBound(ABC):
    """Bound of a theorem on one record's part of one sum in `dimension` columns."""

    adjacency: RecordAdjacency
    dimension: int

    def __post_init__(self) -> None:
        if self.adjacency not in ("replace", "addremove"):
            raise ValueError(f"adjacency is replace or addremove, got {self.adjacency!r}")
        if any(block.length < 1 or block.unit < 1 or block.ratio <= 0 for block in self.blocks):
            raise ValueError("wanted lengths, bounds and ratios above 0")

    @property
    @abstractmethod
    def blocks(self) -> tuple[NoisyBlock, ...]:
        """Blocks of the sum, in the order in which they are sent."""

    @property
    @abstractmethod
    def worst(self) -> Fraction:
        """Cost of a record in parts of A, by the theorem."""

    @property
    def largest(self) -> int:
        """Bound on every entry of one record."""
        return max(block.unit for block in self.blocks)

    def distributions(self, mu_squared: Fraction, honest: int) -> tuple[GaussianShares, ...]:
        """Return shares of the least whole variances that cost at most mu^2, block by block."""
        A = mu_squared / self.worst

        def shares(length: int, variance: Fraction) -> GaussianShares:
            return GaussianShares(
                length, honest, Fraction(max(LEAST_VARIANCE, ceil((VARIANCE_LOST + variance) / honest)))
            )

        return tuple(
            shares(length, block.unit**2 / (block.ratio * A) / (2 if i else 1))
            for block in self.blocks
            for i, length in enumerate(block.lengths)
        )

    def cost(self, distributions: tuple[GaussianShares, ...], smoothing: int = VARIANCE_LOST) -> Fraction:
        """Return mu^2 of the sum with H such shares; with smoothing 0 twice the rho, but for `closeness`."""
        left = iter([shares.honest * shares.variance - smoothing for shares in distributions])
        return self.worst * max(block.unit**2 / self._least(block, left) / block.ratio for block in self.blocks)

    def deviations(self, distributions: tuple[GaussianShares, ...], parties: int) -> tuple[float, ...]:
        """Return the deviation of the noise of so many parties in each block, of a matrix on its diagonal, in units."""
        left = iter(distributions)
        each = [(block, [*islice(left, len(block.lengths))]) for block in self.blocks]
        return tuple(sqrt(parties * shares[0].variance) / block.unit for block, shares in each)

    @staticmethod
    def _least(block: NoisyBlock, left: Iterator[Fraction]) -> Fraction:
        diagonal, *above = islice(left, len(block.lengths))
        return min([diagonal, *(2 * variance for variance in above)])
