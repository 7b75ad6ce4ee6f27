"""The rows of a benchmark as a picture: how far each is on the right side of its goal, and how seconds grow."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from smc_dp.bench.goals import GoalRow, spaced
from smc_dp.bench.goals import figure as number

_PASSED, _FAILED, _UNJUDGED = "#0072b2", "#d55e00", "#7f7f7f"
_FINE, _WIDTH, _LINE, _LABEL = 150, 10.0, 0.42, 62
_MOST_TOLD = 100
_SECONDS = re.compile(r"seconds_([Kd])_([0-9]+)")


def as_png(rows: Sequence[GoalRow], machine: Mapping[str, str], quick: bool) -> bytes:
    """A PNG."""
    png = io.BytesIO()
    drawn(rows, machine, quick).savefig(png, format="png", metadata={"Software": None})
    return png.getvalue()


def drawn(rows: Sequence[GoalRow], machine: Mapping[str, str], quick: bool) -> Figure:
    """Bars over the goals, and beside them curves where some row has grown."""
    bars = [row for row in rows if margin(row) is not None]
    growing = [row for row in rows if growth_of(row)]
    height = 1.8 + _LINE * max(len(bars), 4)
    figure = Figure(figsize=(_WIDTH * (1.5 if growing else 1), height), dpi=_FINE, layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, 2 if growing else 1, squeeze=False, width_ratios=[2, 1] if growing else None)[0]
    _draw_bars(panels[0], bars)
    if growing:
        _draw_growth(panels[1], growing)
    title = "Processor time against the goals" + (", quick sizes: not judged" if quick else "")
    figure.suptitle(f"{title}\n{', '.join(f'{what} {said}' for what, said in machine.items())}", fontsize=10)
    return figure


def margin(row: GoalRow) -> float | None:
    """How many times better than its goal a row is, below 1 if it is missed; None where there is no figure or bound.

    What does not grow at all has an exponent of nearly zero, or below: more than a hundred times better is not told.
    """
    if row.measured is None or row.goal.sense == "ends" or (row.goal.sense == "at least" and row.measured <= 0):
        return None
    if row.goal.sense == "at least":
        return row.measured / row.goal.bound
    return row.goal.bound / max(row.measured, row.goal.bound / _MOST_TOLD)


def growth_of(row: GoalRow) -> dict[int, float]:
    """Seconds by size, of a row that is an exponent."""
    found = {match[2]: value for name, value in row.parts.items() if (match := _SECONDS.fullmatch(name))}
    return {int(size): value for size, value in found.items()}


def _draw_bars(axes: Axes, rows: Sequence[GoalRow]) -> None:
    colours = {True: _PASSED, False: _FAILED, None: _UNJUDGED}
    places = range(len(rows))
    margins = [margin(row) or 1.0 for row in rows]
    axes.barh(places, [m - 1 for m in margins], left=1, color=[colours[row.passed] for row in rows])
    for place, row, m in zip(places, rows, margins, strict=True):
        said = "" if row.measured is None else f" {number(row.measured)}{spaced(row.goal.unit)} ({row.goal}) "
        axes.text(m, place, said, va="center", ha="left" if m >= 1 else "right", fontsize=7)
    axes.set_xscale("log")
    axes.set_xlim(min([0.5, *(m / 12 for m in margins)]), max([2, *(m * 15 for m in margins)]))
    axes.axvline(1, color="black", linewidth=1)
    axes.set_yticks(list(places), [textwrap.fill(row.what, _LABEL) for row in rows], fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("times better than the goal (1: just met)")


def _draw_growth(axes: Axes, rows: Sequence[GoalRow]) -> None:
    for row, marker in zip(rows, "os^Dv" * len(rows), strict=False):
        found = growth_of(row)
        axes.plot(list(found), list(found.values()), marker=marker, label=textwrap.fill(row.what, _LABEL // 2))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("K or d")
    axes.set_ylabel("processor seconds of a whole run")
    axes.legend(fontsize=6)
