"""The opened mail of one role: what waits to be read, link by link, and who is absent.

Absence is an event: a mark says that a letter which the role waits for will not be read. Marks are a set that overrides
mail, whenever either comes, so that a role remains a function of its input, its seed, its mail and its marks. From
the moment at which a role meets a mark, whatever else that sender sends it in this stage is late, and dropped.
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
    """The reader goes on without this letter: `kind` from `sender`, in `stage`, after `read` of that kind in it."""

    sender: str
    kind: str
    stage: str
    read: int = 0


@dataclass(frozen=True)
class InboxEntry:
    """An opened envelope that waits for its role: by its number on the link from its sender, and nothing else."""

    sender: str
    number: int
    kind: str
    stage: str
    round: int
    payload: bytes = field(repr=False)


@dataclass(frozen=True)
class Note:
    """Something that a participant left out of account, and why; `number` is that of the message on its link.

    `sender` sealed it; where nobody is known to have, it is "somebody on the way from" whoever it says it is from. That
    a letter came too late is nobody's fault that could be shown: whoever carries mail can keep it.
    """

    sender: str
    number: int | None
    rule: Fault


class HeldEnvelopes:
    """Envelopes that cannot be opened yet, each once, with the senders and the bytes of all of it."""

    def __init__(self) -> None:
        self.senders: set[str] = set()
        self.bytes = 0
        self._by_digest: dict[bytes, Envelope] = {}

    @property
    def envelopes(self) -> tuple[Envelope, ...]:
        """In the order of arrival."""
        return tuple(self._by_digest.values())

    def put(self, envelope: Envelope) -> None:
        """Keep it, unless it is there."""
        if envelope.digest not in self._by_digest:
            self._by_digest[envelope.digest] = envelope
            self.senders.add(envelope.sender)
            self.bytes += envelope.size


class Inbox:
    """`log` holds the mail of the open stage in the order of arrival, `away` who is absent in which ended stage."""

    def __init__(self) -> None:
        self.marks: set[Absent] = set()
        self.log: list[InboxEntry] = []
        self.away: set[_Place] = set()
        self.ended: set[str] = set()  # stages that are over
        self.latest: str | None = None  # the last of them, which another checkpoint may go on with
        self.read: Counter[_Place] = Counter()  # how many of whose letters of which kind were read in it by then
        self.notes: dict[tuple[str, int | None, str], Note] = {}  # in their order, each once
        self.before = 0  # messages that were read in checkpoints that are over
        self._away_now: set[str] = set()
        self._read: Counter[_Place] = Counter()
        self._waiting: dict[str, deque[InboxEntry]] = {}

    @property
    def consumed(self) -> int:
        """Number of messages that the role has read, each once, however often a stage is run again."""
        return self.before + self._read.total()

    def put(self, mail: InboxEntry) -> None:
        """Keep a letter for the role."""
        self._waiting.setdefault(mail.sender, deque()).append(mail)
        self.log.append(mail)

    def due(self, sender: str, kind: str, stage: str) -> Absent:
        """The mark that would stand for the next letter of this kind."""
        before = self.read[sender, kind] if stage == self.latest else 0
        return Absent(sender, kind, stage, before + self._read[sender, kind])

    def look(self, sender: str, kind: str, stage: str) -> InboxEntry | Absent | None:
        """What there is for a role that waits for this: the next letter of the sender, a mark, or nothing yet."""
        mark = self.due(sender, kind, stage)
        if mark in self.marks or sender in self._away_now or (sender, stage) in self.away:
            return mark
        waiting = self._waiting.get(sender)
        while waiting and self._is_late(waiting[0], stage):
            self._drop(waiting.popleft())
        return waiting[0] if waiting else None

    def take(self, mail: InboxEntry) -> None:
        """The role reads the letter that `look` found."""
        self._waiting[mail.sender].popleft()
        self._read[mail.sender, mail.kind] += 1

    def miss(self, sender: str) -> None:
        """The role goes on without the sender: the rest of what that one sends in this stage is late."""
        self._away_now.add(sender)

    def has_given_up(self, sender: str) -> bool:
        """Whether the role went on without the sender in a stage that is over."""
        return any(sender == name for name, _ in self.away)

    def end_stage(self, stage: str) -> None:
        """Forget the mail that was read; who was absent stays known, and how much it was."""
        if stage != self.latest:
            self.latest, self.read = stage, Counter()
        self.read += self._read
        self.before += self._read.total()
        self.away |= {(sender, stage) for sender in self._away_now}
        self.ended.add(stage)
        self.log = [mail for waiting in self._waiting.values() for mail in waiting]
        self._away_now, self._read = set(), Counter()

    def unread(self) -> list[InboxEntry]:
        """What nobody will read, late mail apart, which is dropped."""
        left = []
        for waiting in self._waiting.values():
            for mail in waiting:
                if self._is_late(mail, None):
                    self._drop(mail)
                else:
                    left.append(mail)
            waiting.clear()
        self.log = []
        return left

    def _is_late(self, mail: InboxEntry, stage: str | None) -> bool:
        """Whether nobody reads it in `stage` (None: at the end) because its sender was given up.

        Whoever was given up once may not know it, and go on with stages in which nobody asks for its letters.
        """
        if mail.stage == stage:
            return mail.sender in self._away_now or (mail.sender, stage) in self.away
        over = stage is None or mail.stage in self.ended
        return over and self.has_given_up(mail.sender)

    def note(self, note: Note) -> None:
        """Write down what was left out of account, once, however often the role is run again."""
        self.notes[note.sender, note.number, str(note.rule)] = note

    def _drop(self, mail: InboxEntry) -> None:
        late = Fault("mail.too_late", {"kind": shown(mail.kind), "stage": shown(mail.stage)})
        self.note(Note(mail.sender, mail.number, late))
