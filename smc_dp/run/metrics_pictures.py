"""Picture of the quality of a release: the calibration curve, beside its table."""

from __future__ import annotations

import math
from itertools import pairwise

from smc_dp.pages.blocks import Drawing
from smc_dp.pages.svg import Svg
from smc_dp.run.metrics import Metrics

_SIZE, _LEFT, _TOP, _FOOT = 260.0, 80.0, 14.0, 46.0
_LEAST, _MOST = 3.0, 10.0  # radius of a disc, by its number of rows


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


def _at(x: float, y: float) -> tuple[float, float]:
    return _LEFT + x * _SIZE, _TOP + (1 - y) * _SIZE
