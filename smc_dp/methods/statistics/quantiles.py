"""Median and quartiles of a column of bins, from noisy counts of its bins.

A quantile p of n cells, cut to the outer edges, is the smallest number that at least p n of them do not exceed. With
c_j cells in bin j it lies above the end of bin k if D_k = sum_(j <= k) c_j - p n < 0, and else at or below it. D_k is
linear in the counts, so its noise is a Gaussian whose deviation is known. Where the number of rows is exact, the counts
are first shifted by one number, so that they add up to it: that is the projection, and takes the noise along it away.

The interval ends at ends of bins: from the first on those that lie below with all but 2.5 % of noise, up to the first
one that does not, and from the last on in the same way. The true end is one of those that were asked, so each side is
wrong with a probability of at most 2.5 %, however many bins there are. The estimate inverts the counts after isotonic
regression of their cumulative sums, as if cells lay evenly within a bin.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from smc_dp.methods.statistics.estimate import FEWEST_ERRORS, QUANTILE, Estimate

QUANTILES = (("lower quartile", 0.25), ("median", 0.5), ("upper quartile", 0.75))
"""What is stated of a column of bins, by its name."""


@dataclass(frozen=True)
class BinCounts:
    """Noisy counts of the cells between rising `edges`, then perhaps of the empty ones.

    `error`: standard deviation of the noise of a count; `rows`: their exact sum, None where that has noise, too.
    """

    edges: Sequence[float]
    counts: Sequence[float]
    error: float
    rows: float | None

    def quantiles(self) -> Iterator[tuple[str, Estimate | None]]:
        """Yield each of `QUANTILES` with its interval; None where too few cells are left at this noise."""
        shift = 0.0 if self.rows is None else (self.rows - math.fsum(self.counts)) / len(self.counts)
        cells = [count + shift for count in self.counts[: len(self.edges) - 1]]
        n = math.fsum(cells)
        enough = n >= max(2.0, FEWEST_ERRORS * self._error_of(0.0, len(cells), len(cells)))
        for name, p in QUANTILES:
            yield name, self._quantile(cells, n, p) if enough else None

    def _quantile(self, cells: Sequence[float], n: float, p: float) -> Estimate:
        bins = len(cells)
        cumulative = [0.0, *accumulate(cells)]
        bands = [QUANTILE * self._error_of(p, k, bins) for k in range(bins + 1)]
        low = 0
        while low < bins - 1 and cumulative[low + 1] - p * n + bands[low + 1] < 0:
            low += 1
        high = bins
        while high > low + 1 and cumulative[high - 1] - p * n - bands[high - 1] >= 0:
            high -= 1
        rising = [min(max(value, 0.0), n) for value in _isotonic(cumulative[1:-1])]
        found = _invert(self.edges, [0.0, *rising, n], p * n)
        return Estimate(min(max(found, self.edges[low]), self.edges[high]), self.edges[low], self.edges[high])

    def _error_of(self, p: float, k: int, bins: int) -> float:
        """Return the standard deviation of the first k counts after their shift, less p times all of them."""
        square = k * (1 - p) ** 2 + (bins - k) * p**2
        if self.rows is not None:
            total = k - p * bins
            square = max(0.0, square - total * total / len(self.counts))
        return self.error * math.sqrt(square)


def _isotonic(values: Sequence[float]) -> list[float]:
    """Return the closest rising numbers in least squares, by pooling neighbours."""
    pools: list[tuple[float, int]] = []
    for value in values:
        total, size = value, 1
        while pools and pools[-1][0] / pools[-1][1] >= total / size:
            before, many = pools.pop()
            total, size = total + before, size + many
        pools.append((total, size))
    return [total / size for total, size in pools for _ in range(size)]


def _invert(edges: Sequence[float], cumulative: Sequence[float], wanted: float) -> float:
    """Return where the line through the cumulative counts at the edges reaches the wanted number first."""
    k = next(k for k in range(1, len(edges)) if cumulative[k] >= wanted)
    below, above = cumulative[k - 1], cumulative[k]
    part = (wanted - below) / (above - below) if above > below else 0.0
    return edges[k - 1] + part * (edges[k] - edges[k - 1])
