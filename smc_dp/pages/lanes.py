"""Draw a sequence diagram: a lane for each participant, a row for each kind of message.

A dot stands where somebody sends, the head of an arrow where somebody is sent to. What several send alike is one row.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from smc_dp.pages.shortening import shorten_to_width
from smc_dp.pages.svg import Stroke, Svg, text_width

NARROW, GAP, MARGIN = 352.0, 34.0, 34.0
_NAMES, _ROW, _HEAD, _SIZE = 20.0, 42.0, 11.0, 12.0


@dataclass(frozen=True)
class Arrow:
    """Messages that each of the senders sends to each of the readers, but not to itself; both are places of lanes."""

    label: str
    senders: tuple[int, ...]
    readers: tuple[int, ...]
    stroke: Stroke = "line"


class Lanes:
    """Named lanes.

    `ended`: places of lanes whose participant has dropped out; `ends`: of those that end in this picture.
    """

    def __init__(self, names: Sequence[str], ended: Collection[int] = (), ends: Collection[int] = ()) -> None:
        self.names, self.ended, self.ends = names, {*ended, *ends}, ends
        self.gap = max(GAP, (NARROW - 2 * MARGIN) / max(1, len(names) - 1))
        self.width = 2 * MARGIN + self.gap * (len(names) - 1)

    def drawn(self, arrows: Sequence[Arrow]) -> Svg:
        """Return the rows of all arrows, under the names."""
        y = 6.0 + _NAMES
        svg = Svg(self.width, y + _ROW * len(arrows) + 10)
        for i, name in enumerate(self.names):
            svg.text(self._x(i), 16, name, "middle", size=_SIZE)
        for i in self.ends:
            for slope in (-1, 1):
                svg.line(self._x(i) - 7, 22 - 5 * slope, self._x(i) + 7, 22 + 5 * slope, "strong")
        for arrow in arrows:
            self._row(svg, y, arrow)
            y += _ROW
        return svg

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
            svg.arrow(f"M {x} {y} c 26 -14 26 14 4 6")
        if min(senders) < to:
            svg.line(x - away - _HEAD, y, x - away, y, arrow=True)
        if max(senders) > to:
            svg.line(x + away + _HEAD, y, x + away, y, arrow=True)

    def _x(self, lane: int) -> float:
        return MARGIN + self.gap * lane
