"""Weights of rows: public numbers for classes, and a private column with a public largest value.

Only parts of the largest weight that any row may have are computed, so that nothing is known of the weights of all rows
together: the sum of the weights is private, as the numbers of rows of each class are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smc_dp.core.errors import InputError, shown
from smc_dp.data.columns import NumericColumn, set_floats

MOST_RATIO = 100.0
"""Largest ratio of the weights of two classes: parts of the largest are rounded to 11 bits, 1/100 to 2.4 %."""


@dataclass(frozen=True)
class RowWeights:
    """Public terms of the weights of rows; without any a row has the weight 1.

    classes: a number for each class in their order, or none; column: the column with a private number from 0 to `most`
    for each row, or None. A row has the product of both, in parts of the largest.
    """

    classes: tuple[float, ...] = ()
    column: str | None = None
    most: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", tuple(float(weight) for weight in self.classes))
        set_floats(self, "most")

    def check(self, classes: int, columns: tuple[str | None, ...]) -> None:
        """Raise InputError for weights that fit no table of so many classes with these other columns."""
        if not self.classes and self.column is None:
            raise InputError("row_weights.none")
        if self.classes:
            if len(self.classes) != classes:
                raise InputError("row_weights.not_one_for_each_class", wanted=classes, got=len(self.classes))
            if not all(math.isfinite(weight) and weight > 0 for weight in self.classes):
                raise InputError("row_weights.not_positive", got=shown(list(self.classes)))
            if max(self.classes) > MOST_RATIO * min(self.classes):
                raise InputError("row_weights.too_different", most=MOST_RATIO, got=shown(list(self.classes)))
        if self.column is not None and self.column in columns:
            raise InputError("row_weights.column_used_otherwise", column=shown(self.column))
        if not (math.isfinite(self.most) and self.most > 0):
            raise InputError("row_weights.most_not_positive", got=self.most)
        if self.column is None and self.most != 1:
            raise InputError("row_weights.most_without_column")

    @property
    def numbers(self) -> NumericColumn | None:
        """Bounds of the column of weights, if there is one."""
        return None if self.column is None else NumericColumn(self.column, 0.0, self.most)

    def of_rows(self, y: NDArray[np.int64], numbers: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the weight of each row in parts of the largest, (n,): y: (n,), classes; numbers: (n,), the column."""
        found = np.ones(len(y))
        if self.classes:
            found = np.array(self.classes)[y] / max(self.classes)
        return found if numbers is None else found * (np.clip(numbers, 0.0, self.most) / self.most)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, as a file of bounds has them."""
        said: dict[str, Any] = {"classes": list(self.classes)} if self.classes else {}
        return said if self.column is None else {**said, "column": self.column, "most": self.most}
