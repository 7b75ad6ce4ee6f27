"""Noise of the sums of least squares, and of inference: what is charged against a search of pairs of records."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize

from smc_dp.core.arrays import Array
from smc_dp.privacy.distributed.block_bound import BlockBound
from smc_dp.privacy.distributed.inference_sum import InferenceBound
from smc_dp.privacy.distributed.least_squares_sums import (
    CLIPPED_COST,
    RESIDUAL_MEAT_RATIO,
    SQUARE_RATIO,
    GramBound,
    ResidualBound,
)
from smc_dp.privacy.statement import RecordAdjacency

CHANGES: tuple[RecordAdjacency, ...] = ("replace", "addremove")


def rows(r: float, q: float, angle: float) -> tuple[Array, Array]:
    return r * np.array([1.0, 0.0]), q * np.array([np.cos(angle), np.sin(angle)])


def moved(weight: float, one: Array, other: Array) -> float:
    return float(weight * ((one - other) ** 2).sum())


def residual_cost(pair: Array, meat: float, square: float) -> float:
    """What two records with residuals a and b cost, made of the vectors themselves."""
    a, b, r, q, angle = pair
    x, y = rows(r, q, angle)
    of_meat = moved(meat, a * a * np.outer(x, x), b * b * np.outer(y, y))
    return moved(1, a * x, b * y) + of_meat + square * (a * a - b * b) ** 2


def gram_cost(pair: Array, matrix: float, products: float, square: float) -> float:
    """What two records with outcomes a and b cost."""
    a, b, r, q, angle = pair
    x, y = rows(r, q, angle)
    return moved(matrix, np.outer(x, x), np.outer(y, y)) + moved(products, a * x, b * y) + square * (a * a - b * b) ** 2


def largest(cost: Callable[..., float], *weights: float) -> float:
    """The largest cost that is found from corners and from random starts."""
    box = [(-1, 1), (-1, 1), (0, 1), (0, 1), (0, np.pi)]
    rng = np.random.default_rng(7)
    starts = [np.array([-1, a, 1, 1, angle]) for a in (0.2, 0.24, 0.3, 0.6, 0.65, 1) for angle in (0, 0.7, 1.5)]
    starts += [np.array([rng.uniform(low, high) for low, high in box]) for _ in range(20)]
    return max(-scipy.optimize.minimize(lambda p: -cost(p, *weights), s, bounds=box).fun for s in starts)


def test_two_residuals_cost_four_and_no_more() -> None:
    weights = (RESIDUAL_MEAT_RATIO, SQUARE_RATIO)
    ratios = [float(ratio) for ratio in weights]
    assert 4 * 0.999 < largest(residual_cost, *ratios) <= 4 + 1e-9
    assert [block.ratio for block in ResidualBound("replace", 2).blocks] == [1, *weights, CLIPPED_COST]
    assert largest(residual_cost, 0.5, 2.4) > 4.01  # ratios that are not free, found by the same search


def test_a_lone_residual_costs_no_more_than_is_said() -> None:
    assert ResidualBound("addremove", 2).worst == 1 + RESIDUAL_MEAT_RATIO + SQUARE_RATIO + CLIPPED_COST
    assert ResidualBound("replace", 2).worst == 4 + CLIPPED_COST
    for u in np.linspace(0, 1, 101):
        assert residual_cost(np.array([u, 0, 1, 0, 0]), 0.5, 2.27) <= 3.77 + 1e-9


def test_two_records_of_a_gram_matrix_cost_two_and_no_more() -> None:
    bound = GramBound("replace", 2)
    ratios = [float(block.ratio) for block in bound.blocks[:3]]
    assert 2 * 0.999 < largest(gram_cost, *ratios) <= 2 + 1e-9
    assert bound.worst == 2
    assert GramBound("addremove", 2).worst == 1
    assert gram_cost(np.array([1, 0, 1, 0, 0]), *ratios) == pytest.approx(1)
    assert largest(gram_cost, ratios[0], 1.2 * ratios[1], ratios[2]) > 2.001


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("d", [1, 2, 9])
@pytest.mark.parametrize("mu_squared", [Fraction(1, 10**6), Fraction(1, 7), Fraction(30)], ids=str)
def test_it_costs_what_was_asked_for_and_no_more(change: RecordAdjacency, d: int, mu_squared: Fraction) -> None:
    above = [d * (d - 1) // 2] if d > 1 else []
    bounds: dict[BlockBound, list[int]] = {
        GramBound(change, d): [d, *above, d, 1, 1],
        ResidualBound(change, d): [d, d, *above, 1, 1],
        InferenceBound(change, d): [d, d, *above, d, *above, 1],
    }
    for bound, lengths in bounds.items():
        shares = bound.distributions(mu_squared, 3)
        assert [of.dimension for of in shares] == lengths
        assert mu_squared * (1 - Fraction(1, 10**6)) < bound.cost(shares) <= mu_squared
        for i in range(len(shares)):  # twins: any block with less noise costs more
            less = tuple(
                type(of)(of.dimension, of.honest, of.variance * Fraction(1 if i != j else 9, 1 if i != j else 10))
                for j, of in enumerate(shares)
            )
            assert bound.cost(less) > mu_squared * Fraction(11, 10)
