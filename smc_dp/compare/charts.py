"""Panels as pictures: mean and spread of every curve, baselines as horizontal lines, a paper's own numbers drawn in."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from smc_dp.compare.results import Summary, Trial, summary
from smc_dp.compare.study import MEASURES, Panel, PaperFigure, Study, point_of
from smc_dp.methods.registry import METHODS

_OTHERS = ("#bcbd22", "#17becf", "#e377c2", "#8c564b", "#7f7f7f")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_STAR = Line2D([], [], marker="*", markersize=11, color="white", markeredgecolor="black", linestyle="none",
               label="stated in the paper")  # fmt: skip
Dash: TypeAlias = Literal["-", "--", ":", "-."]
_DASHES: MappingProxyType[str, Dash] = MappingProxyType({"proven": "-", "paper": "--", "none": ":"})


@dataclass(frozen=True)
class Curve:
    """One line of a panel: x (infinite epsilon is infinite here), and what was measured there.

    `shade` tells lines of one method and calibration apart.
    """

    label: str
    method: str
    calibration: str
    points: tuple[tuple[float, Summary], ...]
    shade: int = 0

    @property
    def is_baseline(self) -> bool:
        """Whether it is one number without noise, which belongs to no epsilon."""
        return self.calibration == "none" and len(self.points) == 1


def curves(panel: Panel, study: Study, trials: Sequence[Trial]) -> list[Curve]:
    """The lines of a panel, in the order of the plan."""
    rows = [t for t in trials if panel.shows(point_of(t))]
    names = list(dict.fromkeys((e.label, e.method, e.shown_calibration) for e in study.plan.entries))
    several = len({t.calibration for t in rows if t.calibration != "none"}) > 1
    found = []
    for label, method, calibration in names:
        mine = [t for t in rows if (t.method, t.calibration) == (label, calibration)]
        shown = f"{label} ({calibration})" if several and calibration != "none" else label
        if panel.axis == "setting":
            found += _over_settings(shown, method, calibration, mine, panel)
        else:
            found += _over_epsilon(shown, method, calibration, mine, panel)
    kinds = [(line.method, line.calibration) for line in found]
    return [replace(line, shade=kinds[:i].count(kinds[i])) for i, line in enumerate(found)]


def _over_settings(label: str, method: str, calibration: str, trials: list[Trial], panel: Panel) -> list[Curve]:
    """A curve for each epsilon."""
    found = []
    epsilons = sorted({t.epsilon for t in trials})
    for epsilon in epsilons:
        chosen = {s: [t for t in trials if (t.dataset, t.epsilon) == (s, epsilon)] for s in panel.settings}
        here = zip(panel.places, chosen.values(), strict=True)
        points = tuple((x, summary(some, panel.measure)) for x, some in sorted(here, key=lambda h: h[0]) if some)
        ending = f", ε = {epsilon:g}" if calibration != "none" and epsilon < math.inf and len(epsilons) > 1 else ""
        ending = ", no privacy" if calibration != "none" and epsilon == math.inf else ending
        if points:
            found.append(Curve(label + ending, method, calibration, points))
    return found


def _over_epsilon(label: str, method: str, calibration: str, trials: list[Trial], panel: Panel) -> list[Curve]:
    """A curve for each setting."""
    found = []
    present = [s for s in panel.settings if any(t.dataset == s for t in trials)]
    for setting in present:
        mine = [t for t in trials if t.dataset == setting]
        points = tuple(
            (x, summary([t for t in mine if t.epsilon == x], panel.measure)) for x in sorted({t.epsilon for t in mine})
        )
        name = f"{label}, {setting}" if len(present) > 1 else label
        found.append(Curve(name, method, calibration, points))
    return found


def draw(panel: Panel, study: Study, trials: Sequence[Trial]) -> bytes | None:
    """A PNG, or None if no trial belongs to the panel."""
    lines = curves(panel, study, trials)
    if not lines:
        return None
    figure = Figure(figsize=(9.6, 4.8), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    places = _Places(lines, panel)
    stated = [s for s in study.stated if _belongs(s, panel)]
    methods = {entry.label: entry.method for entry in study.plan.entries}
    for line in lines:
        _draw_line(axes, line, places)
    for number in stated:
        _draw_stated(axes, number, places, colour_of(methods[number.point.method]))
    _finish(axes, panel, places)
    handles = [_handle(line) for line in lines] + ([_STAR] if stated else [])
    figure.legend(handles=handles, loc="outside right upper", fontsize=8.5, frameon=False)
    png = io.BytesIO()
    figure.savefig(png, format="png", metadata={"Software": None})
    return png.getvalue()


class _Places:
    """Where an x stands: logarithmic for epsilon, with no noise one step beyond the end, else as it is."""

    def __init__(self, lines: Sequence[Curve], panel: Panel) -> None:
        self.panel = panel
        self.lines = [line for line in lines if not line.is_baseline or panel.axis == "setting"]
        xs = sorted({x for line in lines if not line.is_baseline for x, _ in line.points})
        self.finite = [x for x in xs if x < math.inf] or [1.0]
        self.has_infinity = math.inf in xs
        if panel.axis == "setting":
            return
        logs = [math.log10(x) for x in self.finite]
        self.sign = -1.0 if panel.axis == "inverse epsilon" else 1.0
        gap = max(0.15 * (logs[-1] - logs[0]), 0.35)
        self.beyond = logs[-1] + gap

    def of(self, x: float) -> float:
        if self.panel.axis == "setting":
            return x
        return self.sign * (self.beyond if x == math.inf else math.log10(x))

    @property
    def step(self) -> float:
        """A small part of the width of the picture."""
        ends = [self.of(x) for line in self.lines for x, _ in line.points] or [0.0]
        return 0.006 * (max(ends) - min(ends) or 1.0)

    def apart(self, line: Curve) -> float:
        """A step to the side, so that the bars of different curves do not cover each other."""
        return self.step * (self.lines.index(line) - (len(self.lines) - 1) / 2)

    def ticks(self) -> tuple[list[float], list[str]]:
        """Epsilons that ran, thinned out until their labels do not touch, and the end without noise."""
        chosen = list(self.finite)
        while len(chosen) > 9:
            chosen = chosen[::2]
        inverse = self.panel.axis == "inverse epsilon"
        labels = [f"{1 / x:g}" if inverse else f"{x:g}" for x in chosen]
        end = [(self.of(math.inf), "0" if inverse else "∞")] if self.has_infinity else []
        return [self.of(x) for x in chosen] + [x for x, _ in end], labels + [text for _, text in end]


def _draw_line(axes: Axes, line: Curve, places: _Places) -> None:
    colour = shade(colour_of(line.method), line.shade)
    if line.is_baseline and places.panel.axis != "setting":
        found = line.points[0][1]
        axes.axhline(found.mean, color=colour, linestyle=_dash(line), linewidth=1.4)
        if found.deviation > 0:  # neither a single trial nor nan
            low, high = found.mean - found.deviation, found.mean + found.deviation
            axes.axhspan(low, high, color=colour, alpha=0.1, linewidth=0)
        return
    points = sorted((places.of(at), found) for at, found in line.points)
    x = np.array([at for at, _ in points])
    mean = np.array([found.mean for _, found in points])
    spread = np.array([found.deviation for _, found in points])
    below, above = spread, spread
    if places.panel.measure != "seconds":
        below, above = np.minimum(spread, mean), np.minimum(spread, 1 - mean)
    axes.errorbar(
        x + places.apart(line),
        mean,
        yerr=np.array([below, above]),
        color=colour,
        linestyle=_dash(line),
        marker=_MARKERS[line.shade % len(_MARKERS)],
        markersize=4.5,
        linewidth=1.6,
        elinewidth=0.9,
        capsize=2.5,
    )


def _handle(line: Curve) -> Line2D:
    """What stands for the line in the legend."""
    colour, mark = shade(colour_of(line.method), line.shade), _MARKERS[line.shade % len(_MARKERS)]
    label = f"{line.label} ({line.points[0][1].mean:.3f})" if line.is_baseline else line.label
    return Line2D([], [], color=colour, linestyle=_dash(line), marker="" if line.is_baseline else mark, label=label)


def _dash(line: Curve) -> Dash:
    return "-." if line.method == "batch" else _DASHES[line.calibration]


def _draw_stated(axes: Axes, stated: PaperFigure, places: _Places, colour: str) -> None:
    """A star: a little to the left of its curve, or at the right edge for a baseline."""
    point, panel = stated.point, places.panel
    style: dict[str, Any] = {
        "marker": "*",
        "markersize": 13,
        "color": colour,
        "markeredgecolor": "black",
        "linestyle": "none",
    }
    if point.calibration == "none" and panel.axis != "setting":
        axes.plot([0.985], [stated.value], transform=axes.get_yaxis_transform(), zorder=5, **style)
        return
    x = panel.places[panel.settings.index(point.setting)] if panel.axis == "setting" else places.of(point.epsilon)
    axes.plot([x - 4 * places.step], [stated.value], zorder=5, **style)


def _belongs(stated: PaperFigure, panel: Panel) -> bool:
    return stated.in_paper and stated.measure == panel.measure and panel.shows(stated.point)


def _finish(axes: Axes, panel: Panel, places: _Places) -> None:
    if panel.axis != "setting":
        ticks, labels = places.ticks()
        axes.set_xticks(ticks, labels)
        epsilon = "ε (logarithmic; ∞: no noise)" if places.has_infinity else "ε (logarithmic)"
        inverse = "1/ε (logarithmic; 0: no noise)"
        axes.set_xlabel(inverse if panel.axis == "inverse epsilon" else epsilon)
    else:
        axes.set_xlabel(panel.axis_title)
    axes.set_ylabel(MEASURES[panel.measure] + ", mean and s.d.")
    axes.set_title(panel.title, fontsize=11, loc="left")
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def colour_of(method: str) -> str:
    """The method's colour; one of a few, always the same, for a method without one."""
    known = METHODS.get(method)
    return _OTHERS[sum(method.encode()) % len(_OTHERS)] if known is None else known.colour


def shade(colour: str, step: int) -> tuple[float, float, float]:
    """The colour, mixed with more white at each step."""
    r, g, b = to_rgb(colour)
    white = min(0.3 * step, 0.6)
    return r + (1 - r) * white, g + (1 - g) * white, b + (1 - b) * white
