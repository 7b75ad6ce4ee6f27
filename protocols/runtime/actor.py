"""Actor: one participant with its coroutine, its channel and its inbox. Every driver steps the same actors.

Theory of operation. An actor runs in process: it does no input or output, has no clock and starts nothing by itself. A
driver hands it envelopes (`deliver`) and marks absences (`miss`), lets it run (`advance`), and carries away the
envelopes that it returns. `role_stepper.py` has the rules by which its role waits, goes on and ends. `release` hands
out what a role has published, and not before it is done.

Greetings are public. They are not delivered: `board` holds those that have been posted, by sender, and an actor looks
there when it needs one. It starts when all with whom it shares a link have greeted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from typing_extensions import override

from protocols.arithmetic.rng import KEY_BYTES as STREAM_BYTES
from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Signer
from protocols.crypto.sealing import KEY_BYTES
from protocols.errors import DecodeError, Fault, LocalError, PeerError, ReplayError, shown, somebody_between
from protocols.runtime import message as messages
from protocols.runtime.attestation import Attestation, is_signed_attestation, signing_input
from protocols.runtime.channel import GREETING_STAGE, Channel
from protocols.runtime.endpoint import Greeted, Want
from protocols.runtime.envelope import HELLO, MAX_ROUNDS, STAGE_END, Envelope
from protocols.runtime.inbox import Absent, HeldEnvelopes, InboxEntry, Note
from protocols.runtime.message import Key, Message
from protocols.runtime.observer import Observer
from protocols.runtime.role_stepper import Progress, RoleStepper
from protocols.runtime.session import PUBLIC_NAME, Session
from protocols.runtime.shared_work import done_once

MAX_HELD_BYTES = 1 << 26  # of envelopes whose senders have not greeted
Greetings = Mapping[str, Envelope]
LocalProgram = Callable[..., Any]
"""Program of a participant that answers the queries of its role."""
NO_LOCAL_PROGRAMS: Mapping[str, LocalProgram] = MappingProxyType({})


class Actor(RoleStepper):
    """Role with its inputs and its channel. `deliver` envelopes, then `advance`, which returns what the role sends.

    `charge` and `refund` are the driver's ledger, which has recorded a label when they return (see `Endpoint.spend` and
    `refund`). `local_program` answers the queries of the role (`Endpoint.ask`); each answer is added to `inputs`, so
    that a later run of the role needs no local program. Unless it `keeps_spent`, for a view, inputs that no later stage
    uses go with the last stage that does.

    A role that is run again, after a crash or by an auditor, asks for all of it again. Nothing is sent twice: the actor
    compares digests and stops at the first difference, before it would seal two messages under one nonce.
    """

    def __init__(
        self,
        session: Session,
        name: str,
        signer: Signer,
        seed: Stream,
        inputs: tuple[Any, ...],
        board: Greetings,
        *,
        observer: Observer | None = None,
        charge: Callable[[str], None] | None = None,
        refund: Callable[[str], None] | None = None,
        local_program: LocalProgram | None = None,
        keeps_spent: bool = True,
    ) -> None:
        super().__init__(session, name, seed, inputs, board, observer)
        self._keeps_spent = keeps_spent
        self.channel = Channel(session, name, signer, seed.fork("channel"), board)
        self.counter = 0  # of the states that were saved of it
        self.rising = False  # resumed, and not yet where it stood
        self.forgotten = False
        self.held = HeldEnvelopes()
        self.broken: Exception | None = None  # raised by the role or by an envelope: the role does not go on after it
        self.out: list[Envelope] = []  # what it has sent since the driver last looked
        self.doubted: set[Absent] = set()  # messages that this role read and disregarded
        self.heard: dict[Attestation, None] = {}  # the statements of others that this role has seen to be signed
        self._signer, self._charge, self._refund, self._local_program = signer, charge, refund, local_program
        self._posted = 0  # greetings on the board when it looked there last
        self._resent = 0

    @property
    def publishes(self) -> bool:
        """True when the role has something to publish."""
        return bool(self.progress.unpublished)

    @property
    def signed_count(self) -> int:
        """Number of envelopes that it has signed for everybody."""
        return self.channel.counters.sent.get(PUBLIC_NAME, 0)

    @property
    def marks(self) -> frozenset[Absent]:
        """Absence marks that the driver has set."""
        return frozenset(self.inbox.marks)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on disregarded messages: late ones, and those that the role doubted."""
        return tuple(self.inbox.notes.values())

    # What the driver does with an actor.

    def deliver(self, envelope: Envelope) -> None:
        """Open an envelope and keep it for the role; raise `PeerError` when it does not belong.

        An envelope that precedes its sender's greeting is held, and so are those that follow it on the same link.
        One that does not open counts as absent where the role may doubt its sender, or may once it has started.
        """
        sender = envelope.sender
        closed = sender not in self.channel.peers and self.inbox.has_given_up(sender)
        if self.forgotten or closed or self._goes_on_without(sender):
            self._turn_away(envelope)
            return
        unmet = sender in self.channel.peers and sender not in self.board
        if unmet or sender in self.held.senders:
            self.hold(envelope)
        else:
            self._open(envelope)

    def hold(self, envelope: Envelope) -> None:
        """Hold an envelope until its sender has greeted; raise `PeerError` for one of another session, or too many."""
        here = (envelope.session, envelope.to) == (self.session.id, self.name)
        if not here or self.held.bytes + envelope.size > MAX_HELD_BYTES:
            raise PeerError(somebody_between(envelope.sender), "early_mail.unusable", name=self.name)
        self.held.put(envelope)

    def advance(self) -> list[Envelope]:
        """Run until the role waits for a message that is not there, or ends; return what it sent.

        Raise again what the role has raised once: it cannot go on from there.
        """
        if self.broken:
            raise self.broken
        try:
            self.step()
        except Exception as error:
            self.broken = error
            raise
        self.rising = False
        return self.taken()

    def taken(self) -> list[Envelope]:
        """Return the envelopes sent since the last call."""
        out, self.out = self.out, []
        return out

    def release(self) -> list[Envelope]:
        """Sign and return what the role published; a driver calls it when the role is done."""
        if not self.done:
            raise LocalError("role.publishes_before_its_end", name=self.name)
        unpublished, self.progress.unpublished = self.progress.unpublished, []
        with self.until_dropped_out():
            for kind, stage, payload in unpublished:
                self._emit(self.channel.sign(kind, stage, payload))
        return self.taken()

    def forget(self) -> None:
        """Delete all that opens, repeats or adds up anything, of a role that is done and has published.

        The result and the absence marks remain. Envelopes that come later are not opened.
        """
        if not self.done or self.publishes:
            raise LocalError("role.forgets_before_its_end", name=self.name)
        self.forgotten = True
        self.seed, self.inputs, self.progress = Stream(bytes(STREAM_BYTES), insecure=True), (), Progress()
        self.held, self.inbox.log = HeldEnvelopes(), []
        self.channel.close(self.channel.peers)

    def restore(self, progress: Progress, keys: dict[str, Key]) -> None:
        """Continue from the progress that an earlier actor of this role saved, with the keys that it had admitted."""
        self.progress, self.keys, self._finished = progress, dict(keys), len(progress.results)

    # What it replaces of the engine.

    @override
    def step(self) -> None:
        with self.until_dropped_out():
            self.greet_once()
            if len(self.board) != self._posted:  # else those who had not greeted have not greeted yet
                self._posted = len(self.board)
                self._open_early()
            super().step()

    @override
    def finish_stage(self, result: Any) -> None:
        if self._resent < len(self.progress.sent):
            raise ReplayError("replay.sends_fewer", name=self.name, stage=self.stage)
        over = self.stage or ""
        super().finish_stage(result)
        self._resent = 0
        if self.session.program.unspent and not self._keeps_spent:
            self.inputs, _ = self.session.program.unspent(
                self.session.parameters, self.name, self.inputs, self.progress.results
            )
        if self.session.program.closed:
            self.channel.close(self.session.program.closed(self.session.parameters, self.name, over))

    @override
    def attested(self, name: str, message: Message, signature: bytes) -> bool:
        said = Attestation(name, type(message).__name__, self.statement_bytes(name, message), signature)
        holds = is_signed_attestation(self.session, said)
        if holds:
            self.heard[said] = None
        return holds

    @override
    def spend(self, label: str) -> None:
        # Asked again whenever the role runs again: only the ledger knows whether the charge still stands.
        if self._charge and label not in self._spent:
            self._charge(label)
        super().spend(label)

    @override
    def refund(self, label: str) -> None:
        super().refund(label)
        if self._refund:
            self._refund(label)

    @override
    def ask(self, said: tuple[Any, ...]) -> Any:
        answer = self._local_program(*said) if self._local_program is not None else super().ask(said)
        self.inputs = (*self.inputs, answer)
        return answer

    @override
    def doubt(self, sender: str, rule: Fault) -> None:
        if self.stage is None:
            raise LocalError("stage.needed", name=self.name, what=f"doubt of {sender}")
        number = self.last.get(sender)
        self.inbox.note(Note(sender, number, rule))
        read = [entry for entry in self.inbox.log if (entry.sender, entry.number) == (sender, number)]
        for due in (self.inbox.due(sender, entry.kind, self.stage) for entry in read):
            self.doubted.add(replace(due, read=due.read - 1))
        self.inbox.miss(sender)

    @override
    def note(self, sender: str, rule: Fault) -> None:
        self.inbox.note(Note(sender, None, rule))

    @override
    def may_still_read(self, absent: Absent) -> bool:
        # Nobody knows of a resumed role, before it has come to where it stood.
        return not self.rising and super().may_still_read(absent)

    @override
    def greet(self) -> None:
        self._emit(self.channel.greet(self._said()))

    @override
    def send(self, to: str, message: Message) -> None:
        payload = self._encoded(message)
        if self.observer:
            self.observer.posted(self.name, to, message)
        if not self._repeated(to, type(message).__name__, payload):
            self._emit(self.channel.seal(to, type(message).__name__, self.stage or "", payload))

    @override
    def keep(self, message: Message) -> None:
        payload = self._encoded(message)
        if not self._repeated(PUBLIC_NAME, type(message).__name__, payload):
            self.progress.unpublished.append((type(message).__name__, self.stage or "", payload))

    @override
    def announce_stage_end(self, stage: str) -> None:
        self._emit(self.channel.sign(STAGE_END, stage, b""))

    @override
    def statement_signature(self, signer: str, kind: str, payload: bytes) -> bytes:
        return self._signer.sign(signing_input(self.session.id, signer, kind, payload))

    @override
    def consume(self, entry: InboxEntry) -> None:
        super().consume(entry)
        if not 0 < entry.round < MAX_ROUNDS:
            raise PeerError(entry.sender, "message.states_no_round", [entry.number], round=entry.round, name=self.name)
        self.channel.has_read(entry.round)

    @override
    def read_message(self, want: Want, entry: InboxEntry) -> Message:
        if not want.kind.route.allows(self.session.kind(entry.sender), self.session.kind(self.name)):
            raise LocalError("message.without_a_route", kind=entry.kind, sender=entry.sender, to=self.name)
        try:
            layout = self.session.layout_in(self.stage or "")
            read: Message = messages.decode(want.kind, entry.payload, layout, self.keys)
        except DecodeError as error:
            fault = _in_field(entry.kind, error).followed_by(f" (to {self.name})")
            raise PeerError(entry.sender, fault, evidence=[entry.number]) from None
        if self.observer:
            self.observer.read(self.name, entry, read)
        return read

    @override
    def greeting(self, want: Want, sender: str) -> Greeted[Message]:
        said = self.channel.greeting(sender)[KEY_BYTES:]
        try:
            read: Message = done_once(
                (self.session.id, want.kind, said),
                lambda: messages.decode(want.kind, said, self.session.layout, {}),
            )
        except DecodeError as error:
            raise PeerError(sender, _in_field(HELLO, error).followed_by(" (public)"), evidence=[0]) from None
        return Greeted(read, self.channel.greetings[sender].digest)

    def _emit(self, envelope: Envelope) -> None:
        self.count_out(envelope.to, envelope.kind, envelope.stage)
        self.out.append(envelope)
        if self.observer:
            self.observer.sent(envelope)

    def _open_early(self) -> None:
        """Open held envelopes. Nobody vouches for their senders yet: one that does not open is dropped with a note."""
        held, self.held = self.held, HeldEnvelopes()
        for envelope in held.envelopes:
            if envelope.sender not in self.board:
                self.held.put(envelope)
                continue
            try:
                self._open(envelope)
            except PeerError as error:
                if error.evidence:
                    raise
                self.inbox.note(Note(error.culprit, None, error.broken))

    def _turn_away(self, envelope: Envelope) -> None:
        """Note an envelope of a sender that was given up; one of any other sender to a role that is done is refused.

        Nobody has opened it, so its sender is not blamed.
        """
        sender = somebody_between(envelope.sender)
        self.channel.counters.received[envelope.sender] = envelope.number + 1
        if self.done and not self.inbox.has_given_up(envelope.sender):
            raise PeerError(sender, "message.not_wanted", kind=shown(envelope.kind), name=self.name)
        self.inbox.note_late(sender, envelope)

    @property
    def _doubted(self) -> frozenset[str]:
        return frozenset(kind.__name__ for kind in self.session.program.doubted)

    def _may_doubt(self, sender: str) -> bool:
        return self._want is not None and self._want.doubts and sender in self._want.senders

    def _goes_on_without(self, sender: str) -> bool:
        """Tell whether nothing more is read in this stage of a sender that the role may doubt."""
        if self._may_doubt(sender):
            return self._due(sender) in self.inbox.marks
        # Charlie doubts nobody: what comes late from a party he opens, and can prove to be its own.
        return self.inbox.is_away(sender) and self.session.kind(self.name) == self.session.kind(sender)

    def _open(self, envelope: Envelope) -> None:
        sender = envelope.sender
        try:
            payload = self.channel.open(envelope)
        except PeerError as error:
            if self._may_doubt(sender):
                # The mark overrides what the envelope is: a replay has the mark first, and goes on as this role does.
                self.mark(self._due(sender))
                self._turn_away(envelope)
            elif not self._started and envelope.kind in self._doubted and not error.evidence:
                # The role has not said yet whom it may doubt, so the envelope counts as one that did not come.
                self.inbox.note(Note(error.culprit, None, error.broken))
            else:
                raise
            return
        entry = InboxEntry(envelope.sender, envelope.number, envelope.kind, envelope.stage, envelope.round, payload)
        self.inbox.put(entry)
        if self.end is not None:
            self.refuse_unread()

    def _said(self) -> bytes:
        made = self.made_greeting()
        if made is None:
            return b""
        self.measure(GREETING_STAGE)
        return messages.encode(made, self.session.layout, {})

    def _encoded(self, message: Message) -> bytes:
        return messages.encode(message, self.session.layout_in(self.stage or ""), self.keys)

    def _repeated(self, to: str, kind: str, payload: bytes) -> bool:
        """Tell whether this message was sent before the replay; raise `ReplayError` for a difference, before anything
        is sealed twice.
        """
        digest = hashlib.sha256(f"{to}\x00{kind}\x00".encode() + payload).digest()
        again = self._resent < len(self.progress.sent)
        if again and self.progress.sent[self._resent] != digest:
            raise ReplayError("replay.sends_another", name=self.name, kind=kind, to=to)
        if not again:
            self.progress.sent.append(digest)
        self._resent += 1
        return again


def _in_field(kind: str, error: DecodeError) -> Fault:
    """Return the fault of a field with the kind of its message in front."""
    return replace(error.fault, place=f"{kind}.{error.fault.place}")


def actors(
    session: Session,
    identities: Mapping[str, Signer],
    seeds: Mapping[str, Stream],
    inputs: Mapping[str, tuple[Any, ...]],
    board: Greetings,
    observer: Observer | None = None,
    charge: Callable[[str, str], None] | None = None,
    refund: Callable[[str, str], None] | None = None,
    local_programs: Mapping[str, LocalProgram] = NO_LOCAL_PROGRAMS,
) -> dict[str, Actor]:
    """Return one actor for each participant, by name.

    `charge(name, label)` and `refund(name, label)` hear charges and refunds; `local_programs` holds local programs by
    name.
    """
    return {
        name: Actor(
            session,
            name,
            identities[name],
            seeds[name],
            inputs[name],
            board,
            observer=observer,
            charge=partial(charge, name) if charge else None,
            refund=partial(refund, name) if refund else None,
            local_program=local_programs.get(name),
        )
        for name in session.names
    }
