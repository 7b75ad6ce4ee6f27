"""Two-sample test of readings, and its power.

Each number is looked at through events: its three highest and three lowest bits, and whether these are all zero; the
same for the difference of neighbours in one field; or, for a number of at most three bits, each value that it can take.
The frequencies of an event are compared by Fisher's exact test, so that a p-value holds for any number of executions,
and all p-values together by Bonferroni. A small p-value refutes; a large one proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
import scipy
from numpy.typing import NDArray

from protocols.runtime.claims import Readings

SampleShape = dict[str, int]
_BITS = 3  # of a long number, at either end
_STEP = 0.01  # in which the power is computed


@dataclass(frozen=True)
class SampleComparison:
    """Smallest p-value, its place, and the number of tests."""

    smallest: float
    place: str
    tests: int

    @property
    def p_value(self) -> float:
        """Bonferroni p-value of all tests together."""
        return min(1.0, self.smallest * self.tests)


def reading_counts(found: Readings) -> SampleShape:
    """Return the number of readings at each place."""
    return {place: len(values) for place, values in found.items()}


def compare_samples(left: Sequence[Readings], right: Sequence[Readings]) -> SampleComparison:
    """Compare both samples, place by place; p = 0 when the structure of their readings differs."""
    wanted = reading_counts(left[0])
    if any(reading_counts(found) != wanted for found in (*left, *right)):
        return SampleComparison(0.0, "the structure", 1)
    table, smallest, worst, tests = fisher_p_values(len(left), len(right)), 1.0, "nowhere", 0
    for place in wanted:
        samples = [[found[place] for found in sample] for sample in (left, right)]
        ones = _occurrences(*samples)
        p = table[ones[0], ones[1]]
        tests += p.size
        if p.size and p.min() < smallest:
            smallest, worst = float(p.min()), place
    return SampleComparison(smallest, worst, tests)


def _occurrences(
    left: Sequence[Sequence[int]], right: Sequence[Sequence[int]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how often each event at one place occurs in either sample."""
    # One width for both samples, as they are compared event by event.
    width = max(v.bit_length() for values in (*left, *right) for v in values)
    counts = [np.concatenate([e.sum(axis=0) for e in _events(sample, width)]) for sample in (left, right)]
    return counts[0], counts[1]


def _events(sample: Sequence[Sequence[int]], width: int) -> Iterator[NDArray[np.bool_]]:
    """Yield for each event an array of executions times numbers: where it occurs."""
    modulus = 1 << width
    steps = [[(b - a) % modulus for a, b in pairwise(values)] for values in sample]
    for numbers in (sample, steps):
        if width <= _BITS:
            values = np.array(numbers, dtype=np.int64)
            yield from (values == value for value in range(1, modulus))
        else:
            for end in ([[v >> (width - _BITS) for v in n] for n in numbers], [[v % 8 for v in n] for n in numbers]):
                values = np.array(end, dtype=np.int64)
                yield values == 0
                yield from ((values >> bit) & 1 == 1 for bit in range(_BITS))


@cache
def fisher_p_values(left: int, right: int) -> NDArray[np.float64]:
    """Return two-sided p-values of Fisher's exact test, at [a, b] for an event in a `left` and b `right` executions.

    A p-value is twice the smaller tail of the hypergeometric distribution.
    """
    table = np.ones((left + 1, right + 1))
    for total in range(left + right + 1):
        a = np.arange(max(0, total - right), min(left, total) + 1)
        mass = np.exp(_log_choose(left, a) + _log_choose(right, total - a) - _log_choose(left + right, total))
        lower, upper = np.cumsum(mass), np.cumsum(mass[::-1])[::-1]
        table[a, total - a] = np.minimum(1.0, 2 * np.minimum(lower, upper))
    table.flags.writeable = False
    return table


def _log_choose(n: int, k: NDArray[np.int64] | int) -> NDArray[np.float64]:
    log = scipy.special.gammaln
    return np.asarray(log(n + 1) - log(np.add(k, 1)) - log(np.subtract(n + 1, k)))


def _binomial(n: int, p: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities of 0 ... n successes; p a column makes a row for each of its values."""
    k = np.arange(n + 1)
    logs = _log_choose(n, k) + scipy.special.xlogy(k, p) + scipy.special.xlog1py(n - k, -np.asarray(p))
    return np.asarray(np.exp(logs))


def smallest_shift(left: int, right: int, level: float, base: float, power: float = 0.9) -> float | None:
    """Return by how much an event must exceed `base` on the left for one test at this level to have this power.

    Rounded up to hundredths; None if not even a certain event is rejected.
    """
    rejects = fisher_p_values(left, right) < level
    chance = rejects @ _binomial(right, base)  # by occurrences on the left
    shifts = np.arange(1, round((1 - base) / _STEP) + 1) * _STEP
    moved = np.minimum(1.0, base + shifts)[:, np.newaxis]
    enough = np.flatnonzero(_binomial(left, moved) @ chance >= power)
    return round(float(shifts[enough[0]]), 2) if enough.size else None
