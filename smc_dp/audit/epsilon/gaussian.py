"""Gaussian differential privacy: neighbours as hard to tell apart as N(0, 1) and N(mu, 1) (Dong, Roth, Su 2022).

A test that says "1" for a share a of the outputs of the one and fails to say it for a share b of those of the other has
Phi^-1(1 - a) - Phi^-1(b) <= mu, whatever its event is. With an upper limit for each share that is a lower bound on mu,
and Gaussian noise meets it with equality at every threshold. So one threshold proves nearly all of mu; the whole curve
looks at many at once, and also finds noise of the right width with the wrong tails.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import scipy

from smc_dp.audit.epsilon.bounds import Counts, Worlds, exact_limits, quantiles, rough_limits
from smc_dp.core.arrays import Array
from smc_dp.privacy.statement import PrivacyStatement

CHOOSING_SHARE = 0.2
"""Share of the draws that chooses: a threshold needs few of them, its two errors all that there are."""
THRESHOLDS = 16
"""Number of thresholds of the curve."""
_TINY = 1e-300


def claimed_mu(statement: PrivacyStatement) -> float | None:
    """Return the mu that a statement claims, or that its rho = mu^2/2 stands for: all noise for zCDP here is Gaussian.

    None where nothing Gaussian is claimed.
    """
    said: float | None = getattr(statement, "mu", None)
    if said is not None or statement.rho is None:
        return said
    return sqrt(2 * statement.rho)


@dataclass(frozen=True)
class MuMeasure:
    """Phi^-1(p) - Phi^-1(q), p = 1 - b and q = a, which is at most mu."""

    alpha: float

    def __call__(self, low: Array, high: Array) -> Array:
        """Return the bound."""
        p, q = (np.clip(x, _TINY, 1 - 1e-16) for x in (low, high))
        found: Array = scipy.special.ndtri(p) - scipy.special.ndtri(q)
        return found


@dataclass(frozen=True, eq=False)
class Curve:
    """Thresholds of one score, all limits right together with probability 1 - alpha; `likely`: the world above them."""

    score: int
    edges: Array
    likely: int
    alpha: float

    def counts(self, worlds: Worlds) -> tuple[Counts, Counts]:
        """Return the draws in the cells between the thresholds."""
        first, second = (self._counts(worlds[w][self.score]) for w in (self.likely, 1 - self.likely))
        return first, second

    def bound(self, first: Counts, second: Counts) -> float:
        """Return the largest mu of a threshold, at least 0."""
        measure = MuMeasure(self.alpha / len(self.edges))
        above = [np.cumsum(world[::-1])[::-1][1:] for world in (first, second)]
        return max(0.0, float(np.max(measure(*exact_limits(above[0], above[1], int(first.sum()), measure.alpha)))))

    def _counts(self, values: Array) -> Counts:
        return np.bincount(np.searchsorted(self.edges, values, side="right"), minlength=len(self.edges) + 1)


def choose_curve(worlds: Worlds, alpha: float) -> Curve:
    """Return the score with nearly the largest bound on these draws, and thresholds from one tail to the other."""
    found = []
    for score in range(len(worlds[0])):
        edges = quantiles(np.concatenate([world[score] for world in worlds]), THRESHOLDS)
        found += [Curve(score, edges, likely, alpha) for likely in (0, 1)]
    return max(found, key=lambda curve: _rough(curve, worlds))


def _rough(found: Curve, worlds: Worlds) -> float:
    above = [np.cumsum(world[::-1])[::-1][1:] for world in found.counts(worlds)]
    measure = MuMeasure(found.alpha / len(found.edges))
    return float(np.max(measure(*rough_limits(above[0], above[1], worlds[0].shape[1], measure.alpha))))


def too_many_right(mu: Array, canaries: int, made: int, right: int, alpha: float) -> Array:
    """Return, for each mu, whether so many right guesses or more have probability below alpha under every mu-Gaussian
    DP.

    Mahloujifar, Melis and Chaudhuri, "Auditing f-differential privacy in one run" (2024). `canaries` bits are uniform
    and independent, exactly `made` of them are guessed. Let p_i be the probability of i right guesses. With the other
    bits as they are, turning a bit that was guessed right makes that guess wrong, and one right guess less; so, summed
    over bits, R_(t+1) <= F(H_t) for every t, where R_t = sum of i p_i and H_t = sum of (made - i) p_i over i >= t, both
    divided by `canaries`, and F(x) = Phi(mu + Phi^-1(x)), which is concave. If the probability of `right` or more were
    alpha, the smallest masses below that these inequalities allow would follow, from the top down. Where they exceed 1
    the probability is less than alpha.
    """
    reached = np.full(mu.shape, alpha * right / canaries)
    missed = np.full(mu.shape, alpha * (made - right) / canaries)
    for i in range(right - 1, -1, -1):
        needed = np.maximum(missed, scipy.special.ndtr(scipy.special.ndtri(reached) - mu))
        reached = np.minimum(1.0, reached + i / (made - i) * (needed - missed))
        settled = needed == missed  # and so for all further steps
        missed = needed
        if bool(np.all(settled | (reached + missed > made / canaries))):
            break
    found: Array = reached + missed > made / canaries
    return found
