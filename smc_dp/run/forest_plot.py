"""Forest plot: the odds ratio of each coefficient with its interval, on a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from smc_dp.pages.blocks import Drawing
from smc_dp.pages.shortening import shorten, shorten_to_width
from smc_dp.pages.svg import Svg, text_width
from smc_dp.run.coefficient_rows import INTERCEPT, CoefficientRow, Interval, odds

_WIDTH, _LEFT, _RIGHT = 350.0, 12.0, 338.0
_TOP, _ROW, _FOOT = 8.0, 36.0, 44.0
_LETTERS = 12.0
_FARTHEST = math.log(100.0)  # of the scale: what lies beyond ends with an arrow
_NARROWEST = math.log(1.02)
_LARGEST_WRITTEN = 1e6
_MOST_ROWS, _MOST_TICKS = 60, 7


def draw_forest(rows: Sequence[CoefficientRow], outcome: str) -> Iterator[Drawing]:
    """Yield the plot of the first rows with an interval, the intercept left out; nothing where there are none.

    `outcome`: the class whose odds are compared.
    """
    found = [(row, row.interval) for row in rows if row.interval is not None and row.kind != INTERCEPT]
    if not found:
        return
    drawn = found[:_MOST_ROWS]
    scale, foot = _Scale([interval for _, interval in drawn]), _TOP + _ROW * len(drawn)
    svg = Svg(_WIDTH, foot + _FOOT)
    svg.line(_LEFT, foot, _RIGHT, foot)
    for tick in scale.ticks:
        x = scale.at(math.log(tick))
        svg.line(x, foot, x, foot + 5)
        svg.text(x, foot + 19, f"{tick:g}", "middle", size=_LETTERS)
    title = shorten_to_width(f"odds ratio of {outcome}, logarithmic scale", _RIGHT - _LEFT, _LETTERS)
    svg.text((_LEFT + _RIGHT) / 2, foot + 37, title, "middle", size=_LETTERS)
    for i, (row, interval) in enumerate(drawn):
        _draw(svg, scale, _TOP + _ROW * i, row, interval)
    cut = (f"The first {_MOST_ROWS} of {len(found)} coefficients are drawn.",) if len(found) > _MOST_ROWS else ()
    said = (
        f"Each disc is the odds ratio of {shorten(outcome)} in a line of the table, on a logarithmic scale. The line "
        "through it is its interval; an arrow says that it goes on. On the dashed line an odds ratio is 1: no "
        "difference. The intercept and coefficients without an interval are left out.",
        *cut,
    )
    yield Drawing(svg, "Odds ratios with their intervals", said)


class _Scale:
    """Logarithmic scale that holds 1 and all intervals, as far as they lie between 1/100 and 100."""

    def __init__(self, intervals: Sequence[Interval]) -> None:
        ends = [end for interval in intervals for end in (interval.low, interval.high)]
        self.low = max(min(0.0, -_NARROWEST, *ends), -_FARTHEST)
        self.high = min(max(0.0, _NARROWEST, *ends), _FARTHEST)

    @property
    def ticks(self) -> list[float]:
        """Odds ratios to be written under the scale: the finest step that has few enough of them."""
        low, high = math.exp(self.low), math.exp(self.high)
        if high / low > 3:
            return next(found for found in _within(low, high) if len(found) <= _MOST_TICKS)
        step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if (high - low) / s <= _MOST_TICKS - 1)
        return [n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)]

    def at(self, score: float) -> float:
        """Return where a logarithm of odds stands on the scale, at an end where it lies beyond."""
        inside = min(max(score, self.low), self.high)
        return _LEFT + (inside - self.low) / (self.high - self.low) * (_RIGHT - _LEFT)


def _within(low: float, high: float) -> Iterator[list[float]]:
    """Yield the odds ratios of these, finer steps first, that lie between two others."""
    for digits in ((1, 1.5, 2, 3, 4, 5, 7), (1, 2, 5), (1, 3), (1,)):
        yield [found for e in range(-2, 3) for d in digits if low <= (found := d * 10.0**e) <= high]


def _draw(svg: Svg, scale: _Scale, y: float, row: CoefficientRow, interval: Interval) -> None:
    low, high = interval.low, interval.high
    figures = f"{odds_text(row.estimate, 3)} ({odds_text(low, 3)} to {odds_text(high, 3)})"
    room = _RIGHT - _LEFT - text_width(figures, _LETTERS) - 8
    svg.text(_LEFT, y + 13, shorten_to_width(f"{row.column}, {row.what}", room, _LETTERS), size=_LETTERS)
    svg.text(_RIGHT, y + 13, figures, "end", size=_LETTERS)
    svg.line(scale.at(0.0), y + 18, scale.at(0.0), y + _ROW, "dashed")  # not through the words
    middle, foot = scale.at(row.estimate), y + 26
    for end in (low, high):
        goes_on = not scale.low <= end <= scale.high
        svg.line(middle, foot, scale.at(end), foot, arrow=goes_on)
        if not goes_on:
            svg.line(scale.at(end), foot - 4, scale.at(end), foot + 4)
    if scale.low <= row.estimate <= scale.high:
        svg.circle(middle, foot, 4)


def odds_text(score: float, digits: int = 4) -> str:
    """Return the odds ratio of a coefficient, in so many digits."""
    found = odds(score)
    return f"{found:.{digits}g}" if found is not None and found < _LARGEST_WRITTEN else "above 1e6"
