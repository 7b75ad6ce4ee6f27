"""Site of one participant in one session: its actor, its bulletin board, and the store of both.

Theory of operation. A site is handed frames, in any order and any number of times. It takes each once, gives its
actor what is next on each link, lets it run, and commits three things at once: the frames, the new state, and what
is to be sent. What the commit holds may then be sent, again and again; a site that is made anew from its store goes on
from there, and makes nothing twice. Two different frames under one key end the session here: somebody on the way, or
the sender, made one of them, and both are kept as evidence, and nobody is blamed.

The curator's site, which builds the transcript, also takes the envelopes between others. It cannot open them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Signer
from protocols.curator import CURATOR_NAME
from protocols.errors import Fault, PeerError, ProtocolError, ReplayError, shown, somebody_between
from protocols.runtime.bulletin_board import BulletinBoard
from protocols.runtime.envelope import START, Envelope, is_signed
from protocols.runtime.inbox import Absent
from protocols.runtime.session import PUBLIC_NAME, Session
from smc_dp.core.errors import InputFault
from smc_dp.deploy.arrival import Arrivals
from smc_dp.deploy.frame import Frame, Lane
from smc_dp.deploy.store import KeptState, SiteStore
from smc_dp.run.budget_charge import OpenCharge
from smc_dp.run.site_process import SiteActor, SiteInputs, SiteRandomness, StoredActor
from smc_dp.run.status_message import Code, Notice

_STATUS_LANES: tuple[Lane, ...] = ("notice", "refusal")


class Site:
    """Site of one participant. It takes frames and commits what follows; `end` is None while the session goes on here.

    `coins` are drawn from the system unless given; `keeps_seed`: the first seed of the role stays in the sealed state,
    so that a view can be made in the end. `clock`: seconds since some fixed time.
    """

    def __init__(
        self,
        session: Session,
        study: str,
        name: str,
        signer: Signer,
        store: SiteStore,
        brings: SiteInputs,
        limits: Arrivals,
        *,
        coins: SiteRandomness | None = None,
        keeps_seed: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.session, self.study, self.name, self.store, self.limits = session, study, name, store, limits
        self.board = BulletinBoard(session)
        self._signer, self._clock = signer, clock
        facts = store.facts()
        self.end: str | None = facts.get("end")
        self._read, self._greeted = facts.get("read", 0), facts.get("greeted", False)  # by the last commit
        self._committed = {frame.key: frame.digest for frame in (*store.received(), *store.outgoing())}
        self._next: Counter[tuple[str, str]] = Counter()  # by link, the number of the envelope that is due
        self._early: dict[tuple[str, str, int], Envelope] = {}
        self._left: tuple[Frame, ...] = ()
        self._found: Fault | None = None  # what the last messages before somebody ended the session showed
        sent = store.outgoing()
        self._has_sent_status = any(frame.lane == "notice" for frame in sent)
        newest = store.newest()
        kept = None if newest is None else StoredActor(newest.content, newest.counter, charge_from_facts(facts))
        self._own = SiteActor(
            session, name, signer, brings, self.board.greetings,
            randomness=coins, kept=kept, keeps_seed=keeps_seed,
        )  # fmt: skip
        self.actor = self._own.actor
        self._restore()

    @property
    def charge(self) -> OpenCharge:
        """Charge of all that has left this participant by the next commit."""
        return self._own.charge

    @property
    def awaited(self) -> tuple[str, ...]:
        """Participants without whom the role cannot go on."""
        return () if self.end else self.actor.awaited

    @property
    def done(self) -> bool:
        """Completion of the role: it has ended, and what it published is sent."""
        return self.actor.done and self.end is None

    @property
    def marks(self) -> tuple[tuple[str, Absent], ...]:
        """Absences with which this participant's role went on."""
        return tuple((self.name, mark) for mark in sorted(self.actor.marks, key=astuple))

    @property
    def has_greetings(self) -> bool:
        """Presence of all greetings that the role waits for. Until then it reads no message."""
        wanted = (*self.session.peers(self.name), *self.session.greeters)
        return all(name in self.board.greetings for name in wanted)

    @property
    def consumed(self) -> int:
        """Number of messages that the role has read."""
        return self.actor.inbox.consumed

    @property
    def is_over_elsewhere(self) -> bool:
        """End of the session by somebody else, for all. Nothing new leaves while the last messages are read."""
        return self._own.sends_nothing

    def has_heard_out(self, notice: Notice) -> bool:
        """Return whether all is read that the sender of this notice had sent to this site and to all before it."""
        sent = dict(notice.sent)
        return all(self._next[notice.sender, to] >= sent.get(to, 0) for to in (self.name, PUBLIC_NAME))

    @property
    def waits_in_vain(self) -> bool:
        """Wait for nobody but participants that still owe a message without which the role went on."""
        marks = self.actor.marks
        absent = {mark.sender for mark in marks}
        if not self.awaited or not absent.issuperset(self.awaited):
            return False
        owing = {mark.sender for mark in marks if self._came(mark) <= mark.read}
        return owing.issuperset(self.awaited)

    def _came(self, mark: Absent) -> int:
        return sum(self.limits.came(mark.sender, to, mark.kind, mark.stage) for to in (self.name, PUBLIC_NAME))

    @property
    def first_seed(self) -> Stream | None:
        """First seed of the role's randomness, if it was to be kept."""
        return self._own.first_seed

    def step(self, frames: Sequence[Frame] = ()) -> bool:
        """Take frames, run as far as possible and commit; return whether anything was next on its link.

        A broken rule ends the session here, with a status message.
        """
        if self.end is not None:
            return False
        fresh, other = separate_conflicts(self._committed, frames)
        try:
            if fault := frame_fault(fresh, other, self.study, self.session.names, self.name):
                raise PeerError("somebody", fault)
            fresh = [frame for frame in fresh if frame.lane == "envelope" or self.limits.may_be_kept(frame)]
            delivered = self._deliver((*self._left, *fresh))
            self._left = ()
            out = self._advanced()
        except ProtocolError as error:
            if not self.is_over_elsewhere:
                self.close("aborted", error.fault, [*fresh, *other])
                return True
            self._found = self._found or error.fault
            delivered, out, fresh = 0, [], list(filter(self.limits.may_be_kept, fresh))
        if self.is_over_elsewhere:
            if fresh or delivered:
                self.store.commit(fresh, facts=self._charged())
                self._committed.update((frame.key, frame.digest) for frame in fresh)
        elif fresh or delivered or out or self.actor.counter == 0:
            self._commit(fresh, out, "aborted")
        return bool(delivered) or any(frame.lane == "transcript" for frame in fresh)

    def miss(self, names: Sequence[str], code: Code = "deadline") -> None:
        """Let the role go on without these silent participants, or end the session here."""
        try:
            self.actor.miss(*names)
            out = self._advanced()
        except ProtocolError as error:
            self.close("aborted", error.fault)
            return
        self._commit((), out, code)

    def close(self, code: Code, fault: Fault, evidence: Sequence[Frame] = ()) -> None:
        """End the session here, and tell all others with this code; the fault stays here.

        What the actor made of it is not kept, so that the last state stays what was true before.
        """
        self.end = code
        kept = [frame for frame in evidence if len(frame.body) <= self.limits.longest]
        notice = self._notice(code, self.store.outgoing())
        self.store.commit((), [notice], None, {**self._facts(), **reason_facts(fault)}, kept)

    def send_nothing_more(self) -> None:
        """Somebody has ended the session for all: from here on nothing leaves, and only what had come is read.

        The role may still find out that a charge costs nothing. What else it makes of the last messages is not kept.
        """
        self._own.sends_nothing = True

    def ended_by_others(self, name: str, code: Code) -> None:
        """End the session here because somebody else has, and said so."""
        self.end = "ended"
        fault = InputFault("session.ended_by_others", {"name": name, "notice": code})
        self.store.commit(facts={**self._facts(), **reason_facts(self._found or fault)})

    def envelopes(self) -> Iterator[Envelope]:
        """Every envelope of the session that was sent from here or has come, in no order."""
        for frame in (*self.store.outgoing(), *self.store.received()):
            if frame.lane == "envelope":
                yield Envelope.decode(frame.body)

    # Inbox.

    def _deliver(self, frames: Sequence[Frame]) -> int:
        """Deliver what is next on its link, now that these have come; return the number of envelopes."""
        count = 0
        for envelope in self._due(frames):
            count += 1
            self._take(envelope)
        for envelope in self._early.values():
            if fault := self.limits.unexpected(envelope):
                raise self._refusal(envelope, fault)
        return count

    def _take(self, envelope: Envelope) -> None:
        """Deliver the next envelope of its link; blame its sender for one that may not come there."""
        fault = self.limits.unexpected(envelope) or self.limits.count(envelope)
        if fault and self._is_of_sender(envelope):
            raise self._refusal(envelope, fault)
        if envelope.is_public:
            self.board.post(envelope)
        elif envelope.to == self.name:
            self.actor.deliver(envelope)
        if fault:
            raise self._refusal(envelope, fault)

    def _refusal(self, envelope: Envelope, fault: Fault) -> PeerError:
        """Return the error that blames the sender of an envelope if its seal or signature proves it, else nobody."""
        if self._is_of_sender(envelope):
            return PeerError(envelope.sender, fault, evidence=[envelope.number])
        return PeerError(somebody_between(envelope.sender), fault)

    def _is_of_sender(self, envelope: Envelope) -> bool:
        if envelope.is_public:
            return is_signed(self.session.identities[envelope.sender], envelope)
        return envelope.to == self.name and self.actor.channel.is_of_sender(envelope)

    def _due(self, frames: Sequence[Frame]) -> Iterator[Envelope]:
        for frame in frames:
            envelope = self._envelope(frame) if frame.lane == "envelope" else None
            if envelope is not None:
                self._early[frame.sender, frame.to, frame.number] = envelope
        for link in sorted({(sender, to) for sender, to, _ in self._early}):
            while (found := self._early.pop((*link, self._next[link]), None)) is not None:
                self._next[link] += 1
                yield found

    def _envelope(self, frame: Frame) -> Envelope:
        envelope = Envelope.decode(frame.body)
        said = (envelope.session, envelope.sender, envelope.to, envelope.number)
        if said != (self.session.id, frame.sender, frame.to, frame.number):
            raise PeerError(somebody_between(frame.sender), "relay_frame.another_envelope")
        if fault := self.limits.too_much(frame):
            raise self._refusal(envelope, fault)
        return envelope

    # The actor.

    def _advanced(self) -> list[Envelope]:
        """Return all that the role sends until it waits for others, and what it publishes at its end."""
        sent: list[Envelope] = []
        while True:
            out = self.actor.advance()
            if self.actor.done:
                out += self._own.release()
            for envelope in out:
                if envelope.is_public:
                    self.board.post(envelope)
            sent += out
            if not any(envelope.is_public for envelope in out):
                return sent

    def _restore(self) -> None:
        """Restore the own part of the bulletin board. `step` takes what came too early for its link."""
        received = [frame for frame in self.store.received() if frame.lane == "envelope"]
        own = [frame for frame in self.store.outgoing() if frame.lane == "envelope" and frame.to == PUBLIC_NAME]
        opened = {(sender, self.name): n for sender, n in self.actor.channel.counters.received.items()}
        for envelope in self.actor.held.envelopes:
            opened[envelope.sender, self.name] = envelope.number + 1
        self._next.update(opened)
        for frame in own:
            self.board.post(Envelope.decode(frame.body))
        self._left = tuple(p for p in received if p.number >= self._next[p.sender, p.to])
        for frame in received:
            if frame.number < self._next[frame.sender, frame.to]:
                self.limits.count(Envelope.decode(frame.body))

    # What is kept.

    def _commit(self, fresh: Sequence[Frame], out: Sequence[Envelope], code: Code) -> None:
        sending = [Frame(self.study, self.name, e.to, "envelope", e.number, e.encode()) for e in out]
        if self.actor.end == "stopped":
            self.end = code
            sending.append(self._notice(code, [*self.store.outgoing(), *sending]))
        elif self.actor.done and not self._has_sent_status:
            sending.append(self._notice("done", [*self.store.outgoing(), *sending]))
        facts = {**self._since(), **self._facts(), "why": str(self.actor.why or ""), "code": ""}
        try:
            self.store.commit(fresh, sending, self._state, facts)
        except ReplayError as error:  # nobody could load this state
            self.close("aborted", error.fault)
            return
        self._committed.update((frame.key, frame.digest) for frame in (*fresh, *sending))

    def _since(self) -> dict[str, Any]:
        """Return the facts from which deadlines count. Progress is the first step, and what the role has consumed."""
        before, self._read, self._greeted = (self._read, self._greeted), self.consumed, self.has_greetings
        progress = self.actor.counter == 0 or before < (self._read, self._greeted)
        return {"read": self._read, "greeted": self._greeted, **({"since": self._clock()} if progress else {})}

    def _facts(self) -> dict[str, Any]:
        return {
            **self._charged(),
            "stage": self.actor.stage or "",
            "waiting": list(self.awaited),
            "deadlines": self.actor.deadlines,
            "end": self.end,
            "done": self.actor.done,
            "marks": [astuple(mark) for _, mark in self.marks],
        }

    def _charged(self) -> dict[str, Any]:
        return {"left": sorted(self.charge.left), "taken back": sorted(self.charge.taken_back)}

    def _state(self) -> KeptState:
        content = self._own.state()  # which gives the actor its next number
        return KeptState(self.actor.counter, content)

    def _notice(self, code: Code, sent: Sequence[Frame]) -> Frame:
        self._has_sent_status = True
        return notice_after(sent, self.study, self.session.id, self.name, code, self._signer, self.actor.marks)


def separate_conflicts(
    known: Mapping[tuple[str, str, str, int], bytes], frames: Sequence[Frame]
) -> tuple[list[Frame], list[Frame]]:
    """Return the new frames, each once, and those that differ from a known one under the same key."""
    seen, fresh, other = dict(known), [], []
    for frame in frames:
        if frame.key not in seen:
            seen[frame.key] = frame.digest
            fresh.append(frame)
        elif seen[frame.key] != frame.digest:
            other.append(frame)
    return fresh, other


def frame_fault(
    fresh: Sequence[Frame], other: Sequence[Frame], study: str, names: Sequence[str], name: str
) -> Fault | None:
    """Return what is wrong with frames that came to this participant of this study, whatever is in them.

    `other` differ from what is known under their keys. Nobody is blamed: a carrier can make them.
    """
    for frame in other:
        return InputFault("relay_frame.twice", {"frame": describe_frame(frame)})
    for frame in fresh:
        comes = frame.study == study and frame.sender in names and frame.sender != name
        # The curator keeps the transcript, so messages between others come to it as well.
        others = names if (frame.lane, name) == ("envelope", CURATOR_NAME) else ()
        if not comes or frame.to not in (name, PUBLIC_NAME, *others):
            return InputFault("relay_frame.not_for_us", {"frame": describe_frame(frame), "name": name})
    return None


def notice_after(
    sent: Sequence[Frame], study: str, session: bytes, name: str, code: Code, signer: Signer, marks: Iterable[Absent]
) -> Frame:
    """Return the status message of a participant that has sent these frames: it names the last and counts them.

    `marks`: whom its role went on without.
    """
    envelopes = [frame for frame in sent if frame.lane == "envelope"]
    head = Envelope.decode(envelopes[-1].body).digest if envelopes else START
    number = sum(frame.lane == "notice" for frame in sent)
    notice = Notice.made(study, session, name, code, head, signer, marks, Counter(frame.to for frame in envelopes))
    return Frame(study, name, PUBLIC_NAME, "notice", number, notice.encode())


def refusal(study: str, name: str, signer: Signer, number: int = 0) -> Frame:
    """Return the status message by which a participant that is in no session says that it does not take part."""
    notice = Notice.made(study, b"", name, "refused", b"", signer)
    return Frame(study, name, PUBLIC_NAME, "refusal", number, notice.encode())


def abandonment(store: SiteStore, study: str, name: str, signer: Signer) -> list[Frame]:
    """Return the status message of a site that abandoned the study; none where it has sent one before.

    It counts what is known to have been sent: nothing else leaves any more.
    """
    if tells_others(store):
        return []
    facts, unsent = store.facts(), {frame.digest for frame in store.outgoing(unsent=True)}
    if not facts.get("session"):
        return [refusal(study, name, signer)]
    sent = [frame for frame in store.outgoing() if frame.digest not in unsent]
    marks = [Absent(*mark) for mark in facts.get("marks", ())]
    return [notice_after(sent, study, bytes.fromhex(facts["session"]), name, "aborted", signer, marks)]


def tells_others(store: SiteStore) -> bool:
    """Return whether a status message of this site was sent, or is to be sent."""
    return any(frame.lane in _STATUS_LANES for frame in store.outgoing())


def to_send(store: SiteStore) -> list[Frame]:
    """Return the frames that may not have been sent yet; of an abandoned study its status messages alone."""
    unsent = store.outgoing(unsent=True)
    if store.facts().get("end") != "abandoned":
        return unsent
    return [frame for frame in unsent if frame.lane in _STATUS_LANES]


def charge_from_facts(facts: Mapping[str, Any]) -> OpenCharge:
    """Return the charge of this participant, as its store has it."""
    return OpenCharge(frozenset(facts.get("left", ())), frozenset(facts.get("taken back", ())))


def reason_facts(fault: Fault) -> dict[str, str]:
    """Return the facts that say why a study ended here."""
    return {"why": str(fault), "code": fault.code}


def describe_frame(frame: Frame) -> str:
    """Return the words by which errors name a frame."""
    return f"{frame.lane} {frame.number} from {shown(frame.sender)} to {shown(frame.to)}"
