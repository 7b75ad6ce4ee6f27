"""Runs of real role code on given inputs, one for all values of the coins that it only computes with."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from protocols.errors import LocalError, StallError
from protocols.runtime.claims import Inputs
from protocols.runtime.endpoint import Endpoint, Want
from protocols.runtime.message import Message
from protocols.runtime.session import PUBLIC_NAME, SESSION_BYTES, Program, Session
from smc_dp.leakage.symbolic.rebind import Rebinding
from support.exact.boxes import INSTEAD
from support.exact.many import AskedError
from support.exact.tape import DrawnCoins, Draws

MOST_RUNS = 1 << 14  # on one input


@dataclass(frozen=True, repr=False)
class Branch:
    """A run under some coins with one value each: `ways` is one over how likely these values are."""

    ways: int
    tape: DrawnCoins
    sent: tuple[tuple[str, str, Message], ...]
    results: Mapping[str, Any]


@dataclass(repr=False)
class _Tried:
    """A role in motion; what `Endpoint` calls its engine."""

    name: str
    tape: DrawnCoins
    sent: list[tuple[str, str, Message]]
    coroutine: Coroutine[Any, Any, Any] | None = None
    want: Want | None = None
    result: Any = None
    stages: int = 0
    made: dict[str, Any] = field(default_factory=dict)
    mail: dict[str, deque[Message]] = field(default_factory=dict)

    def post(self, to: str, message: Message) -> None:
        self.sent.append((self.name, to, message))

    def publish(self, message: Message) -> None:
        self.sent.append((self.name, PUBLIC_NAME, message))

    def enter(self, name: str, replaces: bool) -> tuple[bool, Any, Any]:
        self.stages += 1
        return False, None, Draws(self.tape, self.name, f"stage {self.stages}")

    def leave(self, result: Any) -> None:
        self.made = {}

    def once(self, label: str, make: Callable[[Any], Any]) -> Any:
        if label not in self.made:
            self.made[label] = make(Draws(self.tape, self.name, f"stage {self.stages} {label}"))
        return self.made[label]

    def admit(self, name: str, key: Any) -> None:
        pass

    def evidence(self, sender: str) -> list[int]:
        return []

    def greeting_rng(self) -> Any:
        raise LocalError("exact.greets", "{name} greets: no role that is tried does", name=self.name)

    def attest(self, message: Message) -> bytes:
        raise LocalError(
            "exact.attests",
            "{name} attests {kind}: no role that is tried does",
            name=self.name,
            kind=type(message).__name__,
        )

    def attested(self, name: str, message: Message, signature: bytes) -> bool:
        raise LocalError(
            "exact.checks_statement",
            "{name} checks {kind}: no role that is tried does",
            name=self.name,
            kind=type(message).__name__,
        )

    def spend(self, label: str) -> None:
        pass  # a charge tells nobody anything

    def void(self, label: str) -> None:
        pass

    def ask(self, said: tuple[Any, ...]) -> Any:
        """All that a role enters is among its inputs here, so there is nobody to ask."""
        raise LocalError("exact.asks", "{name} asks for what is among its inputs", name=self.name)

    def doubt(self, sender: str, rule: str) -> None:
        raise LocalError(
            "exact.doubts",
            "{name} doubts {sender}: {rule}; everybody follows the protocol here",
            name=self.name,
            sender=sender,
            rule=rule,
        )

    def run(self) -> None:
        """Until it waits for mail that is not there, or ends."""
        try:
            while self.coroutine is not None:
                answer = None
                if self.want is not None:
                    if not all(self.mail.get(sender) for sender in self.want.senders):
                        return
                    answer = {sender: self.mail[sender].popleft() for sender in self.want.senders}
                    if any(type(message) is not self.want.kind for message in answer.values()):
                        raise LocalError(
                            "exact.gets_another_message",
                            "{name} wants {kind}, and gets something else",
                            name=self.name,
                            kind=self.want.kind.__name__,
                        )
                self.want = self.coroutine.send(answer)
        except StopIteration as stop:
            self.result, self.coroutine = stop.value, None
        except (TypeError, AttributeError, OverflowError) as error:
            raise LocalError(
                "exact.cannot_do",
                "{name} does what no role that is tried can do: {error}",
                name=self.name,
                error=str(error),
            ) from error


class Player:
    """The roles of a program under one set of parameters."""

    def __init__(self, program: Program, p: Any) -> None:
        self.session = Session(program, p, dict.fromkeys(program.participants(p), bytes(32)), bytes(SESSION_BYTES))
        rebinding = Rebinding(INSTEAD, {role.__module__ for role in program.roles.values()})
        self._roles = {
            name: rebinding.function(program.roles[kind])  # type: ignore[arg-type]
            for name, kind in self.session.participants.items()
        }

    def branches(self, inputs: Inputs) -> Iterator[Branch]:
        """Runs that together are all runs on these inputs: a coin that a role asks for has one value in each."""
        todo: list[tuple[int, dict[str, int]]] = [(1, {})]
        runs = 0
        while todo:
            ways, fixed = todo.pop()
            runs += 1
            if runs > MOST_RUNS:
                raise LocalError(
                    "exact.too_many_runs",
                    "its roles ask for so many coins that there are more than {most_runs} runs",
                    most_runs=MOST_RUNS,
                )
            tape = DrawnCoins(fixed)
            try:
                yield self._played(ways, tape, inputs)
            except AskedError as asked:
                name, size = tape.axes[asked.axes[0]]
                todo += [(ways * size, {**fixed, name: value}) for value in range(size)]

    def _played(self, ways: int, tape: DrawnCoins, inputs: Inputs) -> Branch:
        sent: list[tuple[str, str, Message]] = []
        roles = {name: _Tried(name, tape, sent) for name in self._roles}
        for name, role in roles.items():
            role.coroutine = self._roles[name](Endpoint(self.session, name, role), *inputs[name])
        try:
            self._drive(roles, sent)
        finally:
            for role in roles.values():
                if role.coroutine is not None:
                    role.coroutine.close()
        return Branch(ways, tape, tuple(sent), {name: role.result for name, role in roles.items()})

    def _drive(self, roles: Mapping[str, _Tried], sent: list[tuple[str, str, Message]]) -> None:
        delivered, position = -1, 0
        while any(role.coroutine for role in roles.values()):
            if delivered == len(sent):
                raise StallError({r.name: r.want.kind.__name__ for r in roles.values() if r.want and r.coroutine})
            delivered = len(sent)
            for role in roles.values():
                role.run()
                for sender, to, message in sent[position:]:
                    if to != PUBLIC_NAME:
                        roles[to].mail.setdefault(sender, deque()).append(message)
                position = len(sent)
