"""Plan of a method with intervals: how wide they will be, what a wanted width needs, and what the run costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from pathlib import Path
from sys import float_info
from typing import Any

from protocols.programs import PROTOCOLS
from smc_dp.core.errors import InputError
from smc_dp.data.bounds import Bounds, read_bounds
from smc_dp.data.columns import NumericColumn
from smc_dp.data.usual_clip import longest_norm
from smc_dp.planning.candidate import Circumstances, check_columns
from smc_dp.planning.cost import SessionCost, SessionSpec, party_names, session_cost
from smc_dp.planning.expected_intervals import METHODS_WITH_INTERVALS, Expectations, ExpectedIntervals, widest
from smc_dp.planning.planned_intervals import PlannedInterval
from smc_dp.run.agreement import Agreement
from smc_dp.run.settings import RunSettings

EACH_COLUMN = "each column"
"""Name of all columns together, where only their number is planned."""
_WIDEST = float_info.max


@dataclass(frozen=True)
class IntervalPlan:
    """Intervals to be expected of one method, and what a wanted width needs.

    `epsilon_needed`, `rows_needed`: the least with which all intervals are stated and none is wider than wanted, where
    the other one is as planned; None where none is enough. `holds_against` and `needs`: claim of the protocol.
    `agreement`: what the parties would agree on.
    """

    parties: Mapping[str, int]
    method: str
    epsilon: float
    expectations: Expectations
    intervals: tuple[PlannedInterval, ...]
    epsilon_needed: float | None
    rows_needed: int | None
    holds_against: str
    needs: str
    cost: SessionCost
    agreement: Agreement = field(repr=False, compare=False)

    @property
    def rows(self) -> int:
        """Number of rows of all parties."""
        return sum(self.parties.values())

    @property
    def is_enough(self) -> bool:
        """True where all intervals are stated, and none is wider than wanted."""
        return widest(self.intervals) <= (self.expectations.width or _WIDEST)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "agreement"}
        return {
            **plain,
            "parties": dict(self.parties),
            "rows": self.rows,
            "is_enough": self.is_enough,
            "expectations": asdict(self.expectations),
            "intervals": [{**asdict(one), "times": one.times} for one in self.intervals],
            "cost": self.cost.as_dict(),
        }


def plan_intervals(
    sizes: Sequence[int] | Mapping[str, int],
    columns: int | None,
    settings: RunSettings,
    expectations: Expectations,
    *,
    classes: int | None = None,
    bounds: str | PathLike[str] | Bounds | None = None,
    cost: bool = False,
) -> IntervalPlan:
    """Plan the intervals of the method that the settings name; the other parameters are those of `plan`."""
    public = read_bounds(Path(bounds)) if isinstance(bounds, str | PathLike) else bounds
    check_columns(columns, classes, public)
    parties = dict(sizes) if isinstance(sizes, Mapping) else dict(zip(party_names(len(sizes)), sizes, strict=True))
    settled, method = settings.settle(len(parties)), str(settings.method.name)
    if method not in METHODS_WITH_INTERVALS:
        raise InputError("plan.has_no_intervals", method=method, known=METHODS_WITH_INTERVALS)
    known = bounds_of_columns(columns or 0, classes, method) if public is None else public
    Circumstances(tuple(parties), tuple(parties.values()), known.dimension)  # refuses their names and sizes
    agreement = settled.with_parties(tuple(parties), known.whole if method == "describe" else known)
    expectations.check(method, known)
    expected, rows = ExpectedIntervals(agreement, expectations), sum(parties.values())
    found = expected.of(rows)
    summary = agreement.terms.summary(agreement.spec, len(parties))
    session = SessionSpec(PROTOCOLS[agreement.protocol], agreement.program_parameters(""))
    return IntervalPlan(
        parties=parties,
        method=method,
        epsilon=float(settled.target.wanted),
        expectations=expectations,
        intervals=found if public is not None else tuple(_of_each_column(found)),
        epsilon_needed=expected.epsilon_needed(rows),
        rows_needed=expected.rows_needed(),
        holds_against=summary.holds_against,
        needs=summary.needs,
        cost=session_cost(session, measure=cost),
        agreement=agreement,
    )


def bounds_of_columns(columns: int, classes: int | None, method: str) -> Bounds:
    """Return bounds of so many numbers, with the label that the method has; an outcome is from -1 to 1."""
    numbers = tuple(NumericColumn(f"x{j + 1}", -1.0, 1.0) for j in range(columns))
    names = tuple(map(str, range(classes or 2))) if classes or method == "logistic" else ()
    outcome = (-1.0, 1.0) if method == "linear" else None
    return Bounds(numbers, names, clip=longest_norm(columns), outcome=outcome)


def _of_each_column(found: Sequence[PlannedInterval]) -> Iterator[PlannedInterval]:
    """Yield the intervals of one of equal columns, in standard deviations."""
    for one in found:
        if one.column == found[0].column:
            yield replace(one, column=EACH_COLUMN, unit=1.0, half_width=one.standardised)
