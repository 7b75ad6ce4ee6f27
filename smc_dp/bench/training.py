"""What local training and votes cost, against straightforward code, in one run and in processor seconds.

Straightforward is a loop over the parties with scikit-learn's `LogisticRegression` (lbfgs, tolerance 1e-10), and votes
from one product of matrices in float64. Both are run on a sample and scaled up by count, since all of it would take
minutes. Data are synthetic, from a public seed. Both sides have one thread for linear algebra: with more,
scikit-learn's small problems would be charged for threads that wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from smc_dp.arrays import Array
from smc_dp.errors import InputError
from smc_dp.learning.batch import train_all
from smc_dp.learning.classes import code
from smc_dp.learning.votes import count_votes
from smc_dp.unit_ball import into_ball

Party = tuple[Array, npt.NDArray[np.int64]]
T = TypeVar("T")

MU = 0.02
AGREEMENT = 1e-6  # between weights
_MOST_ITERATIONS = 10_000


@dataclass(frozen=True)
class Shape:
    """How many parties there are, the rows of each, and the features and classes of a row.

    At least as many rows as classes, because scikit-learn has no weights for a class that does not occur; raises
    InputError otherwise.
    """

    parties: int
    rows: int
    dimension: int
    classes: int = 2

    def __post_init__(self) -> None:
        for name, value, least in (
            ("parties", self.parties, 1),
            ("rows", self.rows, self.classes),
            ("dimension", self.dimension, 1),
            ("classes", self.classes, 2),
        ):
            if value < least:
                raise InputError(f"{name}: wanted at least {least}, got {value}")


@dataclass(frozen=True)
class Compared:
    """Processor seconds for all of it: ours, and the other's scaled up from `sample` parties or rows.

    largest_difference: between weights, or between counts of votes, over the sample.
    """

    ours: float
    straightforward: float
    sample: int
    largest_difference: float

    @property
    def ratio(self) -> float:
        """How many times less processor time ours needs."""
        return self.straightforward / self.ours


@dataclass(frozen=True)
class TrainingBench:
    """Training for two classes and for more, and the votes of the binary classifiers on `rows` rows."""

    shapes: tuple[Shape, Shape]
    rows: int
    binary: Compared
    softmax: Compared
    votes: Compared

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        binary, softmax = (vars(shape) for shape in self.shapes)
        parts = (
            ("training", binary, self.binary),
            ("softmax", softmax, self.softmax),
            ("votes", {**binary, "rows": self.rows}, self.votes),
        )
        return {name: {**sizes, **vars(compared), "ratio": compared.ratio} for name, sizes, compared in parts}


def bench_training(
    parties: int = 2000,
    rows: int = 22,
    dimension: int = 123,
    *,
    softmax: Shape = Shape(1000, 6, 50, 6),
    test_rows: int = 2000,
    sample: int = 100,
    hear: Callable[[str], None] = lambda _: None,
) -> TrainingBench:
    """Both on the same rows; sample: how many parties, or rows to vote on, the straightforward code gets.

    Raises RuntimeError when weights differ by more than 1e-6 or any vote is counted differently, InputError for sizes
    that are too small.
    """
    if test_rows < 1 or sample < 1:
        raise InputError(f"test_rows, sample: wanted at least 1, got {test_rows} and {sample}")
    shape = Shape(parties, rows, dimension)
    with threadpool_limits(1):
        hear(f"training {parties} parties with two classes")
        V, binary = _training(shape, sample)
        hear(f"training {softmax.parties} parties with {softmax.classes} classes")
        _, multiclass = _training(softmax, sample)
        hear(f"counting votes on {test_rows} rows")
        votes = _voting(V, _rows(np.random.default_rng(1), test_rows, dimension), sample)
    return TrainingBench((shape, softmax), test_rows, binary, multiclass, votes)


def _training(shape: Shape, sample: int) -> tuple[Array, Compared]:
    """The models, and what they cost."""
    parties = _dealt(shape)
    some = parties[:sample]
    _one_by_one(some[:1])  # what only a first call costs
    train_all(some[:1], shape.classes, MU)
    seconds, V = _timed(lambda: train_all(parties, shape.classes, MU))
    theirs, W = _timed(lambda: _one_by_one(some))
    ours = V[:sample] if shape.classes == 2 else code(shape.classes) @ V[:sample]
    difference = float(np.abs(ours - W).max())
    if not difference <= AGREEMENT:
        raise RuntimeError(f"the batch and scikit-learn disagree: weights differ by {difference:.2g}")
    return V, Compared(seconds, theirs * len(parties) / len(some), len(some), difference)


def _voting(V: Array, X: Array, sample: int) -> Compared:
    some = X[:sample]
    seconds, counts = _timed(lambda: count_votes(V, X, 2))
    theirs, ones = _timed(lambda: (some @ V[:, 0].T > 0).sum(axis=1))
    difference = int(np.abs(counts[:sample, 1] - ones).max())
    if difference:
        raise RuntimeError(f"the votes and those of float64 disagree: counts differ by {difference}")
    return Compared(seconds, theirs * len(X) / len(some), len(some), difference)


def _one_by_one(parties: Sequence[Party]) -> Array:
    """scikit-learn's weights: (M, 1, d) for two classes, else (M, C, d) with a sum of zero over the classes."""
    weights = []
    for X, y in parties:
        learner = LogisticRegression(C=1 / (MU * len(y)), fit_intercept=False, tol=1e-10, max_iter=_MOST_ITERATIONS)
        W = learner.fit(X, y).coef_
        weights.append(W if len(W) == 1 else W - W.mean(axis=0))
    return np.array(weights)


def _dealt(shape: Shape) -> list[Party]:
    """Synthetic rows of the unit ball; every party has every class."""
    rng = np.random.default_rng(0)
    wanted = rng.normal(size=(shape.dimension, shape.classes))
    parties = []
    for _ in range(shape.parties):
        X = _rows(rng, shape.rows, shape.dimension)
        y = np.argmax(X @ wanted + rng.normal(size=(shape.rows, shape.classes)), axis=1)
        y[: shape.classes] = np.arange(shape.classes)
        parties.append((X, y))
    return parties


def _rows(rng: np.random.Generator, n: int, d: int) -> Array:
    return into_ball(rng.normal(size=(n, d)), 1.0)


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result
