"""Settings that a site states once: everything with which all cells of a file would be read.

Each refused cell shows some setting of the file's format. With these settings the table is examined again, until no
more are shown: so the lines that a refusal ends with have been tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from smc_dp.core.errors import InputError
from smc_dp.data.cell_values import EMPTY_CODE
from smc_dp.data.file_format import joined
from smc_dp.data.spelling_evidence import Settings
from smc_dp.data.table import Table
from smc_dp.data.validation_errors import TableFault

_ROUNDS = 8


def complete_advice(
    table: Table, found: Sequence[TableFault], examine: Callable[[Table], Sequence[TableFault]]
) -> tuple[TableFault, ...]:
    """Return the faults of a table with settings for all, and with those that show when these are stated.

    Settings that read no cell more, or contradict each other, are not joined: then each fault keeps its own.
    """
    tried: Settings = {}
    last = found
    settings, left = tried, last  # of those tried, what leaves the fewest cells refused
    for _ in range(_ROUNDS):
        more = _joined(tried, last)
        if more == tried:
            break
        try:
            last = examine(table.in_format(table.form.with_settings(more)))
        except InputError:
            break
        tried = more
        if _refused_cells(last) < _refused_cells(left):
            settings, left = tried, last
    known = {(fault.column, fault.code) for fault in found}
    late = (fault for fault in left if (fault.column, fault.code) not in known)
    return tuple(fault.completed(settings) for fault in (*found, *map(_said_as_later, late)))


def _said_as_later(fault: TableFault) -> TableFault:
    """Return a fault that shows when the lines are written; of a cell that is then empty, with what it is now."""
    if fault.code != EMPTY_CODE:
        return fault
    return replace(fault, fault=replace(fault.fault, code="cell.empty_then"))


def _joined(settings: Settings, faults: Sequence[TableFault]) -> Settings:
    for fault in faults:
        settings = joined(settings, fault.settings)
    return settings


def _refused_cells(faults: Sequence[TableFault]) -> int:
    """Return the number of cells that are refused for what they hold: a word for nothing leaves an empty cell."""
    return sum(fault.count for fault in faults if fault.code != EMPTY_CODE)
