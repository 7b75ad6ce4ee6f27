"""Quality of a release that predicts a number, on rows whose outcomes are known.

As those of `smc_dp.run.metrics` the figures are exact, and stay with the owner of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

import numpy as np

from smc_dp.core.arrays import OUTCOME_BITS, Array, IntArray
from smc_dp.data.bounds import Bounds


@dataclass(frozen=True)
class RegressionMetrics:
    """Figures of predicted numbers on rows with outcomes, in the units of the outcome.

    rows: their number. rmse: root of the mean squared error; base_rmse: that of always predicting the mean of these
    rows. r_squared: 1 - (rmse/base_rmse)^2, None where all outcomes are the same. slope, intercept: of the outcome on
    the prediction by least squares; 1 and 0 are calibrated. None where all predictions are the same.
    """

    rows: int
    rmse: float
    base_rmse: float
    r_squared: float | None
    slope: float | None
    intercept: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class RegressionComparison:
    """Figures of a simulation on test rows: of the release, and rmse of least squares without noise on all rows.

    alone: rmse of each party's own least squares without noise. Only a simulation has the rows of everybody.
    """

    metrics: RegressionMetrics
    pooled: float
    alone: Mapping[str, float]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def measure_regression(outcomes: Array, predicted: Array) -> RegressionMetrics:
    """Measure predictions on rows with these outcomes, both (n,), n > 0."""
    error, spread = _root_mean_square(outcomes - predicted), float(outcomes.std())
    about = predicted - predicted.mean()
    slope = float(about @ outcomes / (about @ about)) if predicted.std() > 0 else None
    return RegressionMetrics(
        rows=len(outcomes),
        rmse=error,
        base_rmse=spread,
        r_squared=1 - (error / spread) ** 2 if spread else None,
        slope=slope,
        intercept=None if slope is None else float(outcomes.mean() - slope * predicted.mean()),
    )


def decode_outcomes(y: IntArray, bounds: Bounds) -> Array:
    """Return outcomes of `Rows` in their own units."""
    low, high = bounds.outcome or (0.0, 0.0)
    found: Array = low / 2 + high / 2 + np.ldexp(y.astype(np.float64), -OUTCOME_BITS) * (high / 2 - low / 2)
    return found


def least_squares_error(X: Array, y: Array, test: Array, outcomes: Array) -> float:
    """Return the rmse on test rows of least squares, the shortest of all solutions, on rows X with outcomes y."""
    weights = np.linalg.lstsq(X, y, rcond=None)[0]
    return _root_mean_square(outcomes - test @ weights)


def _root_mean_square(errors: Array) -> float:
    return sqrt(float(np.mean(errors**2)))
