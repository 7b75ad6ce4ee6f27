"""Sequence diagram of a transcript's headers, after sentences that say the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from protocols.runtime.diagram import Diagram, diagram
from protocols.runtime.transcript import Line
from smc_dp.pages.blocks import Drawing
from smc_dp.pages.lanes import Arrow, Lanes, LaneStage

MOST_LANES, MOST_ROWS = 250, 4000
"""Of a transcript that is drawn: a stranger's may have any number."""
_LEGEND = "A dot stands where somebody sends, the head of an arrow where somebody is sent to."


def sequence(lines: Iterable[Line]) -> Drawing:
    """Return the picture of a transcript, after a sentence for each stage and each kind of message in it.

    Raises ValueError as `protocols.runtime.diagram.diagram` does, and where there is more than a picture can show.
    """
    found = diagram(lines)
    rows = sum(len(stage.rows) for stage in found.stages)
    if len(found.names) > MOST_LANES or rows > MOST_ROWS:
        raise ValueError(
            f"wanted at most {MOST_LANES} lanes and {MOST_ROWS} kinds of messages, got {len(found.names)} and {rows}"
        )
    lanes = Lanes(found.names)
    stages = [
        LaneStage(
            f"{stage.name}: {stage.count}",
            tuple(Arrow(f"{row.kind}, {row.count}", row.senders, row.addressees) for row in stage.rows),
        )
        for stage in found.stages
    ]
    titles = (found.protocol, *(f"INSECURE: {mark}" for mark in found.insecure))
    said = tuple(_said(found, lanes))
    return Drawing(lanes.drawn(titles, stages), f"{found.protocol}: who sends what to whom", said)


def _said(found: Diagram, lanes: Lanes) -> Iterator[str]:
    yield f"Lanes: {', '.join(lanes.headings)}."
    yield from (f"INSECURE: {mark}." for mark in found.insecure)
    for stage in found.stages:
        sent = (f"{row.kind} from {row.who[0]} to {row.who[1]}, {row.count}" for row in stage.rows)
        yield f"{stage.name}, {stage.count}: {'; '.join(sent)}."
    yield _LEGEND
