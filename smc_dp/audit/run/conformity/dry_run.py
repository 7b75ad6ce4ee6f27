"""A role of a toy run in motion: what is left of a participant when nothing is sealed, signed, encoded or chained.

Nobody listens to a toy run, so that a role is handed the very messages that others sent. What is left is the role, and
so all that decides on who sends what to whom after reading what, or after it was told that this will not come.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NoReturn

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import SIGNATURE_BYTES
from protocols.crypto.sealing import KEY_BYTES
from protocols.errors import LocalError, StoppedError
from protocols.runtime import message as messages
from protocols.runtime.actor import End
from protocols.runtime.channel import GREETING
from protocols.runtime.desk import KEYS
from protocols.runtime.endpoint import Endpoint, Greeted, Want
from protocols.runtime.envelope import HELLO, STAGE_END
from protocols.runtime.mailbox import Absent, Mail, Mailbox
from protocols.runtime.message import Key, Message
from protocols.runtime.session import PUBLIC_NAME, Session
from protocols.runtime.statement import encoded, statement
from smc_dp.audit.run.conformity.dry_run_messages import Move, Post

_Answer = Mail | Greeted[Message] | Absent


class _GoneError(Exception):
    """A participant vanishes with what it was about to send."""


@dataclass(repr=False)
class ToyRole:
    """A role in motion; what `Endpoint` calls its engine. `stages` are those that it entered.

    `marks` say who is absent to it, and `met` those of them that it came to. `left` is the number of messages that it
    still sends before it vanishes; None for one that does not.
    """

    name: str
    post_office: Post
    seed: Stream
    inputs: tuple[Any, ...]
    marks: frozenset[Absent] = frozenset()
    left: int | None = None
    moves: list[Move] = field(default_factory=list)
    stages: set[str] = field(default_factory=lambda: {GREETING})
    met: set[Absent] = field(default_factory=set)
    end: End | None = None
    _round: int = 0
    _stage: str | None = None
    _open: str | None = None  # the stage whose end has not been marked
    _entered: int = 0
    _want: Want | None = None
    _coroutine: Coroutine[Any, Any, Any] | None = None
    _made: dict[str, Any] = field(default_factory=dict)
    _keys: dict[str, Key] = field(default_factory=dict)
    _stated: dict[tuple[str, str], bytes] = field(default_factory=dict)
    _unpublished: list[tuple[Message, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._mailbox.marks = set(self.marks)

    @property
    def _mailbox(self) -> Mailbox:
        return self.post_office.boxes[self.name]

    @property
    def session(self) -> Session:
        """The toy session."""
        return self.post_office.session

    # What the endpoint asks for.

    def post(self, to: str, message: Message) -> None:
        """Send."""
        stage = self._allowed(to, message)
        self._send(to, type(message).__name__, stage, self.post_office.size(message, stage, to))
        self.post_office.put(self.name, to, message, stage, self._round + 1)

    def publish(self, message: Message) -> None:
        """Keep for the end."""
        self._unpublished.append((message, self._allowed(PUBLIC_NAME, message)))

    def enter(self, name: str, replaces: bool) -> tuple[bool, Any, Stream]:
        """Begin a stage, marking the end of the one before."""
        if self._stage is not None:
            raise LocalError(f"{self.name}: stage {name} inside stage {self._stage}")
        self._stage = name.partition(".")[0]
        if self._open != self._stage:
            self._sign_off()
        self._open = self._stage
        self.stages.add(self._stage)
        self._entered += 1
        return False, None, self.seed.fork(f"stage {self._entered}")

    def leave(self, result: Any) -> None:
        """End the stage."""
        self._mailbox.end_stage(self._stage or "")
        self._stage, self._made = None, {}

    def once(self, label: str, make: Callable[[Stream], Any]) -> Any:
        """Make once."""
        if self._stage is None:
            raise LocalError(f"{self.name}: {label} is made outside a stage")
        self.stages.add(KEYS)
        if label not in self._made:
            self._made[label] = make(self.seed.fork(f"once {self._entered} {label}"))
        return self._made[label]

    def admit(self, name: str, key: Key) -> None:
        """Use this key."""
        self._keys[name] = key

    def evidence(self, sender: str) -> list[int]:
        """Nobody is blamed here."""
        return []

    def greeting_rng(self) -> Stream:
        """The stream of the own greeting."""
        if self._stage is None or self._entered > 1:
            raise LocalError(f"{self.name}: the greeting's randomness belongs to the first stage")
        return self.seed.fork("greeting")

    def attest(self, message: Message) -> bytes:
        """Sign a statement."""
        kind = type(message).__name__
        if self._stage is None:
            raise LocalError(f"{self.name}: {kind} is attested outside a stage")
        signature = self._signature(self.name, message)
        if self._stated.setdefault((self._stage, kind), signature) != signature:
            raise LocalError(f"{self.name}: attested another {kind} in {self._stage} before")
        return signature

    def attested(self, name: str, message: Message, signature: bytes) -> bool:
        """Check one."""
        return signature == self._signature(name, message)

    def spend(self, label: str) -> None:
        """Nobody's rows are in a toy run."""

    def void(self, label: str) -> None:
        """Nothing was charged."""

    def ask(self, said: tuple[Any, ...]) -> Any:
        """All that a role enters is among its inputs here, so there is nobody to ask."""
        raise LocalError(f"{self.name} asks for what is among its inputs")

    def doubt(self, sender: str, rule: str) -> None:
        """Everybody follows the protocol here."""
        raise LocalError(f"{self.name} doubts {sender} in a toy run: {rule}")

    # What the run asks for.

    def greet(self) -> None:
        """Send the greeting, and with it what the program says in it."""
        said = self.session.says(self.name)
        size = KEY_BYTES + SIGNATURE_BYTES
        made = said.make(self.session.parameters, self.name, self.seed.fork("greeting")) if said else None
        size += messages.size(type(made), self.session.layout) if made else 0
        self._send(PUBLIC_NAME, HELLO, GREETING, size)
        self._round = 1
        digest = hashlib.sha256(f"greeting of {self.name}".encode()).digest()
        self.post_office.greetings[self.name] = Greeted(made, digest) if made else None

    def advance(self) -> None:
        """Run until the role waits for mail that is not there, or ends."""
        try:
            self._advance()
        except StoppedError:
            self._stop()
        except _GoneError:
            self.end, self._want = "gone", None

    def _advance(self) -> None:
        if self.end is not None:
            return
        if self.name not in self.post_office.greetings:
            self.greet()
        if self._coroutine is None:
            if not self._is_greeted():
                return
            role = self.session.program.roles[self.session.kind(self.name)]
            started: Coroutine[Any, Any, Any] = role(Endpoint(self.session, self.name, self), *self.inputs)  # type: ignore[assignment]
            self._coroutine = started
            self._resume(started, None)
        while self._coroutine and self._want and (found := self._answers(self._want)) is not None:
            self._resume(self._coroutine, self._read(self._coroutine, self._want, found))

    def _is_greeted(self) -> bool:
        """Whether all peers have greeted; raises `StoppedError` when one of them is marked as one that will not."""
        peers = self.session.peers(self.name)
        if absent := {Absent(peer, HELLO, GREETING) for peer in peers} & self.marks:
            self.met |= absent
            raise StoppedError(f"{self.name} has not the greetings of all")
        return all(peer in self.post_office.greetings for peer in peers)

    @property
    def missing(self) -> tuple[str, ...]:
        """Those without whom the role cannot go on."""
        if self._want is None:
            peers = () if self.end else self.session.peers(self.name)
            return tuple(peer for peer in peers if peer not in self.post_office.greetings)
        want = self._want
        return tuple(sender for sender in want.senders if self._answer(want, sender) is None)

    @property
    def waiting(self) -> str:
        """What the role waits for, in words."""
        kind = HELLO if self._want is None or self._want.greetings else self._want.kind.__name__
        return f"{kind} from {', '.join(self.missing)}"

    def release(self) -> None:
        """Publish what the role has published, if it is done."""
        with suppress(_GoneError):
            for message, stage in self._unpublished if self.end == "done" else ():
                size = self.post_office.size(message, stage, PUBLIC_NAME)
                self._send(PUBLIC_NAME, type(message).__name__, stage, size)

    def close(self) -> None:
        """Give up the role where it stands."""
        if self._coroutine is not None:
            self._coroutine.close()

    # What the role waits for.

    def _answers(self, want: Want) -> dict[str, _Answer] | None:
        """What there is of each sender; None as long as somebody's is missing that the role does not do without."""
        found = {sender: self._answer(want, sender) for sender in want.senders}
        there = {sender: answer for sender, answer in found.items() if answer is not None}
        given_up = want.all and any(isinstance(answer, Absent) for answer in there.values())
        return there if given_up or len(there) == len(found) else None

    def _answer(self, want: Want, sender: str) -> _Answer | None:
        if want.greetings:
            return self._greeting(sender)
        return self._mailbox.look(sender, want.kind.__name__, self._stage or "")

    def _greeting(self, sender: str) -> Greeted[Message] | Absent | None:
        mark = Absent(sender, HELLO, GREETING)
        return mark if mark in self.marks else self.post_office.greetings.get(sender)

    def _read(
        self, role: Coroutine[Any, Any, Any], want: Want, found: Mapping[str, _Answer]
    ) -> dict[str, Message | Greeted[Message]]:
        """What the role is given; raises `StoppedError` when it needs somebody who is absent."""
        absent = [sender for sender, answer in found.items() if isinstance(answer, Absent)]
        self.met |= {answer for answer in found.values() if isinstance(answer, Absent)}
        if absent and want.all:
            self._throw(role, StoppedError(f"{', '.join(absent)} will not come"))
        for sender in absent:
            self._mailbox.miss(sender)
        return {
            sender: self._take(want, answer) if isinstance(answer, Mail) else answer
            for sender, answer in found.items()
            if not isinstance(answer, Absent) and want.wants(sender)
        }

    def _throw(self, role: Coroutine[Any, Any, Any], stopped: StoppedError) -> NoReturn:
        with suppress(StopIteration):
            role.throw(stopped)
        raise stopped

    def _resume(self, role: Coroutine[Any, Any, Any], got: Any) -> None:
        try:
            self._want = role.send(got)
        except StopIteration:
            self.end, self._want = "done", None
            self._sign_off()
            self._refuse_unread()
            return
        if unknown := [name for name in self._want.senders if name not in self.session.participants]:
            raise LocalError(f"{self.name}: nobody is called {unknown[0]}")

    def _stop(self) -> None:
        self.end, self._want = "stopped", None
        try:
            self._sign_off()
        except _GoneError:
            self.end = "gone"

    def _take(self, want: Want, mail: Mail) -> Message:
        if mail.kind != want.kind.__name__:
            raise LocalError(f"{mail.sender} sent {mail.kind} to {self.name}, wanted {want.kind.__name__}")
        self._mailbox.take(mail)
        message = self.post_office.letters[mail.number]
        size = self.post_office.size(message, mail.stage, self.name)
        self.moves.append(Move(False, mail.sender, mail.kind, mail.stage, size))
        self._round = max(self._round, mail.round)
        return message

    def _refuse_unread(self) -> None:
        if unread := self._mailbox.unread():
            first = unread[0]
            raise LocalError(f"{first.sender} sent {first.kind} to {self.name}, which wanted nothing more")

    def _send(self, to: str, kind: str, stage: str, size: int) -> None:
        if self.left is not None:
            if self.left <= 0:
                raise _GoneError
            self.left -= 1
        self.post_office.count(to != PUBLIC_NAME or kind == HELLO, self._round + 1)
        self.moves.append(Move(True, to, kind, stage, size))

    def _sign_off(self) -> None:
        if self._open is not None:
            self._send(PUBLIC_NAME, STAGE_END, self._open, SIGNATURE_BYTES)
            self._open = None

    def _allowed(self, to: str, message: Message) -> str:
        """The stage in which this role sends it; raises `LocalError` where it must not."""
        kind, session = type(message), self.session
        if self._stage is None:
            raise LocalError(f"{self.name}: {kind.__name__} sent outside a stage")
        if kind not in session.program.kinds:
            raise LocalError(f"{self.name}: {kind.__name__} is not a message of {session.program.name}")
        if not kind.route.allows(session.kind(self.name), session.kind(to)) or to == self.name:
            raise LocalError(f"{kind.__name__} has no route from {self.name} to {to}")
        return self._stage

    def _signature(self, name: str, message: Message) -> bytes:
        """Stands for a signature: nobody forges any here."""
        payload = encoded(self.session, name, message, self._keys)
        return hashlib.sha512(statement(self.session.id, name, type(message).__name__, payload)).digest()
