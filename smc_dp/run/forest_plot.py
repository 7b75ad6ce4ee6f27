"""Forest plot: each coefficient with its interval; of a class its odds ratio, on a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

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
_LEFT_OUT = "The intercept and coefficients without an interval are left out."


def draw_forest(rows: Sequence[CoefficientRow], label: str, *, of_number: bool = False) -> Iterator[Drawing]:
    """Yield the plot of the first rows with an interval, the intercept left out; nothing where there are none.

    `label`: the class whose odds are compared, or the outcome if that is a number.
    """
    found = [(row, row.interval) for row in rows if row.interval is not None and row.kind != INTERCEPT]
    if not found:
        return
    drawn = found[:_MOST_ROWS]
    intervals, foot = [interval for _, interval in drawn], _TOP + _ROW * len(drawn)
    scale = _scale_of_numbers(intervals) if of_number else _scale_of_odds(intervals)
    svg = Svg(_WIDTH, foot + _FOOT)
    svg.line(_LEFT, foot, _RIGHT, foot)
    for score, text in scale.ticks:
        x = scale.at(score)
        svg.line(x, foot, x, foot + 5)
        svg.text(x, foot + 19, text, "middle", size=_LETTERS)
    title = f"difference of {label}" if of_number else f"odds ratio of {label}, logarithmic scale"
    title = shorten_to_width(title, _RIGHT - _LEFT, _LETTERS)
    svg.text((_LEFT + _RIGHT) / 2, foot + 37, title, "middle", size=_LETTERS)
    for i, (row, interval) in enumerate(drawn):
        _draw(svg, scale, _TOP + _ROW * i, row, interval)
    cut = (f"The first {_MOST_ROWS} of {len(found)} coefficients are drawn.",) if len(found) > _MOST_ROWS else ()
    caption, said = _of_number(label) if of_number else _of_odds(label)
    yield Drawing(svg, caption, (*said, *cut))


def _of_odds(label: str) -> tuple[str, tuple[str, ...]]:
    """Return the caption of a plot of odds ratios, and its legend."""
    return "Odds ratios with their intervals", (
        f"Each disc is the odds ratio of {shorten(label)} in a line of the table, on a logarithmic scale. The line "
        "through it is its interval; an arrow says that it goes on. On the dashed line an odds ratio is 1: no "
        f"difference. {_LEFT_OUT}",
    )


def _of_number(label: str) -> tuple[str, tuple[str, ...]]:
    """Return the caption of a plot of coefficients of a number, and its legend."""
    return "Coefficients with their intervals", (
        f"Each disc is a coefficient of {shorten(label)} in a line of the table. The line through it is its interval. "
        f"On the dashed line a coefficient is 0: no difference. {_LEFT_OUT}",
    )


@dataclass(frozen=True)
class _Scale:
    """Scale from `low` to `high`, with the coefficients and texts of its ticks, and how it writes a coefficient."""

    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    write: Callable[[float], str]

    def at(self, score: float) -> float:
        """Return where a coefficient stands on the scale, at an end where it lies beyond."""
        inside = min(max(score, self.low), self.high)
        return _LEFT + (inside - self.low) / (self.high - self.low) * (_RIGHT - _LEFT)


def _scale_of_odds(intervals: Sequence[Interval]) -> _Scale:
    """Return a logarithmic scale that holds 1 and all intervals, as far as they lie between 1/100 and 100.

    Its ticks are odds ratios in the finest step that has few enough of them.
    """
    ends = [end for interval in intervals for end in (interval.low, interval.high)]
    low, high = max(min(0.0, -_NARROWEST, *ends), -_FARTHEST), min(max(0.0, _NARROWEST, *ends), _FARTHEST)
    first, last = math.exp(low), math.exp(high)
    if last / first > 3:
        ticks = next(found for found in _within(first, last) if len(found) <= _MOST_TICKS)
    else:
        step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if (last - first) / s <= _MOST_TICKS - 1)
        ticks = _multiples(first, last, step)
    return _Scale(low, high, [(math.log(tick), f"{tick:g}") for tick in ticks], lambda score: odds_text(score, 3))


def _scale_of_numbers(intervals: Sequence[Interval]) -> _Scale:
    """Return a linear scale that holds 0 and all intervals, with ticks in the finest step that has few enough."""
    ends = [end for interval in intervals for end in (interval.low, interval.high)]
    low, high = min(0.0, *ends), max(0.0, *ends)
    high = high if high > low else low + 1.0
    finest = math.floor(math.log10(high - low)) - 1
    steps = (float(f"{digit}e{finest + i}") for i in range(3) for digit in (1, 2, 5))
    step = next(found for found in steps if (high - low) / found <= _MOST_TICKS - 1)
    ticks = [(tick, f"{tick:g}") for tick in _multiples(low, high, step)]
    return _Scale(low, high, ticks, lambda score: f"{score:.3g}")


def _multiples(low: float, high: float, step: float) -> list[float]:
    return [n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _within(low: float, high: float) -> Iterator[list[float]]:
    """Yield the odds ratios of these, finer steps first, that lie between two others."""
    for digits in ((1, 1.5, 2, 3, 4, 5, 7), (1, 2, 5), (1, 3), (1,)):
        yield [found for e in range(-2, 3) for d in digits if low <= (found := d * 10.0**e) <= high]


def _draw(svg: Svg, scale: _Scale, y: float, row: CoefficientRow, interval: Interval) -> None:
    low, high = interval.low, interval.high
    figures = f"{scale.write(row.estimate)} ({scale.write(low)} to {scale.write(high)})"
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
