"""From what scikit-learn's users pass to a federation: exact parameters, rows in the unit ball, who holds which."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from smc_dp.data.federation import Federation, Rows
from smc_dp.data.partition import deal, even
from smc_dp.errors import InputError, shown
from smc_dp.unit_ball import Array, into_ball, with_bias

IntArray = npt.NDArray[np.int64]
Labels = npt.NDArray[Any]

_DEALING_SEED = 0  # public: who gets which row must not depend on the rows


@dataclass(frozen=True)
class Ball:
    """How a row gets into the unit ball: clipped to the public radius, scaled, a constant coordinate added.

    The radius is positive and finite; a bias of 0 adds no coordinate. Raises InputError otherwise.
    """

    radius: float
    bias: float

    def __post_init__(self) -> None:
        if not 0 < self.radius < math.inf:
            raise InputError(f"radius: wanted a positive finite number, got {self.radius}")
        if not 0 <= self.bias < math.inf:
            raise InputError(f"bias: wanted a finite number, not negative, got {self.bias}")

    def rows(self, X: Array) -> Array:
        """X: (n, d) -> (n, d + 1), or (n, d) without a bias; every norm is at most 1."""
        return with_bias(into_ball(X, self.radius), self.bias)


def number(name: str, value: object) -> float:
    """The value of a parameter as a float; InputError unless it is a real number."""
    if not isinstance(value, Real):
        raise InputError(f"{name}: wanted a number, got {shown(value)}")
    try:
        return float(value)
    except OverflowError as huge:
        raise InputError(f"{name}: wanted a number below 1e308, got {shown(value)}") from huge


def whole(name: str, value: object) -> int:
    """The value of a parameter as an integer; InputError unless it is a whole number."""
    if not isinstance(value, Integral):
        raise InputError(f"{name}: wanted a whole number, got {shown(value)}")
    return int(value)


def exact(name: str, value: object) -> Fraction | None:
    """A positive parameter as a fraction, None for inf; a float is the decimal that it prints as, or less.

    The smaller of the decimal and the binary value is taken, so that neither reading of the float is exceeded.
    """
    real = number(name, value)
    if not real > 0:
        raise InputError(f"{name}: wanted a positive number, got {shown(value)}")
    if real == math.inf:
        return None
    return value if isinstance(value, Fraction) else min(Fraction(repr(real)), Fraction(real))


def known_classes(given: npt.ArrayLike, *, once: bool) -> Labels:
    """The classes sorted, at least two; InputError for fewer, for a mixture, and for one named twice where once."""
    listed = np.asarray(given)
    try:
        classes = np.unique(listed)
    except TypeError as mixed:
        raise InputError("classes: wanted labels of one kind, got a mixture") from mixed
    if listed.ndim != 1 or (once and len(classes) != len(listed)):
        raise InputError(f"classes: wanted a list with every class once, got {shown(listed.tolist())}")
    if len(classes) < 2:
        raise InputError(f"classes: wanted at least 2, got {len(classes)} class")
    return classes


def class_numbers(y: Labels, classes: Labels, place: Callable[[int], str]) -> IntArray:
    """The positions of labels y: (n,) among the sorted classes; InputError says at which place an unknown one is."""
    number_of = {label: k for k, label in enumerate(classes.tolist())}
    numbers = [number_of.get(label, -1) for label in y.tolist()]
    if -1 in numbers:
        i, wanted = numbers.index(-1), ", ".join(map(str, number_of))
        raise InputError(f"{place(i)}: wanted one of the classes {wanted}, got {shown(y.tolist()[i])}")
    return np.array(numbers, dtype=np.int64)


def federation(X: Array, y: Labels, classes: Labels, parts: Parts) -> Federation:
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
            raise InputError(f"n_parties: wanted a number from 1 to {n}, the number of rows, got {parties}")
        return cls(tuple(str(j + 1) for j in range(parties)), tuple(deal(n, even(parties), _DEALING_SEED)))

    @classmethod
    def labelled(cls, n: int, labels: npt.ArrayLike) -> Parts:
        """The parties are the values of the labels, sorted; InputError unless there is one for each of n rows."""
        given = np.asarray(labels)
        if given.shape != (n,):
            raise InputError(f"parties: wanted a label for each of the {n} rows, got shape {given.shape}")
        missing = [i for i, label in enumerate(given.tolist()) if label is None or label != label]
        if missing:
            raise InputError(f"parties: row {missing[0] + 1}: wanted a label, got {shown(given.tolist()[missing[0]])}")
        try:
            names, whose = np.unique(given, return_inverse=True)
        except TypeError as mixed:
            raise InputError("parties: wanted labels of one kind, got a mixture") from mixed
        order, ends = np.argsort(whose, kind="stable"), np.cumsum(np.bincount(whose))[:-1]
        return cls(tuple(map(str, names.tolist())), tuple(np.split(order.astype(np.int64), ends)))

    def place(self, row: int) -> str:
        """Whose row this is, and which of theirs, for a message."""
        for name, rows in zip(self.names, self.rows, strict=True):
            i = int(np.searchsorted(rows, row))
            if i < len(rows) and rows[i] == row:
                return f"party {name}: row {i + 1}"
        raise ValueError(f"no party holds row {row}")

    def check_finite(self, X: Array) -> None:
        """Raises InputError naming the party and the row if an entry of X: (n, d) is NaN or infinite."""
        wrong = np.flatnonzero(~np.isfinite(X).all(axis=1))
        if len(wrong):
            entry = X[wrong[0]][~np.isfinite(X[wrong[0]])][0]
            came = "NaN" if np.isnan(entry) else str(entry)
            raise InputError(f"{self.place(wrong[0])}: wanted finite numbers, got {came}")


def joined(
    parties: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]],
) -> tuple[Labels, Labels, IntArray]:
    """All rows, all labels and the number of the party, from 1, for each; InputError names the party."""
    pairs = [(np.asarray(X), np.asarray(y)) for X, y in parties]
    if not pairs:
        raise InputError("parties: wanted at least one, got none")
    for j, (X, y) in enumerate(pairs, 1):
        if X.ndim != 2 or X.shape[1:] != pairs[0][0].shape[1:]:
            width = pairs[0][0].shape[1] if pairs[0][0].ndim == 2 else "d"
            raise InputError(f"party {j}: wanted rows of width {width}, got shape {X.shape}")
        if not len(X):
            raise InputError(f"party {j}: has no rows, wanted at least one")
        if y.shape != (len(X),):
            raise InputError(f"party {j}: wanted a label for each of its {len(X)} rows, got shape {y.shape}")
    whose = np.repeat(np.arange(1, len(pairs) + 1), [len(X) for X, _ in pairs])
    return np.concatenate([X for X, _ in pairs]), np.concatenate([y for _, y in pairs]), whose
