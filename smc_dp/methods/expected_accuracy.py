"""Expected accuracy: the loss that noise will cause, from public numbers alone, before anything is spent.

What is lost, in parts of 1 - 1/k, follows one pair of curves for two classes and one for more, whatever the method:
with x the signal of `smc_dp.methods.signal`, and for more classes x = 8 signal/sqrt(d(k-1)),

    high = top/(1 + (x/middle)^power) + .01,    low = -slack/(1 + x/200) - .01.

The constants are quantiles, 2 % and 98 %, of what single releases lost in 1,194 settings (`tests/make_band.py`):
nothing is proved here. Where n mu/sqrt(d(k-1)) is above 100, a band of `newton` or `gd` is cut to a width of .05, about
a fifth of what may be lost: it then has the loss less often with three and more classes, most of all below 250.
`README.md` has what came out on other settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from smc_dp.methods.signal import SIGNAL_LAMBDA, PublicNumbers, method_signal
from smc_dp.privacy.target import Target

MOST_CUT_WIDTH, LEAST_CUT_SIGNAL = 0.05, 100.0
"""Largest width of an interval that is cut, and the signal above which intervals are cut."""
_LIKELY_DIVISOR = 5.0
"""Most that may be lost, divided by what is likely: an interval that is cut is centred on a fifth of the most."""


@dataclass(frozen=True)
class AccuracyInterval:
    """Accuracy interval, from `low` to `high`: the loss against the same method without noise on the same rows.

    Of one release, on rows that were held out. `low` may be below 0: noise may happen to help.
    """

    low: float
    high: float

    @property
    def width(self) -> float:
        """Width of the interval."""
        return self.high - self.low

    def __contains__(self, lost: float) -> bool:
        """Tell whether this loss lies in the interval."""
        return self.low <= lost <= self.high


@dataclass(frozen=True)
class FallingCurve:
    """Curve top/(1 + (x/middle)^power)."""

    top: float
    middle: float
    power: float

    def at(self, x: float) -> float:
        """Return the value at x, 0 or more."""
        return float(self.top / (1 + (x / self.middle) ** self.power))


@dataclass(frozen=True)
class LossCurves:
    """Bounds of the accuracy lost, by signal x, the same for all methods, in parts of 1 - 1/k.

    `slack`: of the lower curve, -slack/(1 + x/200).
    """

    upper: FallingCurve
    slack: float

    def evaluate(self, x: float) -> tuple[float, float]:
        """Return the lower and the upper curve at x, each moved outwards by `CURVE_MARGIN`."""
        return -self.slack / (1 + x / LOWER_MIDDLE) - CURVE_MARGIN, self.upper.at(x) + CURVE_MARGIN


_TWO = LossCurves(FallingCurve(1.5, 9.08, 1.26), 0.01)
_MORE = LossCurves(FallingCurve(0.915, 10.0, 1.02), 0.0)
CURVE_MARGIN = 0.01
"""Margin beyond the curves: accuracies are counted on a few hundred rows, or a few thousand."""
LOWER_MIDDLE = 200.0
"""Signal at which the lower curve has come half of its way to 0."""
_UNTRIED_MULTICLASS_METHODS = ("wsum", "wsum_ar")
"""Methods without curves for three and more classes: no setting that was drawn has such a model."""


def accuracy_interval(method: str, run: PublicNumbers) -> AccuracyInterval:
    """Return the interval of one release's loss, which holds in nine of ten settings like those that were tried."""
    found = method_signal(method, run)
    curves, most = _TWO if run.classes == 2 else _MORE, 1 - 1 / run.classes
    if run.classes > 2 and method in _UNTRIED_MULTICLASS_METHODS:
        return AccuracyInterval(-MOST_CUT_WIDTH / 2, most)
    low, high = (most * part for part in curves.evaluate(curve_position(found, run.dimension, run.classes)))
    everybody = found / run.counted
    if (
        method in ("newton", "gd") and everybody > LEAST_CUT_SIGNAL
    ):  # no wider than this, and no higher with more signal
        least = high / _LIKELY_DIVISOR - MOST_CUT_WIDTH / 2
        low, high = max(low, least), min(high, MOST_CUT_WIDTH + max(most * curves.evaluate(0.0)[0], least))
    return AccuracyInterval(low, high)


def curve_position(method_signal: float, dimension: int, classes: int) -> float:
    """Return the x of the curves for a signal."""
    return method_signal if classes == 2 else 8 * method_signal / sqrt(dimension * (classes - 1))


@dataclass(frozen=True)
class ExpectedAccuracy:
    """Expected accuracy of a release: its signal, and the interval of the accuracy lost."""

    signal: float
    interval: AccuracyInterval

    def as_dict(self) -> dict[str, float]:
        """Return plain values for JSON."""
        return {"signal": self.signal, "low": self.interval.low, "high": self.interval.high}


def expected_accuracy(
    method: Any, target: Target, terms: Any, sizes: Sequence[int], dimension: int, classes: int
) -> ExpectedAccuracy | None:
    """Return the expected accuracy of a method under these protocol settings, with so many rows of each party.

    None for noise as published, and for noise that each party draws as if it were alone: no figures were made for them.
    """
    if target.epsilon is None or target.calibration != "proven" or target.noise == "self":
        return None
    lam = getattr(method, "lam", SIGNAL_LAMBDA)
    run = PublicNumbers(tuple(sizes), dimension, classes, target, terms.threat_model(len(sizes)), lam)
    return ExpectedAccuracy(method_signal(method.name, run), accuracy_interval(method.name, run))
