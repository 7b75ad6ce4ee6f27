"""Estimates with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

INTERVAL_LEVEL = 0.95
"""Probability with which an interval covers, one by one."""
QUANTILE = 1.959963984540054
"""Standard errors on either side of an estimate: the quantile of a Gaussian at (1 + level)/2."""
FEWEST_ERRORS = 5.0
"""Standard errors that a noisy number of cells needs to be divided by."""


@dataclass(frozen=True)
class Estimate:
    """Estimate with the ends of its interval.

    `hidden`: the noise hides the figure. The ends hold then, and the estimate is the low one, which nobody may state.
    """

    estimate: float
    low: float
    high: float
    hidden: bool = False

    @classmethod
    def with_error(cls, estimate: float, error: float) -> Estimate:
        """Return the estimate with the interval that a Gaussian of this standard error gives."""
        return cls(estimate, estimate - QUANTILE * error, estimate + QUANTILE * error)

    def scaled(self, factor: float, shift: float = 0.0) -> Estimate:
        """Return the estimate in another unit: times a factor above 0, plus a shift."""
        estimate, low, high = (factor * value + shift for value in (self.estimate, self.low, self.high))
        return Estimate(estimate, low, high, self.hidden)

    def minus(self, other: Estimate) -> Estimate:
        """Return the difference from another estimate, whose error is independent; both intervals are symmetric."""
        half, others = (self.high - self.low) / 2, (other.high - other.low) / 2
        half = sqrt(half * half + others * others)
        found = self.estimate - other.estimate
        return Estimate(found, found - half, found + half)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"estimate": None if self.hidden else self.estimate, "low": self.low, "high": self.high}
