"""Intervals to be expected, from public numbers alone, and the least numbers with which none is wider than wanted.

They follow from the sums that rows as `assumed_rows` describes them have on average, by the code of a release, with the
noise of all parties. Nothing is drawn, so the same public numbers give the same intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import inf

from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError, shown
from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import DateColumn, NumericColumn
from smc_dp.methods.method import MechanismSpec
from smc_dp.methods.statistics.coefficient_sums import CoefficientSums
from smc_dp.methods.statistics.describe import DescribeSum
from smc_dp.methods.statistics.expected_inference import expect_inference
from smc_dp.planning.assumed_rows import assumed_moments, assumed_sums, deviation, half_range, spread_of_rate
from smc_dp.planning.planned_intervals import PlannedInterval, intervals_of_coefficients, intervals_of_description
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.run.agreement import Agreement
from smc_dp.run.coefficient_intervals import Term, coefficient_map

METHODS_WITH_INTERVALS = ("logistic", "linear", "describe")
"""Methods whose intervals a plan knows."""
_LEAST_EPSILON, LARGEST_EPSILON, _FEWEST_ROWS = Fraction(1, 100), Fraction(100), Fraction(10)


@dataclass(frozen=True)
class Expectations:
    """Figures that a plan of intervals takes as given, each None where it is not stated.

    `rate`: of the second class, for `logistic`. `residual`: standard deviation of the residuals in units of the
    outcome, for `linear`. `width`: the half-width, in standard deviations, that is wanted of every interval.
    `deviations`: standard deviations of columns of numbers or dates (days), by their names.
    """

    rate: float | None = None
    residual: float | None = None
    width: float | None = None
    deviations: Mapping[str, float] = field(default_factory=dict)

    def check(self, method: str, bounds: Bounds) -> None:
        """Raise InputError for figures out of range or of another method, and without the one that this one needs."""
        for name, most in (("rate", 1.0), ("residual", inf), ("width", inf)):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int | float) and 0 < value < most):
                below = "" if most == inf else f" and below {most:g}"
                raise InputError("plan.figure_out_of_range", name=name, below=below, got=shown(value))
        for name, owner in (("rate", "logistic"), ("residual", "linear")):
            if getattr(self, name) is not None and method != owner:
                raise InputError("plan.figure_not_used", name=name, owner=owner, method=method)
        if method == "logistic" and self.rate is None:
            raise InputError("plan.rate_missing", method=method)
        if method == "linear" and self.residual is None:
            raise InputError("plan.residual_missing", method=method)
        numbers = columns_of_numbers(bounds)
        for name, value in self.deviations.items():
            if name not in numbers:
                raise InputError("plan.deviation_of_no_column", name=shown(name))
            if not isinstance(value, int | float) or not 0 < value <= half_range(numbers[name]):
                raise InputError("plan.deviation_out_of_range", name=shown(name), most=half_range(numbers[name]))


@dataclass(frozen=True)
class ExpectedIntervals:
    """Intervals to be expected of an agreement, for figures that its method needs."""

    agreement: Agreement
    expectations: Expectations

    def of(self, rows: int, epsilon: Fraction | None = None) -> tuple[PlannedInterval, ...]:
        """Return the intervals of so many rows in all, at the agreed epsilon or another."""
        spec = self._spec(epsilon)
        if isinstance(spec, DescribeSum):
            described = spec.describe(
                rows, len(self.agreement.parties), assumed_sums(spec, rows, self.expectations.deviations)
            )
            return tuple(intervals_of_description(described, self._units))
        if not isinstance(spec, CoefficientSums):
            raise TypeError("wanted a method with intervals")
        (half, spread), (terms, to_terms) = self._spread, self._terms
        found = expect_inference(spec, self._moments, rows, spread).transformed(to_terms)
        scaled = replace(found, sampling=half**2 * found.sampling, privacy=half**2 * found.privacy)
        return tuple(intervals_of_coefficients(scaled, terms, self._units))

    def reaches(self, rows: int, epsilon: Fraction | None = None) -> bool:
        """Return whether all intervals are stated, and none is wider than wanted."""
        found, width = widest(self.of(rows, epsilon)), self.expectations.width
        return found < inf if width is None else found <= width

    def epsilon_needed(self, rows: int) -> float | None:
        """Return the least epsilon, of two digits up to 100, at which so many rows reach it; None where none does."""
        found = _first(two_digits(_LEAST_EPSILON, LARGEST_EPSILON), lambda epsilon: self.reaches(rows, epsilon))
        return None if found is None else float(found)

    def rows_needed(self) -> int | None:
        """Return the least number of rows, of two digits, that reaches it; None where none does that a run may have."""
        most = Fraction(LARGEST_N * len(self.agreement.parties))
        found = _first(two_digits(_FEWEST_ROWS, most), lambda rows: self.reaches(int(rows)))
        return None if found is None else int(found)

    def _spec(self, epsilon: Fraction | None) -> MechanismSpec:
        if epsilon is None:
            return self.agreement.spec
        return replace(self.agreement, target=replace(self.agreement.target, epsilon=epsilon)).spec

    @cached_property
    def _moments(self) -> Array:
        return assumed_moments(self.agreement.bounds, self.expectations.deviations)

    @cached_property
    def _units(self) -> dict[str, float]:
        numbers = columns_of_numbers(self.agreement.bounds)
        return {name: deviation(column, self.expectations.deviations) for name, column in numbers.items()}

    @cached_property
    def _terms(self) -> tuple[tuple[Term, ...], Array]:
        return coefficient_map(self.agreement.bounds)

    @cached_property
    def _spread(self) -> tuple[float, float]:
        """Half of the range of an outcome, 1 without one, and the spread that `expect_inference` wants."""
        outcome, stated = self.agreement.bounds.outcome, self.expectations
        if outcome is None:
            return 1.0, spread_of_rate(stated.rate or 0.0)
        half = outcome[1] / 2 - outcome[0] / 2
        return half, (stated.residual or 0.0) / half


def columns_of_numbers(bounds: Bounds) -> dict[str, NumericColumn | DateColumn]:
    """Return the columns of numbers and dates by their names, with an outcome."""
    columns = (*bounds.columns, *([] if bounds.label_column is None else [bounds.label_column]))
    return {one.name: one for one in columns if isinstance(one, NumericColumn | DateColumn)}


def widest(intervals: Sequence[PlannedInterval]) -> float:
    """Return the half-width of the widest, each in standard deviations; infinite where some are not stated."""
    return max((inf if one.standardised is None else one.standardised for one in intervals), default=0.0)


def two_digits(low: Fraction, high: Fraction) -> tuple[Fraction, ...]:
    """Return the numbers of two digits from a power of ten on, up to `high`."""
    found = []
    while low <= high:
        found += [low * digits / 10 for digits in range(10, 100) if low * digits / 10 <= high]
        low *= 10
    return tuple(found)


def _first(numbers: Sequence[Fraction], reaches: Callable[[Fraction], bool]) -> Fraction | None:
    """Return the first number that reaches what is wanted, as all after it do; None if none does."""
    low, high = 0, len(numbers)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(numbers[middle]) else (middle + 1, high)
    return numbers[low] if low < len(numbers) else None
