"""Runs of real role code on given inputs, one for all values of the coins that it only computes with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from protocols.errors import LocalError, StallError
from protocols.runtime.claims import Inputs
from protocols.runtime.message import Kind, Message
from protocols.runtime.role_stepper import RoleStepper
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


class _Tried(RoleStepper):
    """A role over numbers of which each has all its values at once."""

    def __init__(
        self,
        session: Session,
        name: str,
        tape: DrawnCoins,
        inputs: tuple[Any, ...],
        sent: list[tuple[str, str, Message]],
    ) -> None:
        draws: Any = Draws(tape, name, "")
        super().__init__(session, name, draws, inputs, dict.fromkeys(session.names))
        self.greeted = True
        self.sent = sent

    def step(self) -> None:
        try:
            super().step()
        except (TypeError, AttributeError, OverflowError) as error:
            raise LocalError("exact.cannot_do", name=self.name, error=str(error)) from error

    def greet(self) -> None:
        """No role that is tried says anything in its greeting."""

    def announce_stage_end(self, stage: str) -> None:
        """Nobody looks at marks."""

    def send(self, to: str, message: Message) -> None:
        self.sent.append((self.name, to, message))

    def keep(self, message: Message) -> None:
        self.sent.append((self.name, PUBLIC_NAME, message))

    def statement_signature(self, signer: str, kind: str, payload: bytes) -> bytes:
        raise LocalError("exact.attests", name=self.name, kind=kind)


class Player:
    """The roles of a program under one set of parameters."""

    def __init__(self, program: Program, p: Any) -> None:
        code: Mapping[Kind, Any] = program.roles
        rebinding = Rebinding(INSTEAD, {role.__module__ for role in code.values()})
        program = replace(program, roles={kind: rebinding.function(role) for kind, role in code.items()})
        self.session = Session(program, p, dict.fromkeys(program.participants(p), bytes(32)), bytes(SESSION_BYTES))

    def branches(self, inputs: Inputs) -> Iterator[Branch]:
        """Runs that together are all runs on these inputs: a coin that a role asks for has one value in each."""
        todo: list[tuple[int, dict[str, int]]] = [(1, {})]
        runs = 0
        while todo:
            ways, fixed = todo.pop()
            runs += 1
            if runs > MOST_RUNS:
                raise LocalError("exact.too_many_runs", most_runs=MOST_RUNS)
            tape = DrawnCoins(fixed)
            try:
                yield self._played(ways, tape, inputs)
            except AskedError as asked:
                name, size = tape.axes[asked.axes[0]]
                todo += [(ways * size, {**fixed, name: value}) for value in range(size)]

    def _played(self, ways: int, tape: DrawnCoins, inputs: Inputs) -> Branch:
        sent: list[tuple[str, str, Message]] = []
        roles = {name: _Tried(self.session, name, tape, inputs[name], sent) for name in self.session.names}
        try:
            self._drive(roles, sent)
        finally:
            for role in roles.values():
                role.close()
        return Branch(ways, tape, tuple(sent), {name: role.result for name, role in roles.items()})

    def _drive(self, roles: Mapping[str, _Tried], sent: list[tuple[str, str, Message]]) -> None:
        delivered, position = -1, 0
        while not all(role.done for role in roles.values()):
            if delivered == len(sent):
                raise StallError({role.name: role.waiting for role in roles.values() if role.waiting})
            delivered = len(sent)
            for role in roles.values():
                role.step()
                for sender, to, message in sent[position:]:
                    if to != PUBLIC_NAME:
                        roles[to].hand(sender, message, roles[sender].stage or "")
                position = len(sent)
