"""Table of the coefficients of a release, for people who know its columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import DateColumn
from smc_dp.pages.blocks import PageBlock, PageTable, Prose, rest_of
from smc_dp.pages.shortening import shorten

_MOST_ROWS, _MOST_CLASSES = 200, 5
_HEADINGS = ("column", "cell", "adds to the score", "standardised by the public range")


def coefficient_blocks(coefficients: Mapping[str, Any], bounds: Bounds, cut: float) -> Iterator[PageBlock]:
    """Yield what the numbers mean, and a table for each score; only the first of very many rows and classes.

    cut: score above which a row gets the second of two classes.
    """
    yield Prose(
        f"The score is the predicted value of {shorten(str(bounds.label))}."
        if bounds.outcome is not None
        else f"A score above {cut:.4g} means {shorten(bounds.classes[1])}."
        if len(bounds.classes) == 2
        else "Each class has a score, and the largest wins."
    )
    start, end = ("the middle of its range", "upper") if bounds.center else ("0", "largest")
    yield Prose(
        "A score is the intercept plus what each column adds. A number is clipped to its bounds, and adds its "
        "value times the figure in the table. A date counts as days since its lower bound. The standardised figure is "
        f"the change of the score if a number or date goes from {start} to its {end} bound. The "
        f"standardised figure of the intercept is the score with every number and date at {start}, without "
        "what columns of text add. The table does not give the score of a row that is scaled down to the limit of its "
        "norm: use `smc-dp predict` for it."
    )
    days = {column.name for column in bounds.columns if isinstance(column, DateColumn)}
    for name, score in list(coefficients.items())[:_MOST_CLASSES]:
        rows = [("(intercept)", "", score["intercept"], score["standardised_intercept"])]
        for column, found in score["columns"].items():
            rows += [(column, *row) for row in _rows(found, "a day" if column in days else "a unit")]
        listed = [(shorten(row[0]), shorten(row[1]), *map(_figure, row[2:])) for row in rows[:_MOST_ROWS]]
        yield PageTable(f"Score of {shorten(name)}", _HEADINGS, tuple(listed), numbers=(2, 3))
        yield from rest_of(len(rows), _MOST_ROWS, ", in release.json")
    if len(coefficients) > _MOST_CLASSES:
        yield Prose(f"And the scores of {len(coefficients) - _MOST_CLASSES} more classes, in release.json.")


def _rows(found: Mapping[str, Any], unit: str) -> Iterator[tuple[str, float | None, float | None]]:
    """Yield the cells of a column, each with what it adds, and the same standardised."""
    if "slope" in found:
        yield unit, found["slope"], found["standardised_slope"]
    for text, number in (found.get("levels") or found.get("bins") or {}).items():
        yield text, number, number
    if "empty" in found:
        yield "empty", found["empty"], found.get("standardised_empty", found["empty"])


def _figure(number: float | None) -> str:
    return "above 1e300" if number is None else f"{number:.4g}"
