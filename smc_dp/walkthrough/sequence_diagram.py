"""Letters as arrows between lanes, one lane for each participant: drawn from the letters alone.

What a sender sends alike to several is one row with several heads. With many participants those who do the same share
a lane.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from protocols.runtime.message import PARTY
from protocols.runtime.session import PUBLIC_NAME, Session
from smc_dp.leakage.words import listed
from smc_dp.pages.blocks import Drawing
from smc_dp.pages.shortening import fitting
from smc_dp.pages.svg import Svg, text_width
from smc_dp.walkthrough.observed_session import WatchedLetter

MOST_LANES = 7  # more do not fit on the width of a telephone
EVERYBODY = "everybody"
_WIDTH, _HEAD, _ROW, _LETTERS = 480.0, 38.0, 40.0, 13.0


@dataclass(frozen=True)
class ArrowRow:
    """What one lane sends of one kind: to which lanes, how many letters, whether it is for everybody to read, and
    whether many share the lane.
    """

    kind: str
    sender: str
    to: tuple[str, ...]
    count: int
    public: bool
    many: bool

    @property
    def label(self) -> str:
        """What stands at the arrow."""
        return f"{self.kind} ×{self.count}" if self.count > len(self.to) else self.kind


def lanes(session: Session) -> Mapping[str, str]:
    """The lane of each participant: its own; or, where there are many, one for the parties but the first."""
    if len(session.names) <= MOST_LANES:
        return {name: name for name in session.names}
    shared = f"{len(session.parties) - 1} other parties"
    others = session.parties[1:]
    return {name: shared if session.kind(name) == PARTY and name in others else name for name in session.names}


def rows(letters: Iterable[WatchedLetter], lane: Mapping[str, str]) -> tuple[ArrowRow, ...]:
    """A row for each kind and sending lane, kinds in the order in which they come, then lanes as they stand."""
    found: dict[tuple[str, str, bool], dict[str, int]] = {}
    for letter in letters:
        key = (letter.kind.__name__, lane[letter.sender], letter.to == PUBLIC_NAME)
        to = found.setdefault(key, {})
        reader = lane.get(letter.to, EVERYBODY)
        to[reader] = to.get(reader, 0) + 1
    order = list(dict.fromkeys(lane.values()))
    kinds = list(dict.fromkeys(kind for kind, _, _ in found))
    ordered = sorted(found.items(), key=lambda item: (kinds.index(item[0][0]), order.index(item[0][1])))
    return tuple(
        ArrowRow(
            kind, sender, tuple(sorted(to, key=[*order, EVERYBODY].index)), sum(to.values()), public, sender not in lane
        )
        for (kind, sender, public), to in ordered
    )


def sentences(arrows: Sequence[ArrowRow]) -> tuple[str, ...]:
    """All that the picture shows, in words: who sends what to whom."""
    return tuple(map(_sentence, arrows))


def _sentence(a: ArrowRow) -> str:
    if a.public:
        return f"{a.sender} {'publish' if a.many else 'publishes'} {a.label}, for everybody to read."
    each = "each of " if len(a.to) > 1 else ""
    return f"{a.sender} {'send' if a.many else 'sends'} {a.label} to {each}{listed(a.to)}."


def drawing(
    title: str,
    letters: Iterable[WatchedLetter],
    session: Session,
    gone: Collection[str] = (),
    leaves: Collection[str] = (),
) -> Drawing:
    """The letters between lanes, with the sentences before them; `gone` vanished before this step, `leaves` in it."""
    lane = lanes(session)
    arrows = rows(letters, lane)
    order = list(dict.fromkeys(lane.values()))
    height = _HEAD + _ROW * len(arrows) + 10
    svg = Svg(_WIDTH, height)
    gap = _WIDTH / len(order)
    x = {name: gap * (i + 0.5) for i, name in enumerate(order)}
    for name in order:
        away = name in gone or name in leaves
        svg.line(x[name], _HEAD - 6, x[name], height - 4, "dashed" if away else "faint")
        if name in leaves:
            svg.line(x[name] - 7, _HEAD - 4, x[name] + 7, _HEAD + 10, "strong")
            svg.line(x[name] + 7, _HEAD - 4, x[name] - 7, _HEAD + 10, "strong")
        svg.text(x[name], _HEAD - 14, fitting(name, gap, _LETTERS), "middle", size=_LETTERS, bold=True)
    for i, arrow in enumerate(arrows):
        _draw(svg, arrow, x, _HEAD + _ROW * (i + 1) - 8)
    left = (f"{name} vanishes: it sends nothing from here on." for name in leaves)
    still = (f"{name} is gone." for name in gone)
    return Drawing(svg, title, (*still, *left, *sentences(arrows)))


def _draw(svg: Svg, arrow: ArrowRow, x: Mapping[str, float], y: float) -> None:
    start = x[arrow.sender]
    readers = [name for name in x if name != arrow.sender] if arrow.public else arrow.to
    ends = [x[name] for name in readers] or [start]
    svg.circle(start, y, 3)
    for name, end in zip(readers, ends, strict=False):
        if name == arrow.sender:  # lanes that several share
            svg.path(f"M {start} {y} c 26 -14 26 14 4 6", arrow=True)
        else:
            svg.line(start, y, end + (5 if end < start else -5), y, "dashed" if arrow.public else "line", arrow=True)
    nearest = min(ends, key=lambda end: abs(end - start))
    half, gap = text_width(arrow.label, _LETTERS) / 2, _WIDTH / len(x)
    beside = start + (gap if nearest > start else -gap) / 2  # between two lanes, where it fits
    middle = beside if half < gap / 2 else (start + nearest) / 2
    middle = min(max(middle, half + 2), _WIDTH - half - 2)
    svg.text(middle, y - 7, arrow.label, "middle", size=_LETTERS)
