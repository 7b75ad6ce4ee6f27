"""One figure of a description, and what figures are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from smc_dp.methods.statistics.estimate import Estimate

COUNT, PROPORTION, MEAN, DEVIATION = "count", "proportion", "mean", "standard deviation"
DIFFERENCE_OF_MEANS, DIFFERENCE_OF_PROPORTIONS = "difference of means", "difference of proportions"
"""Names of a figure of a group less that of the first."""
EMPTY = "(empty)"
"""Level of the cells that are empty, and group of the rows whose cell is."""


@dataclass(frozen=True)
class FigureRow:
    """One figure of a column: a count or proportion of the `level`, a mean or a standard deviation, of dates in days.

    `group`: the rows that it is about, "" for all; in a group a proportion is that of the group's rows. A difference is
    one from the first group. `found` is None where too few cells are left at this noise.
    """

    column: str
    level: str
    figure: str
    found: Estimate | None
    group: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, without the group."""
        ends = dict.fromkeys(("estimate", "low", "high")) if self.found is None else self.found.as_dict()
        return {"column": self.column, "level": self.level, "figure": self.figure, **ends}
