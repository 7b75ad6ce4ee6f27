"""Training many small parties, and counting their votes, against straightforward code on a sample, scaled up by count.

Straightforward is a loop over the parties with scikit-learn's `LogisticRegression` (lbfgs, tolerance 1e-10), and votes
from one product of matrices in float64. Both sides have one thread for linear algebra.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from benchmarks.conftest import Compare
from benchmarks.timing import timed
from sklearn.linear_model import LogisticRegression

from smc_dp.core.arrays import Array, into_ball
from smc_dp.methods.training.batch import train_all
from smc_dp.methods.training.classes import code
from smc_dp.methods.training.votes import count_votes

MU, SAMPLE, VOTED_ON = 0.02, 100, 2000
Party = tuple[Array, Array]


@pytest.mark.parametrize(
    ("parties", "rows", "dimension", "classes", "at_least"), [(2000, 22, 123, 2, 15), (1000, 6, 50, 6, 20)]
)
def test_training_and_votes(
    parties: int, rows: int, dimension: int, classes: int, at_least: float, compare: Compare
) -> None:
    rng = np.random.default_rng(0)
    dealt = made_up(rng, parties, rows, dimension, classes)
    one_by_one(dealt[:1])
    train_all(dealt[:1], classes, MU)  # what only a first call costs
    ours, V = timed(lambda: train_all(dealt, classes, MU))
    theirs, W = timed(lambda: one_by_one(dealt[:SAMPLE]))
    found = V[:SAMPLE] if classes == 2 else code(classes) @ V[:SAMPLE]
    assert np.abs(found - W).max() <= 1e-6
    sizes = f"{parties} parties x {rows} rows, d = {dimension}, {classes} classes"
    compare(f"training over scikit-learn, {sizes}", ours, theirs * parties / SAMPLE, at_least)
    if classes == 2:
        X = into_ball(rng.normal(size=(VOTED_ON, dimension)), 1.0)
        ours, counts = timed(lambda: count_votes(V, X, 2))
        theirs, ones = timed(lambda: (X[:SAMPLE] @ V[:, 0].T > 0).sum(axis=1))
        assert np.array_equal(counts[:SAMPLE, 1], ones)
        compare(f"votes of {parties} parties on {VOTED_ON} rows over float64", ours, theirs * VOTED_ON / SAMPLE)


def one_by_one(parties: Sequence[Party]) -> Array:
    """Return scikit-learn's weights: (M, 1, d) for two classes, else (M, C, d) with a sum of zero over the classes."""
    weights = []
    for X, y in parties:
        learner = LogisticRegression(C=1 / (MU * len(y)), fit_intercept=False, tol=1e-10, max_iter=10_000)
        W = learner.fit(X, y).coef_
        weights.append(W if len(W) == 1 else W - W.mean(axis=0))
    return np.array(weights)


def made_up(rng: np.random.Generator, parties: int, rows: int, dimension: int, classes: int) -> list[Party]:
    """Return synthetic rows of the unit ball; every party has every class."""
    wanted = rng.normal(size=(dimension, classes))
    dealt = []
    for _ in range(parties):
        X = into_ball(rng.normal(size=(rows, dimension)), 1.0)
        y = np.argmax(X @ wanted + rng.normal(size=(rows, classes)), axis=1)
        y[:classes] = np.arange(classes)
        dealt.append((X, y))
    return dealt
