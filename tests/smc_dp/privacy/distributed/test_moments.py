"""A replaced record moves counts, sums and weighted squares by at most what is proved, and hardly less."""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from smc_dp.privacy.distributed.moments import MOMENT_UNIT, SQUARE_WEIGHT, RecordReach, weigh_squares

U = MOMENT_UNIT


def farthest(z: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> float:
    """The largest squared distance of two numbers with their squares, in exact integers, in parts of 4 U^2."""
    square = weigh_squares(z) - weigh_squares(other)
    return float(max(int(a) ** 2 + int(b) ** 2 for a, b in zip(z - other, square, strict=True)) / (4 * U * U))


def pairs() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Pairs on a grid of both numbers, at and beside the ends, and around the largest value of the proof."""
    rng = np.random.default_rng(1)
    grid = np.linspace(-U, U, 161).astype(np.int64)
    one, other = (x.ravel() for x in np.meshgrid(grid, grid))
    near = np.concatenate([rng.integers(-U, U + 1, 20_000), U - rng.integers(0, 40, 20_000)])
    apart = np.concatenate([rng.integers(-U, U + 1, 20_000), -U + rng.integers(0, 40, 20_000)])
    at_most = (U - (sqrt(5) - 1) * U + rng.integers(-9, 9, 5_000)).astype(np.int64)
    return np.concatenate([one, near, np.full(5_000, U)]), np.concatenate([other, apart, at_most])


def test_numbers_reach_the_claim_and_never_pass_it() -> None:
    found = farthest(*pairs())
    assert 0.999 < found <= 1.0


def test_a_record_reaches_the_sum_of_its_columns() -> None:
    """Two records that differ in each column as far as they can."""
    w = float(SQUARE_WEIGHT)
    for levels, numbers, gaps in ((3, 0, 0), (0, 4, 0), (0, 0, 2), (2, 5, 1)):
        found = RecordReach(levels, numbers, gaps)
        reached = sqrt(2 * levels + 4 * numbers + (2 + w * w) * gaps)  # a number at an end, and an empty cell
        assert reached <= found.sensitivity <= reached * (1 + 1e-6)
        assert sqrt(levels + (1 + w * w) * (numbers + gaps)) <= found.longest


def test_squares_are_rounded_down_to_integers() -> None:
    z = np.array([0, 1, -U, U, U // 2])
    assert weigh_squares(z).tolist() == [0, 0, U * 213 // 128, U * 213 // 128, U * 213 // 512]
