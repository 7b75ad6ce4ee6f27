"""Limits of what a site takes in one session, as a function of the public parameters.

A program declares who sends which kind of message to whom in which stage, and how often (`runtime.conversation`). How
long each is follows from its layout (`runtime.body_bytes`). Nothing else of a session is ever read, so nothing else is
taken: what a site keeps is bounded for every sender. What carries no message of the session is bounded here as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from typing import TypeAlias

from protocols.curator import CURATOR_NAME
from protocols.programs import find_protocol
from protocols.runtime import envelope
from protocols.runtime.body_bytes import body_bytes
from protocols.runtime.channel import GREETING_STAGE
from protocols.runtime.conversation import Conversation
from protocols.runtime.envelope import HELLO, MAX_ROUNDS, STAGE_END, START, Envelope
from protocols.runtime.inbox import Absent
from protocols.runtime.session import PUBLIC_NAME, Session
from smc_dp.core.errors import InputError, InputFault
from smc_dp.deploy import approval, ledger_heads, site_transcript
from smc_dp.deploy.frame import MOST_FRAME_BYTES, Frame
from smc_dp.deploy.merge import Mark
from smc_dp.deploy.study import JointStudy
from smc_dp.run import status_message
from smc_dp.run.release_consistency import could_wait

MOST_NOTICES = 16  # of one participant: it has two to send, and the others are left out
_AROUND = 1 << 12  # bytes of a frame, and of the header of an envelope or of a part of a transcript, at most
_LINE_ZERO = 1 << 24  # bytes of a transcript's first line, at most
_Kind: TypeAlias = tuple[str, str]
"""A kind of message and the stage in which it was sent."""


class Arrivals:
    """Limits of one session, with a count of the envelopes that came on each link."""

    def __init__(self, session: Session) -> None:
        program = session.program
        declared = find_protocol(program.name, program.version).conversation
        if declared is None:
            raise InputError("arrival.nothing_declared", protocol=program.name)
        self._session, self._body = session, body_bytes(session)
        self._talk: Conversation = declared(session.parameters)
        self._group = {name: group for group, names in self._talk.groups.items() for name in names}
        self._flows = [flow for turn in (*self._talk.turns, *self._talk.detours) for flow in turn.flows]
        self._most, self.most_bytes = cache(self._declared), cache(self._longest_declared)
        self._came: dict[tuple[str, str], Counter[_Kind]] = {}
        self._stage: dict[tuple[str, str], int] = {}

    def may_be_kept(self, frame: Frame) -> bool:
        """Return whether a participant may send this frame, which carries no message of the session."""
        size, number = len(frame.body), frame.number
        if frame.to != PUBLIC_NAME or frame.lane == "head":
            return ledger_heads.may_carry(self._session.names, frame)
        if frame.lane == "approval":
            return number == 0 and size <= approval.MOST_APPROVAL_BYTES
        if frame.lane == "notice":
            return number < MOST_NOTICES and size <= status_message.MOST_BYTES
        if frame.lane == "transcript":
            fits = number < self._most_pieces and size <= site_transcript.PIECE_BYTES + _AROUND
            return frame.sender == CURATOR_NAME and fits
        return False

    def _longest_declared(self, sender: str, to: str) -> int:
        """Return the length of the longest envelope that may come on this link."""
        return max((self._bytes(sender, to, *kind) for kind in self._most(sender, to)), default=0)

    @property
    def longest(self) -> int:
        """Bytes of the longest frame of the session."""
        first = {group: names[0] for group, names in self._talk.groups.items() if names}
        public = [(name, PUBLIC_NAME, *kind) for name in first.values() for kind, _ in self._of_all(name)]
        flows = [(flow, first[group]) for flow in self._flows for group in flow.senders if group in first]
        sealed = [(name, "", flow.kind.__name__, flow.stage) for flow, name in flows]
        bodies = [self._body(*message) or 0 for message in (*public, *sealed)]
        return _AROUND + max(site_transcript.PIECE_BYTES, status_message.MOST_BYTES, *bodies)

    def too_much(self, frame: Frame) -> InputFault | None:
        """Return what is wrong with the length or number of an envelope, whatever is in it."""
        link = frame.sender, frame.to
        fields = {"sender": frame.sender, "to": frame.to}
        if frame.number >= (most := self._most(*link).total()):
            return InputFault("arrival.too_many", {**fields, "most": most})
        if len(frame.body) > (longest := self.most_bytes(*link)):
            return InputFault("arrival.too_long", {**fields, "most": longest, "got": len(frame.body)})
        return None

    def unexpected(self, e: Envelope) -> InputFault | None:
        """Return what is wrong with the kind, stage, route or length of an envelope."""
        fields = {"kind": e.kind[:80], "stage": e.stage[:80], "sender": e.sender, "to": e.to}
        if (e.kind, e.stage) not in self._most(e.sender, e.to):
            return InputFault("arrival.not_declared", fields)
        if len(e.body) != (wanted := self._body(e.sender, e.to, e.kind, e.stage)):
            return InputFault("arrival.another_size", {**fields, "wanted": wanted, "got": len(e.body)})
        return None

    def count(self, e: Envelope) -> InputFault | None:
        """Count the next envelope of its link; return what is wrong with its place there."""
        link, kind = (e.sender, e.to), (e.kind, e.stage)
        fields = {"kind": e.kind[:80], "stage": e.stage[:80], "sender": e.sender, "to": e.to}
        came = self._came.setdefault(link, Counter())
        came[kind] += 1
        if came[kind] > (most := self._most(*link)[kind]):
            return InputFault("arrival.too_many_of_a_kind", {**fields, "most": most})
        stages = self._talk.stages[self._group[e.sender]]
        before, at = self._stage.get(link, 0), stages.index(e.stage) if e.stage in stages else 0
        self._stage[link] = max(before, at)
        if at < before:
            return InputFault("arrival.earlier_stage", {**fields, "after": stages[before]})
        return None

    def came(self, sender: str, to: str, kind: str, stage: str) -> int:
        """Return how many of a kind and stage have come on a link."""
        return self._came.get((sender, to), Counter[_Kind]())[kind, stage]

    def could_wait(self, reader: str, absent: Absent) -> bool:
        """Return whether a role can go on without this message. It must be a greeting or one of those declared for the
        link.
        """
        if not could_wait(self._session, reader, absent):
            return False
        return absent.kind == HELLO or absent.read < self._most(absent.sender, reader)[absent.kind, absent.stage]

    @cached_property
    def _most_pieces(self) -> int:
        """Parts of the longest transcript: its lines hold each message in base64, and each may have an absence."""
        groups = self._talk.groups
        flows = [
            (f, sender, len(groups[sender]) * len(groups[to]))
            for f in self._flows
            for sender in f.senders
            for to in f.to
        ]
        sealed = [
            (f.times * pairs, self._body(sender, "", f.kind.__name__, f.stage) or 0) for f, sender, pairs in flows
        ]
        public = [
            (1, self._body(name, PUBLIC_NAME, *kind) or 0) for name in self._group for kind, _ in self._of_all(name)
        ]
        most = _LINE_ZERO + sum(count * (2 * size + 2 * _AROUND) for count, size in (*sealed, *public))
        return -(-min(site_transcript.MOST_TRANSCRIPT_BYTES, most) // site_transcript.PIECE_BYTES)

    def _bytes(self, sender: str, to: str, kind: str, stage: str) -> int:
        """Return the most bytes of an envelope of this kind."""
        blank = Envelope(self._session.id, sender, to, kind, stage, MAX_ROUNDS, MAX_ROUNDS, START, b"")
        return envelope.wire_size(len(blank.header), self._body(sender, to, kind, stage) or 0)

    def _declared(self, sender: str, to: str) -> Counter[_Kind]:
        return Counter(dict(self._of_all(sender)) if to == PUBLIC_NAME else self._on_link(sender, to))

    def _of_all(self, sender: str) -> Iterator[tuple[_Kind, int]]:
        """Yield the kinds that a participant signs for all, each with its number."""
        mine = self._group[sender]
        yield (HELLO, GREETING_STAGE), 1
        yield from (((STAGE_END, stage), 1) for stage in self._talk.stages[mine])
        yield from (((p.kind.__name__, p.stage), 1) for p in self._talk.published if mine in p.by)

    def _on_link(self, sender: str, to: str) -> Mapping[_Kind, int]:
        mine, theirs = self._group[sender], self._group[to]
        found = Counter[_Kind]()
        for flow in self._flows:
            reaches = flow.arcs is None or to in flow.arcs.get(sender, ())
            if mine in flow.senders and theirs in flow.to and reaches and sender != to:
                found[flow.kind.__name__, flow.stage] += flow.times
        return found


def plausible_absences(session: Session, reader: str, marks: Iterable[Absent]) -> tuple[Mark, ...]:
    """Return the absences that a participant signed, without those for which its role never waits.

    Whatever else somebody signs is left out, so that nobody can keep the others from their transcript, or anybody from
    reading it, by a word.
    """
    limits = Arrivals(session)
    return tuple((reader, absent) for absent in marks if limits.could_wait(reader, absent))


def longest_frame(study: JointStudy) -> int:
    """Return the bytes of the longest frame of a study, for its carrier; the most of any where that needs rows."""
    try:
        return min(MOST_FRAME_BYTES, Arrivals(study.unapproved_session()).longest)
    except InputError:
        return MOST_FRAME_BYTES
