"""Report of a prediction to the owner of the rows: the metrics, and the rows that got no class."""

from __future__ import annotations

from collections.abc import Iterator

from smc_dp.pages.blocks import Bullets, PageBlock, coded_prose, lines_blocks
from smc_dp.pages.shortening import first_texts, shorten
from smc_dp.run.metrics_report import metrics_blocks
from smc_dp.run.prediction import Predictions

_MOST_KINDS, _LONGEST = 5, 1000  # a line that is to be copied must not be cut short


def prediction_blocks(found: Predictions, of: str) -> Iterator[PageBlock]:
    """Yield the metrics, where rows have classes, and then what `unfit_blocks` has; `of`: the rows, such as a file."""
    if found.metrics is not None:
        yield from metrics_blocks(found.metrics, of)
    yield from unfit_blocks(found)


def unfit_blocks(found: Predictions) -> Iterator[PageBlock]:
    """Yield that all rows get one class, and how many rows do not fit, or have a label that is no class, and why."""
    if found.one_class is not None:
        yield coded_prose("prediction.one_class", name=shorten(found.one_class))
    rows = len(found.labels)
    if found.refused:
        yield coded_prose("prediction.rows_without_class", count=found.refused, rows=rows)
        yield Bullets(first_texts([str(kind) for kind in found.kinds], _MOST_KINDS, _LONGEST))
    if found.unlabelled_rows:
        yield coded_prose("prediction.labels_unknown", count=found.unlabelled_rows, rows=rows)
        yield Bullets(first_texts([str(kind) for kind in found.unlabelled], _MOST_KINDS, _LONGEST))
    yield from lines_blocks(found.lines_for_site)
