"""Sequence diagram of messages, one lane for each participant, drawn from the messages alone.

What a sender sends alike to several is one row with several heads.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from protocols.runtime.session import PUBLIC_NAME, Session
from smc_dp.leakage.matrix_text import join_names
from smc_dp.pages.blocks import Drawing
from smc_dp.pages.lanes import Arrow, Lanes
from smc_dp.walkthrough.observed_session import ObservedMessage


@dataclass(frozen=True)
class ArrowRow:
    """Messages of one kind from one sender: readers, count, and whether they are public."""

    kind: str
    sender: str
    to: tuple[str, ...]
    count: int
    public: bool

    @property
    def label(self) -> str:
        """Label of the arrow."""
        return f"{self.kind} ×{self.count}" if self.count > len(self.to) else self.kind


def arrow_rows(messages: Iterable[ObservedMessage], names: Sequence[str]) -> tuple[ArrowRow, ...]:
    """Return a row for each kind and sender, kinds in the order of appearance, then senders in that of `names`."""
    found: dict[tuple[str, str, bool], dict[str, int]] = {}
    for message in messages:
        to = found.setdefault((message.kind.__name__, message.sender, message.to == PUBLIC_NAME), {})
        to[message.to] = to.get(message.to, 0) + 1
    kinds = list(dict.fromkeys(kind for kind, _, _ in found))
    ordered = sorted(found.items(), key=lambda item: (kinds.index(item[0][0]), names.index(item[0][1])))
    return tuple(
        ArrowRow(kind, sender, tuple(sorted(to, key=[*names, PUBLIC_NAME].index)), sum(to.values()), public)
        for (kind, sender, public), to in ordered
    )


def _sentence(a: ArrowRow) -> str:
    if a.public:
        return f"{a.sender} publishes {a.label}, for everybody to read."
    each = "each of " if len(a.to) > 1 else ""
    return f"{a.sender} sends {a.label} to {each}{join_names(a.to)}."


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
    names = session.names
    found = arrow_rows(messages, names)
    picture = Lanes(names, *([names.index(name) for name in gone] for gone in (dropped_out, dropping_out)))
    left = (f"{name} drops out: it sends nothing from here on." for name in dropping_out)
    still = (f"{name} has dropped out." for name in dropped_out)
    svg = picture.drawn([_arrow(row, names) for row in found])
    return Drawing(svg, title, (*still, *left, *map(_sentence, found)))


def _arrow(row: ArrowRow, names: Sequence[str]) -> Arrow:
    """Return the arrow of a row; what is published goes, dashed, to every other lane."""
    sender = names.index(row.sender)
    if row.public:
        return Arrow(row.label, (sender,), tuple(i for i in range(len(names)) if i != sender), "dashed")
    return Arrow(row.label, (sender,), tuple(names.index(name) for name in row.to))
