"""Bounds of the sums of least squares, derived again: a Gram matrix with an outcome, and residuals that are clipped.

A record whose row is r long, r <= 1, enters r^2 of a matrix, r y of products and y^2, with |y| <= 1: a square of one
vector, whose blocks are weighed. Of a residual u, |u| <= 1, it enters u r, u^2 r^2 and u^2, and whether it was clipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from smc_dp.audit.run.derived_parameters import DerivedParameters
from smc_dp.audit.run.privacy.view_inputs import InputBlock

_ROW, _OUTCOME, _RESIDUAL = 1 << 14, 1 << 20, 1 << 12
_COUNT = 1 << 16


def of_matrix(left: Sequence[Fraction]) -> Fraction:
    """Return the variance of a diagonal and of what lies above it: an entry there stands for two."""
    return min([left[0], *(2 * beside for beside in left[1:])])


@dataclass(frozen=True)
class GramSum:
    """Bound on what one record adds to a Gram matrix, of which an outcome has a quarter of the weight."""

    gradient: int = _ROW * _OUTCOME
    curvature: int = _ROW**2
    largest: int = _OUTCOME**2

    def cost_with(self, left: Sequence[Fraction], adjacency: str) -> Fraction:
        """Return the cost with these variances: a matrix, products, a square, a count."""
        b = Fraction(1, 4)
        weights = (
            self.curvature**2 / of_matrix(left[:-3]) / (1 - b) ** 2,
            self.gradient**2 / left[-3] / (2 * b * (1 - b)),
            self.largest**2 / left[-2] / b**2,
            _COUNT**2 / left[-1],
        )
        return max(weights) * (2 if adjacency == "replace" else 1)

    def matrices(self, blocks: tuple[InputBlock, ...]) -> Iterator[tuple[InputBlock, ...]]:
        """Yield diagonal, and what lies above it, of each matrix."""
        yield blocks[:-3]

    def lengths(self, blocks: tuple[InputBlock, ...]) -> Iterator[tuple[str, int, int]]:
        """Yield the name of a block that is no matrix, its squared length, and the length that a record gives it."""
        yield "products", blocks[-3].squared, self.gradient
        yield "square", blocks[-2].squared, self.largest
        yield "count", blocks[-1].squared, _COUNT


@dataclass(frozen=True)
class ResidualSum:
    """Bound on what one record adds to a sum of clipped residuals; the count costs a tenth."""

    gradient: int = _RESIDUAL * _ROW
    curvature: int = (_RESIDUAL * _ROW) ** 2
    largest: int = (_RESIDUAL * _ROW) ** 2

    def cost_with(self, left: Sequence[Fraction], adjacency: str) -> Fraction:
        """Return the cost with these variances: a gradient, a matrix, a square, a count."""
        weights = (
            self.gradient**2 / left[0],
            self.curvature**2 / of_matrix(left[1:-2]) * 2,
            _RESIDUAL**4 / left[-2] / Fraction(227, 100),
            _COUNT**2 / left[-1] * 10,
        )
        return max(weights) * Fraction(410 if adjacency == "replace" else 387, 100)

    def matrices(self, blocks: tuple[InputBlock, ...]) -> Iterator[tuple[InputBlock, ...]]:
        """Yield diagonal, and what lies above it, of each matrix."""
        yield blocks[1:-2]

    def lengths(self, blocks: tuple[InputBlock, ...]) -> Iterator[tuple[str, int, int]]:
        """Yield the name of a block that is no matrix, its squared length, and the length that a record gives it."""
        yield "gradient", blocks[0].squared, self.gradient
        yield "square", blocks[-2].squared, _RESIDUAL**2
        yield "count", blocks[-1].squared, _COUNT


def free_coefficients(found: DerivedParameters) -> int:
    """Return the number of features that are no reference level."""
    box = found.public.box
    return found.public.dimension - (0 if box is None else len(box.references))


def least_squares_sums(found: DerivedParameters) -> tuple[GramSum | ResidualSum, ...] | None:
    """Return the bounds of two Gram matrices and of residuals; None where the blocks are not those."""
    p = free_coefficients(found)
    matrix = (p, p * (p - 1) // 2) if p > 1 else (p,)
    gram, residual = (*matrix, p, 1, 1), (p, *matrix, 1, 1)
    if [tuple(length for length, _ in blocks) for blocks in found.sums] != [gram, gram, residual]:
        return None
    return GramSum(), GramSum(), ResidualSum()
