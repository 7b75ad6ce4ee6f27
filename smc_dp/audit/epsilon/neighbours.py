"""The two neighbours that each method is audited on."""

from __future__ import annotations

from smc_dp.methods.neighbours import NeighbourPair
from smc_dp.methods.registry import METHODS
from smc_dp.privacy.target import Calibration


def pair(name: str, calibration: Calibration) -> NeighbourPair:
    """The neighbours of this method; KeyError for a name that is none."""
    return METHODS[name].neighbours(calibration)
