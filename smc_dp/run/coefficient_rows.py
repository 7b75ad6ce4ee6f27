"""Rows of a table of coefficients with intervals, per units that a reader names: the same for page, CSV and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from smc_dp.core.errors import InputError, InputFault, refuse_all, shown
from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import BinnedColumn, CategoricalColumn, DateColumn, NumericColumn
from smc_dp.run.release import PublishedRelease

UnitsByColumn = Mapping[str, float]
"""How many units of a column its coefficient is for; 1 where a column is not named."""
NO_UNITS: UnitsByColumn = MappingProxyType({})
INTERCEPT, SLOPE, EMPTY = "intercept", "slope", "empty"
_LARGEST_SCORE = 700.0  # whose odds are a number


class Interval(NamedTuple):
    """Interval of a coefficient, with what it was made of."""

    standard_error: float
    sampling_error: float
    privacy_error: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class CoefficientRow:
    """One coefficient: the intercept, `units` of a number (days of a date), or a cell against the `reference` cell.

    Empty cells of a number have no reference. `interval` is None where a rule forbids one.
    """

    column: str
    cell: str
    kind: str
    reference: str
    units: float | None
    is_date: bool
    estimate: float
    interval: Interval | None

    @property
    def what(self) -> str:
        """Name of the cell, or the units that the coefficient is for."""
        if self.units is not None:
            unit = "day" if self.is_date else "unit"
            return f"a {unit}" if self.units == 1 else f"{self.units:g} {unit}s"
        return "empty" if self.kind == EMPTY else self.cell


def coefficient_rows(
    terms: Iterable[Mapping[str, Any]], bounds: Bounds, per: UnitsByColumn
) -> Iterator[CoefficientRow]:
    """Yield the rows of the terms of an inference, in their order, but for coefficients above 1e300."""
    references = _references(bounds)
    dates = {column.name for column in bounds.columns if isinstance(column, DateColumn)}
    for term in terms:
        if term["estimate"] is None:
            continue
        column, kind = term["column"], term["kind"]
        units = per.get(column, 1.0) if kind == SLOPE else None
        reference = references.get(column, "") if kind != INTERCEPT else ""
        estimate, interval = term["estimate"] * (units or 1.0), _interval(term, units or 1.0)
        yield CoefficientRow(column, term["cell"], kind, reference, units, column in dates, estimate, interval)


def check_units_of_columns(per: UnitsByColumn, release: PublishedRelease) -> None:
    """Raise InputError for units beside no intervals, and of what is no column of numbers or dates."""
    if per and release.inference is None:
        raise InputError("units.no_intervals", name=release.agreement.method.name)
    known = {column.name for column in release.bounds.columns if isinstance(column, NumericColumn | DateColumn)}
    refuse_all(InputFault("units.no_such_column", {"column": shown(name)}) for name in per if name not in known)


def _references(bounds: Bounds) -> dict[str, str]:
    found = {column.name: column.categories[0] for column in bounds.columns if isinstance(column, CategoricalColumn)}
    return found | {column.name: column.texts[0] for column in bounds.columns if isinstance(column, BinnedColumn)}


def odds(score: float) -> float | None:
    """Return the odds ratio of a coefficient; None where it is no number."""
    return math.exp(score) if score <= _LARGEST_SCORE else None


def _interval(term: Mapping[str, Any], units: float) -> Interval | None:
    if any(term[name] is None for name in Interval._fields):
        return None
    return Interval(**{name: term[name] * (1.0 if name == "p_value" else units) for name in Interval._fields})
