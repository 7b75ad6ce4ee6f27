"""What a person reads of a finished grid, beside its page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from smc_dp.core.errors import one_line
from smc_dp.experiments.compare.page import where
from smc_dp.experiments.compare.study import ClaimVerdict

_MOST_SHOWN = 20  # of the failed cells


def means(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows of a table of means, with headings of two lines where one would be wide."""
    return [{name.replace("guaranteed_", "guaranteed\n"): value for name, value in row.items()} for row in rows]


def claims(verdicts: Sequence[ClaimVerdict]) -> Iterator[str]:
    """What a paper says, and whether it came out."""
    if verdicts:
        yield "Claims, and whether they came out:"
    for verdict in verdicts:
        yield f"  {verdict.answer:<7}  {verdict.quotation}"
        yield f"           {verdict.paper}; here {verdict.here}"


def written(folder: Path, page: Path) -> str:
    """What lies where."""
    return f"Written to {folder}: results.csv, statements.json, figures, and the page {page}"


def failures(failed: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The first failed cells, and how many there are."""
    for failure in failed[:_MOST_SHOWN]:
        yield f"failed: {where(failure)}: {one_line(failure['failure'])}"
    if failed:
        cells = f"{len(failed)} cell{'' if len(failed) == 1 else 's'}"
        yield f"error: {cells} failed, all parameters are in failures.json"
