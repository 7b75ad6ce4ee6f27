"""What public figures say of a release of so many rows: its signal against noise, and the accuracy that noise costs.

Runs look here as plans do, so that both say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from smc_dp.plans.band import Band, band
from smc_dp.plans.signal import LAMBDA, signal
from smc_dp.privacy.target import Target


@dataclass(frozen=True)
class Outlook:
    """How far the release stands out of the noise, and the accuracy lost to it."""

    signal: float
    band: Band

    def as_dict(self) -> dict[str, float]:
        """Plain values for JSON."""
        return {"signal": self.signal, "low": self.band.low, "high": self.band.high}


def outlook(
    method: Any, target: Target, terms: Any, sizes: Sequence[int], dimension: int, classes: int
) -> Outlook | None:
    """Of this method under these terms of its protocol, with so many rows of each party.

    None for noise as printed, and for noise that each party draws as if it were alone: no figures were made for them.
    """
    if target.epsilon is None or target.calibration != "proven" or target.noise == "self":
        return None
    numbers = (
        method.name, sizes, dimension, classes, target,
        getattr(terms, "colluders", 0), getattr(terms, "dropouts", 0), getattr(method, "lam", LAMBDA),
    )  # fmt: skip
    return Outlook(signal(*numbers), band(*numbers))
