"""The true epsilon of noise, rounded up."""

from __future__ import annotations

from smc_dp.privacy.noise import DiscreteGaussian
from smc_dp.privacy.output import Calibrated
from smc_dp.privacy.statement import round_up


def rounded_epsilon(calibrated: Calibrated) -> float:
    """Return the true epsilon (rho for Gaussian noise), rounded up."""
    if isinstance(calibrated.distribution, DiscreteGaussian):
        return round_up(calibrated.distribution.rho(calibrated.sensitivity))
    return round_up(calibrated.distribution.epsilon(calibrated.sensitivity))
