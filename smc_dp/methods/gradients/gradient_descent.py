"""`gd`: gradient descent by sums of clipped gradients, for dimensions in which a curvature does not fit into a sum.

Per record and sum its gradient at the weights so far, clipped as in `newton`. The step is 4/n for two classes, min(k,
10)/n for more: the inverse of the largest curvature, for more classes of the one that `newton` assumes. So the number n
of all rows must be public: a setting, or the sum of the caps, or in a simulation under `replace` the true one, which is
then a constant of the neighbourhood. How many sums there are follows from public figures: noise lets so many be told
apart (R^2/8 steps of the signal, see `privacy.distributed.sums_signal`), at least 4 and at most 100. These constants
were chosen as those of `newton` were for two classes. The step of more classes is that of `newton`, and what it gains
was within chance on Covertype with seven classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import ClassVar

from typing_extensions import override

from smc_dp.core.errors import InputError
from smc_dp.methods.gradients.descent import GradientSteps, softmax_step
from smc_dp.methods.gradients.featured import FeaturedMethod
from smc_dp.methods.gradients.gradient_sums import GradientSums
from smc_dp.methods.method import check_count
from smc_dp.methods.training.integer_rows import RowBounds
from smc_dp.privacy.distributed import RoundBound
from smc_dp.privacy.pathak2010 import LARGEST_N

FEWEST_SUMS, MOST_SUMS = 4, 100
_MOST_ROWS = 10**12


@dataclass(frozen=True)
class GradientDescent(FeaturedMethod):
    """Logistic or softmax regression by sums of gradients; rows: the number of all rows, from 1 to 10^12, public."""

    rows: int | None = None
    name: ClassVar[str] = "gd"
    colour: ClassVar[str] = "#906c3c"

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rows is not None:
            check_count("rows", self.rows, _MOST_ROWS)

    def with_row_counts(self, sizes: Sequence[int]) -> GradientDescent:
        """Return the method with the true number of all rows, where neighbours share it and no other was named."""
        known = self.rows is not None or self.adjacency != "replace"
        return self if known else replace(self, rows=sum(sizes))

    def number(self, sums: GradientSums) -> int:
        """Return n: as set; else the sum of known sizes, where neighbours share them; else the largest there may be.

        InputError where no cap was announced either.
        """
        if self.rows is not None:
            return self.rows
        if sums.public.sizes is not None and self.adjacency == "replace":
            return sum(sums.public.sizes)
        if sums.announced.most_rows == LARGEST_N:  # with a step for so many rows nothing would be learnt
            raise InputError("rows.not_public", method=self.name)
        return sums.threat_model.parties * sums.announced.most_rows

    @override
    def counted(self, n: int, sums: GradientSums) -> int:
        return self.number(sums)

    @override
    def round_bounds(self, sums: GradientSums) -> tuple[RoundBound, ...]:
        k, d = sums.public.classes, sums.public.dimension
        length = d if k == 2 else k * d
        number = min(MOST_SUMS, max(FEWEST_SUMS, ceil(sqrt(8 * sums.signal(self.number(sums))))))
        return (RoundBound(self.adjacency, length, RowBounds.of(k, weighted=sums.public.weighted).gradient),) * number

    @override
    def steps(self, sums: GradientSums) -> GradientSteps:
        public, k = sums.public, sums.public.classes
        # One over the largest curvature of n rows in the unit ball.
        step = 4 if k == 2 else softmax_step(k)
        return GradientSteps(k, public.dimension, step / self.number(sums), public.weighted)

    @override
    def caveats(self, sums: GradientSums) -> tuple[str, ...]:
        n = self.number(sums)
        return (f"The number of rows of all parties together is taken to be {n}, a public figure that is not covered.",)
