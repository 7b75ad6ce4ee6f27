"""Pathak, Rane and Raj (NIPS 2010): averaged local classifiers, noise of the smallest party, shares for all.

What each party does alone before the protocol (section 3.1), and what a test participant, Dave, does with the
published shares (section 3.3). What lies between is `smc_dp.aggregation`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from protocols.arithmetic.rng import Stream
from smc_dp.aggregation import Contribution
from smc_dp.data.preprocess import Examples
from smc_dp.errors import InputError
from smc_dp.learning.objective import RegularisedLogistic
from smc_dp.learning.solver import PUBLIC_TAU, minimise
from smc_dp.privacy import pathak2010 as calibrated
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.noise import DiscreteLaplace, KNorm
from smc_dp.privacy.pathak2010 import Calibration, PureNoiseName
from smc_dp.privacy.sensitivity import largest_norm
from smc_dp.privacy.statement import PrivacyStatement

LOWEST, HIGHEST = Fraction(1, 10**9), Fraction(10**6)
FRACTION_BITS, RING_BITS = 40, 64


@dataclass(frozen=True)
class Settings:
    """What all parties agree on before they train: the privacy wanted, the objective, the grid.

    `epsilon` and `lam` (the lambda of the paper's objective (2)) lie in [1e-9, 1e6]. `as_printed` is for the printed
    steps, which multiply the noise by K themselves, so that it is drawn for the mean. Raises InputError otherwise.
    """

    epsilon: Fraction = Fraction(1)
    lam: Fraction = Fraction(1, 10)
    calibration: Calibration = "proven"
    noise: PureNoiseName = "knorm"
    grid: Grid = field(default_factory=lambda: Grid(FRACTION_BITS, RING_BITS))
    as_printed: bool = False

    def __post_init__(self) -> None:
        for name, value in (("epsilon", self.epsilon), ("lambda", self.lam)):
            if value <= 0:
                raise InputError(f"{name}: must be positive, got {float(value):g}")
            if not LOWEST <= value <= HIGHEST:
                raise InputError(f"{name}: wanted a number from {float(LOWEST):g} to {float(HIGHEST):g}")
        if self.as_printed and self.calibration != "paper":
            raise InputError("calibration: the steps as printed go with the noise as printed, `calibration` paper")

    @property
    def objective(self) -> RegularisedLogistic:
        """Objective (2) of the paper, with the float nearest to lambda."""
        return RegularisedLogistic(float(self.lam))

    def noise_of(self, n: int, parties: int, dimension: int) -> KNorm | DiscreteLaplace:
        """The noise that a party with n rows draws, in grid units: that of the sum of all models, unless as printed."""
        models = 1 if self.as_printed else parties  # the printed steps multiply by K themselves
        return calibrated.noise_for(
            n, parties=models, dimension=dimension, epsilon=self.epsilon, lam=self._trained_lam,
            calibration=self.calibration, noise=self.noise, grid=self.grid, tau=PUBLIC_TAU,
        )  # fmt: skip

    def guarantee(self, parties: int, dimension: int) -> PrivacyStatement:
        """What a release under these settings truly guarantees."""
        return calibrated.guarantee(
            parties=parties, dimension=dimension, epsilon=self.epsilon, lam=self._trained_lam,
            calibration=self.calibration, noise=self.noise, grid=self.grid, tau=PUBLIC_TAU,
        )  # fmt: skip

    @property
    def _trained_lam(self) -> Fraction:
        # Sensitivity is that of the objective really minimised, whose lambda is a float.
        return Fraction(self.objective.lam)


def check_fit(name: str, data: Examples, parties: int, settings: Settings) -> None:
    """Raises InputError when the party has too many rows, or when K models and its noise could exceed the ring.

    This depends on public figures and on the party's own number of rows, not on what the rows say.
    """
    n, d = data.X.shape
    if n > calibrated.LARGEST_N:
        raise InputError(f"party {name}: wanted at most {calibrated.LARGEST_N} rows, got {n}")
    tail = settings.noise_of(n, parties, d).tail() * (parties if settings.as_printed else 1)
    longest = largest_norm(settings.objective.mu) + PUBLIC_TAU / settings.objective.mu
    largest_weight = math.ceil(Fraction(longest) * (1 << settings.grid.fraction_bits)) + 1
    if parties * largest_weight + tail >= 1 << (settings.grid.ring_bits - 1):
        raise InputError(
            f"party {name}: weights and noise are too large for the grid of {settings.grid.ring_bits} bits; "
            "raise epsilon or lambda, or give the party more rows"
        )


def local(name: str, data: Examples, parties: int, settings: Settings, rng: Stream) -> Contribution:
    """One party's part before the protocol: train, put the weights on the grid, draw the noise of the sum.

    Raises InputError as `check_fit` does.
    """
    check_fit(name, data, parties, settings)
    n, d = data.X.shape
    weights = settings.grid.encode(minimise(settings.objective, data.X, data.y).weights.tolist())
    return Contribution(name, n, tuple(weights), tuple(settings.noise_of(n, parties, d).sample(rng)))


def open_release(shares: Mapping[str, Sequence[int]], grid: Grid) -> list[float]:
    """Dave adds the published shares, d integers of each party and of the curator, and divides by K."""
    total = [sum(column) for column in zip(*shares.values(), strict=True)]
    return grid.decode(total, divisor=len(shares) - 1)


def classify(weights: Sequence[float] | NDArray[np.float64], X: NDArray[np.float64]) -> NDArray[np.float64]:
    """The testing phase: -1.0 where t = 1/(1 + e^(-w.x)) is at most 1/2, else +1.0; X: (n, d), result: (n,).

    t <= 1/2 if and only if w.x <= 0. The sign is looked at, because t itself rounds to 1/2 for tiny
    positive w.x.
    """
    return np.where(np.asarray(X) @ np.asarray(weights) > 0, 1.0, -1.0)


def accuracy(predicted: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """The fraction of labels that were predicted."""
    return float(np.mean(predicted == y))
