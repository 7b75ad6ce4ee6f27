"""One party's model for objective (2) of Pathak, Rane and Raj (2010), section 3.1, and the noise that covers a record.

The objective is the mean log-loss plus lam |w|^2, so mu = 2 lam. One record replaced moves a model of n records by at
most G/(mu n).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from smc_dp.core.arrays import Array, IntArray
from smc_dp.data.federation import Federation, Rows, check_features
from smc_dp.methods.method import Method, check_rows_of_parties, require_two_classes
from smc_dp.methods.model import LinearModel
from smc_dp.methods.training.batch import train_all
from smc_dp.methods.training.solver import PUBLIC_TAU
from smc_dp.privacy.output import GRID, Calibrated, calibrate_noise
from smc_dp.privacy.pathak2010 import SmallestNoise
from smc_dp.privacy.sensitivity import replace_one
from smc_dp.privacy.target import Target

SIZES_CAVEAT = "The sizes of the data sets are constants of the neighbourhood: they are not protected."


def model_of(rows: Rows, lam: float) -> list[int]:
    """Train one party's model on the grid: d integers."""
    return GRID.encode(binary_weights(rows.X, rows.y, lam).tolist())


def binary_weights(X: Array, y: IntArray, lam: float) -> Array:
    """Minimise the mean log-loss of two classes plus lam |w|^2: (d,); InputError for rows outside the unit ball."""
    check_features(X, None, "rows")
    weights: Array = train_all([(X, y)], 2, 2 * lam)[0, 0]
    return weights


def models_of(federation: Federation, method: Method, lam: float) -> Array:
    """Train every party's model: (K, d); InputError unless there are two classes, or for too many rows."""
    require_two_classes(federation.classes, method)
    check_rows_of_parties(federation)
    return train_all([(rows.X, rows.y) for rows in federation.parties], 2, 2 * lam)[:, 0]


def model_noise(target: Target, n: int, dimension: int, lam: float, parties: int = 1) -> Calibrated | None:
    """Return the noise of a sum of models when one of n records of a model is replaced; None for no noise."""
    if target.epsilon is None:
        return None
    delta = replace_one(n, 2 * Fraction(lam), PUBLIC_TAU)
    calibrated = calibrate_noise(target, dimension, delta)
    if target.noise not in ("knorm", "laplace"):
        return calibrated
    of_smallest = SmallestNoise(
        parties, dimension, target.epsilon, Fraction(lam), target.calibration, target.noise, GRID, PUBLIC_TAU
    )
    return Calibrated(of_smallest.distribution(n), calibrated.sensitivity)


def binary(w: Array) -> LinearModel:
    """Return the model of weights w: (d,) of the second class against the first."""
    return LinearModel.from_coordinates(w[np.newaxis], 2)
