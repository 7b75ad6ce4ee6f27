"""Learning from sums, as the protocol computes it: which sums, with which noise, what they guarantee.

`GradientMethod` is the method. Somebody who is trusted with what the parties send, and draws all noise, may compute it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, ClassVar, get_args

from typing_extensions import override

from protocols.arithmetic.rng import Forks, Stream
from smc_dp.core.errors import check_one_of
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.functionality import RoundAnswer, Rounds, Sum, SumWithShares, Vector
from smc_dp.methods.gradients.contributor import Contributor, noise_label
from smc_dp.methods.gradients.descent import Steps
from smc_dp.methods.method import (
    AGAINST_ALL_BUT_AGGREGATOR,
    Method,
    SumBlocks,
    TrainedParts,
    Trust,
    check_rows_of_parties,
    check_secure_noise,
    check_target,
)
from smc_dp.methods.model import LinearModel, Release, ScoringModel
from smc_dp.methods.neighbours import NeighbourPair, record_pair
from smc_dp.methods.sums.noisy_sum import check_announced_rows, require_hidden_sizes, row_cap_caveat
from smc_dp.methods.sums.threat_model import AnnouncedRows, RowCounts, ThreatModel
from smc_dp.methods.training.integer_rows import ROW_BITS, IntegerRows
from smc_dp.privacy.distributed import BlockBound, SharedRounds, rounds_statement, sums_signal
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.output import NO_NOISE, no_guarantee
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.statement import PrivacyStatement, RecordAdjacency, Unit
from smc_dp.privacy.target import HIGHEST, Calibration, NoiseName, Target


@dataclass(frozen=True)
class GradientSums:
    """R sums of what single records contribute among these parties; see `SumSpec`."""

    method: GradientMethod
    public: Public
    target: Target
    threat_model: ThreatModel
    announced: AnnouncedRows
    smallest_sets_noise: ClassVar[bool] = False

    @cached_property
    def noise(self) -> SharedRounds:
        """Distributions of a party's shares, and the ring."""
        return SharedRounds.calibrated(
            self.noisy,
            self.method.round_bounds(self),
            parties=self.threat_model.parties,
            honest=self.threat_model.honest,
            most_rows=self.announced.most_rows,
            parts=self.method.parts,
        )

    @property
    def noisy(self) -> Target:
        """Target, or where no noise is wanted the least noise that there is, which is then not drawn."""
        return self.target if self.target.epsilon is not None else Target(HIGHEST, noise="ddg")

    @cached_property
    def steps(self) -> Steps:
        """Steps of the descent."""
        return self.method.steps(self)

    @property
    def grid(self) -> Grid:
        """Grid of the rows, in a ring as long as the sums need."""
        return Grid(ROW_BITS, self.noise.ring_bits)

    @property
    def sums(self) -> tuple[SumBlocks, ...]:
        """Blocks of each sum."""
        none = self.target.epsilon is None
        return tuple(
            tuple((shares.dimension, "none" if none else shares.text) for shares in of_sum)
            for of_sum in self.noise.distributions
        )

    @property
    def length(self) -> int:
        """Number of integers in all sums."""
        return self.noise.integers

    @property
    def functionality(self) -> Rounds:
        """Sequence of the sums."""
        return Rounds(tuple(SumWithShares(sum(length for length, _ in blocks)) for blocks in self.sums))

    @cached_property
    def statement(self) -> PrivacyStatement:
        """Statement with the noise of the honest parties, whatever the others enter and wherever sums are queried."""
        if self.target.epsilon is None:
            return no_guarantee("record", self.method.adjacency, NO_NOISE)
        promised = rounds_statement(self.noise, self.target, self.threat_model.adversary, tuple(self._caveats()))
        return self.threat_model.with_graph_failure(promised, len(self.sums))

    def signal(self, n: int) -> float:
        """Return the signal with the noise of all parties, of n rows or those that `gd` takes to be public."""
        mu, k, rows = self.noisy.mu, self.public.classes, self.method.counted(n, self)
        return sums_signal(rows, mu, self.public.dimension, k, self.threat_model.honest, self.threat_model.parties)

    def check(self, n: int) -> None:
        """Raise InputError for more rows than were announced."""
        check_announced_rows(n, self.announced)

    def part(self, rows: Rows, rng: Stream) -> Contributor:
        """Return the contributor of a party."""
        return self.resume_part(rows, rng, 0)

    @property
    def draws(self) -> tuple[str, ...]:
        """Labels of the noise; see `AdaptiveSpec`."""
        return tuple(map(noise_label, range(len(self.noise.steps))))

    def resume_part(self, rows: Rows, rng: Stream | Forks, answered: int) -> Contributor:
        """Return the contributor of a party that begins anew; see `AdaptiveSpec`."""
        self.check(len(rows))
        return self.part_of(self.method.prepare(rows, self.public), rng, answered)

    def part_of(self, rows: IntegerRows, rng: Stream | Forks, answered: int = 0) -> Contributor:
        """Return the contributor for rows that are integers already."""
        return Contributor(rows, self.noise, self.steps, None if self.target.epsilon is None else rng, answered)

    def model(self, value: Sequence[Vector]) -> ScoringModel:
        """Return the model of the last weights."""
        return self.linear_model(value)

    def linear_model(self, value: Sequence[Vector]) -> LinearModel:
        """Return the last weights as a model of what the parties summed up."""
        return self.model_after(reduce(self.steps.after, value, self.steps.begin()))

    def model_after(self, last: Any) -> LinearModel:
        """Return the weights of this state as such a model."""
        W = last.released
        return LinearModel.from_coordinates(W, 2) if self.public.classes == 2 else LinearModel(W)

    def _caveats(self) -> Iterator[str]:
        yield from self.threat_model.caveats()
        yield row_cap_caveat(self.announced)
        yield from self.method.caveats(self)


@dataclass(frozen=True)
class RoundNoise:
    """Noise of sum r, drawn by one who draws all."""

    noise: SharedRounds
    r: int

    def sample(self, rng: Stream) -> Sequence[int]:
        """Draw once."""
        return self.noise.share(self.r, rng)


@dataclass(frozen=True)
class GradientMethod(Method):
    """Method that uses nothing but sums of what single records contribute: the base of `newton`, `gd` and `logistic`.

    adjacency: whether neighbours have another record, or one more or less. `parts`: of mu^2, of each sum; none where
    all are alike.
    """

    adjacency: RecordAdjacency = "replace"
    by_protocols: ClassVar[tuple[str, ...]] = ("secure_sum",)
    secure_noises: ClassVar[tuple[NoiseName, ...]] = ("ddg",)
    binary: ClassVar[bool] = False
    needs_two_classes: ClassVar[bool] = False
    sizes: ClassVar[RowCounts] = "hidden"
    protects: ClassVar[Unit] = "record"
    noises: ClassVar[tuple[NoiseName, ...]] = ("ddg",)
    parts: ClassVar[tuple[int, ...]] = ()
    sums_class: ClassVar[type[GradientSums]] = GradientSums

    @override
    def __post_init__(self) -> None:
        check_one_of("adjacency", self.adjacency, get_args(RecordAdjacency))

    def shared(
        self, public: Public, target: Target, threat_model: ThreatModel, announced: AnnouncedRows
    ) -> GradientSums:
        """Return the specification for a secure sum; InputError for released row counts, which are not used."""
        require_hidden_sizes(self, announced, "does not use the number of rows")
        if target.epsilon is not None:
            check_secure_noise(self, target.noise)
        return self.sums_class(self, public, target, threat_model, announced)

    @classmethod
    @override
    def audit_pair(cls, calibration: Calibration) -> NeighbourPair:
        return record_pair(cls())

    @abstractmethod
    def round_bounds(self, sums: GradientSums) -> tuple[BlockBound, ...]:
        """Return the bound on one record's contribution to each sum."""

    @abstractmethod
    def steps(self, sums: GradientSums) -> Steps:
        """Return the steps of the descent."""

    def caveats(self, sums: GradientSums) -> tuple[str, ...]:
        """Return the caveats of this method alone."""
        return ()

    def counted(self, n: int, sums: GradientSums) -> int:
        """Return the number of rows that the method assumes where there are n in all."""
        return n

    # Where somebody is trusted with what the parties send.

    @override
    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        if target.epsilon is None:
            return no_guarantee(self.protects, self.adjacency, NO_NOISE)
        spec = self.spec(public, target)
        return rounds_statement(spec.noise, target, AGAINST_ALL_BUT_AGGREGATOR, self.caveats(spec))

    @override
    def functionality(self, public: Public, target: Target) -> Rounds:
        noise = self.spec(public, target).noise
        of_sums = [None if target.epsilon is None else RoundNoise(noise, r) for r in range(len(noise.steps))]
        return Rounds(tuple(Sum(of_sum) for of_sum in of_sums))

    @override
    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> RoundAnswer:
        spec = self.spec(public, target)
        spec.check(len(rows))
        return _silent(self.prepare(rows, public), spec)

    @override
    def finish(self, value: Sequence[Vector], public: Public, target: Target) -> Release:
        return Release(self.spec(public, target).model(value), self.statement(public, target))

    def prepare(self, rows: Rows, public: Public) -> IntegerRows:
        """Return the rows as integers; ValueError where they have weights and the public facts say none, or not."""
        self.check_weights(rows, public)
        return IntegerRows.of(rows.X, rows.y, public.classes, rows.weights)

    def check_weights(self, rows: Rows, public: Public) -> None:
        """Raise ValueError where rows have weights and the public facts say none, or not."""
        if (rows.weights is not None) != public.weighted:
            raise ValueError("weights: wanted them in the rows where the public facts say so, and nowhere else")

    def check_federation(self, federation: Federation) -> None:
        """Raise InputError, naming the party, for rows that it cannot learn from."""
        check_rows_of_parties(federation, uses_weights=True)

    @override
    def train(self, federation: Federation) -> TrainedParts[Release]:
        self.check_federation(federation)
        public = federation.public
        each = [self.prepare(rows, public) for rows in federation.parties]

        def parts(target: Target, rng: Stream) -> list[RoundAnswer]:
            spec = self.spec(public, target)
            return [_silent(rows, spec) for rows in each]

        return TrainedParts(self, public, each, parts)

    def spec(self, public: Public, target: Target) -> GradientSums:
        """Return the sums as if one trusted party made all of them."""
        check_target(target, self)
        return self.shared(public, target, ThreatModel(1, 0, 0), AnnouncedRows(LARGEST_N))


def _silent(rows: IntegerRows, spec: GradientSums) -> RoundAnswer:
    contributor = Contributor(rows, spec.noise, spec.steps, None)
    return lambda values: contributor(values).numbers
