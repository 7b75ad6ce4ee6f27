"""Rows that stand in two samples, of which one must be new to the other."""

from __future__ import annotations

from smc_dp.core.arrays import Array
from smc_dp.data.fingerprint import fingerprint_data
from smc_dp.data.table import Table


def count_shared(X: Array, others: Array) -> int:
    """Return how many rows stand among the others with the same features."""
    there = {row.tobytes() for row in others}
    return sum(row.tobytes() in there for row in X)


def are_all_shared(X: Array, shared: int, table: Table | None, others: Table) -> bool:
    """Return whether a sample has nothing new: its table is the other one, or all rows are shared, most not repeated.

    shared: as `count_shared` returns it.
    """
    if (
        table is not None
        and table.rows == others.rows
        and fingerprint_data(b"", table) == fingerprint_data(b"", others)
    ):
        return True
    return shared == len(X) < 2 * len({row.tobytes() for row in X})
