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
from smc_dp.data.federation import Public
from smc_dp.methods.gradients.descent import GradientSteps, softmax_step
from smc_dp.methods.gradients.featured import FeaturedMethod
from smc_dp.methods.method import check_count
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.methods.training.integer_rows import RowBounds
from smc_dp.privacy.distributed import RoundBound, SharedRounds, sums_signal
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.target import Target

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

    def number(self, public: Public, threat_model: ThreatModel, announced: AnnouncedRows) -> int:
        """Return n: as set; else the sum of known sizes, where neighbours share them; else the largest there may be.

        InputError where no cap was announced either.
        """
        if self.rows is not None:
            return self.rows
        if public.sizes is not None and self.adjacency == "replace":
            return sum(public.sizes)
        if announced.most_rows == LARGEST_N:  # with a step for so many rows nothing would be learnt
            raise InputError("rows.not_public", method=self.name)
        return threat_model.parties * announced.most_rows

    @override
    def counted(self, n: int, public: Public, threat_model: ThreatModel, announced: AnnouncedRows) -> int:
        return self.number(public, threat_model, announced)

    @override
    def round_bounds(
        self, public: Public, target: Target, threat_model: ThreatModel, announced: AnnouncedRows
    ) -> tuple[RoundBound, ...]:
        k, d = public.classes, public.dimension
        length = d if k == 2 else k * d
        n = self.number(public, threat_model, announced)
        found = sums_signal(n, target.mu, d, k, threat_model.honest, threat_model.parties)
        sums = min(MOST_SUMS, max(FEWEST_SUMS, ceil(sqrt(8 * found))))
        return (RoundBound(self.adjacency, length, RowBounds.of(k, weighted=public.weighted).gradient),) * sums

    @override
    def steps(
        self, public: Public, noise: SharedRounds, threat_model: ThreatModel, announced: AnnouncedRows
    ) -> GradientSteps:
        n = self.number(public, threat_model, announced)
        # One over the largest curvature of n rows in the unit ball.
        step = 4 if public.classes == 2 else softmax_step(public.classes)
        return GradientSteps(public.classes, public.dimension, step / n, public.weighted)

    @override
    def caveats(self, public: Public, threat_model: ThreatModel, announced: AnnouncedRows) -> tuple[str, ...]:
        n = self.number(public, threat_model, announced)
        return (f"The number of rows of all parties together is taken to be {n}, a public figure that is not covered.",)
