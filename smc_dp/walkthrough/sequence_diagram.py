"""Sequence diagram of messages, one lane for each participant, drawn from the messages alone.

What a sender sends alike to several is one row with several heads. With many participants those who do the same share
a lane.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from protocols.runtime.message import PARTY
from protocols.runtime.session import PUBLIC_NAME, Session
from smc_dp.leakage.matrix_text import join_names
from smc_dp.pages.blocks import Drawing
from smc_dp.pages.lanes import Arrow, Lanes
from smc_dp.walkthrough.observed_session import ObservedMessage

MOST_LANES = 7  # more do not fit on the width of a telephone
ALL_READERS = "everybody"


@dataclass(frozen=True)
class ArrowRow:
    """Messages of one kind from one lane: readers, count, whether they are public, and whether many share the lane."""

    kind: str
    sender: str
    to: tuple[str, ...]
    count: int
    public: bool
    many: bool

    @property
    def label(self) -> str:
        """Label of the arrow."""
        return f"{self.kind} ×{self.count}" if self.count > len(self.to) else self.kind


def assign_lanes(session: Session) -> Mapping[str, str]:
    """Return the lane of each participant: its own, or one for all parties but the first where there are many."""
    if len(session.names) <= MOST_LANES:
        return {name: name for name in session.names}
    shared = f"{len(session.parties) - 1} other parties"
    others = session.parties[1:]
    return {name: shared if session.kind(name) == PARTY and name in others else name for name in session.names}


def arrow_rows(messages: Iterable[ObservedMessage], lane: Mapping[str, str]) -> tuple[ArrowRow, ...]:
    """Return a row for each kind and sending lane, kinds in the order of appearance, then lanes."""
    found: dict[tuple[str, str, bool], dict[str, int]] = {}
    for message in messages:
        key = (message.kind.__name__, lane[message.sender], message.to == PUBLIC_NAME)
        to = found.setdefault(key, {})
        reader = lane.get(message.to, ALL_READERS)
        to[reader] = to.get(reader, 0) + 1
    order = list(dict.fromkeys(lane.values()))
    kinds = list(dict.fromkeys(kind for kind, _, _ in found))
    ordered = sorted(found.items(), key=lambda item: (kinds.index(item[0][0]), order.index(item[0][1])))
    return tuple(
        ArrowRow(
            kind,
            sender,
            tuple(sorted(to, key=[*order, ALL_READERS].index)),
            sum(to.values()),
            public,
            sender not in lane,
        )
        for (kind, sender, public), to in ordered
    )


def describe_arrows(arrows: Sequence[ArrowRow]) -> tuple[str, ...]:
    """Return the diagram in words: who sends what to whom."""
    return tuple(map(_sentence, arrows))


def _sentence(a: ArrowRow) -> str:
    if a.public:
        return f"{a.sender} {'publish' if a.many else 'publishes'} {a.label}, for everybody to read."
    each = "each of " if len(a.to) > 1 else ""
    return f"{a.sender} {'send' if a.many else 'sends'} {a.label} to {each}{join_names(a.to)}."


def draw_messages(
    title: str,
    messages: Iterable[ObservedMessage],
    session: Session,
    dropped_out: Collection[str] = (),
    dropping_out: Collection[str] = (),
) -> Drawing:
    """Return a drawing of the messages between lanes, with sentences that say the same.

    `dropped_out`: participants that dropped out before this step; `dropping_out`: in it.
    """
    lane = assign_lanes(session)
    found = arrow_rows(messages, lane)
    order = list(dict.fromkeys(lane.values()))
    picture = Lanes(
        order, *([order.index(name) for name in names if name in order] for names in (dropped_out, dropping_out))
    )
    arrows = tuple(_arrow(row, order) for row in found)
    left = (f"{name} drops out: it sends nothing from here on." for name in dropping_out)
    still = (f"{name} has dropped out." for name in dropped_out)
    numbered = (f"Lanes: {', '.join(picture.headings)}.",) if picture.has_numbers else ()
    svg = picture.drawn(arrows)
    return Drawing(svg, title, (*numbered, *still, *left, *describe_arrows(found)))


def _arrow(row: ArrowRow, order: list[str]) -> Arrow:
    """Return the arrow of a row; what is published goes, dashed, to every other lane."""
    sender = order.index(row.sender)
    if row.public:
        return Arrow(row.label, (sender,), tuple(i for i in range(len(order)) if i != sender), "dashed")
    return Arrow(row.label, (sender,), tuple(order.index(name) for name in row.to))
