"""Conversion of scikit-learn's arrays to a federation: rows in the unit ball, class numbers, rows of each party."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy

from smc_dp.core.arrays import Array, IntArray, count_longer, in_columns, into_ball, with_bias
from smc_dp.core.errors import InputError, shown
from smc_dp.data.federation import Federation, Rows
from smc_dp.data.frames import is_frame
from smc_dp.data.partition import even_shares, split_rows
from smc_dp.estimators.bounded_rows import join_frames
from smc_dp.estimators.validation import (
    LabelArray,
    as_array,
    check_dense,
    check_finite,
    check_labels,
    check_whole_number,
    describe_value,
    list_first,
    out_of_range,
)

_DEALING_SEED = 0  # public: who gets which row must not depend on the rows
_SMALLEST, _LARGEST = 1e-150, 1e150  # of a radius: the squares of rows that are as long are floats
_BLOCK = 1 << 22  # numbers that are made dense at a time

Weigh: TypeAlias = Callable[[IntArray], Array | None]
"""Function from the class numbers of rows to their weights, or to None where rows have none."""


@dataclass(frozen=True)
class Ball:
    """Map of rows into the unit ball: clipped to the public radius, scaled, a constant coordinate added.

    The radius lies in [1e-150, 1e150]; a bias of 0 adds no coordinate. Raises InputError otherwise.
    """

    radius: float
    bias: float

    def __post_init__(self) -> None:
        if not _SMALLEST <= self.radius <= _LARGEST:
            raise out_of_range("radius", f"a number from {_SMALLEST:g} to {_LARGEST:g}", self.radius)
        if not 0 <= self.bias < math.inf:
            raise out_of_range("bias", "a finite number, not negative", self.bias)

    def rows(self, X: Array) -> Array:
        """Map X: (n, d) to (n, d + 1), or (n, d) without a bias; every norm is at most 1."""
        return with_bias(into_ball(X, self.radius), self.bias)

    def longer(self, X: Array) -> int:
        """Count the rows of X: (n, d) that are clipped."""
        return count_longer(X, self.radius)

    def in_columns(self, W: Array) -> tuple[Array, Array]:
        """Return weights (k, d) and constants (k,) for rows as they came; W: (k, d + 1), or (k, d) without a bias."""
        return in_columns(W, self.radius, self.bias)


def dense_blocks(X: Any) -> Iterator[tuple[int, Array]]:
    """Yield rows X: (n, d), sparse or not, in dense blocks of 4 million numbers, each after its first row's number."""
    size = max(1, _BLOCK // X.shape[1])
    for start in range(0, X.shape[0], size):
        block = X[start : start + size]
        yield start, block.toarray() if scipy.sparse.issparse(block) else block


def clip_into_ball(X: Any, ball: Ball, parts: RowAssignment) -> tuple[Array, int]:
    """Return rows X: (n, d), sparse or not, in the ball, and how many of them were clipped.

    Raises InputError at the party and the row of an entry that is NaN or infinite.
    """
    check_dense("X", X)
    inside, clipped = np.empty((X.shape[0], X.shape[1] + bool(ball.bias))), 0
    for start, block in dense_blocks(X):
        check_finite(block, parts.place, start)
        clipped += ball.longer(block)
        inside[start : start + len(block)] = ball.rows(block)
    return inside, clipped


def sorted_classes(given: npt.ArrayLike, *, once: bool) -> LabelArray:
    """Return two or more classes, sorted; InputError for fewer, for mixed kinds, and, with `once`, for one repeated."""
    listed = as_array("classes", given, "a list with every class once")
    try:
        classes = np.unique(listed)
    except TypeError as mixed:
        raise InputError("labels.mixed_kinds", name="classes") from mixed
    if listed.ndim != 1 or (once and len(classes) != len(listed)):
        raise InputError("classes.not_listed_once", got=shown(listed.tolist()))
    if len(classes) < 2:
        raise InputError("classes.fewer_than_two", got=len(classes))
    return classes


def number_labels(y: LabelArray, classes: LabelArray, place: Callable[[int], str]) -> IntArray:
    """Return the positions of labels y: (n,) among the sorted classes; InputError at the place of an unknown one."""
    number_of = {label: k for k, label in enumerate(classes.tolist())}
    numbers = [number_of.get(label, -1) for label in y.tolist()]
    if -1 in numbers:
        i = numbers.index(-1)
        raise InputError("label.unknown_class", where=place(i), classes=list_first(number_of), got=shown(y.tolist()[i]))
    return np.array(numbers, dtype=np.int64)


def make_federation(
    X: Array, y: LabelArray, classes: LabelArray, parts: RowAssignment, weigh: Weigh | None = None
) -> Federation:
    """Return the federation of rows X: (n, d) of the ball and labels y: (n,) out of the sorted classes.

    weigh: returns the weights of the rows, (n,) from 0 to 1, or None, for their class numbers.
    """
    numbers = number_labels(y, classes, parts.place)
    weights = None if weigh is None else weigh(numbers)
    every = Rows(X, numbers, weights)
    return Federation(tuple(every.take(i) for i in parts.rows), len(classes), names=parts.names)


@dataclass(frozen=True, eq=False)
class RowAssignment:
    """Assignment of rows to parties: a name, and increasing row numbers of its own, for each party."""

    names: tuple[str, ...]
    rows: tuple[IntArray, ...]

    @classmethod
    def of(cls, n: int, labels: npt.ArrayLike | None, parties: object) -> RowAssignment:
        """Assign n rows by labels, or deal them evenly to so many parties where there are none."""
        return cls.even(n, check_whole_number("n_parties", parties)) if labels is None else cls.by_label(n, labels)

    @classmethod
    def even(cls, n: int, parties: int) -> RowAssignment:
        """Deal n rows evenly by a public seed; InputError if there are fewer rows than parties."""
        if not 1 <= parties <= n:
            raise out_of_range("n_parties", f"a number from 1 to {n}, the number of rows", parties)
        return cls(tuple(str(j + 1) for j in range(parties)), tuple(split_rows(n, even_shares(parties), _DEALING_SEED)))

    @classmethod
    def by_label(cls, n: int, labels: npt.ArrayLike) -> RowAssignment:
        """Assign rows by n labels, whose values are the parties; InputError unless each row has one."""
        given = check_labels("parties", labels, n, f"the {n} rows")
        missing = [i for i, label in enumerate(given.tolist()) if _missing(label)]
        if missing:
            raise InputError("parties.no_label", row=missing[0] + 1, got=shown(given.tolist()[missing[0]]))
        try:
            names, whose = np.unique(given, return_inverse=True)
        except TypeError as mixed:
            raise InputError("labels.mixed_kinds", name="parties") from mixed
        order, ends = np.argsort(whose, kind="stable"), np.cumsum(np.bincount(whose))[:-1]
        return cls(tuple(map(str, names.tolist())), tuple(np.split(order.astype(np.int64), ends)))

    def place(self, row: int) -> str:
        """Return the party of a row and the row's number there, for a message."""
        for name, rows in zip(self.names, self.rows, strict=True):
            i = int(np.searchsorted(rows, row))
            if i < len(rows) and rows[i] == row:
                return f"party {name}: row {i + 1}"
        raise ValueError(f"no party holds row {row}")


def join_parties(
    parties: object, *, with_frames: bool = False, with_weights: bool = False
) -> tuple[Any, LabelArray, LabelArray, LabelArray | None]:
    """Return all rows, all labels, each row's party and its weight, or None where no party has weights.

    The party is a name of the mapping, or a number from 1 in an iterable. with_frames: data frames stay tables, and are
    no arrays of numbers. with_weights: each party may have (X, y, weights) in place of (X, y).

    Raises InputError at the party for what is no pair of rows of one width with a label for each, and where some
    parties have weights and others have none.
    """
    if not isinstance(parties, Iterable) or isinstance(parties, str):
        raise InputError("parties.no_pairs", got=describe_value(parties))
    named = dict(parties) if isinstance(parties, Mapping) else dict(enumerate(parties, 1))
    if not named:
        raise InputError("parties.none")
    pairs: list[tuple[Any, LabelArray]] = []
    weights: list[LabelArray] = []
    for name, pair in named.items():
        of_party = f"party {name}"
        weighted = with_weights and isinstance(pair, tuple | list) and len(pair) == 3
        rows = pair[:2] if weighted else pair
        pairs.append(_pair(of_party, rows, pairs[0][0].shape[1] if pairs else None, with_frames=with_frames))
        if weighted:
            n = len(pairs[-1][1])
            weights.append(check_labels(of_party, pair[2], n, f"its {n} rows", wanted="a weight"))
    if weights and len(weights) != len(pairs):
        raise InputError("parties.some_with_weights")
    names = np.fromiter(named, dtype=object, count=len(named))  # as they are: mixed kinds would become texts
    whose = np.repeat(names, [len(y) for _, y in pairs])
    every, labels = [X for X, _ in pairs], np.concatenate([y for _, y in pairs])
    every_weight = np.concatenate(weights) if weights else None
    if with_frames and all(map(is_frame, every)):
        return join_frames(every), labels, whose, every_weight
    X = scipy.sparse.vstack(every, "csr") if any(map(scipy.sparse.issparse, every)) else np.concatenate(every)
    return X, labels, whose, every_weight


def _pair(name: str, given: object, width: int | None, *, with_frames: bool) -> tuple[Any, LabelArray]:
    """Return rows of this width, if it is known, and a label for each."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise InputError("party.no_pair", name=name, got=describe_value(given))
    wanted = f"rows of width {width or 'd'}"
    as_it_is = scipy.sparse.issparse(given[0]) or (with_frames and is_frame(given[0]))
    X = given[0] if as_it_is else as_array(name, given[0], wanted)
    if len(X.shape) != 2 or (width is not None and X.shape[1] != width):
        raise InputError("array.wrong_shape", name=name, wanted=wanted, shape=str(X.shape))
    if not X.shape[0]:
        raise InputError("party.no_rows", name=name)
    return X, check_labels(name, given[1], X.shape[0], f"its {X.shape[0]} rows")


def _missing(label: object) -> bool:
    """Return whether this is no label: None, NaN, or what cannot be compared with itself."""
    try:
        return label is None or bool(label != label)
    except Exception:
        return True
