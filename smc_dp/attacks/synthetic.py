"""Made-up data for attacks: rows like those of the Adult data set, and rows with a few real features.

The seeds are public. What an attack needs to vary is drawn for each trial.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.data.federation import Rows

_INDICATORS = (5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41)
"""How many indicators each of the 14 columns of a9a has: 123 in all, of which a row has 14."""
ADULT_DIMENSION = sum(_INDICATORS)
_SHORTER = 1 - 2.0**-40  # so that no row is longer than 1 after rounding


@cache
def adult_like_rows(n: int, seed: int) -> Rows:
    """Return rows of 14 indicators of 123, scaled to the unit ball; about a quarter are of class 1."""
    rng, common = np.random.default_rng(seed), np.random.default_rng(0)
    X = np.zeros((n, ADULT_DIMENSION))
    first = 0
    for group in _INDICATORS:
        chosen = rng.choice(group, size=n, p=common.dirichlet(np.ones(group)))
        X[np.arange(n), first + chosen] = _SHORTER / np.sqrt(len(_INDICATORS))
        first += group
    scores = X @ common.normal(scale=8, size=ADULT_DIMENSION)
    return Rows(X, (scores + rng.logistic(size=n) > np.quantile(scores, 0.75)).astype(np.int64))


def ball_rows(n: int, d: int, rng: Stream) -> Rows:
    """Draw rows of norm 1/2 to 1, whose labels follow their first feature."""
    made = np.random.default_rng(rng.bits(64))
    X = made.normal(size=(n, d))
    X *= made.uniform(0.5, _SHORTER, size=(n, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
    return Rows(X, (4 * X[:, 0] + made.logistic(size=n) > 0).astype(np.int64))
