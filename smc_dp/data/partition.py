"""Partition of one table among simulated parties; real parties bring their own rows."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from smc_dp.core.arrays import Array, into_ball, with_bias
from smc_dp.core.errors import InputError, shown
from smc_dp.data.bounds import canonical_level
from smc_dp.data.dataset import Features, Points, Pool
from smc_dp.data.federation import Federation, Rows
from smc_dp.data.projection import Projection, RadiusRule, fit_projection
from smc_dp.data.table import Table

RESERVED_NAMES = frozenset({"charlie", "public", "transcript"})  # curator, addressee of what is published, a run's file
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_NO_NAME, _LONGEST_NAME = re.compile(r"[^A-Za-z0-9._-]+"), 64


def check_names(names: Sequence[str]) -> None:
    """Raise InputError unless there are two or more party names, each simple, not reserved and used once."""
    known: set[str] = set()  # a file of strangers may list very many
    for name in names:
        check_name(name)
        if name.lower() in RESERVED_NAMES:
            raise InputError("party.reserved_name").within(f"party name {shown(name)}")
        if name in known:
            raise InputError("party.same_name").within(f"party name {shown(name)}")
        known.add(name)
    if len(names) < 2:
        raise InputError("parties.too_few", got=len(names))


def check_name(name: str) -> None:
    """Raise InputError for a name that is not simple: such names stand in messages, and name files."""
    if not _NAME.fullmatch(name):
        raise InputError("party.wrong_name").within(f"party name {shown(name)}")


def name_of_file(path: Path) -> str:
    """Return the name of the party of a file of this name: what no name may have becomes an underscore, ü an u."""
    plain = unicodedata.normalize("NFKD", path.stem).encode("ascii", "ignore").decode()
    name = _NO_NAME.sub("_", plain).strip("._-")[:_LONGEST_NAME]
    return name or path.stem


def even_shares(parties: int) -> list[Fraction]:
    """Return equal shares, in percent."""
    return [Fraction(100, parties)] * parties


def parse_split(text: str) -> list[Fraction]:
    """Parse shares in percent such as 15,20,20,20,25; each is positive and they sum to 100."""
    shares = []
    for part in text.split(","):
        if not re.fullmatch(r"\s*[0-9]{1,3}(\.[0-9]{1,9})?\s*", part):
            raise InputError("split.no_percentages", got=shown(text))
        shares.append(Fraction(part.strip()))
    if min(shares) <= 0:
        raise InputError("split.not_positive", got=shown(text))
    if sum(shares) != 100:
        raise InputError("split.wrong_sum", total=float(sum(shares)))
    return shares


def share_sizes(rows: int, shares: Sequence[Fraction]) -> list[int]:
    """Return the number of rows of each share, in percent; they sum to `rows`.

    Sizes are rounded down; the rows left over go one each to the largest remainders, the first of equals.
    """
    exact = [rows * share / 100 for share in shares]
    found = [int(size) for size in exact]
    by_remainder = sorted(range(len(found)), key=lambda j: found[j] - exact[j])
    for j in by_remainder[: rows - sum(found)]:
        found[j] += 1
    return found


def split_ordered(values: Array, parts: int) -> list[NDArray[np.int64]]:
    """Return the row numbers of so many equal parts in the order of these values, each part in the order of rows."""
    return [np.sort(part) for part in np.array_split(np.argsort(values, kind="stable"), parts)]


def split_rows(rows: int, shares: Sequence[Fraction], seed: int) -> list[NDArray[np.int64]]:
    """Return disjoint row numbers for each share, at random by a public seed; every row is assigned."""
    order = np.random.default_rng(seed).permutation(rows).astype(np.int64)
    return [np.sort(part) for part in np.split(order, np.cumsum(share_sizes(rows, shares))[:-1])]


def group_rows(table: Table, column: str) -> dict[str, NDArray[np.int64]]:
    """Return row numbers by the value of `column`, in the order of first appearance."""
    groups: dict[str, list[int]] = {}
    for row, text in enumerate(table.texts(column)):
        groups.setdefault(canonical_level(text), []).append(row)
    return {name: np.array(rows, dtype=np.int64) for name, rows in groups.items()}


_BLOCK = 8192  # rows at a time
RowNumbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Partition:
    """Settings of a partition; the defaults give five parties equal parts of everything.

    `per_party`: rows of each party, the rest is left out; None assigns everything, in equal parts or in the percentages
    of `split`, such as "15,20,20,20,25". `auxiliary`: how many training rows become public and lose their labels
    (Hamm, Cao and Belkin). `labelled`: how many become public with their labels (the aggregator of the feature
    method). `components`: number of principal components, fitted on public rows; None keeps the columns. `radius`: rule
    for the norm at which projected rows are clipped. `features`: number of leading columns that are used; None for all.
    `sample`: the part of the training rows that is used at all, in (0, 1]. `bias`: the constant appended to each
    row, 0 for none; None takes the data set's own. `held_out`: percent of a data set without a test set to test on.
    `by_class`: the parties get their rows in the order of classes, so that most have rows of one or two classes.
    Raises InputError for counts below 1 and for what contradicts itself.
    """

    parties: int = 5
    per_party: int | None = None
    split: str | None = None
    auxiliary: int | None = None
    labelled: int | None = None
    components: int | None = None
    features: int | None = None
    sample: Fraction = Fraction(1)
    bias: float | None = None
    radius: RadiusRule = "median"
    held_out: Fraction = Fraction(20)
    by_class: bool = False

    def __post_init__(self) -> None:
        counts = ("parties", "per_party", "auxiliary", "labelled", "components", "features")
        rules = [(name, "at least 1", getattr(self, name) is None or getattr(self, name) >= 1) for name in counts]
        rules += [("sample", "more than 0 and at most 1", 0 < self.sample <= 1)]
        rules += [("held_out", "a percentage between 0 and 100", 0 < self.held_out < 100)]
        rules += [("bias", "a finite number, at least 0", self.bias is None or 0 <= self.bias < float("inf"))]
        for name, wanted, fits in rules:
            if not fits:
                raise InputError("partition.out_of_range", name=name, wanted=wanted, got=float(getattr(self, name)))
        if self.split is not None and self.per_party is not None:
            raise InputError("split.with_per_party")
        if self.split is not None and len(parse_split(self.split)) != self.parties:
            raise InputError("split.wrong_number", wanted=self.parties, got=self.split)


@dataclass(frozen=True, eq=False)
class PartitionedRows:
    """Partition of the training rows, as disjoint row numbers: parties, public rows with and without labels, test rows.

    `test` is None when the data set has a test set of its own.
    """

    parties: tuple[RowNumbers, ...]
    labelled: RowNumbers
    auxiliary: RowNumbers
    test: RowNumbers | None


def partition_pool(pool: Pool, partition: Partition, seed: int) -> tuple[Federation, Rows]:
    """Partition a pool by a public seed; return the parties' federation, and the test rows in the same coordinates.

    Raises InputError when there are fewer rows than the settings want, or too few public rows for the projection.
    """
    assigned = partition_rows(pool, partition, seed)
    chart = _chart(pool, partition, assigned)
    private = _rows(pool.train, np.concatenate(assigned.parties), chart)
    edges = np.cumsum([0, *map(len, assigned.parties)]).tolist()
    federation = Federation(
        tuple(Rows(private.X[low:high], private.y[low:high]) for low, high in pairwise(edges)),
        len(pool.classes),
        unlabelled=_rows(pool.train, assigned.auxiliary, chart).X if len(assigned.auxiliary) else None,
        labelled=_rows(pool.train, assigned.labelled, chart) if len(assigned.labelled) else None,
        names=tuple(f"{pool.holder}-{j}" for j in range(1, partition.parties + 1)),
    )
    if assigned.test is not None:
        return federation, _rows(pool.train, assigned.test, chart)
    tested = pool.train if pool.test is None else pool.test
    return federation, _rows(tested, np.arange(len(tested)), chart)


def partition_rows(pool: Pool, partition: Partition, seed: int) -> PartitionedRows:
    """Assign each row by a public seed; raise InputError when there are too few rows."""
    order = np.random.default_rng(seed).permutation(len(pool.train)).astype(np.int64)
    test = None
    if pool.test is None:  # first, so that `sample` takes nothing from the test rows
        kept, _ = share_sizes(len(order), [100 - partition.held_out, partition.held_out])
        order, test = order[:kept], np.sort(order[kept:])
    order = order[: int(len(order) * partition.sample)]
    labelled, auxiliary = partition.labelled or 0, partition.auxiliary or 0
    counts = _counts(pool.name, partition, len(order), labelled + auxiliary)
    if partition.by_class:
        private = order[labelled + auxiliary :][: sum(counts)]
        private[:] = private[np.argsort(pool.train.y[private], kind="stable")]
    parts = np.split(order, np.cumsum([labelled, auxiliary, *counts]))
    return PartitionedRows(tuple(parts[2:-1]), parts[0], parts[1], test)


def _counts(name: str, partition: Partition, rows: int, public: int) -> list[int]:
    """Return the number of rows of each party."""
    wanted = partition.parties * (partition.per_party or 1) + public
    if wanted > rows:
        each = "at least 1" if partition.per_party is None else f"{partition.per_party}"
        raise InputError(
            "dataset.too_few_rows", parties=partition.parties, each=each, public=public, wanted=wanted, rows=rows
        ).within(f"data set {name}")
    if partition.per_party is not None:
        return [partition.per_party] * partition.parties
    shares = even_shares(partition.parties) if partition.split is None else parse_split(partition.split)
    counts = share_sizes(rows - public, shares)
    if min(counts) == 0:
        raise InputError("dataset.empty_share", rows=rows - public).within(f"data set {name}")
    return counts


@dataclass(frozen=True, eq=False)
class _Chart:
    """Map from a row of the pool to a row of the unit ball."""

    features: int | None
    projection: Projection | None
    radius: float
    bias: float

    def of(self, X: Features) -> Array:
        if self.features is not None:
            X = X[:, : self.features]
        dense: Array = X if self.projection is None else self.projection.of(X)
        return with_bias(into_ball(dense, self.radius), self.bias)


def _chart(pool: Pool, partition: Partition, assigned: PartitionedRows) -> _Chart:
    width = pool.train.X.shape[1]
    if partition.features is not None and partition.features > width:
        raise InputError("features.wrong_width", name=pool.name, width=width, got=partition.features)
    bias = pool.bias if partition.bias is None else partition.bias
    if partition.components is None:
        if not isinstance(pool.train.X, np.ndarray):
            raise InputError("components.not_fewer", name=pool.name, width=width)
        # Rows of fewer columns have a smaller public bound; without `features` they are in the ball already.
        bound = pool.coordinate * float(np.sqrt(partition.features or width))
        return _Chart(partition.features, None, min(1.0, bound) if partition.features else 1.0, bias)
    public = pool.public
    if public is None:
        public = pool.train.X[np.concatenate([assigned.labelled, assigned.auxiliary])]
    if partition.features is not None:
        public = public[:, : partition.features]
    projection, radius = fit_projection(public, partition.components, partition.radius)
    return _Chart(partition.features, projection, radius, bias)


def _rows(points: Points, numbers: RowNumbers, chart: _Chart) -> Rows:
    """Map these rows into the unit ball, a block at a time, so that a large data set is copied once."""
    blocks = [numbers[start : start + _BLOCK] for start in range(0, len(numbers), _BLOCK)]
    X, done = np.empty((0, 0)), 0
    for block in blocks:
        found = chart.of(points.X[block])
        if not done:
            X = np.empty((len(numbers), found.shape[1]))
        X[done : done + len(block)] = found
        done += len(block)
    return Rows(X, points.y[numbers])
