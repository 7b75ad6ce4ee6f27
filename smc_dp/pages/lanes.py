"""Draw a sequence diagram: a lane for each participant, a row for each kind of message.

A dot stands where somebody sends, the head of an arrow where somebody is sent to. What several send alike is one row.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from smc_dp.pages.shortening import shorten_to_width
from smc_dp.pages.svg import Stroke, Svg, text_width

NARROW, GAP, MARGIN = 352.0, 34.0, 34.0
_NAMES, _ROW, _HEAD, _LEGEND, _SIZE = 20.0, 42.0, 11.0, 16.0, 12.0


@dataclass(frozen=True)
class Arrow:
    """Messages that each of the senders sends to each of the readers, but not to itself; both are places of lanes."""

    label: str
    senders: tuple[int, ...]
    readers: tuple[int, ...]
    stroke: Stroke = "line"


class Lanes:
    """Named lanes, which are numbered where the names are too long to stand over them.

    `ended`: places of lanes whose participant has dropped out; `ends`: of those that end in this picture.
    """

    def __init__(self, names: Sequence[str], ended: Collection[int] = (), ends: Collection[int] = ()) -> None:
        self.names, self.ended, self.ends = names, {*ended, *ends}, ends
        self.gap = max(GAP, (NARROW - 2 * MARGIN) / max(1, len(names) - 1))
        self.width = 2 * MARGIN + self.gap * (len(names) - 1)
        self.has_numbers = any(text_width(name, _SIZE) > self.gap for name in names)

    @property
    def headings(self) -> list[str]:
        """Return what is written over each lane, in words: its name, after its number if it has one."""
        return [f"{i} {name}" if self.has_numbers else name for i, name in enumerate(self.names, start=1)]

    def drawn(self, arrows: Sequence[Arrow]) -> Svg:
        """Return the rows of all arrows, then whose the numbers are."""
        named = self._legend() if self.has_numbers else []
        y = 6.0 + _NAMES
        svg = Svg(self.width, y + _ROW * len(arrows) + 10 + _LEGEND * len(named))
        for i, name in enumerate(self.names):
            svg.text(self._x(i), 16, str(i + 1) if self.has_numbers else name, "middle", size=_SIZE)
        for i in self.ends:
            for slope in (-1, 1):
                svg.line(self._x(i) - 7, 22 - 5 * slope, self._x(i) + 7, 22 + 5 * slope, "strong")
        for arrow in arrows:
            self._row(svg, y, arrow)
            y += _ROW
        for i, text in enumerate(named):
            svg.text(2, y + _LEGEND * i + 20, text, size=_SIZE)
        return svg

    def _legend(self) -> list[str]:
        """Return which number is whose, in lines that fit."""
        each = (f"{i} {shorten_to_width(name, self.width - 60, _SIZE)}" for i, name in enumerate(self.names, start=1))
        return textwrap.wrap(", ".join(each), int(self.width / text_width("n", _SIZE)))

    def _row(self, svg: Svg, y: float, arrow: Arrow) -> None:
        at, ends = y + 26, (*arrow.senders, *arrow.readers)
        for i in range(len(self.names)):
            svg.line(self._x(i), at - 9, self._x(i), at + 13, "dashed" if i in self.ended else "faint")
        label = shorten_to_width(arrow.label, self.width - 4, _SIZE)
        half = text_width(label, _SIZE) / 2
        middle = (self._x(min(ends)) + self._x(max(ends))) / 2
        svg.text(min(max(middle, half), self.width - half), y + 12, label, "middle", size=_SIZE)
        svg.line(self._x(min(ends)), at, self._x(max(ends)), at, arrow.stroke)
        for sender in arrow.senders:
            svg.circle(self._x(sender), at, 3.5)
        for to in arrow.readers:
            self._heads(svg, at, to, arrow.senders)

    def _heads(self, svg: Svg, y: float, to: int, senders: tuple[int, ...]) -> None:
        """Draw heads from each side on which somebody sends; a sender's own dot stays free."""
        x, away = self._x(to), 4.0 if to in senders else 0.0
        if senders == (to,):  # a lane that several share, who send to each other
            svg.path(f"M {x} {y} c 26 -14 26 14 4 6", arrow=True)
        if min(senders) < to:
            svg.line(x - away - _HEAD, y, x - away, y, arrow=True)
        if max(senders) > to:
            svg.line(x + away + _HEAD, y, x + away, y, arrow=True)

    def _x(self, lane: int) -> float:
        return MARGIN + self.gap * lane
