"""Transcript as a sequence diagram: who sends what to whom, how often and how long, stage by stage.

Only headers are read, so anybody who holds the transcript can draw it. A transcript may come from anybody: characters
that a terminal or Mermaid would take for a command are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from protocols.runtime.session import PUBLIC_NAME
from protocols.runtime.transcript import Line

_Edges = dict[tuple[str, str], list[int]]


@dataclass(frozen=True)
class _Record:
    """Session, names of all participants with `public` last, and sizes of messages by stage, kind and edge.

    Kinds stand in the order of their last message: participants are not in step, but they finish in order.
    """

    head: Line
    parties: list[str]
    names: list[str]
    stages: dict[str, dict[str, _Edges]]


@dataclass(frozen=True)
class DiagramRow:
    """Messages of one kind that are sent alike: each sender writes to each addressee but itself.

    `senders` and `addressees` are indices of names of the diagram; `who` describes both in words; `sizes` has the bytes
    of every message.
    """

    kind: str
    senders: tuple[int, ...]
    addressees: tuple[int, ...]
    sizes: tuple[int, ...]
    who: tuple[str, str]

    @property
    def count(self) -> str:
        """Number of messages and bytes of one, in words."""
        return _count(self.sizes)


@dataclass(frozen=True)
class DiagramStage:
    """Stage with its messages."""

    name: str
    rows: tuple[DiagramRow, ...]

    @property
    def count(self) -> str:
        """Number of messages and their total bytes, in words."""
        sizes = [size for row in self.rows for size in row.sizes]
        return f"{len(sizes):,} messages, {sum(sizes):,} bytes"


@dataclass(frozen=True)
class Diagram:
    """Content of a transcript's headers: names with `public` last, marks of an insecure run, all stages.

    Every text is escaped for printing.
    """

    protocol: str
    names: tuple[str, ...]
    insecure: tuple[str, ...]
    stages: tuple[DiagramStage, ...]


def diagram(lines: Iterable[Line]) -> Diagram:
    """Return the diagram of a transcript: in each stage the kinds of messages, those that all send alike in one row.

    `lines` begins with the line of the session; raise ValueError when it does not, or when a line is no message between
    its participants.
    """
    record = _read(lines)
    stages = (
        DiagramStage(_plain(stage), tuple(row for kind, edges in kinds.items() for row in _rows(record, kind, edges)))
        for stage, kinds in record.stages.items()
    )
    marks = tuple(_plain(str(mark)) for mark in record.head.get("insecure", []))
    return Diagram(_plain(record.head["protocol"]), tuple(map(_plain, record.names)), marks, tuple(stages))


def arrows(lines: Iterable[Line]) -> str:
    """Return the diagram as text: messages of each kind by sender and addressee in each stage, with their bytes.

    Raise ValueError as `diagram` does.
    """
    found = diagram(lines)
    drawn = [f"{found.protocol}: {', '.join(found.names[:-1])}"]
    drawn += [f"INSECURE: {mark}" for mark in found.insecure]
    for stage in found.stages:
        left, right = (max(len(row.who[i]) for row in stage.rows) for i in (0, 1))
        drawn += ["", f"{stage.name}: {stage.count}"]
        drawn += [f"  {row.who[0]:<{left}} --> {row.who[1]:<{right}}  {row.kind}, {row.count}" for row in stage.rows]
    return "\n".join(drawn) + "\n"


def mermaid(lines: Iterable[Line]) -> str:
    """Return the diagram as a Mermaid sequenceDiagram: an arrow for each kind of message on each edge in each stage.

    Raise ValueError as `arrows` does.
    """
    record = _read(lines)
    ids = {name: f"p{i}" for i, name in enumerate(record.names)}
    drawn = ["sequenceDiagram", *(f"    participant {ids[name]} as {_entities(name)}" for name in record.names)]
    for stage, kinds in record.stages.items():
        drawn.append(f"    Note over p0,p{len(ids) - 1}: {_entities(stage)}")
        drawn += [
            f"    {ids[sender]}->>{ids[to]}: {_entities(kind)}, {_count(sizes)}"
            for kind, edges in kinds.items()
            for (sender, to), sizes in edges.items()
        ]
    return "\n".join(drawn) + "\n"


def _read(lines: Iterable[Line]) -> _Record:
    rest = iter(lines)
    head = next(rest, {})
    try:
        parties = list(head["parameters"]["parties"])
        names = [*parties, *(name for name in head["identities"] if name not in parties), PUBLIC_NAME]
        if not all(isinstance(text, str) for text in (*names, head["protocol"])):
            raise TypeError("names are strings")
    except (KeyError, TypeError) as error:
        raise ValueError(f"line 0 does not describe a session: {error}") from None
    stages: dict[str, dict[str, _Edges]] = {}
    known = frozenset(names)
    for n, line in enumerate(rest, start=1):
        stage, kind, sender, to = (line.get(key) for key in ("stage", "kind", "from", "to"))
        size = line.get("size")
        if not (isinstance(stage, str) and isinstance(kind, str) and isinstance(size, int)):
            raise ValueError(f"line {n} is no message: wanted stage, kind and size")
        if not (isinstance(sender, str) and isinstance(to, str) and {sender, to} <= known):
            raise ValueError(f"line {n} is not between participants of the session")
        kinds = stages.setdefault(stage, {})
        kinds[kind] = kinds.pop(kind, {})  # moves to the end
        kinds[kind].setdefault((sender, to), []).append(size)
    return _Record(head, parties, names, stages)


def _rows(record: _Record, kind: str, edges: _Edges) -> Iterator[DiagramRow]:
    """Yield one row where each of the senders writes to each addressee equally often, else one for each sender."""
    for count in dict.fromkeys(map(len, edges.values())):
        alike = {edge: sizes for edge, sizes in edges.items() if len(sizes) == count}
        ends = (frozenset(side) for side in zip(*alike, strict=True))
        senders, addressees = ([name for name in record.names if name in side] for side in ends)
        if alike.keys() == {(a, b) for a in senders for b in addressees if a != b}:
            yield _row(record, kind, senders, addressees, alike)
        else:
            for a in senders:
                yield _row(record, kind, [a], [b for b in addressees if (a, b) in alike], alike)


def _row(record: _Record, kind: str, senders: list[str], addressees: list[str], edges: _Edges) -> DiagramRow:
    come, go = frozenset(senders), frozenset(addressees)
    sizes = tuple(size for (a, b), each in edges.items() if a in come and b in go for size in each)
    other = "each other " if len(senders) > 1 and set(senders) & set(addressees) else "each "
    who = (_called(record, senders, "each "), _called(record, addressees, other))
    places = {name: i for i, name in enumerate(record.names)}
    ends = (tuple(places[name] for name in side) for side in (senders, addressees))
    return DiagramRow(_plain(kind), next(ends), next(ends), sizes, who)


def _called(record: _Record, names: list[str], each: str) -> str:
    if names == record.names[:-1]:
        return each + "participant"
    if names == record.parties:
        return each + "party"
    return ", ".join(map(_plain, names))


def _count(sizes: Sequence[int]) -> str:
    low, high = min(sizes), max(sizes)
    return f"{len(sizes)} x {low:,} bytes" if low == high else f"{len(sizes)} x {low:,} to {high:,} bytes"


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def _entities(text: str) -> str:
    """Return the text with the signs that Mermaid would interpret, and the word `end`, as entities."""
    return re.sub(r"^end$|[^A-Za-z0-9_.-]", lambda found: f"#{ord(found[0][0])};{found[0][1:]}", text)
