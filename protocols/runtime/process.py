"""One participant in motion: its coroutine, its channel and its mail. Every driver moves the same process."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity, Signer
from protocols.errors import DecodeError, LocalError, PeerError, ReplayError
from protocols.runtime import message as messages
from protocols.runtime.channel import HELLO, STAGE_END, Channel, Envelope
from protocols.runtime.endpoint import Endpoint, Want
from protocols.runtime.message import Key, Message
from protocols.runtime.session import PUBLIC_NAME, Session

KEYS = "keys"  # what is made once, i.e. keys, is measured as a stage of its own


@dataclass(frozen=True)
class Mail:
    """An opened envelope that waits for its role."""

    kind: str
    payload: bytes = field(repr=False)
    reference: int


@dataclass(repr=False)
class Progress:
    """What a process has behind it; all that `runtime.replay` keeps between two calls, beside keys and seed.

    `results` are those of finished stages; the rest belongs to the open stage: mail in order of arrival, digests of
    what was sent, values made once, and its name until the chain has been signed for it.
    """

    results: list[Any] = field(default_factory=list)
    mail: list[tuple[str, Mail]] = field(default_factory=list)
    sent: list[bytes] = field(default_factory=list)
    made: dict[str, Any] = field(default_factory=dict)
    stage: str | None = None


class Observer(Protocol):
    """Whoever measures a run; no role can reach it."""

    def stage(self, name: str, stage: str) -> None:
        """A role enters a stage."""
        ...

    def sent(self, envelope: Envelope) -> None:
        """A role posts an envelope."""
        ...

    def consumed(self, receiver: str, reference: int) -> None:
        """A role takes an envelope out of its mail."""
        ...

    def read(self, receiver: str, sender: str, message: Message, mail: Mail) -> None:
        """A role reads a message, the content of this mail."""
        ...


class Process:
    """A role, its inputs and its channel. `deliver` mail, then `advance`; what it sends comes back from `advance`."""

    def __init__(
        self,
        session: Session,
        name: str,
        identity: Signer,
        seed: Stream,
        inputs: tuple[Any, ...],
        *,
        observer: Observer | None = None,
    ) -> None:
        self.session, self.name, self.seed = session, name, seed
        self._inputs = inputs
        self.channel = Channel(session, name, identity, seed.fork("channel"))
        self.keys: dict[str, Key] = {}
        self.progress = Progress()
        self.greeted = False
        self.done = False
        self.result: Any = None
        self.unpublished: list[tuple[str, str, bytes]] = []
        self._observer = observer
        self._out: list[Envelope] = []
        self._mail: dict[str, deque[Mail]] = {p: deque() for p in session.names}
        self._last: dict[str, int] = {}
        self._stages = 0
        self._stage: str | None = None
        self._resent = 0
        self._want: Want | None = None
        self._kept: list[Any] = []
        self._greetings: list[int] = []
        self._role: Coroutine[Any, Any, Any] | None = None

    # What drivers do.

    def deliver(self, envelope: Envelope, reference: int) -> None:
        """Open an envelope and keep it for the role; raises `PeerError` when it does not belong."""
        payload = self.channel.open(envelope, reference)
        if envelope.kind == HELLO:
            self._greetings.append(reference)
            return
        if self.done:
            self._refuse_unread(envelope.sender, envelope.kind, reference)
        mail = Mail(envelope.kind, payload, reference)
        self._mail[envelope.sender].append(mail)
        self.progress.mail.append((envelope.sender, mail))

    def advance(self) -> list[Envelope]:
        """Run until the role waits for mail that is not there, or ends; return what it sent."""
        if not self.greeted:
            self.greeted = True
            for peer in self.session.names:
                if peer != self.name:
                    self._emit(self.channel.hello(peer))
        if not self.done and len(self.channel.peers) == len(self.session.names) - 1:
            self._run()
        out, self._out = self._out, []
        return out

    def release(self) -> list[Envelope]:
        """Sign and emit what the role published; a driver calls it once every participant has finished."""
        if not self.done:
            raise LocalError(f"{self.name}: nothing is published before the role has finished")
        for kind, stage, payload in self.unpublished:
            self._emit(self.channel.sign(kind, stage, payload))
        self.unpublished = []
        out, self._out = self._out, []
        return out

    @property
    def waiting(self) -> str | None:
        """What the process waits for, in words; None when it is done."""
        if self.done:
            return None
        missing = [p for p in self.session.names if p != self.name and p not in self.channel.peers]
        if missing:
            return f"{HELLO} from {', '.join(missing)}"
        return f"{self._want.kind.__name__} from {self._want.sender} at {self._where()}" if self._want else "its turn"

    def close(self) -> None:
        """Give up the role where it stands."""
        if self._role is not None:
            self._role.close()

    def restore(self, progress: Progress, keys: dict[str, Key], channel: Channel) -> None:
        """Continue from what an earlier process of this role left behind."""
        self.progress, self.keys, self.channel, self.greeted = progress, dict(keys), channel, True
        self._kept = list(progress.results)
        for sender, mail in progress.mail:
            self._mail[sender].append(mail)

    def _start(self) -> Coroutine[Any, Any, Any]:
        if self._observer:
            for reference in self._greetings:
                self._observer.consumed(self.name, reference)
        role = self.session.program.roles[self.session.kind(self.name)]
        return role(Endpoint(self.session, self.name, self), *self._inputs)  # type: ignore[return-value]

    def _run(self) -> None:
        self._role = self._role or self._start()
        try:
            while True:
                answer = None
                if self._want is not None:
                    if not self._mail[self._want.sender]:
                        return
                    answer = self._take(self._want)
                self._want = self._role.send(answer)
                if self._want.sender not in self.session.names:
                    raise LocalError(f"{self.name}: nobody is called {self._want.sender}")
        except StopIteration as stop:
            self.done, self.result, self._want = True, stop.value, None
            self._sign_off()
            self.progress.stage = None
        for sender, unread in self._mail.items():
            for mail in unread:
                self._refuse_unread(sender, mail.kind, mail.reference)

    def _sign_off(self, unless: str | None = None) -> None:
        """Sign the head of the chain, once per stage: two checkpoints may share one."""
        if self.progress.stage not in (None, unless):
            self._emit(self.channel.sign(STAGE_END, self.progress.stage or "", b""))

    def _refuse_unread(self, sender: str, kind: str, reference: int) -> NoReturn:
        raise PeerError(sender, f"sent {kind} to {self.name}, which wanted nothing more", [reference])

    def _take(self, want: Want) -> Any:
        mail = self._mail[want.sender].popleft()
        self._last[want.sender] = mail.reference
        if self._observer:
            self._observer.consumed(self.name, mail.reference)
        if mail.kind != want.kind.__name__:
            rule = f"sent {mail.kind} to {self.name}, wanted {want.kind.__name__}"
            raise PeerError(want.sender, rule, [mail.reference])
        if not want.kind.route.allows(self.session.kind(want.sender), self.session.kind(self.name)):
            raise LocalError(f"{mail.kind} has no route from {want.sender} to {self.name}")
        try:
            read = messages.decode(want.kind, mail.payload, self.session.layout, self.keys)
        except DecodeError as error:
            raise PeerError(want.sender, f"{mail.kind}.{error} (to {self.name})", [mail.reference]) from None
        if self._observer:
            self._observer.read(self.name, want.sender, read, mail)
        return read

    def _where(self) -> str:
        """Where in the protocol's code the role stands: its innermost coroutine outside the endpoint."""
        where = "its start"
        inner: Any = self._role
        while (frame := getattr(inner, "cr_frame", None)) is not None:
            if not frame.f_code.co_filename.endswith("endpoint.py"):
                where = f"{frame.f_code.co_filename.rpartition('/')[2]} line {frame.f_lineno}"
            inner = inner.cr_await
        return where

    def _emit(self, envelope: Envelope) -> None:
        self._out.append(envelope)
        if self._observer:
            self._observer.sent(envelope)

    # What the endpoint asks for.

    def post(self, to: str, message: Message) -> None:
        """Encode, seal and send; raises `LocalError` for an undeclared kind or route, or outside a stage."""
        if to == PUBLIC_NAME:
            raise LocalError(f"{self.name}: {type(message).__name__} is published, not sent")
        payload = self._encode(to, message)
        if self._repeated(to, type(message).__name__, payload):
            return
        self._emit(self.channel.seal(to, type(message).__name__, self._stage or "", payload))

    def publish(self, message: Message) -> None:
        """Encode, and keep until the driver releases it."""
        payload = self._encode(PUBLIC_NAME, message)
        if not self._repeated(PUBLIC_NAME, type(message).__name__, payload):
            self.unpublished.append((type(message).__name__, self._stage or "", payload))

    def enter(self, name: str) -> tuple[bool, Any, Stream]:
        """Begin a stage; when it was finished before, its result."""
        if self._stage is not None:
            raise LocalError(f"{self.name}: stage {name} inside stage {self._stage}")
        number, self._stages = self._stages, self._stages + 1
        rng = self.seed.fork(f"stage {number} {name}")
        if number < len(self._kept):
            return True, self._kept[number], rng
        self._stage = name.partition(".")[0]
        self._sign_off(unless=self._stage)
        self.progress.stage = self._stage
        self._measure(self._stage)
        return False, None, rng

    def leave(self, result: Any) -> None:
        """End the stage: keep its result, forget the rest."""
        if self._resent < len(self.progress.sent):
            raise ReplayError(f"{self.name}: stage {self._stage} sent fewer messages than before")
        self.progress.results.append(result)
        queued = [(sender, mail) for sender in self._mail for mail in self._mail[sender]]
        self.progress.mail, self.progress.sent, self.progress.made = queued, [], {}
        self._resent = 0
        # One way: whoever gets hold of the new seed cannot draw this stage's coins again.
        self.seed = self.seed.fork("next stage")
        self._stage = None

    def once(self, label: str, make: Callable[[Stream], Any]) -> Any:
        """Make a value from a stream of its own, or return the one made before in this stage."""
        if self._stage is None:
            raise LocalError(f"{self.name}: {label} is made outside a stage")
        if label not in self.progress.made:
            self._measure(KEYS)
            self.progress.made[label] = make(self.seed.fork(f"once {self._stages} {label}"))
            self._measure(self._stage or "")
        return self.progress.made[label]

    def admit(self, name: str, key: Key) -> None:
        """Let this key encrypt and check the fields under its name."""
        self.keys[name] = key

    def evidence(self, sender: str) -> list[int]:
        """The message that this role read last from the sender."""
        return [self._last[sender]] if sender in self._last else []

    def _measure(self, stage: str) -> None:
        if self._observer:
            self._observer.stage(self.name, stage)

    def _encode(self, to: str, message: Message) -> bytes:
        kind = type(message)
        if self._stage is None:
            raise LocalError(f"{self.name}: {kind.__name__} sent outside a stage")
        if kind not in self.session.program.kinds:
            raise LocalError(f"{self.name}: {kind.__name__} is not a message of {self.session.program.name}")
        if not message.route.allows(self.session.kind(self.name), self.session.kind(to)) or to == self.name:
            raise LocalError(f"{kind.__name__} has no route from {self.name} to {to}")
        return messages.encode(message, self.session.layout, self.keys)

    def _repeated(self, to: str, kind: str, payload: bytes) -> bool:
        """Whether this message was sent before the replay; stops on a difference, before anything is sealed twice."""
        digest = hashlib.sha256(f"{to}\x00{kind}\x00".encode() + payload).digest()
        again = self._resent < len(self.progress.sent)
        if again and self.progress.sent[self._resent] != digest:
            raise ReplayError(f"{self.name}: replay of {kind} to {to} differs from what was sent")
        if not again:
            self.progress.sent.append(digest)
        self._resent += 1
        return again


def processes(
    session: Session,
    identities: Mapping[str, Identity],
    seeds: Mapping[str, Stream],
    inputs: Mapping[str, tuple[Any, ...]],
    observer: Observer | None = None,
) -> dict[str, Process]:
    """One process per participant."""
    return {
        name: Process(session, name, identities[name], seeds[name], inputs[name], observer=observer)
        for name in session.names
    }
