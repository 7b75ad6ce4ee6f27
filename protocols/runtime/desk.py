"""A role's side of an actor: what it sends, makes once, signs and keeps. It is the engine behind the endpoint.

A role that is run again, after a crash or by an auditor, asks for all of it again. What was sent is not sent twice: the
desk compares digests and stops at the first difference, before anything is sealed twice under one nonce.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Signer
from protocols.errors import LocalError, ReplayError
from protocols.runtime import message as messages
from protocols.runtime.channel import Channel
from protocols.runtime.endpoint import Want
from protocols.runtime.envelope import STAGE_END, Envelope
from protocols.runtime.mailbox import Absent, Mail, Mailbox, Note
from protocols.runtime.message import Key, Message
from protocols.runtime.session import PUBLIC_NAME, Session
from protocols.runtime.statement import SignedStatement, encoded, is_attested, statement

KEYS = "keys"  # what is made once, i.e. keys, is measured as a stage of its own


@dataclass(repr=False)
class Progress:
    """What a role has behind it: all that is kept between two runs of it, beside keys, mail and seed.

    `results` are those of finished stages, None where a later one replaced it. Of the open stage: its name until the
    chain has been signed for it, digests of what was sent, values made once. `statements` maps stage and kind to the
    payload and its signature, `unpublished` waits for its release: (kind, stage, payload).
    """

    results: list[Any] = field(default_factory=list)
    stage: str | None = None
    sent: list[bytes] = field(default_factory=list)
    made: dict[str, Any] = field(default_factory=dict)
    statements: dict[tuple[str, str], tuple[bytes, bytes]] = field(default_factory=dict)
    unpublished: list[tuple[str, str, bytes]] = field(default_factory=list)


class Observer(Protocol):
    """Whoever measures a run; no role can reach it."""

    def stage(self, name: str, stage: str) -> None:
        """A role enters a stage."""
        ...

    def sent(self, envelope: Envelope) -> None:
        """A role posts an envelope."""
        ...

    def posted(self, name: str, to: str, message: Message) -> None:
        """A role sends a message, which is sealed next."""
        ...

    def started(self, name: str) -> None:
        """A role has the greetings that it needs."""
        ...

    def waits(self, name: str, want: Want) -> None:
        """A role waits for this, be it there or not."""
        ...

    def consumed(self, receiver: str, mail: Mail) -> None:
        """A role takes a letter out of its mail."""
        ...

    def read(self, receiver: str, mail: Mail, message: Message) -> None:
        """A role reads a message, the content of this letter."""
        ...


class Desk:
    """One role's desk. `out` is what it has sent since the driver last looked."""

    def __init__(
        self,
        session: Session,
        name: str,
        signer: Signer,
        seed: Stream,
        channel: Channel,
        observer: Observer | None,
        charge: Callable[[str], None] | None,
        voided: Callable[[str], None] | None,
        ask: Callable[..., Any],
    ) -> None:
        self.session, self.name, self.seed, self.channel = session, name, seed, channel
        self.keys: dict[str, Key] = {}
        self.mailbox = Mailbox()
        self.progress = Progress()
        self.out: list[Envelope] = []
        self.last: dict[str, int] = {}  # the number of the letter read last, by sender
        self.doubted: set[Absent] = set()  # letters that this role read and left out of account
        self.heard: dict[SignedStatement, None] = {}  # the statements of others that this role has seen to be signed
        self.stage: str | None = None
        self._signer, self._observer, self._charge, self._voided = signer, observer, charge, voided
        self._ask = ask
        self._spent: set[str] = set()
        self._finished = 0  # stages that an earlier actor of this role has finished
        self._entered = 0
        self._replaces = False
        self._resent = 0

    def restore(self, progress: Progress, keys: dict[str, Key]) -> None:
        """Continue from what an earlier actor of this role left behind."""
        self.progress, self.keys, self._finished = progress, dict(keys), len(progress.results)

    def emit(self, envelope: Envelope) -> None:
        """Hand an envelope to the driver."""
        self.out.append(envelope)
        if self._observer:
            self._observer.sent(envelope)

    def taken(self) -> list[Envelope]:
        """What was sent since the driver last looked."""
        out, self.out = self.out, []
        return out

    def sign_off(self, unless: str | None = None) -> None:
        """Sign the head of the chain, once per stage: two checkpoints may share one."""
        if self.progress.stage not in (None, unless):
            self.emit(self.channel.sign(STAGE_END, self.progress.stage or "", b""))
            self.progress.stage = None

    # What the endpoint asks for.

    def post(self, to: str, message: Message) -> None:
        """Encode, seal and send; raises `LocalError` for an undeclared kind, route or link, or outside a stage."""
        if to == PUBLIC_NAME:
            raise LocalError(
                "message.published_not_sent",
                "{name}: {kind} is published, not sent",
                name=self.name,
                kind=type(message).__name__,
            )
        payload = self._encode(to, message)
        if self._observer:
            self._observer.posted(self.name, to, message)
        if not self._repeated(to, type(message).__name__, payload):
            self.emit(self.channel.seal(to, type(message).__name__, self.stage or "", payload))

    def publish(self, message: Message) -> None:
        """Encode, and keep until the driver releases it."""
        payload = self._encode(PUBLIC_NAME, message)
        if not self._repeated(PUBLIC_NAME, type(message).__name__, payload):
            self.progress.unpublished.append((type(message).__name__, self.stage or "", payload))

    def enter(self, name: str, replaces: bool) -> tuple[bool, Any, Stream]:
        """Begin a stage; when it was finished before, its result."""
        if self.stage is not None:
            raise LocalError(
                "stage.inside_another",
                "{name}: stage {inner} inside stage {stage}",
                name=self.name,
                inner=name,
                stage=self.stage,
            )
        number, self._entered = self._entered, self._entered + 1
        rng = self.seed.fork(f"stage {number} {name}")
        if number < self._finished:
            return True, self.progress.results[number], rng
        self.stage, self._replaces = name.partition(".")[0], replaces
        if self.stage in self.mailbox.ended and self.stage != self.mailbox.latest:
            raise LocalError(
                "stage.entered_again",
                "{name}: stage {stage} is over, and marks of absence go by its name",
                name=self.name,
                stage=self.stage,
            )
        self.sign_off(unless=self.stage)
        self.progress.stage = self.stage
        self._measure(self.stage)
        return False, None, rng

    def leave(self, result: Any) -> None:
        """End the stage: keep its result, forget the rest, and the result that it replaces."""
        if self._resent < len(self.progress.sent):
            raise ReplayError(
                "replay.sends_fewer",
                "{name}: stage {stage} sent fewer messages than before",
                name=self.name,
                stage=self.stage,
            )
        results = self.progress.results
        if self._replaces and results:
            results[-1] = None
        results.append(result)
        self.mailbox.end_stage(self.stage or "")
        self.progress.sent, self.progress.made = [], {}
        self._resent = 0
        # One way: whoever gets hold of the new seed cannot draw this stage's coins again.
        self.seed = self.seed.fork("next stage")
        if self.session.program.closed:
            self.channel.close(self.session.program.closed(self.session.parameters, self.name, self.stage or ""))
        self.stage = None

    def once(self, label: str, make: Callable[[Stream], Any]) -> Any:
        """Make a value from a stream of its own, or return the one made before in this stage."""
        if self.stage is None:
            raise LocalError(
                "secret.outside_a_stage", "{name}: {label} is made outside a stage", name=self.name, label=label
            )
        if label not in self.progress.made:
            self._measure(KEYS)
            self.progress.made[label] = make(self.seed.fork(f"once {self._entered} {label}"))
            self._measure(self.stage)
        return self.progress.made[label]

    def admit(self, name: str, key: Key) -> None:
        """Let this key encrypt and check the fields under its name."""
        self.keys[name] = key

    def evidence(self, sender: str) -> list[int]:
        """The message that this role read last from the sender."""
        return [self.last[sender]] if sender in self.last else []

    def greeting_rng(self) -> Stream:
        """The stream of the own greeting, which is gone with the first stage."""
        if self.stage is None or self.progress.results:
            raise LocalError(
                "greeting.randomness_too_late",
                "{name}: the greeting's randomness belongs to the first stage",
                name=self.name,
            )
        return self.seed.fork("greeting")

    def attest(self, message: Message) -> bytes:
        """Sign a statement, or give the signature of the same one again."""
        kind = type(message).__name__
        if self.stage is None:
            raise LocalError(
                "statement.outside_a_stage", "{name}: {kind} is attested outside a stage", name=self.name, kind=kind
            )
        payload, place = encoded(self.session, self.name, message, self.keys), (self.stage, kind)
        if place not in self.progress.statements:
            signature = self._signer.sign(statement(self.session.id, self.name, kind, payload))
            self.progress.statements[place] = payload, signature
        stated, signature = self.progress.statements[place]
        if stated != payload:
            raise LocalError(
                "statement.attested_another",
                "{name}: attested another {kind} in {stage} before",
                name=self.name,
                kind=kind,
                stage=self.stage,
            )
        return signature

    def attested(self, name: str, message: Message, signature: bytes) -> bool:
        """Whether this participant signed this statement."""
        holds = is_attested(self.session, name, message, self.keys, signature)
        if holds:
            said = encoded(self.session, name, message, self.keys)
            self.heard[SignedStatement(name, type(message).__name__, said, signature)] = None
        return holds

    def spend(self, label: str) -> None:
        """Charge; the driver's ledger has it when this returns.

        It is asked again whenever the role is run again, for only the ledger knows whether the charge still stands.
        """
        if self._charge and label not in self._spent:
            self._charge(label)
        self._spent.add(label)

    def void(self, label: str) -> None:
        """Tell the driver's ledger that the charge under this label costs nothing; asked again like `spend`."""
        if label not in self._spent:
            raise LocalError(
                "charge.void_before_spent",
                "{name}: {label} was not spent, so it cannot be void",
                name=self.name,
                label=label,
            )
        if self._voided:
            self._voided(label)

    def ask(self, said: tuple[Any, ...]) -> Any:
        """Ask the participant's own program; the actor keeps the answer among the role's inputs."""
        return self._ask(*said)

    def doubt(self, sender: str, rule: str) -> None:
        """Note what is wrong, and miss the sender from now on in this stage."""
        if self.stage is None:
            raise LocalError(
                "doubt.outside_a_stage", "{name}: doubts {sender} outside a stage", name=self.name, sender=sender
            )
        number = self.last.get(sender)
        self.mailbox.note(Note(sender, number, rule))
        read = [mail for mail in self.mailbox.log if (mail.sender, mail.number) == (sender, number)]
        for due in (self.mailbox.due(sender, mail.kind, self.stage) for mail in read):
            self.doubted.add(replace(due, read=due.read - 1))
        self.mailbox.miss(sender)

    def _measure(self, stage: str) -> None:
        if self._observer:
            self._observer.stage(self.name, stage)

    def _encode(self, to: str, message: Message) -> bytes:
        kind = type(message)
        if self.stage is None:
            raise LocalError(
                "message.sent_outside_a_stage",
                "{name}: {kind} sent outside a stage",
                name=self.name,
                kind=kind.__name__,
            )
        if kind not in self.session.program.kinds:
            raise LocalError(
                "message.of_another_program",
                "{name}: {kind} is not a message of {program}",
                name=self.name,
                kind=kind.__name__,
                program=self.session.program.name,
            )
        if not kind.route.allows(self.session.kind(self.name), self.session.kind(to)) or to == self.name:
            raise LocalError(
                "message.without_a_route",
                "{kind} has no route from {sender} to {to}",
                kind=kind.__name__,
                sender=self.name,
                to=to,
            )
        return messages.encode(message, self.session.layout_in(self.stage), self.keys)

    def _repeated(self, to: str, kind: str, payload: bytes) -> bool:
        """Whether this message was sent before the replay; stops on a difference, before anything is sealed twice."""
        digest = hashlib.sha256(f"{to}\x00{kind}\x00".encode() + payload).digest()
        again = self._resent < len(self.progress.sent)
        if again and self.progress.sent[self._resent] != digest:
            raise ReplayError(
                "replay.sends_another",
                "{name}: replay of {kind} to {to} differs from what was sent",
                name=self.name,
                kind=kind,
                to=to,
            )
        if not again:
            self.progress.sent.append(digest)
        self._resent += 1
        return again
