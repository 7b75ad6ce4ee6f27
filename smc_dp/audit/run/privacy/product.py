"""The law of four times a product of two independent Gamma numbers: the squared length of a Gaussian vector whose
variance is twice a Gamma number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv, gammaln

_POINTS = 4001
_LEFT_OUT = 1e-16  # of the second number, at either end


@dataclass(frozen=True)
class Product:
    """4 X Y, X of the one and Y of the other shape. Chances are means over Y, on an even grid of its logarithm."""

    one: float
    other: float

    def chance(self, value: float, *, below: bool) -> float:
        """That the product is at most this, or at least."""
        points, weights = self._grid
        tail = gammainc if below else gammaincc
        return float(np.sum(weights * tail(self.one, value / (4 * points))))

    def quantile(self, chance: float, *, below: bool) -> float:
        """The value at or below which, or from which on, the product lies with this chance."""
        low, high = 1e-300, 1e300
        for _ in range(200):  # of its logarithm, until the ends agree
            middle = float(np.sqrt(low) * np.sqrt(high))
            if (self.chance(middle, below=below) < chance) == below:
                low = middle
            else:
                high = middle
        return low if below else high

    @cached_property
    def _grid(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Values of Y and their weights, which come to 1."""
        ends = gammaincinv(self.other, _LEFT_OUT), gammainccinv(self.other, _LEFT_OUT)
        logs = np.linspace(np.log(max(ends[0], 1e-300)), np.log(ends[1]), _POINTS)
        points = np.exp(logs)
        weights = np.exp(self.other * logs - points - gammaln(self.other)) * (logs[1] - logs[0])
        return points, weights / np.sum(weights)
