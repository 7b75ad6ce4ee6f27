"""Axis of guaranteed epsilons: a release stands at its guarantee, and apart where it guarantees nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.axes import Axes

from smc_dp.experiments.compare.guarantee import GridGuarantee
from smc_dp.experiments.compare.study import Panel


@dataclass(frozen=True)
class ChartFormat:
    """Width of a picture and height of its axes, in inches of 100 pixels of a page, and the place of the legend.

    `ticks`: at most so many. `room`: part of the axis that the grey ground needs between two places. `font_size`: in
    points; 10.5 are 14.6 pixels.
    """

    width: float
    height: float
    legend: Literal["outside right upper", "outside lower left"]
    ticks: int
    room: float
    font_size: float = 10.5


@dataclass(frozen=True)
class AxisPoint:
    """Place of a point of a curve: the epsilon requested, or the place of its setting; and its guarantee."""

    requested: float
    guarantee: GridGuarantee | None = None


class EpsilonAxis:
    """An axis of settings as they are, or of guaranteed epsilons, logarithmic.

    Beyond its end, on grey, stands what guarantees nothing: releases with noise in the order of the epsilon asked for,
    then those without noise. Where nothing at all is guaranteed, the axis is that of the epsilon asked for.
    """

    def __init__(self, panel: Panel, places: Sequence[AxisPoint], chart_format: ChartFormat) -> None:
        self.panel, self._format = panel, chart_format
        self._sign = -1.0 if panel.axis == "inverse epsilon" else 1.0
        if panel.axis == "setting":
            return
        finite = [place for place in places if place.requested < math.inf]
        self.nominal = not any(place.guarantee for place in finite)
        self._ran = sorted({x for place in finite if (x := self._epsilon(place)) is not None}) or [1.0]
        self._apart = sorted({place.requested for place in finite if self._epsilon(place) is None})
        low, high = math.log10(self._ran[0]), math.log10(self._ran[-1])
        span = max(high - low, 1.0)
        self._ends, self._gap = (low, high), chart_format.room * span
        self._last = high + self._gap * (3.5 if len(self._apart) > 1 else 1.0)
        self._without = self._last + self._gap if self._apart else self._last
        self._has_end = any(place.requested == math.inf for place in places)

    def _epsilon(self, place: AxisPoint) -> float | None:
        """Return the epsilon on the axis proper; None beside it."""
        if self.nominal:
            return place.requested
        return None if place.guarantee is None else place.guarantee.epsilon

    def of(self, place: AxisPoint) -> float:
        """Return the x of a point."""
        if self.panel.axis == "setting":
            return place.requested
        if place.requested == math.inf:
            return self._sign * self._without
        epsilon = self._epsilon(place)
        return self._sign * (self._beside(place.requested) if epsilon is None else math.log10(epsilon))

    def _beside(self, requested: float) -> float:
        start, low, high = self._ends[1] + self._gap, math.log10(self._apart[0]), math.log10(self._apart[-1])
        part = (math.log10(requested) - low) / (high - low) if high > low else 0.0
        return start + part * (self._last - start)

    def finish(self, axes: Axes) -> None:
        """Draw ticks, the label, and the grey ground of releases that guarantee nothing."""
        if self.panel.axis == "setting":
            axes.set_xlabel(self.panel.axis_title)
            return
        inverse = self._sign < 0
        read = sorted(1 / x if inverse else x for x in self._ran)
        ticks = [(self._sign * math.log10(x), f"{x:g}") for x in _ticks(read, self._format.ticks)]
        if self._apart:
            least, most = (f"{1 / x if inverse else x:g}" for x in (self._apart[0], self._apart[-1]))
            words = least if least == most else f"{most} to {least}" if inverse else f"{least} to {most}"
            ticks.append((self._beside(math.sqrt(self._apart[0] * self._apart[-1])), f"asked\n{words}"))
        ticks += [(self._without, "no\nnoise")] if self._has_end else []
        axes.set_xticks([self._sign * x for x, _ in ticks], [text for _, text in ticks])
        name = "1/ε" if inverse else "ε"
        axes.set_xlabel(
            f"{name} as asked (nominal); nothing is guaranteed" if self.nominal else f"guaranteed {name} (logarithmic)"
        )
        if (self._apart or self._has_end) and not self.nominal:
            self._grey(axes)

    def _grey(self, axes: Axes) -> None:
        start = self._ends[1] + self._gap / 2
        end = (self._without if self._has_end else self._last) + self._gap / 2
        axes.axvspan(self._sign * start, self._sign * end, color="#000000", alpha=0.06, linewidth=0, zorder=0)
        axes.annotate(
            "no guarantee", (self._sign * end, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 2),
            textcoords="offset points", ha="right" if self._sign > 0 else "left", va="bottom", color="#444444",
            fontsize=self._format.font_size,
        )  # fmt: skip
        margin = self._gap / 2
        sides = self._sign * (self._ends[0] - margin), self._sign * end
        axes.set_xlim(min(sides), max(sides))


def _ticks(ran: Sequence[float], most: int) -> list[float]:
    """Return round numbers between the ends of what ran, thinned out; the ends where there are too few."""
    low, high = ran[0] * 0.999, ran[-1] * 1.001
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        found = [step * 10.0**k for k in decades for step in steps if low <= step * 10.0**k <= high]
        if len(found) <= most:
            break
    if len(found) < 2:
        return sorted({ran[0], ran[-1]})
    return found[:: math.ceil(len(found) / most)]
