"""Endpoint: the interface of a role to its peers. It gives its name, its peers, its randomness and its messages.

`async def` in a role means: a function that can wait for messages. There is no asyncio behind it; a role pauses only in
`receive` and the like, and its driver answers with the messages. So a role is a deterministic function of its input,
its seed, its messages and its absence marks, whatever the order of arrival, and runs unchanged under every driver.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, Protocol, TypeVar

from protocols.arithmetic.rng import Stream
from protocols.errors import Fault, FieldValue, LocalError, PeerError, StoppedError
from protocols.runtime.message import Key, Message, MessageT
from protocols.runtime.session import Session

_T = TypeVar("_T")


@dataclass(frozen=True)
class Want:
    """Request of a waiting role: one message of this kind from each sender, or (`all` False) from each that is not
    absent.

    `of`: the senders whose greetings it reads among those that it waits for; None for all of them. `doubts`: a message
    that does not open, or cannot be read as this kind, is dropped with a note, as if it were absent. `deadlines`:
    number of deadlines that a driver waits; None for its usual number.
    """

    senders: tuple[str, ...]
    kind: type[Any]
    all: bool = True
    greetings: bool = False
    of: tuple[str, ...] | None = None
    doubts: bool = False
    deadlines: int | None = None

    def wants(self, sender: str) -> bool:
        """Tell whether the role reads the greeting of this sender, beyond waiting for it."""
        return self.of is None or sender in self.of


@dataclass(frozen=True)
class Greeted(Generic[MessageT]):
    """Message in a participant's greeting, with the digest of the signed envelope that holds it."""

    message: MessageT
    digest: bytes


class Engine(Protocol):
    """Interface of an engine to the endpoint; `RoleStepper` documents its methods."""

    def post(self, to: str, message: Message) -> None:
        """Send a message."""

    def publish(self, message: Message) -> None:
        """Keep a message for publication."""

    def begin_stage(self, name: str, replaces: bool) -> tuple[bool, Any, Stream]:
        """Begin a stage; return whether it was finished before, its result, its randomness."""

    def finish_stage(self, result: Any) -> None:
        """End the stage."""

    def once(self, label: str, make: Callable[[Stream], Any]) -> Any:
        """Make a value once."""

    def admit(self, name: str, key: Key) -> None:
        """Use a key for the fields under its name."""

    def evidence(self, sender: str) -> list[int]:
        """Return the number of the message last read from the sender, if any."""

    def greeting_secrets(self) -> Any:
        """Return the secrets behind the participant's own greeting."""

    def attest(self, message: Message) -> bytes:
        """Sign a statement."""

    def attested(self, name: str, message: Message, signature: bytes) -> bool:
        """Tell whether a participant signed a statement."""

    def spend(self, label: str) -> None:
        """Charge the budget."""

    def refund(self, label: str) -> None:
        """Refund a charge."""

    def ask(self, said: tuple[Any, ...]) -> Any:
        """Query the participant's local program."""

    def doubt(self, sender: str, rule: Fault) -> None:
        """Note a fault and go on without the sender."""

    def note(self, sender: str, rule: Fault) -> None:
        """Note a fault and go on with the sender."""


class Endpoint:
    """Endpoint of one role in one session."""

    def __init__(self, session: Session, name: str, engine: Engine) -> None:
        self.session_id = session.id
        self.name = name
        self.parties = session.parties
        self._index = session.index.get(name)
        self._curator = session.curator
        self._names = session.names
        self._greeters = session.greeters
        self._engine = engine
        self._rng: Stream | None = None

    @property
    def curator(self) -> str:
        """Name of the curator; raises `LocalError` in a protocol without one."""
        if self._curator is None:
            raise LocalError("role.without_a_curator", name=self.name)
        return self._curator

    @property
    def index(self) -> int:
        """Index j of P_j, counted from 0; raises `LocalError` for the curator."""
        if self._index is None:
            raise LocalError("role.is_no_party", name=self.name)
        return self._index

    @property
    def others(self) -> tuple[str, ...]:
        """Other parties, in order."""
        return tuple(p for p in self.parties if p != self.name)

    @property
    def everyone(self) -> tuple[str, ...]:
        """Names of all participants, this one included, in the order of the session."""
        return self._names

    @property
    def rng(self) -> Stream:
        """Randomness of the current stage."""
        if self._rng is None:
            raise LocalError("stage.needed", name=self.name, what="randomness")
        return self._rng

    @property
    def greeting_secrets(self) -> Any:
        """Secrets from which the participant's own greeting was made; in the first stage only."""
        return self._engine.greeting_secrets()

    def send(self, to: str, message: Message) -> None:
        """Send a message; never waits."""
        self._engine.post(to, message)

    def broadcast(self, to: Iterable[str], message: Message) -> None:
        """Send one message to each of these participants."""
        for name in to:
            self.send(name, message)

    def publish(self, message: Message) -> None:
        """Sign and publish a message; the driver holds it back until the role has finished."""
        self._engine.publish(message)

    @types.coroutine
    def _wait(self, want: Want) -> Generator[Want, Any, Any]:
        return (yield want)

    async def receive(self, sender: str, kind: type[MessageT], *, deadlines: int | None = None) -> MessageT:
        """Return the next message of this sender, of this kind; raise `StoppedError` when the sender is absent."""
        return (await self.gather((sender,), kind, deadlines=deadlines))[0]

    async def gather(
        self, senders: Iterable[str], kind: type[MessageT], *, deadlines: int | None = None
    ) -> list[MessageT]:
        """Return one message of each sender, in their order; raise `StoppedError` when one of them is absent.

        `deadlines`: number of deadlines that a driver waits, where the senders may wait for others.
        """
        got: dict[str, MessageT] = await self._wait(Want(tuple(senders), kind, deadlines=deadlines))
        return list(got.values())

    async def collect(self, senders: Iterable[str], kind: type[MessageT]) -> dict[str, MessageT]:
        """Return one message of each sender that is not absent, by name, in their order."""
        got: dict[str, MessageT] = await self._wait(Want(tuple(senders), kind, all=False))
        return got

    async def collect_usable(
        self, senders: Iterable[str], kind: type[MessageT], *, deadlines: int
    ) -> dict[str, MessageT]:
        """Return one message of each sender that is not absent, by name; one that is not readable is dropped."""
        want = Want(tuple(senders), kind, all=False, doubts=True, deadlines=deadlines)
        got: dict[str, MessageT] = await self._wait(want)
        return got

    async def greetings(self, kind: type[MessageT], of: Iterable[str] | None = None) -> Mapping[str, Greeted[MessageT]]:
        """Return the greetings of all participants that say something in one, or of those in `of`, by name.

        Wait for all of them, and verify the signature of each that is returned; raise `StoppedError` when one is
        absent.
        """
        named = None if of is None else tuple(of)
        got: dict[str, Greeted[MessageT]] = await self._wait(Want(self._greeters, kind, greetings=True, of=named))
        return got

    async def stage(
        self, role: Callable[..., Coroutine[Any, Any, _T]], *args: Any, name: str | None = None, replaces: bool = False
    ) -> _T:
        """Run a part of the role as a checkpoint: its result is kept, its messages, secrets and randomness are deleted.

        A stage is named after the file of its role, or by `name`. One that `replaces` also drops the result of the
        stage before it.
        """
        name = name or role.__module__.rpartition(".")[2]
        done, result, rng = self._engine.begin_stage(f"{name}.{role.__name__}", replaces)
        if not done:
            self._rng = rng
            result = await role(self, *args)
            self._rng = None
            self._engine.finish_stage(result)
        kept: _T = result
        return kept

    def once(self, label: str, make: Callable[[Stream], _T]) -> _T:
        """Return a value that is expensive to make: it is made once in this stage, even where the stage is replayed."""
        value: _T = self._engine.once(label, make)
        return value

    def admit(self, name: str, key: Key) -> None:
        """Use this key from now on to encrypt and check the fields declared under its name."""
        self._engine.admit(name, key)

    def attest(self, message: Message) -> bytes:
        """Return this participant's signature of a statement that anybody can verify; one of a kind in a stage.

        Raise `LocalError` for a second one with other bytes: a participant that signs two has deviated. The stage is
        not part of the signed bytes: a statement about a stage contains it.
        """
        return self._engine.attest(message)

    def attested(self, name: str, message: Message, signature: bytes) -> bool:
        """Tell whether this participant signed this statement."""
        return self._engine.attested(name, message, signature)

    def spend(self, label: str) -> None:
        """Charge the label to this participant's privacy budget; the ledger has recorded it when this returns.

        A label is charged once in a session, however often a role is run again.
        """
        self._engine.spend(label)

    def refund(self, label: str) -> None:
        """Refund the charge under this label: the role has proof that nothing of this participant was released.

        Raise `LocalError` for a label without a charge. A timeout is no proof.
        """
        self._engine.refund(label)

    def ask(self, *said: Any) -> Any:
        """Return the answer of this participant's local program to what the role has learned so far.

        The answer becomes one more input of the role: a later run of the role, after a crash or in an audit, gets it
        with the others, and nobody is asked twice. Raise `LocalError` where there is no local program.
        """
        return self._engine.ask(said)

    def refuse(self, sender: str, code: str | Fault, /, **fields: FieldValue) -> NoReturn:
        """Abort, and name the sender of the message last received from it as the cause."""
        raise PeerError(sender, code, self._engine.evidence(sender), **fields)

    def doubt(self, sender: str, code: str, /, **fields: FieldValue) -> None:
        """Note that the message last received from this sender breaks a rule, and go on without the sender."""
        self._engine.doubt(sender, Fault(code, fields))

    def note(self, name: str, code: str, /, **fields: FieldValue) -> None:
        """Note that this participant broke a rule without harm, and go on with it."""
        self._engine.note(name, Fault(code, fields))

    def stop(self, code: str | Fault, /, **fields: FieldValue) -> NoReturn:
        """Abort without a result where nobody broke a rule."""
        raise StoppedError(code, **fields).within(self.name)
