"""Intervals as a plan states them: half-widths of one column's figures, with the rules of a release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from smc_dp.methods.statistics.coefficient_inference import CoefficientInference
from smc_dp.methods.statistics.describe_result import DescribeResult
from smc_dp.methods.statistics.estimate import QUANTILE, Estimate
from smc_dp.methods.statistics.figure_row import (
    DEVIATION,
    DIFFERENCE_OF_MEANS,
    DIFFERENCE_OF_PROPORTIONS,
    MEAN,
    PROPORTION,
)
from smc_dp.run.coefficient_intervals import Term, state_inference

_FIGURES_OF_GROUPS = (PROPORTION, MEAN, DEVIATION, DIFFERENCE_OF_MEANS, DIFFERENCE_OF_PROPORTIONS)


@dataclass(frozen=True)
class PlannedInterval:
    """Interval to be expected of one figure of a column, the widest of its levels or bins.

    `figure`: of a coefficient slope, level, bin or empty; of a description proportion, mean or standard deviation, or
    such a figure, or a difference, of each group.
    `unit`: standard deviation that is assumed of a number, else 1. `half_width`: of a coefficient per `unit`, else in
    units of the column; None where a release would state none. `standardised`: the same with standard deviations for
    units. `without_privacy`: that without noise.
    """

    column: str
    figure: str
    unit: float
    half_width: float | None
    standardised: float | None
    without_privacy: float

    @property
    def times(self) -> float | None:
        """Width over that without privacy; None without an interval, and of the rows' own figures, which have none."""
        return self.standardised / self.without_privacy if self.standardised and self.without_privacy else None


def intervals_of_coefficients(
    found: CoefficientInference, terms: Sequence[Term], units: Mapping[str, float]
) -> Iterator[PlannedInterval]:
    """Yield the intervals of the coefficients of each column, but for the intercept; `found` is of the terms.

    units: the standard deviation of each number.
    """
    errors, stated = np.sqrt(np.diagonal(found.sampling)), state_inference(found, dict.fromkeys(terms, 0.0))["terms"]
    cells: dict[tuple[str, str], list[int]] = {}
    for i, term in enumerate(terms):
        if term.kind != "intercept":
            cells.setdefault((term.column, term.kind), []).append(i)
    for (column, kind), places in cells.items():
        unit = units[column] if kind == "slope" else 1.0
        halves = [stated[i]["high"] for i in places]
        half = None if None in halves else max(halves) * unit
        yield PlannedInterval(column, kind, unit, half, half, QUANTILE * unit * float(max(errors[places])))


def intervals_of_description(found: DescribeResult, units: Mapping[str, float]) -> Iterator[PlannedInterval]:
    """Yield the intervals of the proportions of each column's levels, or of its mean and standard deviation.

    Those of a group, and of differences from the first group, follow: groups are equally frequent in a plan.
    """
    for column in found.columns:
        counts = [count for _, count in column.levels] + ([column.missing] if column.missing else [])
        if counts:
            half = max(map(_half, counts)) / found.rows
            yield PlannedInterval(column.name, PROPORTION, 1.0, half, half, 0.0)
        for figure, estimate in ((MEAN, column.mean), (DEVIATION, column.deviation)):
            if not column.has_levels:
                half_width = None if estimate is None else _half(estimate)
                unit = units[column.name]
                in_units = None if half_width is None else half_width / unit
                yield PlannedInterval(column.name, figure, unit, half_width, in_units, 0.0)
    of_groups: dict[tuple[str, str], list[Estimate | None]] = {}
    for row in found.groups[-1].figures if found.groups else ():
        figure = row.figure.partition(",")[0]  # that of a date says in which unit it is, too
        if figure in _FIGURES_OF_GROUPS:
            of_groups.setdefault((row.column, figure), []).append(row.found)
    for (name, figure), each in of_groups.items():
        unit = 1.0 if figure in (PROPORTION, DIFFERENCE_OF_PROPORTIONS) else units[name]
        half_width = None if None in each else max(_half(one) for one in each if one is not None)
        in_units = None if half_width is None else half_width / unit
        yield PlannedInterval(name, f"{figure}, each group", unit, half_width, in_units, 0.0)


def _half(estimate: Estimate) -> float:
    return (estimate.high - estimate.low) / 2
