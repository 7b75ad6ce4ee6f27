"""Pictures of panels: mean and spread of every curve, baselines as horizontal lines, a paper's own numbers drawn in.

Each picture is drawn twice, for a page and for a narrow screen, with the same font size.
"""

from __future__ import annotations

import io
import math
import textwrap
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

from smc_dp.experiments.compare import guarantee
from smc_dp.experiments.compare.epsilon_axis import AxisPoint, ChartFormat, EpsilonAxis
from smc_dp.experiments.compare.peers import PEERS
from smc_dp.experiments.compare.results import Summary, Trial, summarise
from smc_dp.experiments.compare.study import MEASURES, Panel, PaperFigure, Study, point_of, trials_at
from smc_dp.methods.registry import METHODS
from smc_dp.privacy.statement import short_delta

_OTHERS = ("#bcbd22", "#17becf", "#e377c2", "#8c564b", "#7f7f7f")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_STAR = Line2D([], [], marker="*", markersize=11, color="white", markeredgecolor="black", linestyle="none",
               label="stated in the paper")  # fmt: skip
Dash: TypeAlias = Literal["-", "--", ":", "-."] | tuple[int, tuple[float, ...]]
_DASHES: MappingProxyType[str, Dash] = MappingProxyType({"proven": "-", "paper": "--", "none": ":"})
_SECURE: Dash = (0, (4.0, 1.0, 1.0, 1.0, 1.0, 1.0))  # as nothing else is dashed
Colour: TypeAlias = tuple[float, float, float]
_HOLLOW: Colour = (1.0, 1.0, 1.0)

_FINE = 150  # dots to an inch
_SAMPLE = 3.6  # letters that a line of the legend is long: a whole dash on each side of the marker
_EDGE = 0.2  # inches, above and below a legend

WIDE = ChartFormat(9.6, 4.8, "outside right upper", ticks=8, room=0.12)
NARROW = ChartFormat(3.5, 3.2, "outside lower left", ticks=4, room=0.17)


@dataclass(frozen=True)
class PanelCurve:
    """One line of a panel: places on the axis, and the measurements there.

    `shade` tells lines of one method, calibration and trust apart. `note`: addition to the label in the legend.
    """

    label: str
    method: str
    calibration: str
    points: tuple[tuple[AxisPoint, Summary], ...]
    shade: int = 0
    note: str = ""
    trust: str = "aggregator"

    @property
    def is_baseline(self) -> bool:
        """One number without noise, which belongs to no epsilon."""
        return self.calibration == "none" and len(self.points) == 1


def panel_curves(panel: Panel, study: Study, trials: Sequence[Trial]) -> list[PanelCurve]:
    """Return the lines of a panel, in the order of the plan."""
    rows = [t for t in trials if panel.shows(point_of(t))]
    names = list(dict.fromkeys((e.label, e.method, e.shown_calibration, e.shown_trust) for e in study.plan.entries))
    several = len({t.calibration for t in rows if t.calibration != "none"}) > 1
    found = []
    for label, method, calibration, trust in names:
        mine = [t for t in rows if (t.method, t.calibration, t.trust) == (label, calibration, trust)]
        by = [calibration] if several and calibration != "none" else []
        by += ["secure"] if trust == "secure" else []
        shown = f"{label} ({', '.join(by)})" if by else label
        over = _over_settings if panel.axis == "setting" else _over_epsilon
        found += [replace(line, trust=trust) for line in over(shown, method, calibration, mine, panel)]
    kinds = [(line.method, line.calibration, line.trust) for line in found]
    return [replace(line, shade=kinds[:i].count(kinds[i])) for i, line in enumerate(found)]


def _over_settings(label: str, method: str, calibration: str, trials: list[Trial], panel: Panel) -> list[PanelCurve]:
    """Return a curve for each epsilon asked for."""
    found = []
    epsilons = sorted({t.epsilon for t in trials})
    for epsilon in epsilons:
        chosen = {s: [t for t in trials if (t.dataset, t.epsilon) == (s, epsilon)] for s in panel.settings}
        here = zip(panel.places, chosen.values(), strict=True)
        points = tuple(
            (AxisPoint(x), summarise(some, panel.measure)) for x, some in sorted(here, key=lambda h: h[0]) if some
        )
        ending = ", no noise" if epsilon == math.inf else f", ε = {epsilon:g} asked" if len(epsilons) > 1 else ""
        if points:
            worst = guarantee.worst_guarantee([t for some in chosen.values() for t in some])
            note = "no guarantee" if worst is None else f"guaranteed ε ≤ {worst}"
            name = label if calibration == "none" else label + ending
            found.append(PanelCurve(name, method, calibration, points, note=note))
    return found


def _over_epsilon(label: str, method: str, calibration: str, trials: list[Trial], panel: Panel) -> list[PanelCurve]:
    """Return a curve for each setting."""
    found = []
    present = [s for s in panel.settings if any(t.dataset == s for t in trials)]
    for setting in present:
        mine = [t for t in trials if t.dataset == setting]
        by_epsilon = {x: [t for t in mine if t.epsilon == x] for x in sorted({t.epsilon for t in mine})}
        given = {x: guarantee.worst_guarantee(some) for x, some in by_epsilon.items()}
        points = tuple((AxisPoint(x, given[x]), summarise(some, panel.measure)) for x, some in by_epsilon.items())
        name = f"{label}, {setting}" if len(present) > 1 else label
        deltas = {f"δ = {short_delta(found.delta)}" for found in given.values() if found is not None and found.delta}
        note = ", ".join(sorted(deltas)) if any(given.values()) else "no guarantee"
        found.append(PanelCurve(name, method, calibration, points, note=note))
    return found


def draw_panel(panel: Panel, study: Study, trials: Sequence[Trial], chart_format: ChartFormat = WIDE) -> bytes | None:
    """Draw a PNG, or None if no trial belongs to the panel."""
    figure = panel_figure(panel, study, trials, chart_format)
    if figure is None:
        return None
    png = io.BytesIO()
    figure.savefig(png, format="png", metadata={"Software": None})
    return png.getvalue()


def panel_figure(panel: Panel, study: Study, trials: Sequence[Trial], chart_format: ChartFormat) -> Figure | None:
    """Return the drawing, or None if no trial belongs to the panel."""
    lines = panel_curves(panel, study, trials)
    if not lines:
        return None
    stated = [s for s in study.figures if _belongs(s, panel)]
    handles = [_handle(line) for line in lines] + ([_STAR] if stated else [])
    figure = Figure(figsize=(chart_format.width, chart_format.height), dpi=_FINE, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    scale = EpsilonAxis(
        panel, [place for line in lines if not line.is_baseline for place, _ in line.points], chart_format
    )
    methods = {entry.label: entry.method for entry in study.plan.entries}
    for line, aside in zip(lines, _aside(lines, panel, scale), strict=True):
        _draw_line(axes, line, scale, aside)
    _finish(axes, panel, scale, chart_format)
    for number in stated:
        _draw_stated(axes, number, scale, trials, method_colour(methods[number.point.method]))
    style: dict[str, Any] = {"fontsize": chart_format.font_size, "frameon": False, "handlelength": _SAMPLE}
    legend = figure.legend(handles=handles, loc=chart_format.legend, **style)
    figure.set_figheight(_height(chart_format, legend.get_window_extent().height / figure.dpi))
    return figure


def _height(chart_format: ChartFormat, legend: float) -> float:
    """Return the height of a picture that shows all of its legend, below the axes or beside them."""
    return (
        chart_format.height + legend
        if chart_format.legend == NARROW.legend
        else max(chart_format.height, legend + _EDGE)
    )


def _aside(lines: Sequence[PanelCurve], panel: Panel, scale: EpsilonAxis) -> list[float]:
    """Return a step to the side for each curve, so that the bars of different curves do not cover each other."""
    apart = [line for line in lines if not line.is_baseline or panel.axis == "setting"]
    ends = [scale.of(place) for line in apart for place, _ in line.points] or [0.0]
    step = 0.006 * (max(ends) - min(ends) or 1.0)
    return [step * (apart.index(line) - (len(apart) - 1) / 2) if line in apart else 0.0 for line in lines]


def _draw_line(axes: Axes, line: PanelCurve, scale: EpsilonAxis, aside: float) -> None:
    colour = lighten(method_colour(line.method), line.shade)
    if line.is_baseline and scale.panel.axis != "setting":
        found = line.points[0][1]
        axes.axhline(found.mean, color=colour, linestyle=_dash(line), linewidth=1.4)
        if found.deviation > 0:  # neither a single trial nor nan
            low, high = found.mean - found.deviation, found.mean + found.deviation
            axes.axhspan(low, high, color=colour, alpha=0.1, linewidth=0)
        return
    points = sorted((scale.of(place), found) for place, found in line.points)
    x = np.array([x for x, _ in points])
    mean = np.array([found.mean for _, found in points])
    spread = np.array([found.deviation for _, found in points])
    below, above = spread, spread
    if scale.panel.measure != "seconds":
        below, above = np.minimum(spread, mean), np.minimum(spread, 1 - mean)
    style = _style(line) | {"markersize": 5.0, "linewidth": 1.6, "elinewidth": 0.9, "capsize": 2.5}
    axes.errorbar(x + aside, mean, yerr=np.array([below, above]), **style)


def _handle(line: PanelCurve) -> Line2D:
    """Return the entry of the line in the legend."""
    label = f"{line.label} ({line.points[0][1].mean:.3f})" if line.is_baseline else line.label
    label += f"\n{line.note}" if line.note else ""
    return Line2D([], [], label=label, **_style(line) | ({"marker": ""} if line.is_baseline else {}))


def _style(line: PanelCurve) -> dict[str, Any]:
    """Return the colour, dash and marker of a line; markers of a curve in which nobody is trusted are hollow."""
    colour = lighten(method_colour(line.method), line.shade)
    filling, marker = _HOLLOW if line.trust == "secure" else colour, _MARKERS[line.shade % len(_MARKERS)]
    return {"color": colour, "linestyle": _dash(line), "marker": marker, "markerfacecolor": filling}


def _dash(line: PanelCurve) -> Dash:
    if line.trust == "secure":
        return _SECURE
    return "-." if line.method == "batch" else _DASHES[line.calibration]


def _draw_stated(axes: Axes, stated: PaperFigure, scale: EpsilonAxis, trials: Sequence[Trial], colour: str) -> None:
    """Draw a star: a little to the left of its curve, or at the right edge for a baseline; none where nothing ran."""
    point, panel = stated.point, scale.panel
    style: dict[str, Any] = {"marker": "*", "markersize": 13, "markeredgecolor": "black", "linestyle": "none"}
    style["color"] = colour
    if point.calibration == "none" and panel.axis != "setting":
        axes.plot([0.985], [stated.value], transform=axes.get_yaxis_transform(), zorder=5, **style)
        return
    ran = trials_at(trials, point)
    if not ran:
        return
    setting = panel.places[panel.settings.index(point.setting)] if panel.axis == "setting" else point.epsilon
    x = scale.of(AxisPoint(setting, guarantee.worst_guarantee(ran)))
    axes.plot([x - 0.024 * abs(np.diff(axes.get_xlim())[0])], [stated.value], zorder=5, **style)


def _belongs(stated: PaperFigure, panel: Panel) -> bool:
    return stated.in_paper and stated.measure == panel.measure and panel.shows(stated.point)


def _finish(axes: Axes, panel: Panel, scale: EpsilonAxis, chart_format: ChartFormat) -> None:
    scale.finish(axes)
    axes.set_ylabel(MEASURES[panel.measure] + ", mean and s.d.")
    characters = round(chart_format.width * 11)
    title = panel.title if chart_format.legend == WIDE.legend else "\n".join(textwrap.wrap(panel.title, characters))
    axes.set_title(title, fontsize=chart_format.font_size + 0.5, loc="left", pad=20)
    axes.tick_params(labelsize=chart_format.font_size)
    axes.xaxis.label.set_fontsize(chart_format.font_size)
    axes.yaxis.label.set_fontsize(chart_format.font_size)
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def method_colour(method: str) -> str:
    """Return the method's colour; one of a few, always the same, for a method without one."""
    known = METHODS.get(method) or PEERS.get(method)
    return _OTHERS[sum(method.encode()) % len(_OTHERS)] if known is None else known.colour


def lighten(colour: str, step: int) -> Colour:
    """Return the colour, mixed with more white at each step."""
    r, g, b = to_rgb(colour)
    white = min(0.3 * step, 0.6)
    return r + (1 - r) * white, g + (1 - g) * white, b + (1 - b) * white
