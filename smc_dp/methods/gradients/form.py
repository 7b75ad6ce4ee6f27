"""Learning from sums, as the protocol computes it: which sums, with which noise, what they guarantee.

`FromSums` is the method, which somebody may compute who is trusted with what the parties send, and draws all noise.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import ClassVar

from protocols.arithmetic.rng import Forks, Stream
from smc_dp.core.errors import InputError, shown
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.functionality import RoundAnswer, Rounds, Sum, SumWithShares, Vector
from smc_dp.methods.gradients.contributor import Contributor, noise_of
from smc_dp.methods.gradients.descent import Steps
from smc_dp.methods.method import TRUSTED, Method, SumBlocks, TrainedParts, Trust, check_sizes, check_target
from smc_dp.methods.model import LinearModel, Release
from smc_dp.methods.neighbours import NeighbourPair, one_record
from smc_dp.methods.sums.among import Among, AnnouncedRows, RowCounts
from smc_dp.methods.sums.noisy_sum import check_rows, up_to
from smc_dp.methods.training.integer_rows import ROW_BITS, IntegerRows
from smc_dp.privacy.distributed import RoundBound, SharedRounds, signal, stated_rounds
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.output import NO_NOISE, nothing
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.statement import PrivacyStatement, RecordAdjacency, Unit
from smc_dp.privacy.target import HIGHEST, Calibration, NoiseName, Target


@dataclass(frozen=True)
class GradientSums:
    """R sums of what single records contribute among these parties; see `SumForm`."""

    method: FromSums
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


@dataclass(frozen=True)
class RoundNoise:
    """The noise of sum r, as one draws it who draws all."""

    noise: SharedRounds
    r: int

    def sample(self, rng: Stream) -> Sequence[int]:
        """Draw once."""
        return self.noise.share(self.r, rng)


@dataclass(frozen=True)
class FromSums(Method):
    """What `newton` and `gd` have in common: nothing but sums of clipped contributions of single records is used.

    adjacency: whether neighbours have another record, or one more or less.
    """

    adjacency: RecordAdjacency = "replace"
    by_protocols: ClassVar[tuple[str, ...]] = ("secure_sum",)
    secure_noises: ClassVar[tuple[NoiseName, ...]] = ("ddg",)
    binary: ClassVar[bool] = False
    needs_two_classes: ClassVar[bool] = False
    sizes: ClassVar[RowCounts] = "hidden"
    protects: ClassVar[Unit] = "record"
    noises: ClassVar[tuple[NoiseName, ...]] = ("ddg",)

    def __post_init__(self) -> None:
        if self.adjacency not in ("replace", "addremove"):
            raise InputError("adjacency.unknown", got=shown(self.adjacency))

    def shared(self, public: Public, target: Target, among: Among, announced: AnnouncedRows) -> GradientSums:
        """By a protocol that adds up; InputError where numbers of rows are to be released, which are not used."""
        if announced.sizes == "released":
            raise InputError("sizes.of_no_use", method=self.name)
        if target.epsilon is not None and target.noise not in self.secure_noises:
            raise InputError("noise.not_of_gradients", method=self.name, known=self.secure_noises, got=target.noise)
        return GradientSums(self, public, target, among, announced)

    @classmethod
    def neighbours(cls, calibration: Calibration) -> NeighbourPair:
        """A record of the smaller party."""
        return one_record(cls())

    @abstractmethod
    def asked(self, public: Public, target: Target, among: Among, announced: AnnouncedRows) -> tuple[RoundBound, ...]:
        """What one record may enter in each sum."""

    @abstractmethod
    def steps(self, public: Public, noise: SharedRounds, among: Among, announced: AnnouncedRows) -> Steps:
        """What is made of the sums."""

    def caveats(self, public: Public, among: Among, announced: AnnouncedRows) -> tuple[str, ...]:
        """What is not covered, of this method alone."""
        return ()

    def counted(self, n: int, public: Public, among: Among, announced: AnnouncedRows) -> int:
        """What it goes by where there are n rows in all."""
        return n

    # Where somebody is trusted with what the parties send.

    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        """What was asked for, whatever the rows are."""
        if target.epsilon is None:
            return nothing(self.protects, self.adjacency, NO_NOISE)
        form = self.form(public, target)
        return stated_rounds(form.noise, target, TRUSTED, self.caveats(public, form.among, form.announced))

    def functionality(self, public: Public, target: Target) -> Rounds:
        """The sums, one after the other, each with noise."""
        noise = self.form(public, target).noise
        laws = [None if target.epsilon is None else RoundNoise(noise, r) for r in range(len(noise.steps))]
        return Rounds(tuple(Sum(law) for law in laws))

    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> RoundAnswer:
        """Whoever answers for the party, without noise."""
        form = self.form(public, target)
        form.check(len(rows))
        return _silent(self.at_home(rows, public), form)

    def finish(self, value: Sequence[Vector], public: Public, target: Target) -> Release:
        """The last weights."""
        return Release(self.form(public, target).model(value), self.statement(public, target))

    def at_home(self, rows: Rows, public: Public) -> IntegerRows:
        """The rows as integers, in which no target has a say."""
        return IntegerRows.of(rows.X, rows.y, public.classes)

    def train(self, federation: Federation) -> TrainedParts[Release]:
        """The rows as integers: all that is known before noise."""
        check_sizes(federation)
        public = federation.public
        each = [self.at_home(rows, public) for rows in federation.parties]

        def parts(target: Target, rng: Stream) -> list[RoundAnswer]:
            form = self.form(public, target)
            return [_silent(rows, form) for rows in each]

        return TrainedParts(self, public, each, parts)

    def form(self, public: Public, target: Target) -> GradientSums:
        """The sums as if one party, in which everybody is trusted, made all of them."""
        check_target(target, self)
        return self.shared(public, target, Among(1, 0, 0), AnnouncedRows(LARGEST_N))


def _silent(rows: IntegerRows, form: GradientSums) -> RoundAnswer:
    contributor = Contributor(rows, form.noise, form.steps, None)
    return lambda values: contributor(values).numbers
