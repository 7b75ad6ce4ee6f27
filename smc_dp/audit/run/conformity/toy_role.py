"""A role of a toy run in motion, and the post between roles: nothing is sealed, signed, encoded or chained.

Nobody listens to a toy run, so that a role is handed the very messages that others sent. What is left is the role, and
so all that decides on who sends what to whom after reading what.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import SIGNATURE_BYTES
from protocols.crypto.sealing import KEY_BYTES, OVERHEAD_BYTES
from protocols.errors import LocalError
from protocols.runtime import message as messages
from protocols.runtime.channel import GREETING
from protocols.runtime.desk import KEYS
from protocols.runtime.endpoint import Endpoint, Greeted, Want
from protocols.runtime.envelope import HELLO, STAGE_END
from protocols.runtime.message import Key, Message
from protocols.runtime.session import PUBLIC_NAME, Session
from protocols.runtime.statement import encoded, statement


class Move(NamedTuple):
    """A role sends to a peer or to everybody, or reads a letter of a peer; `size` is that of the body.

    Greetings are sent like all else, but read by nobody: whoever starts has those of its peers before it.
    """

    sends: bool
    peer: str
    kind: str
    stage: str
    size: int


class ToyLetter(NamedTuple):
    """A message on its way, with the stage and the round in which it was sent."""

    message: Message
    stage: str
    round: int


class Post:
    """The letters that wait for their readers, how many messages were sent, and how many rounds deep they go."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.sent = self.rounds = 0
        self.waiting: dict[tuple[str, str], deque[ToyLetter]] = {}
        self.greetings: dict[str, Greeted[Message] | None] = {}
        self._sizes = {kind: messages.size(kind, session.layout) for kind in session.program.kinds}

    def size(self, message: Message, to: str) -> int:
        """How long the body around a message is."""
        return self._sizes[type(message)] + (SIGNATURE_BYTES if to == PUBLIC_NAME else OVERHEAD_BYTES)

    def count(self, is_cause: bool, number: int) -> None:
        """Somebody sent a message of this round; only what can be read later is a cause of anything."""
        self.sent += 1
        if is_cause:
            self.rounds = max(self.rounds, number)


@dataclass(repr=False)
class ToyRole:
    """A role in motion; what `Endpoint` calls its engine. `stages` are those that it entered."""

    name: str
    post_office: Post
    seed: Stream
    inputs: tuple[Any, ...]
    moves: list[Move] = field(default_factory=list)
    stages: set[str] = field(default_factory=lambda: {GREETING})
    done: bool = False
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

    @property
    def session(self) -> Session:
        """The toy session."""
        return self.post_office.session

    # What the endpoint asks for.

    def post(self, to: str, message: Message) -> None:
        """Send."""
        stage = self._allowed(to, message)
        self._send(to, type(message).__name__, stage, self.post_office.size(message, to))
        letter = ToyLetter(message, stage, self._round + 1)
        self.post_office.waiting.setdefault((self.name, to), deque()).append(letter)

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
        greeted = self.post_office.greetings
        if self._coroutine is None:
            if self.name not in greeted:
                self.greet()
            if not all(peer in greeted for peer in self.session.peers(self.name)):
                return
            role = self.session.program.roles[self.session.kind(self.name)]
            self._coroutine = role(Endpoint(self.session, self.name, self), *self.inputs)  # type: ignore[assignment]
            self._resume(None)
        while self._want is not None and not self.missing:
            self._resume({sender: self._take(self._want, sender) for sender in self._want.senders})

    @property
    def missing(self) -> tuple[str, ...]:
        """Those without whom the role cannot go on."""
        if self._want is None:
            peers = () if self.done else self.session.peers(self.name)
            return tuple(peer for peer in peers if peer not in self.post_office.greetings)
        if self._want.greetings:
            return tuple(sender for sender in self._want.senders if sender not in self.post_office.greetings)
        return tuple(s for s in self._want.senders if not self.post_office.waiting.get((s, self.name)))

    @property
    def waiting(self) -> str:
        """What the role waits for, in words."""
        kind = HELLO if self._want is None or self._want.greetings else self._want.kind.__name__
        return f"{kind} from {', '.join(self.missing)}"

    def release(self) -> None:
        """Publish what the role has published."""
        for message, stage in self._unpublished:
            self._send(PUBLIC_NAME, type(message).__name__, stage, self.post_office.size(message, PUBLIC_NAME))

    def close(self) -> None:
        """Give up the role where it stands."""
        if self._coroutine is not None:
            self._coroutine.close()

    def _resume(self, got: Any) -> None:
        if self._coroutine is None:
            raise LocalError(f"{self.name} has not started")
        try:
            self._want = self._coroutine.send(got)
        except StopIteration:
            self._want, self.done = None, True
            self._sign_off()
            self._refuse_unread()
            return
        if unknown := [name for name in self._want.senders if name not in self.session.names]:
            raise LocalError(f"{self.name}: nobody is called {unknown[0]}")

    def _take(self, want: Want, sender: str) -> Message | Greeted[Message]:
        if want.greetings:
            greeting = self.post_office.greetings[sender]
            if greeting is None:
                raise LocalError(f"{self.name}: {sender} says nothing in its greeting")
            return greeting
        letter = self.post_office.waiting[sender, self.name].popleft()
        kind = type(letter.message)
        if kind is not want.kind:
            raise LocalError(f"{sender} sent {kind.__name__} to {self.name}, wanted {want.kind.__name__}")
        size = self.post_office.size(letter.message, self.name)
        self.moves.append(Move(False, sender, kind.__name__, letter.stage, size))
        self._round = max(self._round, letter.round)
        return letter.message

    def _refuse_unread(self) -> None:
        for (sender, to), waiting in self.post_office.waiting.items():
            if to == self.name and waiting:
                kind = type(waiting[0].message).__name__
                raise LocalError(f"{sender} sent {kind} to {self.name}, which wanted nothing more")

    def _send(self, to: str, kind: str, stage: str, size: int) -> None:
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
