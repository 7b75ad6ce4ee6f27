"""Processor seconds of a piece of work, of one operation, and of two operations taken in turn."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import TypeVar

T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Return the processor seconds of one call, and its result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def price(work: Callable[[], object], times: int) -> float:
    """Return the median of so many calls; the first, which may build tables, is not counted."""
    work()
    return median(timed(work)[0] for _ in range(times))


def side_by_side(one: Callable[[], object], other: Callable[[], object], times: int) -> tuple[float, float]:
    """Return the prices of two pieces of work, taken in turn, so that a slow moment is one for both."""
    taken = [(timed(one)[0], timed(other)[0]) for _ in range(times + 1)][1:]
    return median(first for first, _ in taken), median(second for _, second in taken)
