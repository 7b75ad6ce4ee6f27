"""Quantiles of bins are where they are in the cells, and their intervals cover at least as often as they say."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

from smc_dp.methods.statistics import quantiles
from smc_dp.methods.statistics.estimate import Estimate
from smc_dp.methods.statistics.quantiles import QUANTILES, BinCounts

EDGES = tuple(float(edge) for edge in range(0, 105, 5))
RNG = np.random.default_rng(6)
CELLS = RNG.gamma(6, 7, 5000).clip(0, 100)
EMPTY = 400


def true_quantiles(cells: npt.NDArray[np.float64] = CELLS) -> dict[str, float]:
    return {name: float(np.quantile(cells, p, method="inverted_cdf")) for name, p in QUANTILES}


def counts(cells: npt.NDArray[np.float64] = CELLS, edges: tuple[float, ...] = EDGES) -> npt.NDArray[np.float64]:
    return np.histogram(cells, edges)[0].astype(float)


def found(
    noisy: npt.NDArray[np.float64], error: float, rows: float | None, edges: tuple[float, ...] = EDGES
) -> dict[str, Estimate]:
    made = dict(BinCounts(edges, noisy.tolist(), error, rows).quantiles())
    assert list(made) == [name for name, _ in QUANTILES]
    return {name: one for name, one in made.items() if one is not None}


def test_without_noise_a_quantile_lies_in_its_bin() -> None:
    for rows, own in ((len(CELLS), counts()), (None, counts()), (len(CELLS) + EMPTY, np.append(counts(), EMPTY))):
        for name, one in found(own, 0.0, rows).items():
            wanted = true_quantiles()[name]
            assert (one.low, one.high) in {*pairwise(EDGES)}
            assert one.low <= wanted <= one.high
            assert abs(one.estimate - wanted) < 0.5  # cells are nearly even within a bin
            assert one.low <= one.estimate <= one.high


@pytest.mark.parametrize("error", [3.0, 40.0])
@pytest.mark.parametrize("case", ["exact", "empty", "noisy"])
def test_intervals_cover_the_quantiles(error: float, case: str) -> None:
    """Of 500 draws each, where the number of rows is exact, without and with empty cells, and where it is not."""
    own = np.append(counts(), EMPTY) if case == "empty" else counts()
    rows = {"exact": len(CELLS), "empty": len(CELLS) + EMPTY, "noisy": None}[case]
    draws = [found(own + RNG.normal(0, error, len(own)), error, rows) for _ in range(500)]
    for name, wanted in true_quantiles().items():
        assert np.mean([one[name].low <= wanted <= one[name].high for one in draws]) >= 0.935, name
        assert np.median([one[name].high - one[name].low for one in draws]) <= 20
        assert abs(np.mean([one[name].estimate for one in draws]) - wanted) < 3


def test_the_scan_stops_at_the_first_end_that_may_lie_above() -> None:
    edges = tuple(map(float, range(6)))
    middle = found(np.array([0.0, 60.0, -60.0, 0.0, 100.0]), 1.0, None, edges)["median"]
    assert (middle.low, middle.high) == (1.0, 5.0)
    middle = found(np.array([100.0, 0.0, -60.0, 60.0, 0.0]), 1.0, None, edges)["median"]
    assert (middle.low, middle.high) == (0.0, 4.0)


def test_few_cells_have_no_quantile() -> None:
    own = np.array([3.0, -2.0, 4.0])
    assert found(own, 5.0, None, (0.0, 1.0, 2.0, 3.0)) == {}
    assert found(np.array([3.0, -2.0, 4.0, 995.0]), 5.0, 1000, (0.0, 1.0, 2.0, 3.0)) == {}
    assert found(np.array([1.0, 0.0]), 0.0, 1, (0.0, 1.0, 2.0)) == {}


def test_cumulative_counts_rise_after_isotonic_regression() -> None:
    assert quantiles._isotonic([1.0, 3.0, 2.0, 4.0, 0.0]) == [1.0, 2.25, 2.25, 2.25, 2.25]
    assert quantiles._isotonic([]) == []
    negative = found(np.array([50.0, -30.0, 60.0]), 2.0, None, (0.0, 1.0, 2.0, 3.0))
    assert all(0 <= one.estimate <= 3 for one in negative.values())
