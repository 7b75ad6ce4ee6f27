"""Rows of a table of coefficients with intervals, per units that a reader names: the same for page, CSV and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    """Interval of a coefficient, with what it was made of.

    `p_value_holm`: p adjusted by Holm (1979) for all coefficients of the table with an interval, but the intercept,
    which has none.
    """

    standard_error: float
    sampling_error: float
    privacy_error: float
    low: float
    high: float
    p_value: float
    p_value_holm: float | None


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
    stated = [term for term in terms if term["estimate"] is not None]
    for term, adjusted in zip(stated, _adjusted(stated), strict=True):
        column, kind = term["column"], term["kind"]
        units = per.get(column, 1.0) if kind == SLOPE else None
        reference = references.get(column, "") if kind != INTERCEPT else ""
        estimate, interval = term["estimate"] * (units or 1.0), _interval(term, adjusted, units or 1.0)
        yield CoefficientRow(column, term["cell"], kind, reference, units, column in dates, estimate, interval)


def constant_columns(bounds: Bounds) -> dict[str, str]:
    """Return the columns that the bounds give one level or bin, with it: rows do not differ there."""
    references = _references(bounds)
    return {one.name: references[one.name] for one in bounds.columns if one.name in references and one.width == 1}


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


def _interval(term: Mapping[str, Any], adjusted: float | None, units: float) -> Interval | None:
    if term["p_value"] is None:
        return None
    lengths = {name: term[name] * units for name in Interval._fields if not name.startswith("p_value")}
    return Interval(**lengths, p_value=term["p_value"], p_value_holm=adjusted)


def _adjusted(terms: Sequence[Mapping[str, Any]]) -> list[float | None]:
    """Return the p-values, adjusted by Holm; None for the intercept, and where there is no interval.

    The smallest of m is multiplied by m, the next by m - 1 and so on, and none is below one before it, or above 1.
    """
    found: list[float | None] = [None] * len(terms)
    tested = [i for i, term in enumerate(terms) if term["kind"] != INTERCEPT and term["p_value"] is not None]
    largest = 0.0
    for rank, i in enumerate(sorted(tested, key=lambda i: float(terms[i]["p_value"]))):
        found[i] = largest = max(largest, min(1.0, (len(tested) - rank) * terms[i]["p_value"]))
    return found
