"""Noise for the sums of least squares: the Gram matrix of rows and outcomes, then residuals that are clipped.

In both a record has an integer row x, |x| <= 2^14, with r <= 1 its length in parts of that, and a count enters beside.

*Gram matrix.* With an integer outcome y, |y| <= 2^20, a record enters x x', y x, y^2 and, where it is left out, 2^16
and nothing else.

Theorem. Let A be at least 2^56/(a^4 S) of x x', 2^68/(2 a^2 b^2 S) of y x, 2^80/(b^4 S) of y^2 and 2^32/S of the count,
each by its own S, with a^2 + b^2 = 1. Where a record is replaced, the sum costs at most mu^2 = 2 A; where one is added
or taken away, A.
Proof. In parts of the units, v = (a x, b y) is at most 1 long, as |v|^2 = a^2 r^2 + b^2 y^2. The Frobenius norm of
v v' - w w' counts x x' with the weight a^4, y x twice with a^2 b^2, and y^2 with b^4; its square is
|v|^4 + |w|^4 - 2 (v'w)^2 <= 2. With one record it is |v|^4 <= 1. Two records that are both left out agree; where one
is, the cost is A of the other one and A of the count.

*Residuals.* With s the residual in parts of a public clip, an integer from -2^12 to 2^12, and 0 where a record is left
out, a record enters the gradient s x, the meat s^2 x x', the square s^2, and 2^16 where its residual was clipped.

Theorem. Let A be at least 2^52/S of the gradient, 2 2^104/S of the meat, 100/227 2^48/S of the square and 10 2^32/S of
the count. Where a record is replaced, the sum costs at most mu^2 = 41/10 A, whatever the query; where one is added or
taken away, at most 387/100 A. So meat and square are free beside the gradient, and the count costs a tenth of A.
Proof. The count costs at most A/10 in both cases. Take A = 1 and the largest weights for the rest. With u = |s|/2^12,
g = u r the length of the gradient, u' and g' those of the other record, and t the cosine between the gradients, that
between the meats is t^2, so the cost is
  g^2 + g'^2 - 2 g g' t + (g^4 + g'^4 - 2 g^2 g'^2 t^2)/2 + W (u^2 - u'^2)^2, W = 227/100.
It is no less with -|t| for t, and with z = 1 - t^2, -t <= 1 - z/2, so it is at most
  (g + g')^2 + (g^2 - g'^2)^2/2 + W (u^2 - u'^2)^2 + z g g' (g g' - 1).
As g g' <= 1, z = 0 is the worst. What is left does not fall with g or g': let g be the larger; the slopes are
2 (g + g') + 2 g (g^2 - g'^2) and 2 (g + g') - 2 g' (g^2 - g'^2), and g' (g^2 - g'^2) <= g'. So put g = u and g' = u',
which gives (u + u')^2 (1 + K (u - u')^2) with K = W + 1/2 = 2.77. With d = |u - u'|, u + u' <= 2 - d, and
(2 - d)^2 (1 + K d^2) <= 4 where K <= (1 - h/2)/(2 h (1 - h)^2), h = d/2. That is least at h = (3 - sqrt5)/2, where it
is p^5/4 = 2.7725, p = (1 + sqrt5)/2. Added or taken away: u^2 r^2 + u^4 r^4/2 + W u^4 <= 1 + 1/2 + W.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from typing_extensions import override

from smc_dp.privacy.distributed.block_bound import BlockBound, NoisyBlock

OUTCOME_PART = Fraction(1, 4)
"""b^2, the weight of the outcome: it makes the intervals of most simulated settings the shortest."""
RESIDUAL_MEAT_RATIO = Fraction(1, 2)
"""Weight of the meat, in parts of that of the gradient, up to which it costs nothing."""
SQUARE_RATIO = Fraction(227, 100)
"""The same of the squares of residuals, beside such a meat."""
CLIPPED_COST = Fraction(1, 10)
"""What the count of clipped residuals costs, in parts of A."""


@dataclass(frozen=True)
class GramBound(BlockBound):
    """Bound on one record's part of the Gram matrix of `dimension` columns and an outcome."""

    row: ClassVar[int] = 1 << 14
    outcome: ClassVar[int] = 1 << 20
    count: ClassVar[int] = 1 << 16

    @property
    @override
    def blocks(self) -> tuple[NoisyBlock, ...]:
        a, b = 1 - OUTCOME_PART, OUTCOME_PART
        return (
            NoisyBlock(self.dimension, self.row**2, a**2, matrix=True),
            NoisyBlock(self.dimension, self.row * self.outcome, 2 * a * b),
            NoisyBlock(1, self.outcome**2, b**2),
            NoisyBlock(1, self.count, Fraction(1)),
        )

    @property
    @override
    def worst(self) -> Fraction:
        return Fraction(2 if self.adjacency == "replace" else 1)


@dataclass(frozen=True)
class ResidualBound(BlockBound):
    """Bound on one record's part of the sum of clipped residuals in `dimension` columns."""

    residual: ClassVar[int] = 1 << 12
    gradient: ClassVar[int] = 1 << 26
    matrix: ClassVar[int] = 1 << 52
    count: ClassVar[int] = 1 << 16

    @property
    @override
    def blocks(self) -> tuple[NoisyBlock, ...]:
        return (
            NoisyBlock(self.dimension, self.gradient, Fraction(1)),
            NoisyBlock(self.dimension, self.matrix, RESIDUAL_MEAT_RATIO, matrix=True),
            NoisyBlock(1, self.residual**2, SQUARE_RATIO),
            NoisyBlock(1, self.count, CLIPPED_COST),
        )

    @property
    @override
    def worst(self) -> Fraction:
        return (Fraction(4) if self.adjacency == "replace" else 1 + RESIDUAL_MEAT_RATIO + SQUARE_RATIO) + CLIPPED_COST
