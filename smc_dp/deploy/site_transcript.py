"""Transcript of a session that ran at separate sites: assembled by the curator, checked by all.

The curator has all envelopes from the relay, and at the end a signed status message of each site that names its last
message. A participant without such a message has dropped out; the messages that it owed all are noted as absences. The
same messages, absences and approvals always make the same bytes. So a site that gets a transcript makes it again, and
compares it with its own messages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from protocols.errors import Fault, PeerError, ProtocolError, shown, somebody_between
from protocols.runtime.channel import GREETING_STAGE
from protocols.runtime.envelope import HELLO, STAGE_END, START, Envelope, is_signed
from protocols.runtime.inbox import Absent
from protocols.runtime.session import PUBLIC_NAME, Session
from protocols.runtime.transcript import Transcript
from smc_dp.core.errors import InputError, InputFault
from smc_dp.deploy.merge import Mark, chains_of, check_place, merge
from smc_dp.run.release_consistency import ReleaseEvidence
from smc_dp.run.transcript_header import read_head
from smc_dp.run.transcript_lines import TranscriptLines, parse_lines
from smc_dp.run.verify_release import read_release_evidence

MOST_TRANSCRIPT_BYTES = 1 << 28
"""Most bytes of a transcript: as many as an audit reads."""
PIECE_BYTES = 1 << 19
"""Bytes of a part of a transcript on its way."""


def incomplete_senders(session: Session, envelopes: Iterable[Envelope], heads: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return the participants whose messages are not complete yet. `heads`: digest of the last message of each that is
    done.

    Raises what `merge` raises, but for gaps.
    """
    there = list(envelopes)
    digests = {name: {e.digest for e in there if e.sender == name} | {START} for name in session.names}
    late = {name for name, head in heads.items() if head not in digests[name]}
    late |= {e.sender for e in there if e.prev not in digests[e.sender]}
    return tuple(name for name in session.names if name in late)


def owed_absences(
    session: Session, envelopes: Iterable[Envelope], marks: Iterable[Mark], done: Collection[str]
) -> tuple[Mark, ...]:
    """Return the public messages that dropped-out participants owed, where no absence names that participant yet.

    `marks`: absences that participants have stated; a role that stopped for want of a message has signed all that it
    sent, and owes nothing. `done`: participants whose last status message is done. The public messages of
    other participants of its kind show what a participant owed: the first of them that it did not sign.
    """
    chains, known = chains_of(session, envelopes), tuple(marks)
    missed = {absent.sender for _, absent in known}
    stopped = {reader for reader, _ in known if reader in chains and chains[reader][-1].is_public}
    dropped_out = [name for name in session.names if not (name in missed or name in done or name in stopped)]
    lines = ((name, _next_for_all(session, chains, name, done)) for name in dropped_out)
    return tuple((PUBLIC_NAME, absent) for _, absent in lines if absent is not None)


def _next_for_all(
    session: Session, chains: Mapping[str, Sequence[Envelope]], name: str, done: Collection[str]
) -> Absent | None:
    sent = chains.get(name, ())
    if not sent:
        return Absent(name, HELLO, GREETING_STAGE)
    others = [other for other in session.names if other in done and session.kind(other) == session.kind(name)]
    if not others:
        return Absent(name, STAGE_END, sent[-1].stage)
    due = max((_for_all(chains.get(other, ())) for other in others), key=len)
    left = due[len(_for_all(sent)) :]
    return Absent(name, *left[0]) if left else None


def _for_all(chain: Iterable[Envelope]) -> list[tuple[str, str]]:
    return [(e.kind, e.stage) for e in chain if e.is_public]


def build_transcript(
    session: Session,
    envelopes: Iterable[Envelope],
    marks: Iterable[Mark],
    approvals: Sequence[Mapping[str, str]] | None,
    insecure: tuple[str, ...] = (),
    notices: Sequence[Mapping[str, Any]] | None = None,
) -> Transcript:
    """Build the transcript. Its bytes do not depend on the builder or on the order of arrival. Raise what `merge`
    raises.

    `approvals`: those of all as documents, in the order of the session, and `notices`: the last of each who gave one;
    None for a session without a study. `insecure`: what makes the run insecure.
    """
    made = Transcript(session, insecure, approvals=approvals, notices=notices)
    for entry in merge(session, envelopes, marks):
        if isinstance(entry, Envelope):
            made.post(entry)
        else:
            made.miss(*entry)
    return made


@dataclass(frozen=True, repr=False)
class OwnLog:
    """Messages that one site sent and received in a session, the public ones, and its absences."""

    name: str
    sent: Sequence[Envelope]
    received: Sequence[Envelope]
    public: Sequence[Envelope]
    marks: frozenset[Absent] = frozenset()


def check_transcript(
    content: bytes,
    session: Session,
    own: OwnLog,
    approvals: Sequence[Mapping[str, str]] | None,
    insecure: tuple[str, ...] = (),
) -> ReleaseEvidence:
    """Return the content of a transcript, after it was compared with all that this site saw of its session.

    Raises InputError for any other: for bytes that do not follow from its content, for a wrong signature or a gap, and
    for other messages of or to this site, or other absences of it, than it knows. Three differences are allowed.
    Messages of participants that this site gave up may have come too late for it. A public message of a participant
    that any other gave up may have come here after the transcript was made. Of a site that others gave up, the
    transcript may have only the messages that came in time, as `marks` state.
    """
    found = read_transcript(content, session)
    try:
        made = build_transcript(
            session, found.envelopes.values(), found.marks, approvals, insecure, notices=found.notices
        )
    except ProtocolError as error:
        raise InputError(error.fault.within("transcript")) from None
    if b"".join(made.chunks()) != content:
        raise InputError("record.other_bytes")
    if fault := next(_differences(found, own), None):
        raise InputError(fault.within("transcript"))
    return found


def read_transcript(content: bytes, session: Session) -> ReleaseEvidence:
    """Read a transcript of this session, each public message signed. InputError for any other bytes."""
    if len(content) > MOST_TRANSCRIPT_BYTES or not content.isascii():
        raise InputError("record.too_long", most=MOST_TRANSCRIPT_BYTES)
    try:
        lines = TranscriptLines(content)
        head = read_head(lines.text(0), "transcript")
        envelopes, absences = parse_lines(session, lines)
        _check_senders(session, envelopes.values())
        read_release_evidence(content)  # as all read it who use the release
    except ProtocolError as error:
        raise InputError(error.fault.within("transcript")) from None
    if len(envelopes) + len(absences) != len(lines):
        raise InputError("record.unknown_lines")
    return ReleaseEvidence(head, session, dict(envelopes.items()), dict(absences.items()))


def _check_senders(session: Session, envelopes: Iterable[Envelope]) -> None:
    """Raise `PeerError`, which names nobody, for an envelope that is not of this session or, if public, not signed.

    A sealed one shows nobody but its addressee who made it; its sender's later signatures hold it.
    """
    for e in envelopes:
        check_place(session, e)
        if e.is_public and not is_signed(session.identities[e.sender], e):
            raise PeerError(somebody_between(e.sender), "message.not_signed", kind=shown(e.kind))


def _differences(found: ReleaseEvidence, own: OwnLog) -> Iterator[Fault]:
    """Yield the differences between a transcript and what the site saw.

    A site that the others gave up may have come back after the transcript was made: then it has sent more, and knows of
    more, than the transcript has.
    """
    listed = {e.digest for e in found.envelopes.values()}
    given_up = own.name in {absent.sender for _, absent in found.marks}
    dropped_out = own.name in {absent.sender for absent in found.absent_to(PUBLIC_NAME)}
    sent = {e.digest for e in own.sent}
    if not {e.digest for e in found.envelopes.values() if e.sender == own.name} <= sent:
        yield InputFault("record.other_messages", {"name": own.name})
    if not sent <= listed and not given_up:
        yield InputFault("record.lacks_messages", {"name": own.name})
    if sent <= listed and dropped_out:
        yield InputFault("record.not_vanished", {"name": own.name})
    missed = {absent.sender for absent in own.marks}
    mine = {e.digest for e in own.received}
    for e in found.envelopes.values():
        if e.to == own.name and e.digest not in mine and e.sender not in missed and not given_up:
            yield InputFault(
                "record.unknown_message", {"sender": shown(e.sender), "name": own.name, "number": e.number}
            )
    for e in (*own.received, *own.public):
        if e.sender != own.name and e.digest not in listed and not _came_late(found, own, e):
            yield InputFault(
                "record.lacks_message",
                {"kind": shown(e.kind), "sender": shown(e.sender), "to": e.to, "number": e.number},
            )
    marks = set(found.absent_to(own.name))
    if not marks <= own.marks or (marks != own.marks and not given_up):
        yield InputFault("record.other_marks", {"name": own.name})


def _came_late(found: ReleaseEvidence, own: OwnLog, e: Envelope) -> bool:
    """Return whether the sender was given up and may have come back after the transcript was made.

    A message to this site is late only where the site itself went on without that sender: else it may have read it.
    """
    absent = {mark.sender for _, mark in found.marks}
    return e.sender in absent and (e.is_public or e.sender in {mark.sender for mark in own.marks})
