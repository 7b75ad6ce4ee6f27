"""Numbers of a column of a table, as bounds of nearly any number read them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from smc_dp.core.errors import InputError
from smc_dp.data.columns import NumericColumn
from smc_dp.data.preprocess import _read
from smc_dp.data.table import Table


def numbers(table: Table, name: str) -> npt.NDArray[np.float64]:
    """Return the numbers; raise InputError at the first cell that is none, without a line for the bounds."""
    values, wrong = _read(table, NumericColumn(name, -1e308, 1e308))
    if wrong:
        raise InputError(replace(wrong[0], line=None).placed(table.source))
    return values
