"""Tables of coefficients with intervals, for people who know the columns of a release."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import BinnedColumn, CategoricalColumn
from smc_dp.pages.blocks import PageBlock, PageTable, Prose, coded_prose
from smc_dp.pages.shortening import join_first, shorten

_MOST_ROWS, _MOST_NAMES = 200, 50
_HEADINGS = ("column", "cell", "coefficient", "standard error", "interval", "odds ratio", "interval of it", "p")
_ESTIMATES = ("column", "cell", "coefficient", "odds ratio")
_CELLS = {"slope": "a unit", "empty": "empty"}
_SAID = {
    "collinear": "intervals.collinear",
    "far_start": "intervals.far_start",
    "few_rows": "intervals.few_rows",
    "left_out": "intervals.left_out",
    "ill_determined": "intervals.ill_determined",
    "far_cells": "intervals.far_cells",
}
"""Codes of the sentences about obstacles and cautions."""


def interval_blocks(found: Mapping[str, Any], bounds: Bounds) -> Iterator[PageBlock]:
    """Yield the table, or why there are no intervals, and what the figures mean."""
    first, second = map(shorten, bounds.classes)
    yield Prose(
        f"A logistic regression of {second} against {first}, of {_count(found['rows'])} rows. Left out were "
        f"{_count(found['left_out'])}, as they lie far from the released centre. Both counts contain noise, and may be "
        "negative."
    )
    for code in (*found["obstacles"], *found["cautions"]):
        yield coded_prose(_SAID[code])
    listed = [term for term in found["terms"] if term["estimate"] is not None]
    if found["obstacles"]:
        yield PageTable("Coefficients", _ESTIMATES, tuple(map(_estimate, listed[:_MOST_ROWS])), numbers=(2, 3))
    else:
        caption = f"Coefficients, with intervals at the level {found['level']:g}"
        yield PageTable(caption, _HEADINGS, tuple(map(_with_interval, listed[:_MOST_ROWS])), numbers=(2, 3, 4, 5, 6, 7))
        yield Prose(
            "An interval covers the coefficient in the population from which the rows were drawn, for any one "
            "coefficient in about 95 of 100 releases. It counts sampling, also where the model is wrong (robust "
            "errors, HC1), and the noise of all parties. It assumes that rows do not depend on each other, and that "
            "all parties followed the protocol. A level with hardly any rows of one class may have a false interval."
        )
    if len(listed) > _MOST_ROWS:
        yield Prose(f"And {len(listed) - _MOST_ROWS:,} more, in release.json.")
    levels = [(c.name, c.categories) for c in bounds.columns if isinstance(c, CategoricalColumn)]
    levels += [(c.name, c.texts) for c in bounds.columns if isinstance(c, BinnedColumn)]
    references = [f"{shorten(name)} {shorten(texts[0])}" for name, texts in levels]
    if references:
        yield Prose(f"Levels are compared with the first of their column: {join_first(references, _MOST_NAMES)}.")


def _name(term: Mapping[str, Any]) -> tuple[str, str]:
    if term["kind"] == "intercept":
        return "(intercept)", ""
    return shorten(term["column"]), shorten(_CELLS.get(term["kind"], term["cell"]))


def _estimate(term: Mapping[str, Any]) -> tuple[str, ...]:
    return (*_name(term), f"{term['estimate']:.4g}", _odds(term["estimate"]))


def _with_interval(term: Mapping[str, Any]) -> tuple[str, ...]:
    name, estimate = _name(term), term["estimate"]
    if None in (term[figure] for figure in ("standard_error", "low", "high", "p_value")):
        return (*name, f"{estimate:.4g}", "", "", _odds(estimate), "", "")
    low, high, p = term["low"], term["high"], term["p_value"]
    interval, of_odds = f"{low:.4g} to {high:.4g}", f"{_odds(low)} to {_odds(high)}"
    said = "<.0001" if p < 1e-4 else f"{p:.4f}"
    return (*name, f"{estimate:.4g}", f"{term['standard_error']:.3g}", interval, _odds(estimate), of_odds, said)


def _odds(score: float) -> str:
    return f"{math.exp(score):.4g}" if score < math.log(1e6) else "above 1e6"


def _count(number: float) -> str:
    return f"about {round(number):,}"
