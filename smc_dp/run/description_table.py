"""Table of a description, in the units of its columns."""

from __future__ import annotations

from collections.abc import Iterator

from smc_dp.data.bounds import Bounds
from smc_dp.methods.statistics.describe_result import DescribeResult
from smc_dp.methods.statistics.estimate import FEWEST_ERRORS, INTERVAL_LEVEL, QUANTILE
from smc_dp.methods.statistics.figure_row import COUNT, DIFFERENCE_OF_PROPORTIONS, PROPORTION, FigureRow
from smc_dp.pages.blocks import FactList, PageBlock, PageTable, Prose, rest_of
from smc_dp.pages.shortening import shorten
from smc_dp.run.table_one import HIDDEN, UNKNOWN, percentage, table_one

_MOST_ROWS = 400
_PERCENT = f"{100 * INTERVAL_LEVEL:g} %"
COVERS_ROWS = (
    f"If all parties followed the protocol, an interval contains the figure of the rows of these parties with a "
    f"probability of about {_PERCENT}, each interval by itself. It covers the noise of the sum alone. It covers no "
    "sampling: for conclusions about other people it is too narrow."
)


def description_blocks(described: DescribeResult, bounds: Bounds) -> Iterator[PageBlock]:
    """Yield the numbers of rows and parties, the table, and what its intervals cover."""
    yield FactList((("Rows", f"{described.rows:,}, exact"), ("Parties in the sum", f"{described.parties:,}")))
    figures = described.table()
    rows = [_cells(row, described.rows) for row in figures if not row.group]
    headings = ("column", "level", "figure", "estimate", f"{_PERCENT} interval", "% of rows")
    yield PageTable("Description of the rows", headings, tuple(rows[:_MOST_ROWS]), numbers=(3, 4, 5))
    yield from rest_of(len(rows), _MOST_ROWS, ", in release.json")
    if described.by is not None:
        grouped = [(shorten(row.group), *_cells(row)) for row in figures if row.group]
        title = f"Groups by {shorten(described.by)}; differences are from {shorten(described.groups[0].group)}"
        yield PageTable(title, ("group", *headings[:-1]), tuple(grouped[:_MOST_ROWS]), numbers=(4, 5))
        yield from rest_of(len(grouped), _MOST_ROWS, ", in release.json")
    yield Prose(
        f"{COVERS_ROWS} All figures but the number of rows have noise. Few counts are whole numbers, and some figures "
        "may be impossible: counts and proportions below 0 or above all rows, means outside of their bounds. Their "
        "intervals hold. Percentages of rows are cut to 0 and 100. A number outside of its bounds counts as the bound, "
        "and an empty cell as what its rule puts there. Where too few cells are left at this noise, "
        f'"{UNKNOWN}" stands in place of a figure. {_fewest(described)}Where noise hides a standard deviation, its '
        "interval alone is stated."
    )
    yield table_one(described, bounds)


def _fewest(described: DescribeResult) -> str:
    """Return how many cells a figure of a group needs, from the interval of the number of its rows."""
    if not described.groups or not (half := described.groups[0].rows.high - described.groups[0].rows.estimate):
        return ""
    rows = FEWEST_ERRORS * half / QUANTILE
    return f"A group needs about {rows:,.0f} rows at this epsilon, and half as many at twice the epsilon. "


def _cells(row: FigureRow, rows: int | None = None) -> tuple[str, ...]:
    """Return the cells of a row; with the number of all `rows` the last is the percentage of them."""
    said = (shorten(row.column), shorten(row.level), row.figure)
    if row.found is None:
        return (*said, UNKNOWN, "", *([] if rows is None else [""]))
    estimate, low, high = (_number(row.figure, end) for end in (row.found.estimate, row.found.low, row.found.high))
    cells = (*said, HIDDEN if row.found.hidden else estimate, f"{low} to {high}")
    if rows is None:
        return cells
    return (*cells, percentage(row.found.estimate / rows) if row.figure == COUNT else "")


def _number(figure: str, number: float) -> str:
    """Return a number of this figure; a large one as whole, without an exponent."""
    usual = ",.0f" if 10_000 <= abs(number) < 1e15 else ",.4g"
    form = {COUNT: ",.1f", PROPORTION: ".4f", DIFFERENCE_OF_PROPORTIONS: ".4f"}.get(figure, usual)
    return f"{number:{form}}"
