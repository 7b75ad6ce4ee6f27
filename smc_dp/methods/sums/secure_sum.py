"""`wsum` and `wsum_ar` by a protocol that adds up: the same models, with noise that the parties draw in shares.

Each party enters its model times its number of rows, on the grid, and its own share of the noise. Under `replace`
numbers of rows are constants that neighbours share, so the sum of those who took part may be one more coordinate,
without noise; when a record is added or taken away it may not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Literal, Protocol, TypeAlias

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.aggregation.functionality import Addend, SumWithShares, Vector
from smc_dp.data.federation import Public, Rows
from smc_dp.errors import InputError
from smc_dp.learning.batch import train_all
from smc_dp.learning.solver import PUBLIC_TAU
from smc_dp.methods.method import Method, two_classes
from smc_dp.methods.model import LinearModel
from smc_dp.methods.sums.among import Among
from smc_dp.privacy.distributed import SharedNoise, calibrated, stated
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.sensitivity import largest_norm
from smc_dp.privacy.statement import Adjacency, PrivacyStatement
from smc_dp.privacy.target import Target

RowCounts: TypeAlias = Literal["released", "hidden"]


class WeighedBySize(Method, Protocol):
    """A method whose value is the sum of all models times sizes."""

    adjacency: ClassVar[Adjacency]

    @property
    def lam(self) -> float:
        """The regulariser of every model is lam |w|^2."""
        ...

    def sensitivity_to(self, most_rows: int) -> Fraction:
        """Of the sum, in L2, where no party has more rows than this."""
        ...


@dataclass(frozen=True)
class SharedWeightedSum:
    """The sum of models times sizes among these parties; see `SecureForm`.

    `most_rows`: the public cap on each party's number of rows. `sizes`: whether the sum of them is released as well.
    """

    method: WeighedBySize
    public: Public
    target: Target
    among: Among
    most_rows: int
    sizes: RowCounts
    smallest_sets_noise: ClassVar[bool] = False

    @cached_property
    def noise(self) -> SharedNoise:
        """The law of a party's share, on a grid as fine and in a ring as long as it needs."""
        mu = 2 * Fraction(self.method.lam)
        longest = Fraction(largest_norm(mu)) + Fraction(PUBLIC_TAU) / mu
        largest = longest * self.most_rows  # far above the number of rows itself, which is not on the grid
        return calibrated(
            self.target, self.public.dimension, self.method.sensitivity_to(self.most_rows),
            largest=largest, parties=self.among.parties, honest=self.among.honest,
        )  # fmt: skip

    @property
    def grid(self) -> Grid:
        """As the noise needs it."""
        return self.noise.grid

    @property
    def blocks(self) -> tuple[tuple[int, str], ...]:
        """The lengths of what is added up, and the public text of the law of the noise in each."""
        weights = (self.public.dimension, self.noise.law.text)
        return (weights, (1, "none")) if self.sizes == "released" else (weights,)

    @property
    def length(self) -> int:
        """Of all blocks together."""
        return sum(length for length, _ in self.blocks)

    @property
    def functionality(self) -> SumWithShares:
        """One sum of all blocks."""
        return SumWithShares(self.length)

    @cached_property
    def statement(self) -> PrivacyStatement:
        """With the noise of the honest parties, whatever the others enter."""
        caveats = (*self.among.caveats(), *self._of_sizes())
        adjacency = self.method.adjacency
        return stated(self.noise, self.target, "record", adjacency, self.among.adversary, caveats)

    def check(self, n: int) -> None:
        """InputError for more rows than were announced."""
        if n > self.most_rows:
            raise InputError(f"wanted at most {self.most_rows} rows, as `most_rows` says")  # how many may be protected

    def part(self, rows: Rows, rng: Stream) -> Addend:
        """The model times the number of rows, that number where it is released, and a share of the noise."""
        two_classes(self.public, self.method)
        self.check(len(rows))
        model = train_all([(rows.X, rows.y)], 2, 2 * self.method.lam)[0, 0]
        size = [len(rows)] if self.sizes == "released" else []
        numbers = (*self.grid.encode(model.tolist(), factor=len(rows)), *size)
        return Addend(numbers, (*self.noise.law.share(rng), *(0 for _ in size)))

    def model(self, value: Vector) -> LinearModel:
        """The sum over the number of rows of those who took part, or over a public constant."""
        total = value[: self.public.dimension]
        # A party that deviates may enter any number of rows, and a model is made of whatever comes.
        divisor = max(1, value[-1]) if self.sizes == "released" else self.among.parties * self.most_rows
        return LinearModel.from_coordinates(np.array(self.grid.decode(total, divisor))[np.newaxis], 2)

    def _of_sizes(self) -> Iterator[str]:
        K, most = self.among.parties, self.most_rows
        yield f"That each party has from 1 to {most} rows, which is looked at before a run, is not covered."
        if self.sizes == "hidden":
            yield (
                f"Numbers of rows are not released: the weights are the sum over {K * most}, a public constant. Labels "
                "depend on their direction only, and their length says nothing about how sure the model is."
            )
            return
        yield (
            "The number of rows of all who took part together is released exactly: numbers of rows are constants of "
            "the neighbourhood, and not protected."
        )
        if self.among.colluders == K - 1:
            yield f"With {K - 1} colluders the number of rows of the last party shows: the rest of the sum is theirs."
