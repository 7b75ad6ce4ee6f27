"""Expected gain: how much more accurate the release is than a model of a party's own rows, from public numbers alone.

In parts of 1 - 1/k, a model of n rows lacks this much accuracy against one of very many rows,

    lacks(n) = top/(1 + (r/middle)^power),    r = n/(d(k-1)), the rows for each weight,

and noise costs a release with the x of `smc_dp.methods.expected_accuracy` about cost/(1 + (x/middle)^power). A party of
n rows gains lacks(n) - lacks(all rows) - what noise costs, and of methods but `newton` nothing is known. `python
tests/make_gain.py` made the constants from releases of `newton` and cross-validated models of single parties, on
Covertype, KDD 99 and synthetic rows, and tries them on others. Nothing is proved here: `smc_dp/planning/README.md` says
how often the advice was right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from smc_dp.methods.expected_accuracy import FallingCurve, curve_position

GainAdvice: TypeAlias = Literal["stay alone", "as good alone", "take part"]
AS_GOOD = 0.01
"""Gain, up or down, below which a party is as good alone."""


METHOD_OF_GAIN = "newton"
"""Method from whose releases the curves were made, and of which alone a gain is expected."""
LACKS = FallingCurve(0.329, 1.02, 1.19)
NOISE_COSTS = FallingCurve(0.404, 14.3, 1.24)


@dataclass(frozen=True)
class ExpectedGain:
    """Expected accuracy of the release less that of a model of so many own rows."""

    rows: int
    gain: float

    @property
    def advice(self) -> GainAdvice:
        """Advice to the party."""
        if abs(self.gain) <= AS_GOOD:
            return "as good alone"
        return "take part" if self.gain > 0 else "stay alone"

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"rows": self.rows, "gain": self.gain, "advice": self.advice}


def expected_gain(own: int, rows: int, dimension: int, classes: int, signal: float) -> ExpectedGain:
    """Return the expected gain of a party with its own rows, of all rows, by a release with this signal."""
    weights = dimension * (classes - 1)
    noise = NOISE_COSTS.at(curve_position(signal, dimension, classes))
    gain = LACKS.at(own / weights) - LACKS.at(rows / weights) - noise
    return ExpectedGain(own, (1 - 1 / classes) * gain)
