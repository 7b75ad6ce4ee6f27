"""Rows that stand in two samples, of which one must be new to the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain

from smc_dp.core.arrays import Array
from smc_dp.data.fingerprint import fingerprint_data
from smc_dp.data.sources import PreparedData
from smc_dp.data.table import Table
from smc_dp.pages.blocks import Prose, coded_prose


def count_shared(X: Array, others: Iterable[Array]) -> int:
    """Return how many rows of X stand among the other rows with the same features."""
    counts = Counter(row.tobytes() for row in X)  # of X alone: the others may be many
    there = {key for row in others if (key := row.tobytes()) in counts}
    return sum(counts[key] for key in there)


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


def shared_test_rows(found: PreparedData) -> Iterator[Prose]:
    """Yield a warning where test rows are also rows of the parties: then a model seems more accurate than it is."""
    if found.test is None:
        return
    if shared := count_shared(found.test.X, chain.from_iterable(own.X for own in found.federation.parties)):
        yield coded_prose("run.shared_test_rows", count=shared, rows=len(found.test))
