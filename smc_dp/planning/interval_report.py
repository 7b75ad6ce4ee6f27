"""Report of a plan of intervals: what to expect, what a wanted width needs, and what is assumed."""

from __future__ import annotations

from collections.abc import Iterator

from smc_dp.core.errors import FieldValue
from smc_dp.pages.blocks import Bullets, PageBlock, PageTable, Prose, coded_prose
from smc_dp.planning.assumed_rows import DEVIATIONS_IN_RANGE, EMPTY_PART
from smc_dp.planning.expected_intervals import LARGEST_EPSILON, widest
from smc_dp.planning.interval_plan import EACH_COLUMN, IntervalPlan
from smc_dp.planning.planned_intervals import PlannedInterval
from smc_dp.planning.report import cost_blocks
from smc_dp.run.coefficient_intervals_table import constant_prose

_NONE = "none"
_NAMED = 5  # of more columns it is said how many there are


def planned_interval_blocks(plan: IntervalPlan, *, cost: bool = False) -> Iterator[PageBlock]:
    """Yield the report of a plan of intervals; with `cost` its figures by stage and by role too."""
    yield from expectation_blocks(plan)
    headings = ("column", "figure", "half-width", "times the width without privacy")
    yield PageTable("Intervals", headings, tuple(map(_row, plan.intervals)), numbers=(2, 3))
    yield Bullets(tuple(_assumptions(plan)))
    if plan.method != "describe":
        yield from constant_prose(plan.agreement.bounds)
    yield Prose(f"The guarantee of {plan.method} holds against {plan.holds_against} It needs {plan.needs}")
    found = plan.cost
    counted = f"{found.messages:,} messages, {found.bytes:,} bytes, {found.rounds:,} rounds"
    yield Prose(f"Cost of {plan.method} by {found.protocol} among {len(plan.parties)}: {counted}.")
    if cost:
        yield from cost_blocks(found)


def expectation_blocks(plan: IntervalPlan) -> Iterator[Prose]:
    """Yield what to expect and what a wanted width needs, each sentence with its code."""
    fields: dict[str, FieldValue] = {"method": plan.method, "rows": plan.rows, "epsilon": plan.epsilon}
    missing = [*dict.fromkeys(one.column for one in plan.intervals if one.half_width is None)]
    if missing:
        more = f" and {len(missing) - _NAMED:,} more" if len(missing) > _NAMED else ""
        yield coded_prose("plan.intervals_missing", **fields, columns=f"{', '.join(missing[:_NAMED])}{more}")
    else:
        yield coded_prose("plan.intervals_expected", **fields, half=widest(plan.intervals))
    width = plan.expectations.width
    if plan.method == "describe" and width is None:  # which has all intervals with hardly any rows
        return
    goal = "are expected" if width is None else f"reach at most {width:g} to each side"
    if plan.epsilon_needed is not None:
        yield coded_prose("plan.width_from_epsilon", goal=goal, rows=plan.rows, epsilon=plan.epsilon_needed)
    else:
        without = max(one.without_privacy for one in plan.intervals)
        yield coded_prose("plan.width_at_no_epsilon", rows=plan.rows, most=float(LARGEST_EPSILON), without=without)
    if plan.rows_needed is not None:
        yield coded_prose("plan.width_from_rows", goal=goal, rows=plan.rows_needed, epsilon=plan.epsilon)
    else:
        yield coded_prose("plan.width_with_no_rows", epsilon=plan.epsilon)


def _row(one: PlannedInterval) -> tuple[str, ...]:
    half = _NONE if one.half_width is None else f"{one.half_width:.3g}"
    return one.column, _figure(one), half, "" if one.times is None else f"{one.times:.2f}"


def _figure(one: PlannedInterval) -> str:
    if one.figure != "slope":
        return {"level": "each level", "bin": "each bin", "empty": "empty cells"}.get(one.figure, one.figure)
    return "per standard deviation" if one.column == EACH_COLUMN else f"per {one.unit:.3g}, a standard deviation"


def _assumptions(plan: IntervalPlan) -> Iterator[str]:
    yield (
        f"Assumed: the range of a number is {DEVIATIONS_IN_RANGE:g} standard deviations wide, unless you state another "
        "deviation. Levels and bins are equally frequent. In a column that marks empty cells, "
        f"{EMPTY_PART:.0%} of the cells are empty. Intervals are wider for wider ranges and rarer levels."
    )
    if plan.method == "describe":
        yield "Intervals are for the figures of these rows: they count the noise, and no sampling."
        yield (
            "Assumed: groups are equally frequent. Quantiles and cells of contingency tables are not in the table. The "
            "count of a cell has no wider interval than that of a level."
        )
        return
    yield "Assumed: no column depends on others. Those that do have wider intervals."
    stated = plan.expectations
    if plan.method == "linear":
        residual = f"residuals have the standard deviation {stated.residual:g}"
        yield f"Assumed: {residual}, and outcomes lie around the middle of their range."
        return
    yield (
        f"Assumed: {stated.rate:g} of the rows are of the second class. Columns tell classes apart moderately, with an "
        "area under the curve of about 0.74. The better they do so, the wider the intervals."
    )
