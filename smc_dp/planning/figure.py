"""Picture of the accuracy interval of a method over epsilon, readable in grey, with the planned epsilon marked.

It has no party's name and no number of rows; but the number of all rows can be estimated from it.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import PurePath

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from smc_dp.core.errors import InputError, shown
from smc_dp.methods.expected_accuracy import ExpectedAccuracy
from smc_dp.planning.candidate import Candidate
from smc_dp.privacy.target import HIGHEST, LOWEST

FORMATS = ("png", "svg", "pdf")
_POINTS, _DECADES = 41, 1.5  # to either side of the epsilon that is planned
_FINE, _SIZE = 150, (7.0, 4.2)
_DARK, _LIGHT = "#1a1a1a", "#b8c9dd"


def picture_format(path: PurePath) -> str:
    """Return the format that the name of a file asks for; InputError for another."""
    kind = path.suffix[1:].lower()
    if kind not in FORMATS:
        raise InputError("plan.no_picture", formats=", .".join(FORMATS), got=shown(path.name))
    return kind


def render_figure(candidate: Candidate, kind: str) -> bytes:
    """Return the picture in one of the `FORMATS`."""
    made = io.BytesIO()
    draw_figure(candidate).savefig(made, format=kind, metadata={"Date": None} if kind == "svg" else None)
    return made.getvalue()


def draw_figure(candidate: Candidate) -> Figure:
    """Draw the accuracy interval over epsilon, and mark the planned one."""
    epsilon = float(candidate.target.wanted)
    found = [(e, expected_at(candidate, e)) for e in _around(epsilon)]
    x, intervals = [e for e, _ in found], [accuracy.interval for _, accuracy in found]
    figure = Figure(figsize=_SIZE, dpi=_FINE, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    low, high = [max(0.0, interval.low) for interval in intervals], [interval.high for interval in intervals]
    axes.fill_between(x, low, high, color=_LIGHT, linewidth=0, label="what was lost, in nine of ten settings")
    axes.plot(x, high, color=_DARK, linewidth=1.6)
    axes.plot(x, low, color=_DARK, linewidth=1.2, linestyle="--")
    now = candidate.expected.interval
    axes.plot([epsilon, epsilon], [max(0.0, now.low), now.high], color=_DARK, linewidth=3, marker="_", markersize=14)
    said = f"epsilon {epsilon:g}: {max(0.0, now.low):.2f} to {now.high:.2f}"
    axes.annotate(said, (epsilon, now.high), (8, 8), textcoords="offset points", fontsize=10, weight="bold")
    axes.set(xscale="log", xlim=(x[0], x[-1]), ylim=(0, max(high) * 1.08 + 0.01))
    axes.set(xlabel="epsilon (smaller is more private)", ylabel="accuracy lost, against the same without noise")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:.2f}"))
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(loc="upper right", frameon=False, fontsize=9)
    axes.set_title(figure_title(candidate), fontsize=11)
    return figure


def figure_title(candidate: Candidate) -> str:
    """Return the title, which names nothing of a single party."""
    known = candidate.circumstances
    return (
        f"{candidate.method.name}: {len(known.names)} parties, {known.dimension} columns with the constant, "
        f"{known.classes} classes"
    )


def expected_at(candidate: Candidate, epsilon: float) -> ExpectedAccuracy:
    """Return the expected accuracy for another epsilon."""
    target = replace(candidate.target, epsilon=Fraction(repr(epsilon)))
    return replace(candidate, target=target).expected


def _around(epsilon: float) -> Sequence[float]:
    """Return epsilons from 30 times less to 30 times more, inside the range of targets."""
    first, last = max(float(LOWEST), epsilon / 10**_DECADES), min(float(HIGHEST), epsilon * 10**_DECADES)
    return [first * (last / first) ** (i / (_POINTS - 1)) for i in range(_POINTS)]
