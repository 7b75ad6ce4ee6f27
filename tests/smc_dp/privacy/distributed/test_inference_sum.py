"""Noise of the sum of inference: what is charged against all shares of the table, and against a search of pairs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from smc_dp.core.arrays import Array
from smc_dp.privacy.distributed.inference_sum import COUNT_RATIO, HESSIAN_RATIO, MEAT_RATIO, InferenceBound
from tests.smc_dp.privacy.distributed.test_least_squares_sums import largest

ONE = 1 << 12


def cost(pair: Array, hessian: float, meat: float) -> float:
    """What two records cost, of rows (cos, sin) r with signed residuals: made of the vectors themselves."""
    a, b, r, q, angle = pair
    x, y = r * np.array([1.0, 0.0]), q * np.array([np.cos(angle), np.sin(angle)])
    found = ((a * x - b * y) ** 2).sum()
    for weight, one, other in ((hessian, abs(a) * (1 - abs(a)), abs(b) * (1 - abs(b))), (meat, a * a, b * b)):
        found += weight * ((one * np.outer(x, x) - other * np.outer(y, y)) ** 2).sum()
    return float(found)


def test_two_records_cost_four_and_no_more() -> None:
    found = largest(cost, float(HESSIAN_RATIO), float(MEAT_RATIO))
    assert 4 * 0.999 < found <= 4 + 1e-9
    assert (InferenceBound("replace", 2).worst, InferenceBound("addremove", 2).worst) == (4, Fraction(8, 5))
    assert largest(cost, 26, 0.5) > 4.05  # ratios that are not free, found by the same search


def test_what_the_proof_says_of_whole_rows_holds_for_every_share() -> None:
    for s in range(ONE + 1):
        a = Fraction(s, ONE)
        H = a * (1 - a)
        assert 3 * a**2 / 2 + HESSIAN_RATIO * H**2 + MEAT_RATIO * a**4 <= 2
        assert (1 + a) ** 2 + HESSIAN_RATIO * H**2 + MEAT_RATIO * (1 - a**2) ** 2 <= 4
        assert a**2 + HESSIAN_RATIO * H**2 + MEAT_RATIO * a**4 < Fraction(8, 5)  # and with a count, at most 4
    assert Fraction(8, 5) + COUNT_RATIO <= 4
    assert Fraction(8, 5) >= COUNT_RATIO  # one that is left out and added
