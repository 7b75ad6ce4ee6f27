"""All that a role sees of the world: its name, its peers, its randomness, its mail.

`async def` in a role means: a function that can wait for mail. There is no asyncio behind it; `receive` and its like
are the only places where a role pauses, and whoever drives it answers with the messages. So a role is a deterministic
function of its input, its seed, its mail and the marks of who is absent, whatever the order of arrival, and runs
unchanged under every driver.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, Protocol, TypeVar

from protocols.arithmetic.rng import Stream
from protocols.errors import Fault, FieldValue, LocalError, PeerError, StoppedError
from protocols.runtime.message import Key, M, Message
from protocols.runtime.session import Session

T = TypeVar("T")


@dataclass(frozen=True)
class Want:
    """What a waiting role waits for: one message of this kind of each sender, or of each who is not absent.

    `of`: of these alone it wants to read the greetings that it waits for; None for all. `doubts`: a message that is
    none of this kind is left out with a note, as if it were absent. `deadlines`: how many a driver waits; None for its
    usual number.
    """

    senders: tuple[str, ...]
    kind: type[Any]
    all: bool = True
    greetings: bool = False
    of: tuple[str, ...] | None = None
    doubts: bool = False
    deadlines: int | None = None

    def wants(self, sender: str) -> bool:
        """Whether it reads what this sender says, and does not just wait for it."""
        return self.of is None or sender in self.of


@dataclass(frozen=True)
class Greeted(Generic[M]):
    """What a participant said in its greeting, and the digest of the signed envelope in which it did."""

    message: M
    digest: bytes


class Engine(Protocol):
    """What an actor offers to the endpoint."""

    def post(self, to: str, message: Message) -> None:
        """Send."""
        ...

    def publish(self, message: Message) -> None:
        """Keep for publication."""
        ...

    def enter(self, name: str, replaces: bool) -> tuple[bool, Any, Stream]:
        """Begin a stage: whether it was done before, its result, its randomness."""
        ...

    def leave(self, result: Any) -> None:
        """End the stage."""
        ...

    def once(self, label: str, make: Callable[[Stream], Any]) -> Any:
        """Make once."""
        ...

    def admit(self, name: str, key: Key) -> None:
        """Use this key."""
        ...

    def evidence(self, sender: str) -> list[int]:
        """What was read last from the sender."""
        ...

    def greeting_rng(self) -> Stream:
        """The stream of the own greeting."""
        ...

    def attest(self, message: Message) -> bytes:
        """Sign a statement."""
        ...

    def attested(self, name: str, message: Message, signature: bytes) -> bool:
        """Check one."""
        ...

    def spend(self, label: str) -> None:
        """Charge."""
        ...

    def void(self, label: str) -> None:
        """Take a charge back."""
        ...

    def ask(self, said: tuple[Any, ...]) -> Any:
        """Ask at home."""
        ...

    def doubt(self, sender: str, rule: Fault) -> None:
        """Go on without the sender."""
        ...

    def note(self, sender: str, rule: Fault) -> None:
        """Go on with the sender."""
        ...


class Endpoint:
    """The only door between a role and its driver."""

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
        """The curator's name; raises `LocalError` in a protocol without one."""
        if self._curator is None:
            raise LocalError("role.without_a_curator", name=self.name)
        return self._curator

    @property
    def index(self) -> int:
        """The j of P_j, counted from 0; only a party has one."""
        if self._index is None:
            raise LocalError("role.is_no_party", name=self.name)
        return self._index

    @property
    def others(self) -> tuple[str, ...]:
        """All other parties."""
        return tuple(p for p in self.parties if p != self.name)

    @property
    def everyone(self) -> tuple[str, ...]:
        """All participants, this one included, in the order of the session."""
        return self._names

    @property
    def rng(self) -> Stream:
        """This stage's randomness."""
        if self._rng is None:
            raise LocalError("randomness.outside_a_stage", name=self.name)
        return self._rng

    @property
    def greeting_rng(self) -> Stream:
        """The stream from which the own greeting was made, from its beginning; in the first stage only."""
        return self._engine.greeting_rng()

    def send(self, to: str, message: Message) -> None:
        """Send; never waits."""
        self._engine.post(to, message)

    def broadcast(self, to: Iterable[str], message: Message) -> None:
        """Send the same message to each of them."""
        for name in to:
            self.send(name, message)

    def publish(self, message: Message) -> None:
        """Sign and publish; held back by the driver until the role has finished."""
        self._engine.publish(message)

    @types.coroutine
    def _wait(self, want: Want) -> Generator[Want, Any, Any]:
        return (yield want)

    async def receive(self, sender: str, kind: type[M], *, deadlines: int | None = None) -> M:
        """The next message of this sender, which must be of this kind; `StoppedError` when the sender is absent."""
        return (await self.gather((sender,), kind, deadlines=deadlines))[0]

    async def gather(self, senders: Iterable[str], kind: type[M], *, deadlines: int | None = None) -> list[M]:
        """One message of each sender, in their order; `StoppedError` when one of them is absent.

        `deadlines`: how many a driver waits, where the senders may wait for others; None for its usual number.
        """
        got: dict[str, M] = await self._wait(Want(tuple(senders), kind, deadlines=deadlines))
        return list(got.values())

    async def collect(self, senders: Iterable[str], kind: type[M]) -> dict[str, M]:
        """One message of each sender who is not absent, by name, in their order."""
        got: dict[str, M] = await self._wait(Want(tuple(senders), kind, all=False))
        return got

    async def collect_usable(self, senders: Iterable[str], kind: type[M], *, deadlines: int) -> dict[str, M]:
        """One message of each sender who is not absent, by name; what cannot be read as this kind is left out."""
        got: dict[str, M] = await self._wait(Want(tuple(senders), kind, all=False, doubts=True, deadlines=deadlines))
        return got

    async def greetings(self, kind: type[M], of: Iterable[str] | None = None) -> Mapping[str, Greeted[M]]:
        """What everybody who says something in its greeting said, this participant included, or these did; by name.

        Waits for all and checks the signature of every greeting that it gives; `StoppedError` when somebody has not
        greeted.
        """
        asked = None if of is None else tuple(of)
        got: dict[str, Greeted[M]] = await self._wait(Want(self._greeters, kind, greetings=True, of=asked))
        return got

    async def stage(
        self,
        role: Callable[..., Coroutine[Any, Any, T]],
        *args: Any,
        name: str | None = None,
        replaces: bool = False,
    ) -> T:
        """Run a part of the role as a checkpoint: its result is kept, its mail, secrets and randomness are dropped.

        A stage is called after the file that its role stands in, unless it has a name. One that `replaces` takes the
        place of the stage before it, whose result is then dropped as well.
        """
        name = name or role.__module__.rpartition(".")[2]
        done, result, rng = self._engine.enter(f"{name}.{role.__name__}", replaces)
        if not done:
            self._rng = rng
            result = await role(self, *args)
            self._rng = None
            self._engine.leave(result)
        kept: T = result
        return kept

    def once(self, label: str, make: Callable[[Stream], T]) -> T:
        """A value that is expensive to make, made once in this stage even where the stage is replayed."""
        value: T = self._engine.once(label, make)
        return value

    def admit(self, name: str, key: Key) -> None:
        """From now on this key encrypts and checks the fields declared under its name."""
        self._engine.admit(name, key)

    def attest(self, message: Message) -> bytes:
        """This participant's signature of a statement that anybody can check; one of a kind in a stage.

        Raises `LocalError` for a second one with other bytes: whoever signs two has deviated. The stage is not part of
        what is signed: a statement that is about one says so itself.
        """
        return self._engine.attest(message)

    def attested(self, name: str, message: Message, signature: bytes) -> bool:
        """Whether this participant signed this statement."""
        return self._engine.attested(name, message, signature)

    def spend(self, label: str) -> None:
        """Charge what the label stands for to this participant's budget; when this returns, it has been written down.

        A label is charged once a session, however often a role is run again.
        """
        self._engine.spend(label)

    def void(self, label: str) -> None:
        """Say that what was spent under this label has cost nothing: a proof of that has been seen.

        Raises `LocalError` for what was not spent. That time has passed is no proof.
        """
        self._engine.void(label)

    def ask(self, *said: Any) -> Any:
        """What this participant's own program at home answers to what was learned so far.

        The answer becomes one more input of the role: whoever runs the role again, after a crash or in an audit, gives
        it with the others, and nobody is asked a second time. Raises `LocalError` where nobody is at home.
        """
        return self._engine.ask(said)

    def refuse(self, sender: str, code: str | Fault, /, **fields: FieldValue) -> NoReturn:
        """Abort, blaming the sender of the message received last from it."""
        raise PeerError(sender, code, self._engine.evidence(sender), **fields)

    def doubt(self, sender: str, code: str, /, **fields: FieldValue) -> None:
        """Note that the message received last from this sender breaks a rule, and go on without the sender."""
        self._engine.doubt(sender, Fault(code, fields))

    def note(self, name: str, code: str, /, **fields: FieldValue) -> None:
        """Note that this participant has broken a rule, which did no harm, and go on with it."""
        self._engine.note(name, Fault(code, fields))

    def stop(self, code: str | Fault, /, **fields: FieldValue) -> NoReturn:
        """End the role without a result, where nobody broke a rule."""
        raise StoppedError(code, **fields).within(self.name)
