"""Bounds from one event, which some of the draws choose and the others measure in each world.

A world is one of two neighbouring data sets, known by the scores that an attacker gives to its outputs: an array
(scores, draws). The event is fixed before the second part of the draws is looked at, so the number of candidates needs
no correction; the limits of Clopper and Pearson (1934) hold for draws of any distribution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy

from smc_dp.core.arrays import Array

Counts: TypeAlias = npt.NDArray[np.int64]
Worlds: TypeAlias = tuple[Array, Array]
_THRESHOLDS = 128  # of each score
_TINY, _LARGEST = 1e-300, 700.0  # what floats can take the logarithm and the exponential of


class Measure(Protocol):
    """Lower bound from limits of an event's probabilities in two worlds, both right with probability 1 - alpha."""

    @property
    def alpha(self) -> float:
        """Largest probability that one of the limits is wrong."""
        ...

    def __call__(self, low: Array, high: Array) -> Array:
        """Return the bound from p >= low in the likelier world and q <= high in the other."""
        ...


class EventPlan(Protocol):
    """Test that the first part of the draws has chosen: cells of outputs, and what the counts in them prove."""

    def counts(self, worlds: Worlds) -> tuple[Counts, Counts]:
        """Return the draws in each cell, for the likelier world and the other: (cells,) each."""
        ...

    def bound(self, first: Counts, second: Counts) -> float:
        """Return the lower bound that these counts prove."""
        ...


@dataclass(frozen=True)
class EpsilonMeasure:
    """log((p - delta)/q), which is at most epsilon."""

    alpha: float
    delta: float = 0.0

    def __call__(self, low: Array, high: Array) -> Array:
        """Return the bound."""
        found: Array = np.log(np.maximum(low - self.delta, _TINY)) - np.log(np.maximum(high, _TINY))
        return found


@dataclass(frozen=True)
class HockeyStickMeasure:
    """p - e^epsilon q, which is at most the delta that belongs to epsilon."""

    alpha: float
    epsilon: float

    def __call__(self, low: Array, high: Array) -> Array:
        """Return the bound."""
        found: Array = low - np.exp(min(self.epsilon, _LARGEST)) * high
        return found


def exact_limits(k: Counts, m: Counts, n: int, alpha: float) -> tuple[Array, Array]:
    """Return limits below the first probability and above the second, each wrong with probability alpha/2."""
    low = np.where(k > 0, scipy.special.betaincinv(np.maximum(k, 1), n - np.maximum(k, 1) + 1, alpha / 2), 0.0)
    high = np.where(
        m < n, scipy.special.betainccinv(np.minimum(m, n - 1) + 1, n - np.minimum(m, n - 1), alpha / 2), 1.0
    )
    return low, high


def clopper_pearson(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    """Return the exact interval of a binomial rate, which misses it with probability at most 1 - confidence.

    The limits are the rates at which as many successes or more, or as few or fewer, have probability (1 - confidence)/2
    (Clopper and Pearson 1934).
    """
    if not 0 <= successes <= trials or trials < 1:
        raise ValueError(f"wanted 0 <= successes <= trials and at least one trial, got {successes} of {trials}")
    counted = np.array(successes)
    low, high = exact_limits(counted, counted, trials, 1 - confidence)
    return float(low), float(high)


def rough_limits(k: Counts, m: Counts, n: int, alpha: float) -> tuple[Array, Array]:
    """Return limits by the score of Wilson (1927), which cost no time: good enough to choose by, never to judge by."""
    square = float(scipy.special.ndtri(alpha / 2)) ** 2
    low, high = (
        (j + square / 2 + side * np.sqrt(square * (j * (n - j) / n + square / 4))) / (n + square)
        for j, side in ((k, -1), (m, 1))
    )
    return low, high


@dataclass(frozen=True)
class Event:
    """Event that a score is at least a threshold, or below it; `likely`: the world (0, 1) in which it happens more."""

    score: int
    threshold: float
    above: bool
    likely: int
    measure: Measure

    def counts(self, worlds: Worlds) -> tuple[Counts, Counts]:
        """Return the draws inside and outside of the event, in the likelier world and the other."""
        first, second = (self._inside(worlds[world]) for world in (self.likely, 1 - self.likely))
        return first, second

    def bound(self, first: Counts, second: Counts) -> float:
        """Return the measure of the draws inside, at least 0."""
        return max(0.0, float(self.measure(*exact_limits(first[0], second[0], int(first.sum()), self.measure.alpha))))

    def _inside(self, scores: Array) -> Counts:
        inside = int(np.count_nonzero((scores[self.score] >= self.threshold) == self.above))
        return np.array([inside, scores.shape[1] - inside])


def choose_event(worlds: Worlds, measure: Measure) -> Event:
    """Return the event with nearly the largest bound on these draws."""
    best, value = Event(0, 0.0, True, 0, measure), -np.inf
    n = worlds[0].shape[1]
    for score in range(len(worlds[0])):
        pair = [np.sort(world[score]) for world in worlds]
        thresholds = quantiles(np.concatenate(pair), _THRESHOLDS)
        above = np.array([n - np.searchsorted(world, thresholds) for world in pair])
        inside = np.array([above, n - above])  # [below?, world, threshold]
        found = measure(*rough_limits(inside, inside[:, ::-1], n, measure.alpha))
        if found.max() > value:
            side, likely, t = (int(i) for i in np.unravel_index(found.argmax(), found.shape))
            best, value = Event(score, float(thresholds[t]), side == 0, likely, measure), float(found.max())
    return best


def quantiles(values: Array, number: int) -> Array:
    """Return at most `number` values that cut these, in any order, into parts of equal size."""
    ordered = np.sort(values)
    taken: Array = np.unique(ordered[np.linspace(0, len(ordered) - 1, number + 2).astype(int)[1:-1]])
    return taken


def split_draws(worlds: Worlds, share: float) -> tuple[Worlds, Worlds]:
    """Split the draws: this share of them to choose by, the others to judge by."""
    first, second = worlds
    cut = int(first.shape[1] * share)
    return (first[:, :cut], second[:, :cut]), (first[:, cut:], second[:, cut:])


@dataclass(frozen=True)
class MeasuredBound:
    """Lower bound and the counts that prove it."""

    bound: float
    first: Counts
    second: Counts

    @property
    def inside(self) -> tuple[int, int] | None:
        """Draws in the event, in the likelier world and the other; None for more cells than two."""
        return (int(self.first[0]), int(self.second[0])) if len(self.first) == 2 else None


def measure_bound(worlds: Worlds, choose: Callable[[Worlds], EventPlan], share: float = 0.5) -> MeasuredBound:
    """Choose a test on this share of the draws, and measure its bound on the others."""
    to_choose, to_judge = split_draws(worlds, share)
    plan = choose(to_choose)
    first, second = plan.counts(to_judge)
    return MeasuredBound(plan.bound(first, second), first, second)
