"""Lower bound on a Renyi divergence, for statements of zero-concentrated differential privacy.

rho-zCDP says D_order(P||Q) <= order rho for every order above 1 (Bun and Steinke 2016). Sorting outputs into cells is
post-processing, so the divergence of the cells' probabilities is a lower bound. With p, q their probabilities, the sum
of p^a q^(1-a) is convex and homogeneous in (p, q), so it lies above each of its tangents: for any positive r it is at
least the sum of a r^(a-1) p + (1-a) r^a q, with equality for r = p/q. r is estimated on the first half of the draws.
The two remaining means of bounded numbers are bounded from below on the second half by the empirical Bernstein
inequality (Maurer and Pontil, COLT 2009, theorem 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import log, sqrt

import numpy as np

from smc_dp.audit.epsilon.bounds import Counts, Worlds, quantiles
from smc_dp.core.arrays import Array

ORDERS = (1.25, 2.0, 4.0, 8.0)
_CELLS = (2, 4, 16)
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class RenyiCells:
    """Cells of one score, with the `ratio` r of each; the bound on D_order/order is wrong with probability alpha."""

    score: int
    edges: Array
    likely: int
    order: float
    ratio: Array
    alpha: float

    def counts(self, worlds: Worlds) -> tuple[Counts, Counts]:
        """Return the draws in each cell, those of the likely world first."""
        first, second = (_counts(worlds[w][self.score], self.edges) for w in (self.likely, 1 - self.likely))
        return first, second

    def bound(self, first: Counts, second: Counts) -> float:
        """Return the lower bound on D_order/order, to be compared with rho; at least 0."""
        return max(0.0, self.signed(first, second))

    def signed(self, first: Counts, second: Counts) -> float:
        """Return the same bound, below 0 where draws are too few to prove anything."""
        a, r = self.order, self.ratio
        likely = lowest_mean(a * r ** (a - 1), first, self.alpha / 2)
        other = lowest_mean((1 - a) * r**a, second, self.alpha / 2)
        return log(max(likely + other, _TINY)) / (a * (a - 1))


def lowest_mean(values: Array, counts: Counts, alpha: float) -> float:
    """Return a lower limit of the mean of numbers with these counts, wrong with probability alpha."""
    n = int(counts.sum())
    mean = float(counts @ values) / n
    variance = max(0.0, float(counts @ (values - mean) ** 2) / (n - 1))
    surprise = log(2 / alpha)
    return mean - sqrt(2 * variance * surprise / n) - 7 * float(np.ptp(values)) * surprise / (3 * (n - 1))


def choose_cells(worlds: Worlds, alpha: float) -> RenyiCells:
    """Return the cells and the order with the largest bound on these draws."""
    found = []
    for score, number in product(range(len(worlds[0])), _CELLS):
        edges = quantiles(np.concatenate([world[score] for world in worlds]), number - 1)
        counts = [_counts(world[score], edges) + 1.0 for world in worlds]
        for likely in (0, 1):
            ratio = counts[likely] / counts[1 - likely]
            found += [RenyiCells(score, edges, likely, order, ratio, alpha) for order in ORDERS]
    return max(found, key=lambda cells: cells.signed(*cells.counts(worlds)))


def _counts(values: Array, edges: Array) -> Counts:
    return np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(edges) + 1)
