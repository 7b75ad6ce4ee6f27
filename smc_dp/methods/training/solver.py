"""Public tolerance that all solvers share, and sums over records whose rounding is known.

The noise of a release is made for every solution whose gradient is at most `PUBLIC_TAU` long, a constant. Stopping
without one would be an output that depends on private data, so no solver refuses: what floats cannot certify is
continued in ball arithmetic, and strong convexity guarantees that a solution exists.
"""

from __future__ import annotations

from collections.abc import Iterator

from smc_dp.core.arrays import Array

PUBLIC_TAU = 2.0**-33
"""Upper bound on the gradient norm of every solution: what noise is calibrated to, whatever was reached."""
_BLOCK = 1024  # records summed at a time: keeps copies small and rounding errors from growing with n


def row_blocks(*arrays: Array) -> Iterator[tuple[Array, ...]]:
    """Yield the records, rows of each array, at most 1024 at a time: the sums that `summation_depth` counts."""
    for start in range(0, len(arrays[0]), _BLOCK):
        yield tuple(array[start : start + _BLOCK] for array in arrays)


def summation_depth(n: int) -> int:
    """Bound the number of additions that each record's gradient goes through in such sums; n for small n."""
    return min(n, _BLOCK) + (n - 1) // _BLOCK
