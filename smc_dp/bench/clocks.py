"""Processor seconds: of a piece of work, of one operation among several, and how they grow."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import TypeVar

from smc_dp.bench.goals import DisagreeError

T = TypeVar("T")
CpuSeconds = dict[str, float]


@contextmanager
def clock(seconds: CpuSeconds, part: str) -> Iterator[None]:
    """Add what the block takes to this part."""
    start = time.process_time()
    yield
    seconds[part] = seconds.get(part, 0.0) + time.process_time() - start


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """What the work takes, and what comes of it."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def price(work: Callable[[int], object], times: int) -> float:
    """The median of what the work takes, called with 1, 2, ...; the call with 0, which may build tables, is apart."""
    work(0)
    return median(_taken(work, i) for i in range(1, times + 1))


def side_by_side(one: Callable[[int], object], other: Callable[[int], object], times: int) -> tuple[float, float]:
    """The prices of two pieces of work, taken in turn, so that a slow moment is one for both."""
    one(0)
    other(0)
    taken = [(_taken(one, i), _taken(other, i)) for i in range(1, times + 1)]
    return median(first for first, _ in taken), median(second for _, second in taken)


def _taken(work: Callable[[int], object], i: int) -> float:
    start = time.process_time()
    work(i)
    return time.process_time() - start


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The slope of the least-squares line through the logarithms: 1 where twice the size takes twice the time."""
    x, y = [math.log(size) for size in sizes], [math.log(taken) for taken in seconds]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    spread = sum((a - mean_x) ** 2 for a in x)
    if not spread:
        raise ValueError(f"sizes: wanted different ones, got {sizes[0]} alone")
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / spread


def agreed(what: str, ours: object, theirs: object) -> None:
    """Raises DisagreeError unless both came to the same."""
    if ours != theirs:
        raise DisagreeError(f"{what}: the two sides came to different results")
