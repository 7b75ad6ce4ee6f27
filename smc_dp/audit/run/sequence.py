"""A wire record's headers as a picture: a lane for everybody, a row for each kind of message, stage by stage.

What everybody sends alike takes one row, however many they are. A dot is who sends, a head is who is sent to.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from protocols.runtime.diagram import Diagram, DiagramRow, DiagramStage, diagram
from protocols.runtime.transcript import Line
from smc_dp.pages.blocks import Drawing
from smc_dp.pages.shortening import fitting
from smc_dp.pages.svg import Svg, text_width

MOST_LANES, MOST_ROWS = 250, 4000
"""Of a record that is drawn: a stranger's may have any number."""
NARROW, GAP, MARGIN = 352.0, 34.0, 34.0
BAND, NAMES, ROW, HEAD, LEGEND = 34.0, 20.0, 42.0, 11.0, 16.0
READ = "A dot stands where somebody sends, the head of an arrow where somebody is sent to."


def sequence(lines: Iterable[Line]) -> Drawing:
    """The record as a picture, after a sentence for each stage and each kind of message in it.

    Raises ValueError as `protocols.runtime.diagram.diagram` does, and where there is more than a picture can show.
    """
    found = diagram(lines)
    rows = sum(len(stage.rows) for stage in found.stages)
    if len(found.names) > MOST_LANES or rows > MOST_ROWS:
        raise ValueError(
            f"wanted at most {MOST_LANES} lanes and {MOST_ROWS} kinds of messages, got {len(found.names)} and {rows}"
        )
    return Drawing(_Lanes(found).drawn(), f"{found.protocol}: who sends what to whom", tuple(_said(found)))


def _said(found: Diagram) -> Iterator[str]:
    yield f"Lanes: {', '.join(_lanes(found))}."
    yield from (f"INSECURE: {mark}." for mark in found.insecure)
    for stage in found.stages:
        sent = (f"{row.kind} from {row.who[0]} to {row.who[1]}, {row.count}" for row in stage.rows)
        yield f"{stage.name}, {stage.count}: {'; '.join(sent)}."
    yield READ


def _lanes(found: Diagram) -> list[str]:
    """What is written over each lane, in words: its name, after its number where names are too long to stand there."""
    if _Lanes(found).has_numbers:
        return [f"{i} {name}" for i, name in enumerate(found.names, start=1)]
    return list(found.names)


class _Lanes:
    """The picture while it is drawn."""

    def __init__(self, found: Diagram) -> None:
        self.found = found
        count = len(found.names)
        self.gap = max(GAP, (NARROW - 2 * MARGIN) / max(1, count - 1))
        self.width = 2 * MARGIN + self.gap * (count - 1)
        self.has_numbers = any(text_width(name, 12) > self.gap for name in found.names)

    def drawn(self) -> Svg:
        """All stages, one below the other."""
        head = 26.0 + 20.0 * len(self.found.insecure)
        named = self._legend() if self.has_numbers else []
        height = head + sum(BAND + NAMES + ROW * len(stage.rows) + 10 for stage in self.found.stages)
        svg = Svg(self.width, height + LEGEND * len(named))
        for i, text in enumerate((self.found.protocol, *(f"INSECURE: {mark}" for mark in self.found.insecure))):
            svg.text(2, 16 + 20 * i, fitting(text, self.width, 13), bold=True)
        for stage in self.found.stages:
            head = self._stage(svg, head, stage)
        for i, text in enumerate(named):
            svg.text(2, head + LEGEND * i + 10, text, size=12)
        return svg

    def _legend(self) -> list[str]:
        """Which number is whose, in lines that fit."""
        most = int(self.width / text_width("n", 12))
        each = (f"{i} {fitting(name, self.width - 60, 12)}" for i, name in enumerate(self.found.names, start=1))
        return textwrap.wrap(", ".join(each), most)

    def _stage(self, svg: Svg, y: float, stage: DiagramStage) -> float:
        svg.rect(0.5, y, self.width - 1, BAND - 8, "shade")
        svg.text(8, y + 18, fitting(f"{stage.name}: {stage.count}", self.width - 16, 12), size=12, bold=True)
        y += BAND
        for i, name in enumerate(self.found.names):
            svg.text(self._x(i), y + 10, str(i + 1) if self.has_numbers else name, "middle", size=12)
        y += NAMES
        for row in stage.rows:
            self._row(svg, y, row)
            y += ROW
        return y + 10

    def _row(self, svg: Svg, y: float, row: DiagramRow) -> None:
        at, ends = y + 26, (*row.senders, *row.addressees)
        for i in range(len(self.found.names)):
            svg.line(self._x(i), at - 9, self._x(i), at + 13, "faint")
        label = fitting(f"{row.kind}, {row.count}", self.width - 4, 12)
        half = text_width(label, 12) / 2
        middle = (self._x(min(ends)) + self._x(max(ends))) / 2
        svg.text(min(max(middle, half), self.width - half), y + 12, label, "middle", size=12)
        svg.line(self._x(min(ends)), at, self._x(max(ends)), at)
        for sender in row.senders:
            svg.circle(self._x(sender), at, 3.5)
        for to in row.addressees:
            self._heads(svg, at, to, row.senders)

    def _heads(self, svg: Svg, y: float, to: int, senders: tuple[int, ...]) -> None:
        """From each side on which somebody sends; a sender's own dot stays free."""
        x, away = self._x(to), 4.0 if to in senders else 0.0
        if min(senders) < to:
            svg.line(x - away - HEAD, y, x - away, y, arrow=True)
        if max(senders) > to:
            svg.line(x + away + HEAD, y, x + away, y, arrow=True)

    def _x(self, lane: int) -> float:
        return MARGIN + self.gap * lane
