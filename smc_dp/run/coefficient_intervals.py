"""Coefficients of a release with their standard errors and intervals, by the names of its columns.

They follow from the published sums and the public bounds alone, so that anybody can compute them again. That takes
linear algebra, whose last digits differ between machines: figures that are nearly the same agree.

An interval covers the coefficient that the regression would have on all rows of the population from which the
rows, but for those left out, were drawn; so it counts sampling, robustly (HC1), and the noise of all parties. Its
quantile is that of Student's t, with as many degrees of freedom as there are more rows than coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy

from smc_dp.core.arrays import Array
from smc_dp.core.errors import Fault, InputFault
from smc_dp.core.kinds import LARGEST_FINITE_NUMBER
from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import BinnedColumn, CategoricalColumn
from smc_dp.methods.model import Weights
from smc_dp.methods.statistics.coefficient_inference import FLOOR, SURE_EIGENVALUE, CoefficientInference
from smc_dp.methods.statistics.describe_result import DescribeResult
from smc_dp.methods.statistics.estimate import INTERVAL_LEVEL, QUANTILE
from smc_dp.run.agreement import Agreement
from smc_dp.run.coefficients import make_coefficients

MOST_LEFT_OUT = 0.05
"""Part of the rows that may be left out without a caution."""
MOST_OF_A_CELL = 4.0
"""Largest coefficient of a level, a bin or empty cells that has an interval.

Where a cell decides the class, there is none to estimate, and the steps end at some number: from 0 they reach twice
this one. In simulations intervals of true coefficients of 5 and more covered .90, .67 and .00 (5, 6, 7).
"""
FEWEST_OF_A_CELL = 5.0
"""Least number of records, each weighed by how much it tells beside the noise, that it has an interval with."""
LARGEST_NEXT_STEP = 0.25
"""Most standard errors that it may have still to go: after a last step d, a step of Newton goes about d^2/2."""
FEWEST_ROWS_OF_A_CELL = 20.0
"""Least number of rows of a coefficient of least squares: robust errors of fewer rows of a cell are too small."""
_OF_CELLS = ("level", "bin", "empty")
_NEARLY = 1e-6


class Term(NamedTuple):
    """Name of a coefficient: kind, column and cell; both are empty for the intercept, the cell for a slope."""

    kind: str
    column: str
    cell: str


def make_intervals(
    found: CoefficientInference | None, result: Weights | DescribeResult, bounds: Bounds
) -> dict[str, Any] | None:
    """Return for JSON what a method infers from the published sums; None for methods that infer nothing.

    Without intervals, `obstacles` says why, by codes, and terms have estimates only. `cautions` restrict what intervals
    say.
    """
    if found is None or isinstance(result, DescribeResult):
        return None
    return state_inference(found.transformed(coefficient_map(bounds)[1]), terms_of(result, bounds))


def state_inference(found: CoefficientInference, terms: Mapping[Term, float | None]) -> dict[str, Any]:
    """Return the inference for JSON; `found` is in the order of the terms, which have their coefficients."""
    ill, clipped = found.ill_determined, found.clipped
    # The last sum of `logistic` stands for itself; that of `linear` needs the matrix of the sum before.
    other_sums = ["other_parties"] if found.of_other_parties and found.residual is not None else []
    obstacles = [*found.obstacles, *other_sums, *(["collinear"] if ill[1:].all() else [])]
    withheld = ill | clipped | bool(obstacles)
    each = [
        {**name._asdict(), "estimate": estimate, **_figures(name, None if withheld[i] else estimate, found, i)}
        for i, (name, estimate) in enumerate(terms.items())
    ]
    # Of how many more rows are left out than may be: the noisy number, and how far noise may have moved it.
    beyond = found.left_out - MOST_LEFT_OUT * max(found.rows + found.left_out, 1.0)
    doubt = QUANTILE * math.hypot(found.left_out_error, MOST_LEFT_OUT * found.rows_error)
    without = np.array([term["estimate"] is not None and term["low"] is None and not obstacles for term in each])
    is_cell = np.array([name.kind in _OF_CELLS for name in terms])
    warned = {
        "dropped_out": found.of_other_parties and found.residual is None,
        "left_out": beyond > doubt,
        "perhaps_left_out": abs(beyond) <= doubt,
        "ill_determined": any(ill & without),
        "clipped_residuals": any(clipped & ~ill & without),
        "far_cells" if found.residual is None else "small_cells": any(~clipped & ~ill & without & is_cell),
    }
    return {
        "level": INTERVAL_LEVEL,
        "rows": _stated(found.rows),
        "rows_error": _stated(found.rows_error),
        "left_out": _stated(found.left_out),
        "left_out_error": _stated(found.left_out_error),
        "last_step": _stated(found.step),
        "times_needed": _times_needed(found) if "collinear" in obstacles or any(ill & without) else None,
        **({} if found.residual is None else {"residual_deviation": _stated(found.residual)}),
        "obstacles": obstacles,
        "cautions": [code for code, holds in warned.items() if holds],
        "terms": each,
    }


def _times_needed(found: CoefficientInference) -> float | None:
    """Return how many times as many rows, or times the epsilon, take all directions out of the noise, as `plan` says.

    The Hessian grows with the rows, and its noise falls with epsilon. None where noise drowns a direction: then nobody
    knows how much it takes, if anything does.
    """
    return SURE_EIGENVALUE / found.least if found.least >= FLOOR else None


def intervals_fault(
    stated: Mapping[str, Any] | None,
    follows: CoefficientInference | None,
    agreement: Agreement,
    result: Weights | DescribeResult,
) -> Fault | None:
    """Return the fault of an inference that does not follow from the published sums, or that no method here has."""
    made = make_intervals(follows, result, agreement.bounds)
    return None if _same(stated, made) else InputFault("release.other_inference")


def terms_of(weights: Weights, bounds: Bounds) -> dict[Term, float | None]:
    """Return the coefficients of the score of the second class, or of the outcome; reference levels have none."""
    (score,) = make_coefficients(weights, bounds).values()
    return dict(_terms(score, bounds))


def coefficient_map(bounds: Bounds) -> tuple[tuple[Term, ...], Array]:
    """Return the terms, and the matrix, (q, p), that makes them of the p weights that are no reference."""
    box = bounds.box
    references = () if box is None else box.references
    each = []
    for j in range(bounds.dimension):
        if j not in references:
            unit = tuple(float(i == j) for i in range(bounds.dimension))
            each.append(terms_of(unit, bounds))
    return tuple(each[0]), np.array([[x or 0.0 for x in found.values()] for found in each]).T


def _terms(score: Mapping[str, Any], bounds: Bounds) -> Iterator[tuple[Term, float | None]]:
    yield Term("intercept", "", ""), score["intercept"]
    for column in bounds.columns:
        found = score["columns"][column.name]
        if isinstance(column, CategoricalColumn | BinnedColumn):
            kind = "level" if "levels" in found else "bin"
            for cell in list(found[f"{kind}s"])[1:]:
                yield Term(kind, column.name, cell), found[f"{kind}s"][cell]
        else:
            yield Term("slope", column.name, ""), found["slope"]
        if "empty" in found:
            yield Term("empty", column.name, ""), found["empty"]


def _figures(name: Term, estimate: float | None, found: CoefficientInference, i: int) -> dict[str, float | None]:
    names = ("standard_error", "sampling_error", "privacy_error", "low", "high", "p_value")
    variances = (found.covariance[i, i], found.sampling[i, i], found.privacy[i, i])
    if estimate is None or not all(0 <= v <= LARGEST_FINITE_NUMBER for v in variances):
        return dict.fromkeys(names)
    error, sampling, privacy = map(math.sqrt, variances)
    if name.kind in _OF_CELLS and _is_doubtful_cell(estimate, error, found, i):
        return dict.fromkeys(names)
    half = interval_quantile(found, INTERVAL_LEVEL) * error
    p_value = 2 * float(scipy.special.stdtr(_free(found), -abs(estimate) / error)) if error else 0.0
    return dict(zip(names, (error, sampling, privacy, estimate - half, estimate + half, p_value), strict=True))


def interval_quantile(found: CoefficientInference, level: float) -> float:
    """Return how many standard errors an interval of this level goes to each side: Student's t."""
    return float(scipy.special.stdtrit(_free(found), (1 + level) / 2))


def _free(found: CoefficientInference) -> float:
    return found.rows - len(found.last)


def _is_doubtful_cell(estimate: float, error: float, found: CoefficientInference, i: int) -> bool:
    if found.residual is not None:
        return bool(found.inverse[i, i] > 1 / FEWEST_ROWS_OF_A_CELL)
    next_step = found.last[i] ** 2 / 2
    return bool(
        abs(estimate) > MOST_OF_A_CELL or error**2 > 1 / FEWEST_OF_A_CELL or next_step > LARGEST_NEXT_STEP * error
    )


def _stated(number: float) -> float:
    return min(max(float(number), -LARGEST_FINITE_NUMBER), LARGEST_FINITE_NUMBER)


def _same(stated: Any, follows: Any) -> bool:
    """Return whether both are alike, but for the last digits of figures."""
    if isinstance(stated, Mapping) and isinstance(follows, Mapping):
        return stated.keys() == follows.keys() and all(_same(stated[name], follows[name]) for name in follows)
    if isinstance(stated, list) and isinstance(follows, list):
        return len(stated) == len(follows) and all(map(_same, stated, follows))
    if isinstance(follows, float) and type(stated) in (int, float):
        return math.isclose(stated, follows, rel_tol=_NEARLY, abs_tol=_NEARLY**2)
    return bool(stated == follows)
