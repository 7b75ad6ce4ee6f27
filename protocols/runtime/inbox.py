"""Inbox of one role: its unread messages, link by link, and the absences of senders.

Theory of operation. An inbox has a queue for each sender, in the order of numbers on the link. A role that waits asks
for the head of a queue (`look`) and takes it (`take`), whatever its stage; a head of another kind than the role waits
for is a fault of its sender (`RoleStepper`).

Absence is an event. A mark (`Absent`) says that a message which the role waits for will not be read. Marks are a set
that overrides messages, whenever either arrives, so that a role stays a function of its input, its seed, its messages
and its marks. To one reader, in one stage, a sender is in one of these states:

    state     event                                                     next
    present   the role asks, and no mark for the next message is set    present; the answer is the head, or None
    present   the role goes on without it: a mark is set, or the role   away
              doubts its message
    away      the role asks                                             away; the answer is a mark
    away      the stage ends                                            present in the next stage

Messages of a stage in which their sender is away are late. So are those of a stage that is over, if their sender was
ever away: it may not know that it was given up. A late message is dropped with a note when it comes to the head, or at
the end of the role. Any other message that is left at the end is a fault of its sender.

Two checkpoints may share the name of a stage: numbers of messages read and absences then go on.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

from protocols.errors import Fault, shown
from protocols.runtime.envelope import Envelope

_Place = tuple[str, str]
"""A sender and a stage, or a sender and a kind."""


@dataclass(frozen=True)
class Absent:
    """Mark that the reader goes on without this message: `kind` from `sender`, in `stage`, after `read` of that kind in
    it.
    """

    sender: str
    kind: str
    stage: str
    read: int = 0


@dataclass(frozen=True)
class InboxEntry:
    """Opened envelope in the inbox of its role; the number on the link from its sender identifies it."""

    sender: str
    number: int
    kind: str
    stage: str
    round: int
    payload: bytes = field(repr=False)


@dataclass(frozen=True)
class Note:
    """Note on a message that a participant disregarded, and the rule; `number` is its number on the link.

    `sender` sealed it; where that is unknown, it is "somebody on the way from" its alleged sender. A late message is
    nobody's provable fault: a carrier can delay it.
    """

    sender: str
    number: int | None
    rule: Fault


class HeldEnvelopes:
    """Envelopes that cannot be opened yet, each once, with their senders and total bytes."""

    def __init__(self) -> None:
        self.senders: set[str] = set()
        self.bytes = 0
        self._by_digest: dict[bytes, Envelope] = {}

    @property
    def envelopes(self) -> tuple[Envelope, ...]:
        """Held envelopes in the order of arrival."""
        return tuple(self._by_digest.values())

    def put(self, envelope: Envelope) -> None:
        """Hold an envelope, unless it is held already."""
        if envelope.digest not in self._by_digest:
            self._by_digest[envelope.digest] = envelope
            self.senders.add(envelope.sender)
            self.bytes += envelope.size


class Inbox:
    """Inbox of one role. `log` holds the entries of the open stage in the order of arrival, `away` the absences of
    ended ones.
    """

    def __init__(self) -> None:
        self.marks: set[Absent] = set()
        self.log: list[InboxEntry] = []
        self.away: set[_Place] = set()
        self.ended: set[str] = set()  # stages that are over
        self.latest: str | None = None  # the last of them, which another checkpoint may go on with
        self.read: Counter[_Place] = Counter()  # messages read in it by then, by sender and kind
        self.notes: dict[tuple[str, int | None, str], Note] = {}  # in their order, each once
        self.before = 0  # messages that were read in checkpoints that are over
        self._away_now: set[str] = set()
        self._read: Counter[_Place] = Counter()
        self._waiting: dict[str, deque[InboxEntry]] = {}

    @property
    def consumed(self) -> int:
        """Number of messages that the role has read, each once, however often a stage is run again."""
        return self.before + self._read.total()

    def put(self, entry: InboxEntry) -> None:
        """Add an entry for the role."""
        self._waiting.setdefault(entry.sender, deque()).append(entry)
        self.log.append(entry)

    def due(self, sender: str, kind: str, stage: str) -> Absent:
        """Return the mark that would replace the next message of this kind."""
        before = self.read[sender, kind] if stage == self.latest else 0
        return Absent(sender, kind, stage, before + self._read[sender, kind])

    def look(self, sender: str, kind: str, stage: str) -> InboxEntry | Absent | None:
        """Return the answer to a waiting role: the next entry of the sender, a mark, or None while there is neither."""
        mark = self.due(sender, kind, stage)
        if mark in self.marks or sender in self._away_now or (sender, stage) in self.away:
            return mark
        waiting = self._waiting.get(sender)
        while waiting and self._is_late(waiting[0], stage):
            self.note_late(sender, waiting.popleft())
        return waiting[0] if waiting else None

    def take(self, entry: InboxEntry) -> None:
        """Remove the entry that `look` found."""
        self._waiting[entry.sender].popleft()
        self._read[entry.sender, entry.kind] += 1

    def miss(self, sender: str) -> None:
        """Go on without the sender: the rest of what it sends in this stage is late."""
        self._away_now.add(sender)

    def is_away(self, sender: str) -> bool:
        """Tell whether the role went on without the sender in the open stage."""
        return sender in self._away_now

    def has_given_up(self, sender: str) -> bool:
        """Tell whether the role went on without the sender in a stage that is over."""
        return any(sender == name for name, _ in self.away)

    def end_stage(self, stage: str) -> None:
        """Delete the entries that were read; keep the absences, and the numbers of messages read."""
        if stage != self.latest:
            self.latest, self.read = stage, Counter()
        self.read += self._read
        self.before += self._read.total()
        self.away |= {(sender, stage) for sender in self._away_now}
        self.ended.add(stage)
        self.log = [entry for waiting in self._waiting.values() for entry in waiting]
        self._away_now, self._read = set(), Counter()

    def unread(self) -> list[InboxEntry]:
        """Return the entries that nobody will read; late messages are dropped with a note."""
        left = []
        for waiting in self._waiting.values():
            for entry in waiting:
                if self._is_late(entry, None):
                    self.note_late(entry.sender, entry)
                else:
                    left.append(entry)
            waiting.clear()
        self.log = []
        return left

    def _is_late(self, entry: InboxEntry, stage: str | None) -> bool:
        """Tell whether nobody reads the entry in `stage` (None: at the end) because its sender was given up.

        A sender that was given up once may not know it, and go on with stages in which nobody waits for it.
        """
        if entry.stage == stage:
            return entry.sender in self._away_now or (entry.sender, stage) in self.away
        over = stage is None or entry.stage in self.ended
        return over and self.has_given_up(entry.sender)

    def note(self, note: Note) -> None:
        """Add a note, once, however often the role is run again."""
        self.notes[note.sender, note.number, str(note.rule)] = note

    def note_late(self, sender: str, message: Envelope | InboxEntry) -> None:
        """Note a message that nobody reads because its sender was given up."""
        late = Fault("mail.too_late", {"kind": shown(message.kind), "stage": shown(message.stage)})
        self.note(Note(sender, message.number, late))
