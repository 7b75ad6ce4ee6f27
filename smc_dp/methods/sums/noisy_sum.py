"""Secure sums of which one block has noise in shares.

A party enters a vector on the grid, bounded whatever its rows are, and its share of the noise beside it; after that
come numbers without noise, if any, which neighbours share. Everything else is said of a method by the bounds of that
vector, `SumReach`, and by what is made of the sum.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from protocols.arithmetic.rng import Stream
from smc_dp.core.errors import InputError
from smc_dp.data.federation import Public, Rows
from smc_dp.methods.functionality import Addend, SumWithShares, Vector
from smc_dp.methods.method import Method, SumBlocks, check_secure_noise, require_two_classes
from smc_dp.methods.model import ReleasedModel
from smc_dp.methods.statistics.describe_result import DescribeResult
from smc_dp.methods.sums.threat_model import AnnouncedRows, RowCounts, ThreatModel
from smc_dp.privacy.distributed import SharedNoise, calibrate_shares, shared_statement
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.output import NO_NOISE, no_guarantee
from smc_dp.privacy.statement import Adjacency, PrivacyStatement, Unit
from smc_dp.privacy.target import HIGHEST, NoiseName, Target


class Addable(Protocol):
    """Method whose parts `NoisySum` adds up."""

    name: ClassVar[str]
    protects: ClassVar[Unit]
    adjacency: ClassVar[Adjacency]
    secure_noises: ClassVar[tuple[NoiseName, ...]]
    binary: ClassVar[bool]

    def prepare(self, rows: Rows, public: Public) -> Any:
        """Compute from a party's rows what does not depend on the target."""


class Summed(Method, Addable, Protocol):
    """Method whose value is a sum over the parties."""

    by_protocols: ClassVar[tuple[str, ...]] = ("secure_sum",)
    secure_noises: ClassVar[tuple[NoiseName, ...]] = ("vg", "ddg", "self")
    binary: ClassVar[bool] = False
    needs_two_classes: ClassVar[bool] = False
    adjacency: ClassVar[Adjacency] = "replace"
    sizes: ClassVar[RowCounts] = "hidden"


_M = TypeVar("_M", bound=Addable)


@dataclass(frozen=True)
class SumReach:
    """Bounds on a party's vector of `dimension` numbers, whatever its rows are.

    In reals and in L2: no vector is longer than `longest`, and neighbours move the sum by at most `sensitivity`.
    `bits`: the numbers are multiples of 2^-bits as they are, and neither figure grows on a grid as fine as that; None
    for numbers that are rounded to the grid.
    """

    dimension: int
    sensitivity: Fraction
    longest: Fraction
    bits: int | None = None


@dataclass(frozen=True)
class NoisySum(ABC, Generic[_M]):
    """A method as one sum among these parties; see `SumSpec`. InputError for noise that is not drawn in shares, and for
    more classes than the method has a specification for.

    Where no noise is wanted, shares are zero, on the grid and in the ring of the least `ddg` that there is.
    """

    method: _M
    public: Public
    target: Target
    threat_model: ThreatModel
    announced: AnnouncedRows
    smallest_sets_noise: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.method.binary:
            require_two_classes(self.public.classes, self.method)
        check_secure_noise(self.method, self.target.noise)

    @property
    @abstractmethod
    def reach(self) -> SumReach:
        """Bounds on a party's vector."""

    @abstractmethod
    def numbers_of(self, trained: Any) -> Vector:
        """Return the vector of a party with this local result: the numbers on the grid, then those without noise."""

    @abstractmethod
    def model(self, value: Vector) -> ReleasedModel | DescribeResult:
        """Make the model, or the description, of the sum."""

    @abstractmethod
    def caveats(self) -> Iterator[str]:
        """Yield the caveats of this sum alone."""

    @property
    def plain(self) -> int:
        """Number of numbers without noise: one, which counts the parties that took part."""
        return 1

    @property
    def noisy(self) -> bool:
        """True where there is noise at all."""
        return self.target.epsilon is not None

    @cached_property
    def noise(self) -> SharedNoise:
        """Noise in shares, on a grid as fine and in a ring as long as it needs."""
        reach, target = self.reach, self.target if self.noisy else replace(self.target, epsilon=HIGHEST, noise="ddg")
        return calibrate_shares(
            target, reach.dimension, reach.sensitivity, largest=reach.longest, parties=self.threat_model.parties,
            honest=self.threat_model.honest, multiples=reach.bits,
        )  # fmt: skip

    @property
    def grid(self) -> Grid:
        """Grid of the noise."""
        return self.noise.grid

    @property
    def sums(self) -> tuple[SumBlocks]:
        """Blocks of the one sum: the noisy numbers, and those without noise where there are any."""
        noisy = (self.reach.dimension, self.noise.distribution.text if self.noisy else "none")
        return ((noisy, (self.plain, "none")) if self.plain else (noisy,),)

    @property
    def length(self) -> int:
        """Number of integers in all blocks."""
        return self.reach.dimension + self.plain

    @property
    def functionality(self) -> SumWithShares:
        """The one sum."""
        return SumWithShares(self.length)

    @cached_property
    def statement(self) -> PrivacyStatement:
        """Statement with the noise of the honest parties, whatever the others enter."""
        unit, adjacency = self.method.protects, self.method.adjacency
        if not self.noisy:
            return no_guarantee(unit, adjacency, NO_NOISE)
        caveats = (*self.threat_model.caveats(), row_cap_caveat(self.announced), *self.caveats())
        promised = shared_statement(self.noise, self.target, unit, adjacency, self.threat_model.adversary, caveats)
        return self.threat_model.with_graph_failure(promised, len(self.sums))

    def check(self, n: int) -> None:
        """Raise InputError for more rows than were announced."""
        check_announced_rows(n, self.announced)

    def numbers(self, rows: Rows) -> Vector:
        """Return the vector of a party with these rows."""
        return self.numbers_of(self.method.prepare(rows, self.public))

    def part(self, rows: Rows, rng: Stream) -> Addend:
        """Return the party's vector and its share of the noise."""
        self.check(len(rows))
        return self.part_of(self.method.prepare(rows, self.public), rng)

    def part_of(self, trained: Any, rng: Stream) -> Addend:
        """Return the addend of a party with this local result, whose number of rows was checked."""
        return self.addend(self.numbers_of(trained), rng)

    def addend(self, numbers: Vector, rng: Stream) -> Addend:
        """Return these numbers with a share of the noise, which must be used once."""
        share = self.noise.distribution.share(rng) if self.noisy else (0,) * self.reach.dimension
        return Addend(numbers, (*share, *(0 for _ in range(self.plain))))

    def reals(self, value: Vector, divisor: int = 1) -> list[float]:
        """Decode the noisy numbers of a sum, over the divisor."""
        return self.grid.decode(value[: self.reach.dimension], divisor)

    def counted(self, value: Vector) -> int:
        """Return the number of parties in the sum, where its last number counts them.

        A malicious party may make it anything, and a model is made of whatever comes.
        """
        return min(max(1, value[-1]), self.threat_model.parties)


def require_hidden_sizes(method: Any, announced: AnnouncedRows, why: str) -> None:
    """Raise InputError where numbers of rows are to be released, with the reason why this method does not."""
    if announced.sizes != "hidden":
        raise InputError("sizes.not_hidden", method=method.name, reason=why, got=announced.sizes)


def check_announced_rows(n: int, announced: AnnouncedRows) -> None:
    """Raise InputError for more rows than were announced; the number may be protected, so it is not shown."""
    if n > announced.most_rows:
        raise InputError("party.more_rows_than_announced", most=announced.most_rows)


def row_cap_caveat(announced: AnnouncedRows) -> str:
    """Return the caveat of every method with a cap on numbers of rows."""
    return f"Everybody knows that each party has from 1 to {announced.most_rows:,} rows."


def released_rows_caveats(threat_model: ThreatModel) -> Iterator[str]:
    """Yield the caveats of a sum beside which the number of all rows is released."""
    yield (
        "The total number of rows of all who took part is released exactly. The guarantee does not protect "
        "numbers of rows."
    )
    K = threat_model.parties
    if threat_model.colluders == K - 1:
        yield (
            f"A coalition of {K - 1} of the {K} parties learns the last one's number of rows, because the rest of "
            "the sum is its own."
        )


def unreleased_rows_caveat(threat_model: ThreatModel, announced: AnnouncedRows) -> str:
    """Return the caveat of an average of which the number of rows is not released."""
    divisor = threat_model.parties * announced.most_rows
    return (
        f"Numbers of rows are not released: the weights are the sum over {divisor}, a public constant. Labels depend "
        "on their direction only, and their length says nothing about how sure the model is."
    )
