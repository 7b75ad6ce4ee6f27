"""Pictures of the quality of a release: the calibration curve and the confusion matrix, beside their tables."""

from __future__ import annotations

import math
from itertools import pairwise

from smc_dp.pages.blocks import Drawing
from smc_dp.pages.shortening import shorten, shorten_to_width
from smc_dp.pages.svg import Fill, Svg
from smc_dp.run.metrics import Metrics

_SIZE, _LEFT, _TOP, _FOOT = 260.0, 80.0, 14.0, 46.0
_LEAST, _MOST = 3.0, 10.0  # radius of a disc, by its number of rows
_CELL, _NAMES = 62.0, 110.0
_LEVELS: tuple[tuple[float, Fill], ...] = ((0.75, "solid"), (0.5, "dense"), (0.25, "hatched"), (0.0, "dotted"))
_LETTERS = 11.0


def draw_calibration(found: Metrics) -> Drawing:
    """Return observed shares over mean probabilities, a disc for each bin, beside the diagonal."""
    svg = Svg(_LEFT + _SIZE + 20, _TOP + _SIZE + _FOOT)
    svg.rect(_LEFT, _TOP, _SIZE, _SIZE, "paper")
    svg.line(*_at(0, 0), *_at(1, 1), "dashed")
    for tick in (0.0, 0.5, 1.0):
        svg.text(_at(tick, 0)[0], _TOP + _SIZE + 18, f"{tick:g}", "middle", size=12)
        svg.text(_LEFT - 8, _at(0, tick)[1] + 4, f"{tick:g}", "end", size=12)
    svg.text(_LEFT + _SIZE / 2, _TOP + _SIZE + 38, "mean probability", "middle", size=12)
    svg.text(_LEFT - 8, _at(0, 0.78)[1], "observed", "end", size=12)
    svg.text(_LEFT - 8, _at(0, 0.72)[1], "share", "end", size=12)
    most = max(one.rows for one in found.calibration)
    points = [_at(one.predicted, one.observed) for one in found.calibration]
    for (x1, y1), (x2, y2) in pairwise(points):
        svg.line(x1, y1, x2, y2)
    for (x, y), one in zip(points, found.calibration, strict=True):
        svg.circle(x, y, _LEAST + (_MOST - _LEAST) * math.sqrt(one.rows / most))
    said = (
        "Each disc is a line of the table: mean probability to the right, observed share upwards. A larger disc has "
        "more rows. On the dashed line both are equal.",
    )
    return Drawing(svg, "Calibration curve", said)


def draw_confusion(found: Metrics) -> Drawing:
    """Return a box for each pair of a true and a predicted class, darker for a larger share of the true class."""
    names = [shorten(one.name) for one in found.classes]
    svg = Svg(_NAMES + _CELL * len(names) + 10, 54 + _CELL * len(names))
    svg.text(_NAMES + _CELL * len(names) / 2, 16, "predicted class", "middle", size=12)
    for at, name in enumerate(names):
        svg.text(_NAMES + _CELL * (at + 0.5), 38, shorten_to_width(name, _CELL, _LETTERS), "middle", size=_LETTERS)
        at_row = 48 + _CELL * (at + 0.5)
        svg.text(_NAMES - 8, at_row, shorten_to_width(name, _NAMES - 8, _LETTERS), "end", size=_LETTERS)
        for other, count in enumerate(found.confusion[at]):
            _box(svg, _NAMES + _CELL * other, 44 + _CELL * at, count, found.classes[at].rows)
    said = ("The boxes have the numbers of the table. The darker a box, the larger its share of the true class.",)
    return Drawing(svg, "Confusion matrix", said)


def _at(x: float, y: float) -> tuple[float, float]:
    return _LEFT + x * _SIZE, _TOP + (1 - y) * _SIZE


def _box(svg: Svg, x: float, y: float, count: int, of_class: int) -> None:
    share = count / of_class if of_class else 0.0
    fill: Fill = next(fill for least, fill in _LEVELS if share >= least) if count else "paper"
    svg.rect(x, y, _CELL, _CELL, fill)
    text = f"{count:,}"
    svg.rect(x + 4, y + _CELL / 2 - 11, _CELL - 8, 20, "paper")  # figures are read on plain ground
    svg.text(x + _CELL / 2, y + _CELL / 2 + 4, text, "middle", size=12, bold=True)
