"""The experiment behind Figure 2 of Pathak, Rane and Raj (NIPS 2010): test error by split and epsilon.

Models are trained once; each repetition draws new noise, exactly as the smallest party would. One process holds
everybody's rows and looks at test labels, so nothing here is private, and nothing here is for release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from protocols.arithmetic.rng import Stream
from smc_dp.data.partition import deal, parse_split
from smc_dp.data.preprocess import Examples
from smc_dp.learning.solver import minimise
from smc_dp.methods.pathak2010.curator import Settings, classify
from smc_dp.privacy.pathak2010 import Calibration, PureNoiseName

SPLITS = MappingProxyType({"even": "20,20,20,20,20", "15 %": "15,20,20,20,25", "10 %": "10,20,20,20,30"})
"""The percentages of the rows that the paper's five parties hold, by the share of the smallest party."""


@dataclass(frozen=True, eq=False)
class Trained:
    """Models of all parties, trained without noise.

    `settings` holds the objective and the grid; `parties` is K; `smallest` the fewest rows that a party has; `total`
    the sum of the K models on the grid, d signed integers.
    """

    settings: Settings
    parties: int
    smallest: int
    total: tuple[int, ...]

    def weights(self, noise: Sequence[int] | None = None) -> list[float]:
        """The mean model, d floats, with noise of the sum (d integers, grid units) if any."""
        total = self.total if noise is None else [w + e for w, e in zip(self.total, noise, strict=True)]
        return self.settings.grid.decode(total, divisor=self.parties)


def train(parties: Sequence[Examples], settings: Settings) -> Trained:
    """Every party's model; a single party stands for the centralised w*."""
    models = [minimise(settings.objective, data.X, data.y).weights.tolist() for data in parties]
    total = [sum(column) for column in zip(*map(settings.grid.encode, models), strict=True)]
    return Trained(settings, len(parties), min(map(len, parties)), tuple(total))


def pooled(parties: Sequence[Examples]) -> Examples:
    """All rows in one place."""
    return Examples(np.concatenate([data.X for data in parties]), np.concatenate([data.y for data in parties]))


def dealt(rows: Examples, split: str, seed: int) -> list[Examples]:
    """The rows dealt to parties at random, by a public seed, in the percentages of `split`, such as 15,20,20,20,25."""
    return [Examples(rows.X[part], rows.y[part]) for part in deal(len(rows), parse_split(split), seed)]


def error(weights: Sequence[float], test: Examples) -> float:
    """The fraction of test rows that these weights misclassify."""
    return float(np.mean(classify(weights, test.X) != test.y))


def errors(
    trained: Trained,
    test: Examples,
    epsilon: Fraction,
    calibration: Calibration,
    noise: PureNoiseName = "knorm",
    *,
    repeats: int,
    rng: Stream,
) -> NDArray[np.float64]:
    """Test errors of `repeats` releases of the same models with fresh noise, shape (repeats,).

    Streams with the same key give the same directions and, but for their scale, the same lengths of K-norm noise at
    every epsilon and calibration, so that curves can be compared point by point.
    """
    settings = replace(trained.settings, epsilon=epsilon, calibration=calibration, noise=noise)
    law = settings.noise_of(trained.smallest, trained.parties, len(trained.total))
    weights = np.array([trained.weights(law.sample(rng)) for _ in range(repeats)])
    wrong = classify(weights.T, test.X) != test.y[:, np.newaxis]  # a column for each release
    return np.asarray(wrong.mean(axis=0))
