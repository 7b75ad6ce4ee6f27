"""Learning from sums, as the protocol computes it: which sums, with which noise, what they guarantee."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import ClassVar, Protocol

from protocols.arithmetic.rng import Forks, Stream
from smc_dp.data.federation import Public, Rows
from smc_dp.methods.functionality import Rounds, SumWithShares, Vector
from smc_dp.methods.gradients.contributor import Contributor, Steps, noise_of
from smc_dp.methods.method import SumBlocks
from smc_dp.methods.model import LinearModel
from smc_dp.methods.sums.among import Among, AnnouncedRows
from smc_dp.methods.sums.noisy_sum import check_rows, up_to
from smc_dp.methods.training.integer_rows import ROW_BITS, IntegerRows
from smc_dp.privacy.distributed import RoundBound, SharedRounds, signal, stated_rounds
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.output import NO_NOISE, nothing
from smc_dp.privacy.statement import PrivacyStatement, RecordAdjacency
from smc_dp.privacy.target import HIGHEST, Target


class Learning(Protocol):
    """A method that learns from sums."""

    name: ClassVar[str]

    @property
    def adjacency(self) -> RecordAdjacency:
        """Whether neighbours have another record, or one more or less."""
        ...

    def at_home(self, rows: Rows, public: Public) -> IntegerRows:
        """A party's rows as integers."""
        ...

    def asked(self, public: Public, target: Target, among: Among, announced: AnnouncedRows) -> tuple[RoundBound, ...]:
        """What one record may enter in each sum."""
        ...

    def steps(self, public: Public, noise: SharedRounds, among: Among, announced: AnnouncedRows) -> Steps:
        """What is made of the sums."""
        ...

    def caveats(self, public: Public, among: Among, announced: AnnouncedRows) -> tuple[str, ...]:
        """What is not covered, of this method alone."""
        ...

    def counted(self, n: int, public: Public, among: Among, announced: AnnouncedRows) -> int:
        """What it goes by where there are n rows in all."""
        ...


@dataclass(frozen=True)
class GradientSums:
    """R sums of what single records contribute among these parties; see `SumForm`."""

    method: Learning
    public: Public
    target: Target
    among: Among
    announced: AnnouncedRows
    smallest_sets_noise: ClassVar[bool] = False

    @cached_property
    def noise(self) -> SharedRounds:
        """The laws of a party's shares, and the ring."""
        target = self._noisy
        asked = self.method.asked(self.public, target, self.among, self.announced)
        return SharedRounds.calibrated(
            target, asked, parties=self.among.parties, honest=self.among.honest, most_rows=self.announced.most_rows
        )

    @property
    def _noisy(self) -> Target:
        """Without noise all is as with the least that there is, but that none is drawn."""
        return self.target if self.target.epsilon is not None else Target(HIGHEST, noise="ddg")

    @cached_property
    def steps(self) -> Steps:
        """What is made of the sums."""
        return self.method.steps(self.public, self.noise, self.among, self.announced)

    @property
    def grid(self) -> Grid:
        """That of the rows, in a ring as long as the sums need."""
        return Grid(ROW_BITS, self.noise.ring_bits)

    @property
    def sums(self) -> tuple[SumBlocks, ...]:
        """Of each sum its blocks."""
        none = self.target.epsilon is None
        return tuple(tuple((law.dimension, "none" if none else law.text) for law in laws) for laws in self.noise.laws)

    @property
    def length(self) -> int:
        """Of all sums together."""
        return self.noise.integers

    @property
    def functionality(self) -> Rounds:
        """One sum after the other."""
        return Rounds(tuple(SumWithShares(sum(length for length, _ in blocks)) for blocks in self.sums))

    @cached_property
    def statement(self) -> PrivacyStatement:
        """With the noise of the honest parties, whatever the others enter, and whatever sums are asked at."""
        if self.target.epsilon is None:
            return nothing("record", self.method.adjacency, NO_NOISE)
        promised = stated_rounds(self.noise, self.target, self.among.adversary, tuple(self._caveats()))
        return self.among.stated(promised, len(self.sums))

    def counted(self, n: int) -> int:
        """As `Foreseeable`: of `gd` what it takes to be public."""
        return self.method.counted(n, self.public, self.among, self.announced)

    def signal(self, n: int) -> float:
        """As `Foreseeable`, with the noise of everybody."""
        mu, k = self._noisy.mu, self.public.classes
        return signal(self.counted(n), mu, self.public.dimension, k, self.among.honest, self.among.parties)

    def check(self, n: int) -> None:
        """InputError for more rows than were announced."""
        check_rows(n, self.announced)

    def part(self, rows: Rows, rng: Stream) -> Contributor:
        """Whoever answers for the party."""
        return self.part_after(rows, rng, 0)

    @property
    def draws(self) -> tuple[str, ...]:
        """As `AskedBetween`."""
        return tuple(map(noise_of, range(len(self.noise.steps))))

    def part_after(self, rows: Rows, rng: Stream | Forks, answered: int) -> Contributor:
        """As `AskedBetween`."""
        self.check(len(rows))
        return self.part_of(self.method.at_home(rows, self.public), rng, answered)

    def part_of(self, rows: IntegerRows, rng: Stream | Forks, answered: int = 0) -> Contributor:
        """The same of rows that are integers already."""
        return Contributor(rows, self.noise, self.steps, None if self.target.epsilon is None else rng, answered)

    def model(self, value: Sequence[Vector]) -> LinearModel:
        """The last weights."""
        W = reduce(self.steps.after, value, self.steps.begun()).released
        return LinearModel.from_coordinates(W, 2) if self.public.classes == 2 else LinearModel(W)

    def _caveats(self) -> Iterator[str]:
        yield from self.among.caveats()
        yield up_to(self.announced)
        yield from self.method.caveats(self.public, self.among, self.announced)
