"""Refusal of a file that is not read as its format states: one line for all of it, and what else does not fit.

The file is read again as the refusal proposes, and its cells are examined: so what it needs is stated once.
"""

from __future__ import annotations

from pathlib import Path

from smc_dp.core.errors import InputError, refusal_of
from smc_dp.data.bounds import Bounds
from smc_dp.data.file_format import joined
from smc_dp.data.preprocess import examine_table
from smc_dp.data.refused_input import FormatFault, settings_of, with_lines
from smc_dp.data.table_reader import read_table_as
from smc_dp.data.validation_errors import TableFault

_ROUNDS = 8


def examine_refused(
    error: InputError, path: Path, source: str, bounds: Bounds
) -> tuple[InputError, tuple[TableFault, ...]]:
    """Return the refusal of a file with the whole line, and the faults of its cells that no line of the site mends.

    The refusal of a file that no format reads is returned as it is.
    """
    fault = error.fault
    if not isinstance(fault, FormatFault):
        return error, ()
    settings, left = fault.settings, tuple[TableFault, ...]()
    for _ in range(_ROUNDS):
        try:
            table = read_table_as(path, source, fault.form.with_settings(settings))
        except InputError as other:
            more = joined(settings, settings_of(other.fault))
            if more == settings:
                break
            settings = more
            continue
        for found in examine_table(table, bounds, bounds.label).faults if table.rows else ():
            settings = joined(settings, found.settings)
            left = left if found.settings else (*left, found)
        break
    return InputError(fault.completed(settings)), tuple(found.completed(settings) for found in left)


def complete_refusal(error: InputError, path: Path, source: str, bounds: Bounds) -> InputError:
    """Return the refusal of a file with all that `examine_refused` finds."""
    refusal, others = examine_refused(error, path, source, bounds)
    if not isinstance(refusal.fault, FormatFault):
        return refusal
    return refusal_of(with_lines([refusal.fault, *(fault.placed(source) for fault in others)], source))
