"""Make the constants of `smc_dp.methods.expected_accuracy`, and try them: `python tests/make_band.py make RESULTS`, or
`try`.

`make` runs the first 1,400 settings of kind "design" and prints the constants that they give; `try` runs the 200 trials
and prints the tables of `smc_dp/planning/README.md`. Both need the data sets (`SMC_DP_DATA`) and take minutes; what
single releases lost is added to the file RESULTS, so that what was stopped goes on. Everything follows from seeds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

sys.path.insert(0, str(Path(__file__).parents[1]))  # before tests/, whose protocols/ is another folder

from support.drawn_settings import DESIGN, TRIAL, TRIALS
from support.noise_losses import NoiseLoss, kept, tables

from smc_dp.core.arrays import Array
from smc_dp.methods.expected_accuracy import CURVE_MARGIN, LOWER_MIDDLE, FallingCurve, LossCurves, curve_position

SETTINGS = 1_400
OUTSIDE = 0.02
"""The part of the design settings that shall lie above the band, and the part below it."""
FITTED = ("newton", "gd", "wsum", "prr_mean")
"""The methods whose losses make the curves: the others are few, and follow from these."""


def main(command: str, path: Path) -> None:
    """As the docstring of the module says."""
    if command == "try":
        print("\n".join(tables(kept(TRIAL, TRIALS, path))))
        return
    found = [loss for loss in kept(DESIGN, SETTINGS, path) if loss.method in FITTED]
    for classes, some in ((2, [f for f in found if f.classes == 2]), (3, [f for f in found if f.classes > 2])):
        print(f"{classes} classes{' and more' if classes > 2 else ''}, {len(some)} settings: {fitted(some)}")


def fitted(losses: Sequence[NoiseLoss]) -> LossCurves:
    """The curves by quantile regression.

    Sums of |miss|, times 1 - q on one side and q on the other, in parts of what is lost there.
    """
    x = np.array([max(1e-6, curve_position(loss.signal, loss.dimension, loss.classes)) for loss in losses])
    z = np.array([loss.lost / (1 - 1 / loss.classes) for loss in losses])
    weights = 1 / (0.01 + 1 / (1 + (x / 10) ** 0.9))

    def missed(curve: Array, quantile: float) -> float:
        above = z - curve
        return float((weights * np.where(above >= 0, quantile * above, (quantile - 1) * above)).sum())

    def high(t: Array) -> float:
        return missed(np.exp(t[0]) / (1 + (x / np.exp(t[1])) ** np.exp(t[2])) + CURVE_MARGIN, 1 - OUTSIDE)

    def low(t: Array) -> float:
        return missed(-np.exp(t[0]) / (1 + x / LOWER_MIDDLE) - CURVE_MARGIN, OUTSIDE)

    found = (*_best(high, [[0, s, 0] for s in (1, 2, 3)]), *_best(low, [[-4]]))
    *upper, slack = (round(float(f"{number:.3g}"), 4) for number in found)
    return LossCurves(FallingCurve(*upper), slack)


def _best(missed: Callable[[Array], float], starts: Sequence[Sequence[float]]) -> Array:
    options = {"maxiter": 6000, "xatol": 1e-3, "fatol": 1e-4}
    found = [minimize(missed, start, method="Nelder-Mead", options=options) for start in starts]
    best: Array = np.exp(min(found, key=lambda one: float(one.fun)).x)
    return best


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
