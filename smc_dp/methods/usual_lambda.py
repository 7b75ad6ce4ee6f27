"""Usual lambda of a method, by a public rule of the numbers of rows, columns, the target and the parties.

The length of the noise on a mean of models has lambda in its denominator. With a small lambda the noise hides the
model, with a large one the models answer the most frequent class. The rule takes the lambda at which the noise is about
`NOISE_LENGTH` long, from `LEAST` to `MOST`, rounded to 1, 2 or 5 times a power of ten, so that it tells a number of
rows roughly. `python tests/make_lambda.py` chose it on Covertype, KDD 99 and synthetic rows, and has what came out on
other data. No row has a say in it.
"""

from __future__ import annotations

from fractions import Fraction
from math import log, sqrt

from smc_dp.methods.signal import PublicNumbers
from smc_dp.privacy.target import Target

NOISE_LENGTH = 0.5
"""Length of the noise on the mean that the rule wants, if a record moved the sum of models by 1/(2 lambda).

It moves it by up to 1.9 times as much.
"""
LEAST, MOST = Fraction(1, 1000), Fraction(1, 5)
"""Range of a lambda that the rule takes; the largest for noise as published."""
ASSUMED_ROWS = 300
"""Number of rows of each party, where the numbers are not public."""
OF_OTHERS = Fraction(1, 1000)
"""Lambda of the methods of which no noise on a mean of models is known."""
_STEPS = tuple(Fraction(digit, 10**e) for e in (3, 2, 1) for digit in (1, 2, 5))


def usual_lambda(method: str, run: PublicNumbers) -> Fraction:
    """Return the lambda of this method where none is given."""
    if method not in _ROWS:
        return OF_OTHERS
    if run.target.calibration == "paper":
        return MOST
    wanted = _noise_numbers(run.target, run.dimension * max(1, run.classes - 1)) / (
        2 * NOISE_LENGTH * _ROWS[method](run)
    )
    nearest = min(_STEPS, key=lambda step: abs(log(step / wanted)))
    return min(max(nearest, LEAST), MOST)


def _noise_numbers(target: Target, numbers: int) -> float:
    """Return about the length of noise in so many numbers, in parts of the sensitivity."""
    if target.noise in ("gauss", "ddg"):
        return sqrt(numbers) / float(target.mu)
    return numbers / float(target.wanted)


_ROWS = {
    "wsum": lambda run: run.rows * run.counted,
    "wsum_ar": lambda run: run.rows * run.counted,
    "prr_mean": lambda run: run.threat_model.parties * min(run.sizes),
}
"""Rows over which the noise of a mean is divided."""
