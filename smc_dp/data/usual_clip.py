"""Usual norm at which rows are clipped, from the public columns alone.

A level and a bin add exactly 1 to the squared norm of a row, a number or a date the square of its place in the range,
from 0 in the middle to 1 at an end. So no row is longer than the root of the number of columns. Few rows are as long,
and a norm that no row has makes all rows short beside the noise. The usual norm is the one that at most one row in
twenty exceeds if each number stands at an end of its range as often as in the middle. Then the squared norm of n
numbers has the mean n/2 and the deviation sqrt(n)/2, and the usual norm squared counts n/2 + sqrt(n) for them, at most
n. Up to four numbers no row is shortened. Of squares with this mean, these have the largest deviation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from smc_dp.data.columns import BinnedColumn, CategoricalColumn, Column

CLIP_OF_STUDIES = 2.0
"""Norm of a study that states none: `study new` states it, and one that does not was made when this was usual."""
_HUNDREDTHS = 100


def usual_clip(columns: Sequence[Column]) -> float:
    """Return the usual norm for rows of these columns, in hundredths."""
    numbers = sum(not isinstance(column, CategoricalColumn | BinnedColumn) for column in columns)
    return _rounded_up(len(columns) - numbers + min(numbers, numbers / 2 + math.sqrt(numbers)))


def longest_norm(columns: int) -> float:
    """Return a norm, in hundredths, that no row of so many columns exceeds."""
    return _rounded_up(columns)


def no_row_shortened(columns: int) -> str:
    """Return the advice of a line with which no row of so many columns is shortened."""
    return f"To shorten no row, write clip = {longest_norm(columns)} under [rows] of the bounds"


def _rounded_up(square: float) -> float:
    """Return the root, up to the next hundredth."""
    return math.ceil(math.sqrt(square) * _HUNDREDTHS) / _HUNDREDTHS
