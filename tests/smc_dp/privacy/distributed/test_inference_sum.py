"""Noise of the sum of inference: what is charged against all shares of the table, and against a search of pairs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize

from smc_dp.core.arrays import Array
from smc_dp.privacy.distributed.inference_sum import COUNT_RATIO, HESSIAN_RATIO, MEAT_RATIO, InferenceBound
from smc_dp.privacy.statement import RecordAdjacency

ONE = 1 << 12
CHANGES: tuple[RecordAdjacency, ...] = ("replace", "addremove")


def cost(pair: Array, hessian: float, meat: float) -> float:
    """What two records cost, of rows (cos, sin) r with signed residuals: made of the vectors themselves."""
    a, b, r, q, angle = pair
    x, y = r * np.array([1.0, 0.0]), q * np.array([np.cos(angle), np.sin(angle)])
    found = ((a * x - b * y) ** 2).sum()
    for weight, one, other in ((hessian, abs(a) * (1 - abs(a)), abs(b) * (1 - abs(b))), (meat, a * a, b * b)):
        found += weight * ((one * np.outer(x, x) - other * np.outer(y, y)) ** 2).sum()
    return float(found)


def search(hessian: float, meat: float) -> float:
    """The largest cost that is found from corners and from random starts."""
    box = [(-1, 1), (-1, 1), (0, 1), (0, 1), (0, np.pi)]
    rng = np.random.default_rng(7)
    starts = [np.array([-1, a, 1, 1, angle]) for a in (0.3, 0.6, 0.65, 1) for angle in (0, 0.7, 1.5)]
    starts += [np.array([rng.uniform(low, high) for low, high in box]) for _ in range(20)]
    return max(-scipy.optimize.minimize(lambda p: -cost(p, hessian, meat), s, bounds=box).fun for s in starts)


def test_two_records_cost_four_and_no_more() -> None:
    found = search(float(HESSIAN_RATIO), float(MEAT_RATIO))
    assert 4 * 0.999 < found <= 4 + 1e-9
    assert search(26, 0.5) > 4.05  # ratios that are not free, found by the same search


def test_what_the_proof_says_of_whole_rows_holds_for_every_share() -> None:
    for s in range(ONE + 1):
        a = Fraction(s, ONE)
        H = a * (1 - a)
        assert 3 * a**2 / 2 + HESSIAN_RATIO * H**2 + MEAT_RATIO * a**4 <= 2
        assert (1 + a) ** 2 + HESSIAN_RATIO * H**2 + MEAT_RATIO * (1 - a**2) ** 2 <= 4
        assert a**2 + HESSIAN_RATIO * H**2 + MEAT_RATIO * a**4 < Fraction(8, 5)  # and with a count, at most 4
    assert Fraction(8, 5) + COUNT_RATIO <= 4
    assert Fraction(8, 5) >= COUNT_RATIO  # one that is left out and added


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("d", [1, 2, 9])
@pytest.mark.parametrize("mu_squared", [Fraction(1, 10**6), Fraction(1, 7), Fraction(30)], ids=str)
def test_it_costs_what_was_asked_for_and_no_more(change: RecordAdjacency, d: int, mu_squared: Fraction) -> None:
    bound = InferenceBound(change, d)
    shares = bound.distributions(mu_squared, 3)
    beside = [d * (d - 1) // 2] if d > 1 else []
    assert [of.dimension for of in shares] == [d, d, *beside, d, *beside, 1]
    assert mu_squared * (1 - Fraction(1, 10**6)) < bound.cost(shares) <= mu_squared
    # Twins: any block with less noise costs more.
    for i, of in enumerate(shares):
        less = tuple(
            type(of)(one.dimension, one.honest, one.variance * Fraction(1 if i != j else 9, 1 if i != j else 10))
            for j, one in enumerate(shares)
        )
        assert bound.cost(less) > mu_squared * Fraction(11, 10)


@pytest.mark.parametrize(("change", "d"), [("other", 2), ("replace", 0)])
def test_bounds_that_make_no_sense_are_refused(change: RecordAdjacency, d: int) -> None:
    with pytest.raises(ValueError, match=r"wanted|adjacency"):
        InferenceBound(change, d)
