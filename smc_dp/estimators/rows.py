"""From what scikit-learn's users pass to a federation: rows in the unit ball, class numbers, who holds which rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from smc_dp.core.arrays import Array, IntArray, count_longer, in_columns, into_ball, with_bias
from smc_dp.core.errors import InputError, shown
from smc_dp.data.federation import Federation, Rows
from smc_dp.data.partition import even_shares, split_rows
from smc_dp.estimators.checked import LabelArray, array, check_dense, check_finite, described, few, labels_of

_DEALING_SEED = 0  # public: who gets which row must not depend on the rows
_SMALLEST, _LARGEST = 1e-150, 1e150  # of a radius: the squares of rows that are as long are floats
_BLOCK = 1 << 22  # numbers that are made dense at a time


@dataclass(frozen=True)
class Ball:
    """How a row gets into the unit ball: clipped to the public radius, scaled, a constant coordinate added.

    The radius lies in [1e-150, 1e150]; a bias of 0 adds no coordinate. Raises InputError otherwise.
    """

    radius: float
    bias: float

    def __post_init__(self) -> None:
        if not _SMALLEST <= self.radius <= _LARGEST:
            raise InputError("radius.out_of_range", smallest=_SMALLEST, largest=_LARGEST, got=self.radius)
        if not 0 <= self.bias < math.inf:
            raise InputError("bias.out_of_range", got=self.bias)

    def rows(self, X: Array) -> Array:
        """X: (n, d) -> (n, d + 1), or (n, d) without a bias; every norm is at most 1."""
        return with_bias(into_ball(X, self.radius), self.bias)

    def longer(self, X: Array) -> int:
        """How many rows of X: (n, d) are clipped."""
        return count_longer(X, self.radius)

    def in_columns(self, W: Array) -> tuple[Array, Array]:
        """Weights W: (k, d + 1), or (k, d) without a bias, and the constants for rows as they came: (k, d), (k,)."""
        return in_columns(W, self.radius, self.bias)


def blocks(X: Any) -> Iterator[tuple[int, Array]]:
    """Rows X: (n, d), sparse or not, dense in blocks of 4 million numbers, each with the number of its first row."""
    size = max(1, _BLOCK // X.shape[1])
    for start in range(0, X.shape[0], size):
        block = X[start : start + size]
        yield start, block.toarray() if scipy.sparse.issparse(block) else block


def entered(X: Any, ball: Ball, parts: Parts) -> tuple[Array, int]:
    """Rows X: (n, d), sparse or not, in the ball, and how many of them were clipped for that.

    Raises InputError naming the party and the row if an entry is NaN or infinite.
    """
    check_dense("X", X)
    inside, clipped = np.empty((X.shape[0], X.shape[1] + bool(ball.bias))), 0
    for start, block in blocks(X):
        check_finite(block, parts.place, start)
        clipped += ball.longer(block)
        inside[start : start + len(block)] = ball.rows(block)
    return inside, clipped


def known_classes(given: npt.ArrayLike, *, once: bool) -> LabelArray:
    """The classes sorted, at least two; InputError for fewer, for a mixture, and for one named twice where once."""
    listed = array("classes", given, "a list with every class once")
    try:
        classes = np.unique(listed)
    except TypeError as mixed:
        raise InputError("classes.mixed_kinds") from mixed
    if listed.ndim != 1 or (once and len(classes) != len(listed)):
        raise InputError("classes.not_listed_once", got=shown(listed.tolist()))
    if len(classes) < 2:
        raise InputError("classes.fewer_than_two", got=len(classes))
    return classes


def class_numbers(y: LabelArray, classes: LabelArray, place: Callable[[int], str]) -> IntArray:
    """The positions of labels y: (n,) among the sorted classes; InputError says at which place an unknown one is."""
    number_of = {label: k for k, label in enumerate(classes.tolist())}
    numbers = [number_of.get(label, -1) for label in y.tolist()]
    if -1 in numbers:
        i = numbers.index(-1)
        raise InputError("label.unknown_class", where=place(i), classes=few(number_of), got=shown(y.tolist()[i]))
    return np.array(numbers, dtype=np.int64)


def federation(X: Array, y: LabelArray, classes: LabelArray, parts: Parts) -> Federation:
    """The federation of rows X: (n, d) of the ball and labels y: (n,) out of the sorted classes."""
    numbers = class_numbers(y, classes, parts.place)
    return Federation(tuple(Rows(X[i], numbers[i]) for i in parts.rows), len(classes), names=parts.names)


@dataclass(frozen=True, eq=False)
class Parts:
    """Disjoint row numbers, increasing, and a name for each party."""

    names: tuple[str, ...]
    rows: tuple[IntArray, ...]

    @classmethod
    def dealt(cls, n: int, parties: int) -> Parts:
        """n rows dealt evenly by a public seed; InputError if there are fewer rows than parties."""
        if not 1 <= parties <= n:
            raise InputError("n_parties.out_of_range", most=n, got=parties)
        return cls(tuple(str(j + 1) for j in range(parties)), tuple(split_rows(n, even_shares(parties), _DEALING_SEED)))

    @classmethod
    def labelled(cls, n: int, labels: npt.ArrayLike) -> Parts:
        """The parties are the values of the labels, sorted; InputError unless there is one for each of n rows."""
        given = labels_of("parties", labels, n, f"the {n} rows")
        missing = [i for i, label in enumerate(given.tolist()) if _missing(label)]
        if missing:
            raise InputError("parties.no_label", row=missing[0] + 1, got=shown(given.tolist()[missing[0]]))
        try:
            names, whose = np.unique(given, return_inverse=True)
        except TypeError as mixed:
            raise InputError("parties.mixed_kinds") from mixed
        order, ends = np.argsort(whose, kind="stable"), np.cumsum(np.bincount(whose))[:-1]
        return cls(tuple(map(str, names.tolist())), tuple(np.split(order.astype(np.int64), ends)))

    def place(self, row: int) -> str:
        """Whose row this is, and which of theirs, for a message."""
        for name, rows in zip(self.names, self.rows, strict=True):
            i = int(np.searchsorted(rows, row))
            if i < len(rows) and rows[i] == row:
                return f"party {name}: row {i + 1}"
        raise ValueError(f"no party holds row {row}")


def joined(parties: object) -> tuple[Any, LabelArray, LabelArray]:
    """All rows, all labels and whose each row is: a name of the mapping, or a number from 1 in any other iterable.

    Raises InputError, which names the party, for what is no pair (X, y) of rows of one width with a label for each.
    """
    if not isinstance(parties, Iterable) or isinstance(parties, str):
        raise InputError("parties.no_pairs", got=described(parties))
    named = dict(parties) if isinstance(parties, Mapping) else dict(enumerate(parties, 1))
    if not named:
        raise InputError("parties.none")
    pairs: list[tuple[Any, LabelArray]] = []
    for name, pair in named.items():
        pairs.append(_pair(f"party {name}", pair, pairs[0][0].shape[1] if pairs else None))
    names = np.fromiter(named, dtype=object, count=len(named))  # as they are: mixed kinds would become texts
    whose = np.repeat(names, [len(y) for _, y in pairs])
    every = [X for X, _ in pairs]
    X = scipy.sparse.vstack(every, "csr") if any(map(scipy.sparse.issparse, every)) else np.concatenate(every)
    return X, np.concatenate([y for _, y in pairs]), whose


def _pair(name: str, given: object, width: int | None) -> tuple[Any, LabelArray]:
    """Rows of this width, if it is known, and a label for each."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise InputError("party.no_pair", name=name, got=described(given))
    wanted = f"rows of width {width or 'd'}"
    X = given[0] if scipy.sparse.issparse(given[0]) else array(name, given[0], wanted)
    if X.ndim != 2 or (width is not None and X.shape[1] != width):
        raise InputError("array.wrong_shape", name=name, wanted=wanted, shape=str(X.shape))
    if not X.shape[0]:
        raise InputError("party.no_rows", name=name)
    return X, labels_of(name, given[1], X.shape[0], f"its {X.shape[0]} rows")


def _missing(label: object) -> bool:
    """Whether this is no label: None, NaN, or what cannot be compared with itself."""
    try:
        return label is None or bool(label != label)
    except Exception:
        return True
