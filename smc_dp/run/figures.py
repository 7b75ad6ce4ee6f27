"""Figures of a verified release, a description or coefficients with intervals, as CSV and JSON for other programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smc_dp.core.errors import InputError
from smc_dp.core.spreadsheet import format_csv
from smc_dp.methods.statistics.estimate import INTERVAL_LEVEL
from smc_dp.run.coefficient_intervals_table import what_intervals_cover
from smc_dp.run.coefficient_rows import (
    NO_UNITS,
    CoefficientRow,
    Interval,
    UnitsByColumn,
    check_units_of_columns,
    coefficient_rows,
    constant_columns,
    odds,
)
from smc_dp.run.description_table import COVERS_ROWS
from smc_dp.run.verify_release import VerifiedRelease, verify_release

_OF_A_DESCRIPTION = ("column", "level", "figure", "estimate", "low", "high")
_OF_COEFFICIENTS = (
    *("column", "cell", "kind", "reference", "units", "estimate", *Interval._fields),
    *("odds_ratio", "odds_low", "odds_high"),
)
_ODDS = 3  # columns of them
_SUMMARY = (
    "rows",
    "rows_error",
    "left_out",
    "left_out_error",
    "times_needed",
    "residual_deviation",
    "obstacles",
    "cautions",
)


@dataclass(frozen=True)
class ReleaseFigures:
    """Table of the figures of a release: `rows` under `headings`, None where there is no figure.

    `summary`: what holds for the whole table, for JSON.
    """

    source: VerifiedRelease
    headings: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    summary: Mapping[str, Any]

    def as_csv(self) -> str:
        """Return the table as CSV; a figure that is None is empty."""
        cells = (["" if cell is None else cell for cell in row] for row in self.rows)
        return format_csv([self.headings, *cells])

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        agreement = self.source.release.agreement
        return {
            "method": agreement.method.name,
            "level": INTERVAL_LEVEL,
            **self.summary,
            "figures": [dict(zip(self.headings, row, strict=True)) for row in self.rows],
            "privacy": agreement.statement.as_dict(),
            "insecure": list(self.source.release.insecure),
        }


def read_figures(run: Path, per: UnitsByColumn = NO_UNITS) -> ReleaseFigures:
    """Verify the release of a run, and return its figures.

    `per`: how many units of a column its coefficient is for. Raises InputError without a transcript, for a release that
    has neither a description nor coefficients with intervals, and for units of what is no column of numbers or dates.
    """
    verified = verify_release(run)
    verified.require_transcript()
    release = verified.release
    check_units_of_columns(per, release)
    if (described := release.description) is not None:
        rows, grouped = described.table(), described.by is not None
        figures = tuple((*([row.group] if grouped else []), *row.as_dict().values()) for row in rows)
        summary: dict[str, Any] = {"covers": COVERS_ROWS, "rows": described.rows, "parties": described.parties}
        headings = ("group", *_OF_A_DESCRIPTION) if grouped else _OF_A_DESCRIPTION
        return ReleaseFigures(verified, headings, figures, summary)
    if (found := release.inference) is None:
        raise InputError("release.no_figures", name=release.agreement.method.name)
    coefficients = tuple(map(_cells, coefficient_rows(found["terms"], release.bounds, per)))
    without = (None,) * (len(_OF_COEFFICIENTS) - 4)
    constant = constant_columns(release.bounds).items()
    coefficients += tuple((name, cell, "constant", cell, *without) for name, cell in constant)
    covers = what_intervals_cover(release.bounds)
    summary = {"covers": covers, **{name: found[name] for name in _SUMMARY if name in found}}
    if release.bounds.outcome is not None:  # a number has no odds
        kept = len(_OF_COEFFICIENTS) - _ODDS
        return ReleaseFigures(verified, _OF_COEFFICIENTS[:kept], tuple(row[:kept] for row in coefficients), summary)
    return ReleaseFigures(verified, _OF_COEFFICIENTS, coefficients, summary)


def _cells(row: CoefficientRow) -> tuple[object, ...]:
    named = (row.column, row.cell, row.kind, row.reference, row.units, row.estimate)
    if (found := row.interval) is None:
        return (*named, *(None,) * len(Interval._fields), odds(row.estimate), None, None)
    return (*named, *found, odds(row.estimate), odds(found.low), odds(found.high))
