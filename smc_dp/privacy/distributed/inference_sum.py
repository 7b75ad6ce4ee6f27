"""Noise for the sums that inference rests on: gradient, Hessian and meat of logistic regression, at any weights.

A record enters, with a = s/2^12 the distance of its label from its probability, 0 <= s <= 2^12 an integer from a public
table, and its integer row x, |x| <= 2^14:
* the gradient, plus or minus s x, which nothing clips: at most 2^26 long;
* the Hessian, s (2^12 - s) x x', as q (1 - q) = a (1 - a) for a label of 0 or 1;
* the meat, s^2 x x';
* a count, 2^16 where the record is left out, so that x and all of the above are 0, and else 0.
Lengths are in parts of 2^26, 2^52 (Frobenius) and 2^16. Of both matrices the triangle is sent. Noise has the variance
9 + S on the diagonal and 9 + S/2 beside it, as in `smc_dp.privacy.distributed.rounds`.

Theorem. Let A = 2^52/S_g, E_h = 2^104/S_h, E_m = 2^104/S_m and C = 2^32/S_c, with E_h <= 20 A, E_m <= A/2 and
C <= 8/5 A. Where a record is replaced, the sum costs at most mu^2 = 4 A, whatever the query: all is free beside the
gradient. Where one is added or taken away, it costs at most 8/5 A.
Proof. Take A = 1, E_h = 20 and E_m = 1/2: less only lowers the cost. Let r <= 1 be the length of the row, u = a r,
H = a (1 - a) r^2 and M = u^2 the lengths of the three, u', H' and M' those of the other record, and t the cosine
between the gradients. The cosine between the matrices is t^2, so the cost is
  u^2 + u'^2 - 2 u u' t + 20 (H^2 + H'^2 - 2 H H' t^2) + (M^2 + M'^2 - 2 M M' t^2)/2.
It is no less with -|t| for t. With z = 1 - t^2 = (1 + t)(1 - t) <= 2 (1 + t), -t <= 1 - z/2, so it is at most
  (u + u')^2 + 20 (H - H')^2 + (M - M')^2/2 + z (40 H H' + M M' - u u'),
which is linear in z, 0 <= z <= 1: largest at one of the ends.
* z = 1: u^2 + u'^2 + u u' + 20 (H^2 + H'^2) + (u^4 + u'^4)/2. As u u' is at most half of u^2 + u'^2, this is at most
  f(u, H) + f(u', H') with f = 3/2 u^2 + 20 H^2 + u^4/2, which grows with r. At r = 1, 2 - f is 1 - a times
  (1 + a)(2 + a^2/2) - 20 a^2 (1 - a), not below 0: a (1 - a) <= 1/4 makes the last term at most 5 a <= 2 + 2 a
  while a <= 2/3; beyond, it is at most 80/27, its value at 2/3, and the first more than 10/3.
* z = 0: let H be the larger of H and H', so that 20 (H - H')^2 <= 20 H^2. What is left grows with u', as its slope is
  2 (u + u') - 2 u' (u^2 - u'^2) >= 0; so put u' = 1. (1 + u)^2 + 20 H^2 + (1 - u^2)^2/2 grows with r, as its slope in
  u is 2 (1 + u) - 2 u (1 - u^2) >= 0. At r = 1, 4 less it is 1 - a times 5/2 + a/2 - 39/2 a^2 + 41/2 a^3, which is
  least at a = (39 + sqrt(1398))/123, where it is above .19.
Added or taken away: u^2 + 20 H^2 + u^4/2 grows with r, and is below 8/5 for all s at r = 1.
The count: two records that are both left out, or both not, agree in it. Where one is left out, the cost is that of the
other one added, below 8/5 A, and C: below 16/5 A. One that is left out costs C where it is added.
The statements for r = 1 are about 4,097 integers s each; a test goes through all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from typing_extensions import override

from smc_dp.privacy.distributed.block_bound import BlockBound, NoisyBlock

HESSIAN_RATIO = Fraction(20)
"""E_h/A up to which the Hessian costs nothing beside the gradient."""
MEAT_RATIO = Fraction(1, 2)
"""E_m/A up to which the meat costs nothing beside both."""
COUNT_RATIO = Fraction(8, 5)
"""C/A up to which the count of those left out costs nothing."""
_WORST = {"replace": Fraction(4), "addremove": Fraction(8, 5)}


@dataclass(frozen=True)
class InferenceBound(BlockBound):
    """Bound on one record's part of the sum of gradient, Hessian, meat and count in `dimension` columns."""

    gradient: ClassVar[int] = 1 << 26
    matrix: ClassVar[int] = 1 << 52
    """Length of a matrix in whose parts the theorem speaks; no Hessian is longer than a quarter of it."""
    count: ClassVar[int] = 1 << 16

    @property
    @override
    def blocks(self) -> tuple[NoisyBlock, ...]:
        return (
            NoisyBlock(self.dimension, self.gradient, Fraction(1)),
            NoisyBlock(self.dimension, self.matrix, HESSIAN_RATIO, matrix=True),
            NoisyBlock(self.dimension, self.matrix, MEAT_RATIO, matrix=True),
            NoisyBlock(1, self.count, COUNT_RATIO),
        )

    @property
    @override
    def worst(self) -> Fraction:
        return _WORST[self.adjacency]
