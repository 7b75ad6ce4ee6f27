"""Coefficients with intervals as a table and a forest plot, for people who know the columns of a release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import sqrt
from typing import Any

from smc_dp.core.errors import FieldValue
from smc_dp.data.bounds import Bounds
from smc_dp.methods.statistics.coefficient_inference import FLOOR, LONGEST_STEP, SURE_EIGENVALUE
from smc_dp.methods.statistics.estimate import QUANTILE
from smc_dp.pages.blocks import PageBlock, PageTable, Prose, Section, coded_prose, rest_of
from smc_dp.pages.shortening import join_first, shorten
from smc_dp.run.coefficient_rows import (
    INTERCEPT,
    NO_UNITS,
    CoefficientRow,
    UnitsByColumn,
    coefficient_rows,
    constant_columns,
)
from smc_dp.run.forest_plot import draw_forest, odds_text

_MOST_ROWS, _MOST_NAMES = 200, 50
_ODDS = ("odds ratio", "interval of it")
_HEADINGS = ("column", "cell", "coefficient", "standard error", "interval", "odds ratio", "interval of it", "p", "Holm")
_ESTIMATES = ("column", "cell", "coefficient", "odds ratio")
_COVERS = (
    "Of any one coefficient, the intervals of about 95 of 100 releases contain its value in the population from which "
    "the rows were drawn. They count sampling, also where the model is wrong (robust errors, HC1), and the noise "
    "of all parties. They assume that rows do not depend on each other, and that all parties followed the protocol."
)
_ADJUSTED = (
    "Holm is the p-value corrected for testing all coefficients with an interval but the intercept. In at "
    "most about 5 of 100 releases does any coefficient that is truly 0 get a value below .05."
)
_SAID = {
    "collinear": "intervals.collinear",
    "far_start": "intervals.far_start",
    "few_rows": "intervals.few_rows",
    "other_parties": "intervals.other_parties",
    "dropped_out": "intervals.dropped_out",
    "left_out": "intervals.left_out",
    "perhaps_left_out": "intervals.perhaps_left_out",
    "ill_determined": "intervals.ill_determined",
    "far_cells": "intervals.far_cells",
    "small_cells": "intervals.small_cells",
    "long_tail": "intervals.long_tail",
    "clipped_residuals": "intervals.clipped_residuals",
}
"""Codes of the sentences about obstacles and cautions."""


def interval_blocks(found: Mapping[str, Any], bounds: Bounds, per: UnitsByColumn = NO_UNITS) -> Iterator[PageBlock]:
    """Yield the table with a forest plot, or why there are no intervals, and what the figures mean.

    `per`: how many units of a column its coefficient is for.
    """
    yield Prose(
        f"A {kind_of_regression(bounds)}, of {_count(found, 'rows')} rows. Besides these, {_count(found, 'left_out')} "
        "were left out, because they lie far from the average of all. Noise may make a count negative, or too large."
    )
    if found.get("residual_deviation"):  # 0 where noise hides the residuals
        yield Prose(f"The standard deviation of the residuals is about {found['residual_deviation']:.3g}.")
    for code in (*found["obstacles"], *found["cautions"]):
        yield coded_prose(_SAID[code], **_figures_of(code, found))
        if code in ("collinear", "ill_determined"):
            yield _what_would_do(found)
    rows = list(coefficient_rows(found["terms"], bounds, per))
    if found["obstacles"]:
        table = PageTable("Coefficients", _ESTIMATES, tuple(map(_estimate, rows[:_MOST_ROWS])), numbers=(2, 3))
        yield table if bounds.outcome is None else _without_odds(table)
    else:
        caption = f"Coefficients, with intervals at the level {found['level']:g}"
        cells = tuple(map(_with_interval, rows[:_MOST_ROWS]))
        table = PageTable(caption, _HEADINGS, cells, numbers=(2, 3, 4, 5, 6, 7, 8))
        yield table if bounds.outcome is None else _without_odds(table)
    yield from rest_of(len(rows), _MOST_ROWS, ", in release.json")
    if not found["obstacles"]:
        yield Prose(f"{what_intervals_cover(bounds)} {_ADJUSTED}")
    compared = {row.column: row.reference for row in rows if row.reference}
    if references := [f"{shorten(column)} {shorten(cell)}" for column, cell in compared.items()]:
        yield Prose(f"Levels are compared with the first of their column: {join_first(references, _MOST_NAMES)}.")
    yield from constant_prose(bounds)
    of_number = bounds.outcome is not None
    label = str(bounds.label) if of_number else bounds.classes[1]
    if not found["obstacles"] and (plot := tuple(draw_forest(rows, label, of_number=of_number))):
        yield Section("Forest plot", plot, details=True)


def constant_prose(bounds: Bounds) -> Iterator[Prose]:
    """Yield a sentence on the columns that have no coefficient, as the bounds give them one level."""
    if names := [shorten(column) for column in constant_columns(bounds)]:
        yield Prose(
            f"Without a coefficient, with only one level or bin by the bounds: {join_first(names, _MOST_NAMES)}."
        )


def what_intervals_cover(bounds: Bounds) -> str:
    """Return the sentences on what intervals of coefficients cover and assume."""
    if bounds.outcome is not None:
        return f"{_COVERS} Where a few outcomes lie very far from all others, on one side, intervals may be false."
    return f"{_COVERS} A level with hardly any rows of one class may have a false interval."


def kind_of_regression(bounds: Bounds) -> str:
    """Return which regression the coefficients are of, and of which label."""
    if bounds.outcome is not None:
        return f"linear regression of {shorten(str(bounds.label))} (least squares)"
    first, second = map(shorten, bounds.classes)
    return f"logistic regression of {second} against {first}"


def _without_odds(table: PageTable) -> PageTable:
    """Return the table without the columns of odds ratios."""
    kept = [i for i, heading in enumerate(table.headings) if heading not in _ODDS]
    return replace(
        table,
        headings=tuple(table.headings[i] for i in kept),
        rows=tuple(tuple(row[i] for i in kept) for row in table.rows),
        numbers=tuple(range(2, len(kept))),
    )


def _name(row: CoefficientRow) -> tuple[str, str]:
    return ("(intercept)", "") if row.kind == INTERCEPT else (shorten(row.column), shorten(row.what))


def _estimate(row: CoefficientRow) -> tuple[str, ...]:
    return (*_name(row), f"{row.estimate:.4g}", odds_text(row.estimate))


def _with_interval(row: CoefficientRow) -> tuple[str, ...]:
    start = (*_name(row), f"{row.estimate:.4g}")
    if (found := row.interval) is None:
        return (*start, "", "", odds_text(row.estimate), "", "", "")
    interval, of_odds = f"{found.low:.4g} to {found.high:.4g}", f"{odds_text(found.low)} to {odds_text(found.high)}"
    each = (found.p_value, found.p_value_holm)
    of_test = ("" if p is None else "<.0001" if p < 1e-4 else f"{p:.4f}" for p in each)
    return (*start, f"{found.standard_error:.3g}", interval, odds_text(row.estimate), of_odds, *of_test)


def _figures_of(code: str, found: Mapping[str, Any]) -> dict[str, FieldValue]:
    """Return the figures that the sentence of an obstacle names."""
    if code == "far_start":
        return {"moved": sqrt(max(found["last_step"], 0.0)), "most": sqrt(LONGEST_STEP)}
    return {"rows": round(found["rows"]), "coefficients": len(found["terms"])} if code == "few_rows" else {}


def _what_would_do(found: Mapping[str, Any]) -> Prose:
    """Return how many rows, or which epsilon, would tell all coefficients apart."""
    if (times := found["times_needed"]) is None:
        return coded_prose("intervals.needed_beyond", times=SURE_EIGENVALUE / FLOOR)
    rows = float(f"{times * max(found['rows'], 1.0):.2g}")
    return coded_prose("intervals.needed", rows=round(rows), times=times)


def _count(found: Mapping[str, Any], name: str) -> str:
    number, half = found[name], QUANTILE * found[f"{name}_error"]
    return f"about {round(number):,} ({round(number - half):,} to {round(number + half):,})"
