"""`ofaa` and `ofpa` by a protocol that adds up: one noisy polynomial, or one average of models with noise of their own.

Of `ofaa` the parties add up their coefficients and shares of one noise; every round minimises the same sum, so there is
one. Of `ofpa` each party's model has all its noise before it leaves, as in the form where every upload is seen. The sum
adds none: it hides whose model is which, and all numbers of rows but their sum, which no noise would.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import ClassVar, Protocol

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.data.federation import Public, Rows
from smc_dp.methods.collaborative.rounds import BiasedModel
from smc_dp.methods.functionality import Addend, SumWithShares, Vector
from smc_dp.methods.method import Method, SumBlocks, check_target, two_classes
from smc_dp.methods.pathak2010.models import SIZES
from smc_dp.methods.sums.among import COMPUTATIONAL, UNLEAKED, Among, AnnouncedRows
from smc_dp.methods.sums.noisy_sum import NoisySum, Summed, SumReach, check_rows, not_released, up_to
from smc_dp.privacy.distributed import ring_bits
from smc_dp.privacy.functional import L2_SENSITIVITY, UNIT_BITS, count
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.output import GRID
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.privacy.target import Target

_LONGEST_RECORD = Fraction(531, 1000)
_LARGEST_WEIGHT = 1 << 22


class OfPolynomials(Summed, Protocol):
    """A method that minimises a noisy polynomial."""

    def minimiser_of(self, values: Array, D: int, deviation: float) -> BiasedModel:
        """Of p coefficients in reals for rows of width D, repaired for noise of this standard deviation in each."""
        ...


@dataclass(frozen=True)
class SharedPolynomial(NoisySum[OfPolynomials]):
    """The sum of all parties' coefficients, p numbers, for rows (x, 1)/sqrt 2; see `NoisySum`.

    One record replaced moves it by at most 1 in L2 (`functional.L2_SENSITIVITY`), exactly, in whichever party and
    however many rows there are: what a record adds is a vector of integers, multiples of 2^-41, and nothing is rounded
    after. No record adds more than sqrt(9/32) < .531: |x~|^2/4 + |x~|^4/32 at most, which is the F of that proof for a
    second row of zeros. Rows of more than the announced number would not wrap round either, but are refused.
    """

    @property
    def reach(self) -> SumReach:
        """1, whatever the rows."""
        moved = Fraction(L2_SENSITIVITY, 1 << UNIT_BITS)
        return SumReach(count(self.public.dimension + 1), moved, self.announced.most_rows * _LONGEST_RECORD, UNIT_BITS)

    def numbers_of(self, trained: Vector) -> Vector:
        """The coefficients of the party's rows, on this grid."""
        finer = self.grid.fraction_bits - UNIT_BITS
        return (*(value << finer for value in trained), 1)

    def model(self, value: Vector) -> BiasedModel:
        """The minimiser, repaired for the noise of all parties that took part, which is more than that of H."""
        square = self.noise.law.mean_square(self.counted(value)) / (1 << 2 * self.grid.fraction_bits)
        deviation = sqrt(square) if self.noisy else 0.0
        return self.method.minimiser_of(np.array(self.reals(value)), self.public.dimension + 1, deviation)

    def caveats(self) -> Iterator[str]:
        """Of the sizes, which are not released either."""
        yield SIZES


@dataclass(frozen=True)
class SharedPerturbedModels:
    """The sum of models times numbers of rows, each model with noise of its own party's; see `SumForm`.

    What a party enters is made of its perturbed model, which is epsilon-private alone (`objective_perturbation`), and
    of its number of rows, which neighbours share: post-processing, and so is every sum with what others enter. So
    nobody else's noise counts, and nobody's coalition or disappearance takes any of it away. Entries beyond 2^22 are
    cut off, so that no sum wraps round.
    """

    method: Method
    public: Public
    target: Target
    among: Among
    announced: AnnouncedRows
    smallest_sets_noise: ClassVar[bool] = False
    noise: ClassVar[None] = None
    """The sum has none."""

    def __post_init__(self) -> None:
        two_classes(self.public, self.method)
        check_target(self.target, self.method)

    @property
    def grid(self) -> Grid:
        """That of all releases, in a ring for the largest sum."""
        largest = self.among.parties * self.announced.most_rows * _LARGEST_WEIGHT << GRID.fraction_bits
        return Grid(GRID.fraction_bits, ring_bits(largest))

    @property
    def sums(self) -> tuple[SumBlocks]:
        """One: d + 1 weights, and the number of rows where it is released; the sum adds noise to neither."""
        weights = (self.public.dimension + 1, "none")
        return ((weights, (1, "none")),) if self.announced.sizes == "released" else ((weights,),)

    @property
    def length(self) -> int:
        """Of all blocks together."""
        return sum(length for length, _ in self.sums[0])

    @property
    def functionality(self) -> SumWithShares:
        """The one sum."""
        return SumWithShares(self.length)

    @cached_property
    def statement(self) -> PrivacyStatement:
        """With the noise of each party for itself."""
        stated = self.method.statement(self.public, self.target)
        if stated.kind == "none":
            return stated
        in_shares = (COMPUTATIONAL, UNLEAKED)  # here each party's own noise is there before
        of_all = (caveat for caveat in self.among.caveats() if caveat not in in_shares)
        return replace(stated, adversary=self.among.everybody_else, caveats=(*of_all, *self._of_sizes()))

    def check(self, n: int) -> None:
        """InputError for more rows than were announced."""
        check_rows(n, self.announced)

    def part(self, rows: Rows, rng: Stream) -> Addend:
        """The perturbed model times the number of rows, and that number where it is released."""
        self.check(len(rows))
        theta, _ = self.method.part(rows, self.public, self.target, rng)(())
        return self.entered(theta, len(rows))

    def entered(self, theta: Array, n: int) -> Addend:
        """The same for a perturbed model (w, alpha) of n rows."""
        weights = self.grid.encode(np.clip(theta, -_LARGEST_WEIGHT, _LARGEST_WEIGHT).tolist(), factor=n)
        size = [n] if self.announced.sizes == "released" else []
        return Addend((*weights, *size), (0,) * self.length)

    def model(self, value: Vector) -> BiasedModel:
        """The average over the rows of those who took part, or the sum over a public constant."""
        # A party that deviates may enter any number of rows, and a model is made of whatever comes.
        released = self.announced.sizes == "released"
        divisor = max(1, value[-1]) if released else self.among.parties * self.announced.most_rows
        return BiasedModel(np.array(self.grid.decode(value[: self.public.dimension + 1], divisor)))

    def _of_sizes(self) -> Iterator[str]:
        K, t = self.among.parties, self.among.colluders
        yield (
            f"What the sum hides from {'Charlie and ' if self.among.by_curator else ''}{t} of {K} parties besides, "
            "single models and numbers of rows, no epsilon speaks of, and it is hidden computationally."
        )
        yield SIZES
        yield up_to(self.announced)
        if self.announced.sizes == "hidden":
            yield not_released(self.among, self.announced)
            return
        yield "The number of rows of all who took part together is released exactly."
        if t == K - 1:
            yield f"With {t} colluders the model and the number of rows of the last party show."
