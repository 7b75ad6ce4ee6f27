"""Plans of intervals for tests, and the intervals of releases on rows as they assume."""

from __future__ import annotations

from typing import Any

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.data.bounds import Bounds, parse_bounds
from smc_dp.data.federation import Rows
from smc_dp.methods.functionality import ideal
from smc_dp.methods.statistics.coefficient_sums import CoefficientSums
from smc_dp.planning.expected_intervals import Expectations
from smc_dp.planning.interval_plan import IntervalPlan, plan_intervals
from smc_dp.run.agreement import Agreement
from smc_dp.run.coefficient_intervals import make_intervals
from smc_dp.run.settings import RunSettings
from tests.support.assumed_tables import drawn_rows

SIZES = {"north": 10_000, "south": 6000, "clinic": 4000}
COLUMNS = """
[columns]
age = [0, 120]
ward = ["a", "b", "c", "d"]
bmi = {bins = [10, 25, 30, 60]}
seen = [2010-01-01, 2025-12-31]
dose = [0, 10]
sex = ["f", "m"]
[missing]
dose = "indicator"
sex = "category"
[rows]
clip = 3
center = CENTER
[label]
"""


def columns(label: str, center: str = "true") -> Bounds:
    return parse_bounds(COLUMNS.replace("CENTER", center) + label)


CLASSES, NUMBER = 'column = "died"\nclasses = ["no", "yes"]\n', 'column = "stay"\nrange = [0, 60]\n'


def planned(columns: int | None = 5, *, sizes: Any = SIZES, bounds: Bounds | None = None, **said: Any) -> IntervalPlan:
    figures = {name: said.pop(name) for name in ("rate", "residual", "width", "deviations") if name in said}
    return plan_intervals(sizes, columns, RunSettings.from_options(**said), Expectations(**figures), bounds=bounds)


def released(agreement: Agreement, n: int, seed: int, **drawn: Any) -> dict[tuple[str, str], list[float | None]]:
    """Half-widths of a release on rows as assumed, of each column by the kind of coefficient."""
    return released_of(agreement, drawn_rows(agreement.bounds, n, seed, **drawn), seed)


def released_of(agreement: Agreement, rows: Rows, seed: int) -> dict[tuple[str, str], list[float | None]]:
    """The same on these rows."""
    spec, parties, rng = agreement.spec, len(agreement.parties), Stream.insecure_from_seed(f"{seed}")
    assert isinstance(spec, CoefficientSums)
    parts = [spec.part(rows.take(np.arange(j, len(rows), parties)), rng.fork(f"{j}")) for j in range(parties)]
    value = ideal(spec.functionality, parts, rng.fork("all"))
    result, inferred = agreement.inferred_result(value)
    stated = make_intervals(inferred, result, agreement.bounds)
    assert stated is not None
    found: dict[tuple[str, str], list[float | None]] = {}
    for term in stated["terms"]:
        half = None if term["low"] is None else (term["high"] - term["low"]) / 2
        found.setdefault((term["column"], term["kind"]), []).append(half)
    return found


def ratios(plan: IntervalPlan, releases: int, **drawn: Any) -> Array:
    """Median half-widths of releases over those planned, one for each planned interval; NaN where most have none."""
    each = [released(plan.agreement, plan.rows, seed, **drawn) for seed in range(releases)]
    compared = []
    for one in plan.intervals:
        halves = [half for found in each for half in found[one.column, one.figure]]
        assert one.half_width is not None
        stated = [half * one.unit for half in halves if half is not None]
        compared.append(np.median(stated) / one.half_width if 2 * len(stated) > len(halves) else np.nan)
    return np.array(compared)
