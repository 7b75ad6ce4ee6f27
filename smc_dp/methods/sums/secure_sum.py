"""`wsum` and `wsum_ar` by a protocol that adds up: the same models, with noise that the parties draw in shares.

Each party enters its model times its number of rows, on the grid, and its own share of the noise. Under `replace`
numbers of rows are constants that neighbours share, so the sum of those who took part may be one more coordinate,
without noise; when a record is added or taken away it may not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from smc_dp.core.arrays import Array
from smc_dp.data.federation import Public, Rows
from smc_dp.methods.functionality import Vector
from smc_dp.methods.method import check_own_size
from smc_dp.methods.model import LinearModel
from smc_dp.methods.sums.noisy_sum import NoisySum, Summed, SumReach, not_released
from smc_dp.methods.training.batch import train_all
from smc_dp.methods.training.classes import coordinates
from smc_dp.methods.training.solver import PUBLIC_TAU
from smc_dp.privacy.sensitivity import largest_softmax_norm


class WeighedBySize(Summed, Protocol):
    """A method whose value is the sum of all models times sizes."""

    @property
    def lam(self) -> float:
        """The regulariser of every model is lam |w|^2."""
        ...

    def sensitivity_to(self, most_rows: int, classes: int = 2) -> Fraction:
        """Of the sum, in L2, where no party has more rows than this."""
        ...

    def at_home(self, rows: Rows, public: Public) -> OwnModel:
        """A party's model."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class OwnModel:
    """What a party has at home whatever noise is wanted: its model w: (p d,), of so many rows."""

    w: Array
    rows: int

    @classmethod
    def of(cls, method: WeighedBySize, rows: Rows, public: Public) -> OwnModel:
        """Trained on these rows."""
        check_own_size(rows)
        return cls(train_all([(rows.X, rows.y)], public.classes, 2 * method.lam)[0].ravel(), len(rows))


@dataclass(frozen=True)
class SharedWeightedSum(NoisySum[WeighedBySize]):
    """The sum of models times numbers of rows among these parties, p d numbers; see `NoisySum`."""

    @property
    def reach(self) -> SumReach:
        """As the method proves, for the announced number of rows."""
        mu, most = 2 * Fraction(self.method.lam), self.announced.most_rows
        classes = self.public.classes
        longest = Fraction(largest_softmax_norm(classes, mu)) + Fraction(PUBLIC_TAU) / mu
        numbers = coordinates(classes) * self.public.dimension
        return SumReach(numbers, self.method.sensitivity_to(most, classes), longest * most)

    @property
    def plain(self) -> int:
        """The number of rows, where it is released."""
        return 1 if self.announced.sizes == "released" else 0

    def numbers_of(self, trained: OwnModel) -> Vector:
        """The model times the number of rows, and that number where it is released."""
        return (*self.grid.encode(trained.w.tolist(), factor=trained.rows), *[trained.rows][: self.plain])

    def model(self, value: Vector) -> LinearModel:
        """The sum over the number of rows of those who took part, or over a public constant."""
        # A party that deviates may enter any number of rows, and a model is made of whatever comes.
        divisor = max(1, value[-1]) if self.plain else self.among.parties * self.announced.most_rows
        V = np.array(self.reals(value, divisor)).reshape(-1, self.public.dimension)
        return LinearModel.from_coordinates(V, self.public.classes)

    def caveats(self) -> Iterator[str]:
        """Of numbers of rows, released or not."""
        K = self.among.parties
        if not self.plain:
            yield not_released(self.among, self.announced)
            return
        yield (
            "The number of rows of all who took part together is released exactly: numbers of rows are constants of "
            "the neighbourhood, and not protected."
        )
        if self.among.colluders == K - 1:
            yield f"With {K - 1} colluders the number of rows of the last party shows: the rest of the sum is theirs."
