"""The experiment behind Figure 2 of Pathak, Rane and Raj (NIPS 2010): test error by split and epsilon.

Models are trained once; each repetition draws new noise, exactly as the smallest party would. One process holds
everybody's rows and looks at test labels, so nothing here is private, and nothing here is for release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protocols.arithmetic.rng import Stream
from smc_dp.data.preprocess import Examples
from smc_dp.learning.solver import minimise
from smc_dp.methods.pathak2010 import Settings, accuracy, classify


@dataclass(frozen=True, eq=False)
class Trained:
    """Models of all parties, trained without noise.

    `settings` they were trained under; `parties` is K; `smallest` the fewest rows that a party has; `total` the sum
    of the K models on the grid, d signed integers.
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
    X, y = (np.concatenate(parts) for parts in zip(*((data.X, data.y) for data in parties), strict=True))
    return Examples(X, y)


def error(weights: Sequence[float], test: Examples) -> float:
    """The fraction of test rows that these weights misclassify."""
    return 1 - accuracy(classify(weights, test.X), test.y)


def errors(
    trained: Trained, test: Examples, settings: Settings, repeats: int, rng: Stream
) -> NDArray[np.float64]:
    """Test errors of `repeats` releases with fresh noise under `settings`, shape (repeats,).

    Raises ValueError when the models were trained under another lambda or grid.
    """
    before = trained.settings
    if (settings.lam, settings.grid) != (before.lam, before.grid):
        raise ValueError(f"settings: wanted lambda {before.lam} and {before.grid}, as trained")
    noise = settings.noise_of(trained.smallest, trained.parties, len(trained.total))
    return np.array([error(trained.weights(noise.sample(rng)), test) for _ in range(repeats)])
