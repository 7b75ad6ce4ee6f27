"""All that a role sees of the world: its name, its peers, its randomness, its mail.

`async def` in a role means: a function that can wait for mail. There is no asyncio behind it; `receive` is the only
place where a role pauses, and whoever drives it answers with the message. So a role is a deterministic function of its
input, its seed and its mail, whatever the order of arrival, and runs unchanged under every driver.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Coroutine, Generator, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol, TypeVar

from protocols.arithmetic.rng import Stream
from protocols.errors import LocalError, PeerError
from protocols.runtime.message import Key, M, Message
from protocols.runtime.session import CURATOR_NAME, Session

T = TypeVar("T")


@dataclass(frozen=True)
class Want:
    """What a waiting role waits for."""

    sender: str
    kind: type[Any]


class Engine(Protocol):
    """What a driver's process offers to the endpoint."""

    def post(self, to: str, message: Message) -> None:
        """Send."""
        ...

    def publish(self, message: Message) -> None:
        """Keep for publication."""
        ...

    def enter(self, name: str) -> tuple[bool, Any, Stream]:
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


class Endpoint:
    """The only door between a role and its driver."""

    def __init__(self, session: Session, name: str, engine: Engine) -> None:
        self.session_id = session.id
        self.name = name
        self.parties = session.parties
        self.curator = CURATOR_NAME
        self._names = session.names
        self._engine = engine
        self._rng: Stream | None = None

    @property
    def index(self) -> int:
        """The j of P_j, counted from 0; only a party has one."""
        return self.parties.index(self.name)

    @property
    def others(self) -> tuple[str, ...]:
        """All other parties."""
        return tuple(p for p in self.parties if p != self.name)

    @property
    def everyone(self) -> tuple[str, ...]:
        """All participants, this one included, the curator last."""
        return self._names

    @property
    def rng(self) -> Stream:
        """This stage's randomness."""
        if self._rng is None:
            raise LocalError(f"{self.name}: randomness belongs to a stage")
        return self._rng

    def send(self, to: str, message: Message) -> None:
        """Send; never waits."""
        self._engine.post(to, message)

    def broadcast(self, to: Iterable[str], message: Message) -> None:
        """Send the same message to each of them."""
        for name in to:
            self.send(name, message)

    def publish(self, message: Message) -> None:
        """Sign and publish; held back by the driver until every participant has finished."""
        self._engine.publish(message)

    @types.coroutine
    def _wait(self, want: Want) -> Generator[Want, Any, Any]:
        return (yield want)

    async def receive(self, sender: str, kind: type[M]) -> M:
        """The next message of this sender, which must be of this kind."""
        answer: M = await self._wait(Want(sender, kind))
        return answer

    async def gather(self, senders: Iterable[str], kind: type[M]) -> list[M]:
        """One message of each sender, in their order."""
        return [await self.receive(sender, kind) for sender in senders]

    async def stage(self, role: Callable[..., Coroutine[Any, Any, T]], *args: Any, name: str | None = None) -> T:
        """Run a part of the role as a checkpoint: its result is kept, its mail, secrets and randomness are dropped.

        A stage is called after the file that its role stands in, unless it has a name.
        """
        name = name or role.__module__.rpartition(".")[2]
        done, result, rng = self._engine.enter(f"{name}.{role.__name__}")
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

    def refuse(self, sender: str, rule: str) -> NoReturn:
        """Abort, blaming the sender of the message received last from it."""
        raise PeerError(sender, rule, self._engine.evidence(sender))
