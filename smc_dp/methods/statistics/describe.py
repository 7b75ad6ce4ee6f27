"""`describe`: counts per level, means and standard deviations of all columns, from one secure sum.

Per record: a one among the levels of each column of levels or bins, and among the classes; for each number z in [-1, 1]
by its public bounds z itself and its weighted square, which is free beside it (`smc_dp.privacy.distributed.moments`).
With `by` each of these stands among the places of the record's group, and beside them is a one among the groups. For
each of the `tables` there is a one among its cells.
The number of rows is a constant of the neighbourhood, and exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from smc_dp.core.arrays import OUTCOME_BITS
from smc_dp.core.errors import InputError, shown
from smc_dp.data.columns import BinnedColumn, CategoricalColumn, Column, NumericColumn
from smc_dp.data.federation import Public, Rows
from smc_dp.data.usual_clip import longest_norm
from smc_dp.methods.functionality import Vector
from smc_dp.methods.method import check_own_rows
from smc_dp.methods.statistics.contingency import make_tables, table_blocks
from smc_dp.methods.statistics.describe_result import DescribeResult
from smc_dp.methods.statistics.description import describe_columns
from smc_dp.methods.statistics.groups import describe_groups
from smc_dp.methods.statistics.sum_blocks import SumBlock, has_levels, record_reach, sum_blocks
from smc_dp.methods.sums.noisy_sum import NoisySum, SumReach, released_rows_caveats
from smc_dp.methods.sums.threat_model import AnnouncedRows, RowCounts, ThreatModel
from smc_dp.privacy.distributed.moments import MOMENT_BITS, MOMENT_UNIT, weigh_squares
from smc_dp.privacy.statement import Adjacency, Unit
from smc_dp.privacy.target import Calibration, NoiseName, Target

_LARGEST_BOUND = 1e200  # with the noise every figure can be written then


@dataclass(frozen=True, eq=False, repr=False)
class OwnSums:
    """Sums over the rows of one party, in units of U, and their number."""

    sums: Vector
    rows: int


@dataclass(frozen=True)
class Describe:
    """Description of the rows of all parties, by `DescribeSum`.

    `by`: the column of levels or bins, or the label, whose levels make groups that are described, too. `tables`: pairs
    of such columns whose contingency tables are released, as in "sex*ward, ill*ward".
    """

    by: str | None = None
    tables: str | None = None

    name: ClassVar[str] = "describe"
    protects: ClassVar[Unit] = "record"
    adjacency: ClassVar[Adjacency] = "replace"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven",)
    noises: ClassVar[tuple[NoiseName, ...]] = ("ddg",)
    by_protocols: ClassVar[tuple[str, ...]] = ("secure_sum",)
    secure_noises: ClassVar[tuple[NoiseName, ...]] = ("ddg",)
    binary: ClassVar[bool] = False
    needs_two_classes: ClassVar[bool] = False
    sizes: ClassVar[RowCounts] = "released"

    @property
    def figures(self) -> str:
        """Figures that are released, in words."""
        groups = "" if self.by is None else f", of all rows and of groups by {self.by}"
        tables = "" if self.tables is None else f", and contingency tables of {self.tables}"
        return f"counts, means and standard deviations{groups}{tables}"

    def shared(
        self, public: Public, target: Target, threat_model: ThreatModel, announced: AnnouncedRows
    ) -> DescribeSum:
        """Return the specification for a secure sum; InputError for a hidden number of rows, without
        columns, for bounds above 1e200, and for groups or tables of what is no column of levels.
        """
        if announced.sizes != "released":
            raise InputError("sizes.not_released", method=self.name)
        if not public.columns:
            raise InputError("describe.no_columns", method=self.name)
        for column in described_columns(public):
            if max(map(abs, _ends(column))) > _LARGEST_BOUND:
                raise InputError("describe.bounds_too_large", name=shown(column.name), most=_LARGEST_BOUND)
        self.blocks(public), self.table_blocks(public)
        return DescribeSum(self, public, target, threat_model, announced)

    def blocks(self, public: Public) -> tuple[SumBlock, ...]:
        """Return the blocks of the sum, of the columns of the rows and of the label last; InputError as `shared`."""
        return sum_blocks(described_columns(public), self.by)

    def table_blocks(self, public: Public) -> tuple[SumBlock, ...]:
        """Return the blocks of the tables, which come after those of the columns; InputError as `shared`."""
        return table_blocks(described_columns(public), self.tables, self.by)

    def prepare(self, rows: Rows, public: Public) -> OwnSums:
        """Return the sums over a party's rows, whose features are those of `Bounds.whole`."""
        check_own_rows(rows)
        features, places = dict[str, npt.NDArray[np.float64]](), dict[str, npt.NDArray[np.int64]]()
        at, longest = 0, longest_norm(len(public.columns))
        for column in public.columns:
            features[column.name] = rows.X[:, at : at + column.width] * longest
            at += column.width
            if has_levels(column):
                places[column.name] = features[column.name].argmax(axis=1)
        if isinstance(public.label, CategoricalColumn):
            places[public.label.name] = rows.y
        elif public.label is not None:
            features[public.label.name] = np.ldexp(rows.y[:, np.newaxis].astype(np.float64), -OUTCOME_BITS)
        sums: list[int] = []
        for block in (*self.blocks(public), *self.table_blocks(public)):
            group = 0 if block.groups is None else places[block.groups.name]
            name = block.column.name
            if name in places:
                sums += _counts(group * block.part_length + places[name], block.length)
            elif block.groups is None:
                sums += _moments(features[name])
            else:
                sums += [x for k in range(block.parts) for x in _moments(features[name][group == k])]
        return OwnSums(tuple(sums), len(rows))


def described_columns(public: Public) -> tuple[Column, ...]:
    """Return the columns that are described: those of the rows, and the label last."""
    return public.columns if public.label is None else (*public.columns, public.label)


def _ends(column: Column) -> tuple[float, float]:
    """Return the ends of the range of a number; zeros where there is none."""
    if isinstance(column, NumericColumn):
        return column.low, column.high
    return (column.edges[0], column.edges[-1]) if isinstance(column, BinnedColumn) else (0.0, 0.0)


def _counts(places: npt.NDArray[np.int64], width: int) -> list[int]:
    return [MOMENT_UNIT * int(count) for count in np.bincount(places, minlength=width)]


def _moments(features: npt.NDArray[np.float64]) -> list[int]:
    """Return the sums of z and of its weighted square; with a feature that marks empty cells their count too."""
    numbers = np.nan_to_num(features[:, 0], nan=0.0)  # as an integer no number is far outside of the bound
    z = np.clip(np.rint(numbers * MOMENT_UNIT), -MOMENT_UNIT, MOMENT_UNIT).astype(np.int64)
    empty = features[:, 1:].max(axis=1, initial=0.0) > 1 / 2
    z[empty] = 0
    gap = [MOMENT_UNIT * int(empty.sum())] if features.shape[1] > 1 else []
    return [int(z.sum()), int(weigh_squares(z).sum()), *gap]


@dataclass(frozen=True)
class DescribeSum(NoisySum[Describe]):
    """The one sum of `describe` among these parties; see `NoisySum`.

    Numbers are multiples of 1/U. Without noise come the number of rows and the number of parties in the sum.
    """

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns that are described."""
        return described_columns(self.public)

    @cached_property
    def blocks(self) -> tuple[SumBlock, ...]:
        """Blocks of the columns, with which the sum begins."""
        return self.method.blocks(self.public)

    @cached_property
    def tables(self) -> tuple[SumBlock, ...]:
        """Blocks of the contingency tables, with which it ends."""
        return self.method.table_blocks(self.public)

    @cached_property
    @override
    def reach(self) -> SumReach:
        blocks = (*self.blocks, *self.tables)
        one, length = record_reach(blocks), sum(block.length for block in blocks)
        return SumReach(length, one.sensitivity, one.longest * self.announced.most_rows, MOMENT_BITS)

    @property
    @override
    def plain(self) -> int:
        return 2

    @override
    def numbers_of(self, trained: OwnSums) -> Vector:
        finer = self.grid.fraction_bits - MOMENT_BITS
        return (*(value << finer for value in trained.sums), trained.rows, 1)

    @override
    def model(self, value: Vector) -> DescribeResult:
        most = self.announced.most_rows * self.threat_model.parties
        return self.describe(min(max(1, value[-2]), most), self.counted(value), tuple(self.reals(value)))

    def describe(self, rows: int, parties: int, sums: tuple[float, ...]) -> DescribeResult:
        """Return the description by a sum of so many rows of so many parties."""
        variance = self.noise.distribution.coordinate_variance(parties) if self.noisy else 0
        error = sqrt(variance) / (1 << self.grid.fraction_bits)
        end = sum(block.length for block in self.blocks)
        of_columns, of_tables = sums[:end], sums[end:]
        columns = tuple(describe_columns(self.blocks, of_columns, rows, error))
        groups = describe_groups(self.blocks, of_columns, error)
        tables = tuple(make_tables(self.tables, of_tables, error))
        return DescribeResult(rows, parties, sums, columns, self.method.by, groups, tables)

    @override
    def caveats(self) -> Iterator[str]:
        yield from released_rows_caveats(self.threat_model)
