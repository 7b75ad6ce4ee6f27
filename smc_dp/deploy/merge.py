"""Order of a transcript: a function of the messages and absences of a session, and of nothing else.

A relay, or each site, sees envelopes in an order of its own. The same messages and marks always merge into the same
list, byte for byte, and in it nothing stands before what it follows from. Messages are ordered by their rounds, and in
a round by their senders, in the order of the session; those of one sender are in the order of its chain. What a message
follows from is of an earlier round, or of its sender.

No message says when its reader gave a message up. So a mark stands as late as it is certain to be early enough: right
before the first message of its reader, its greeting apart, that the reader sent in that stage or a later one and in a
later round than the messages which the mark counts as read. All that followed from the mark comes after it. What
somebody owed everybody stands at the end, and so does a mark whose reader sent nothing more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

from protocols.errors import PeerError, ProtocolError, shown, somebody_between
from protocols.runtime.envelope import HELLO, START, Envelope
from protocols.runtime.inbox import Absent
from protocols.runtime.session import PUBLIC_NAME, Session

Mark: TypeAlias = tuple[str, Absent]
"""Absence with its reader, who is `PUBLIC_NAME` for a message that was owed to all."""


@dataclass(frozen=True)
class _Sent:
    """A message, the latest round that its sender had come to with it, and its place in the sender's chain."""

    envelope: Envelope
    round: int
    place: int


def merge(session: Session, envelopes: Iterable[Envelope], marks: Iterable[Mark]) -> list[Envelope | Mark]:
    """Return messages and absences, each once, in the order of the transcript.

    Raises `ProtocolError` for two messages in one place, and where one is missing between others. Raises `PeerError`,
    which names nobody, for what is not of this session or breaks the count of its link.
    """
    chains = {name: _ranked(chain) for name, chain in chains_of(session, envelopes).items()}
    places = {name: j for j, name in enumerate((*session.names, PUBLIC_NAME))}
    order = [sent for name in session.names for sent in chains.get(name, ())]
    order.sort(key=lambda sent: (sent.round, places[sent.envelope.sender], sent.place))
    before: dict[bytes, list[Mark]] = defaultdict(list)
    for mark in sorted(set(marks), key=lambda mark: _rank(places, mark)):
        before[_follower(chains, mark)].append(mark)
    merged: list[Envelope | Mark] = []
    for sent in order:
        merged += [*before[sent.envelope.digest], sent.envelope]
    return [*merged, *before[START]]


def chains_of(session: Session, envelopes: Iterable[Envelope]) -> dict[str, tuple[Envelope, ...]]:
    """Return the messages of each sender, in its order, from its first on. Raise as `merge` does."""
    there: dict[tuple[str, str, int], Envelope] = {}
    following: dict[str, dict[bytes, Envelope]] = defaultdict(dict)
    for e in envelopes:
        check_place(session, e)
        for other in (there.setdefault(_place(e), e), following[e.sender].setdefault(e.prev, e)):
            if other != e:
                raise _two_messages(other, e)
    return {name: _chain(name, following[name]) for name in session.names if name in following}


def check_place(session: Session, e: Envelope) -> None:
    """Raise `PeerError`, which names nobody, unless the envelope is of this session and between its participants."""
    if e.session != session.id or e.sender not in session.names:
        raise PeerError("somebody", "message.of_another_session", sender=shown(e.sender))
    if e.to == e.sender or e.to not in (*session.names, PUBLIC_NAME):
        raise PeerError(somebody_between(e.sender), "message.to_a_stranger", to=shown(e.to))


def _two_messages(one: Envelope, other: Envelope) -> ProtocolError:
    """Return the error of two different messages in one place of a sender's chain.

    Nobody is named: the carrier of sealed envelopes can make up a second one.
    """
    place = f"number {one.number} from {shown(one.sender)} to {shown(one.to)}"
    said = place if _place(one) == _place(other) else f"the next message of {shown(one.sender)}"
    return ProtocolError("chain.two_messages", place=said, digests=[one.digest.hex(), other.digest.hex()])


def _place(e: Envelope) -> tuple[str, str, int]:
    return e.sender, e.to, e.number


def _chain(name: str, following: Mapping[bytes, Envelope]) -> tuple[Envelope, ...]:
    found: list[Envelope] = []
    numbers: Counter[str] = Counter()
    head = START
    while head in following:
        e = following[head]
        if e.number != numbers[e.to]:
            raise PeerError(
                somebody_between(name),
                "message.number_out_of_chain",
                number=e.number,
                to=shown(e.to),
                wanted=numbers[e.to],
            )
        numbers[e.to] += 1
        found.append(e)
        head = e.digest
    if len(found) < len(following):
        raise ProtocolError("chain.message_missing", sender=shown(name))
    return tuple(found)


def _ranked(chain: Sequence[Envelope]) -> list[_Sent]:
    rounds = accumulate((e.round for e in chain), max)  # somebody may state an earlier one, and its chain goes before
    return [_Sent(e, number, place) for place, (e, number) in enumerate(zip(chain, rounds, strict=True))]


def _rank(places: Mapping[str, int], mark: Mark) -> tuple[int, int, str, str, int]:
    reader, absent = mark
    if reader not in places or absent.sender not in places:
        raise PeerError("somebody", "absence.of_strangers", sender=shown(absent.sender), reader=shown(reader))
    return places[reader], places[absent.sender], absent.stage, absent.kind, absent.read


def _follower(chains: Mapping[str, Sequence[_Sent]], mark: Mark) -> bytes:
    """Return the digest of the message before which an absence stands; `START` for the end of the transcript."""
    reader, absent = mark
    what = (reader, absent.kind, absent.stage)
    messages = [s for s in chains.get(absent.sender, ()) if (s.envelope.to, s.envelope.kind, s.envelope.stage) == what]
    after = max((sent.round for sent in messages[: absent.read]), default=0)
    there = False
    for sent in chains.get(reader, ()):
        there = there or sent.envelope.stage == absent.stage
        if there and sent.envelope.kind != HELLO and sent.round > after:
            return sent.envelope.digest
    return START
