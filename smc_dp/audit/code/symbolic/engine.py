"""All roles of a protocol run over symbols: the driver that carries their messages and keeps what everybody saw."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from typing import Any

from protocols.errors import LocalError, StallError
from protocols.runtime.claims import Model
from protocols.runtime.endpoint import Endpoint, Greeted, Want
from protocols.runtime.message import Kind, Message
from protocols.runtime.session import PUBLIC_NAME, SESSION_BYTES, Program, Session
from smc_dp.audit.code.symbolic import blocks
from smc_dp.audit.code.symbolic.coins import Coins, Tape
from smc_dp.audit.code.symbolic.form import Form, Symbol, slots
from smc_dp.audit.code.symbolic.rebind import Rebinding
from smc_dp.audit.code.symbolic.worlds import World

GREETING = "greeting"


@dataclass(frozen=True, repr=False)
class Sent:
    """A message on its way; `to` is `PUBLIC_NAME` for what is published, or said in a greeting."""

    sender: str
    to: str
    message: Message
    greets: bool = False


@dataclass(frozen=True, repr=False)
class Trace:
    """One run: its notes, all its messages in the order of sending, private unknowns and their owners by name."""

    tape: Tape
    sent: tuple[Sent, ...]
    inputs: Mapping[str, Symbol]
    owners: Mapping[str, str]

    @cached_property
    def joins(self) -> list[tuple[Form, tuple[Form, ...]]]:
        """Every number that was made by joining digits, with its digits, highest first."""
        coins = (s for owned in self.tape.coins.values() for s in owned)
        return [(x, tuple(reversed(slots(x)))) for s in coins for x in s.joined]

    @cached_property
    def contests(self) -> list[tuple[Form, bool]]:
        """Every difference of two compared numbers, or of numbers that begin with them, and whether it is negative."""
        compared, ranks = self.tape.compared, self.tape.world.ranks
        carriers = [self._carriers(self.inputs[name]) for name in compared]
        pairs = permutations(range(len(compared)), 2)
        found = ((i, j, x, y) for i, j in pairs for x in carriers[i] for y in carriers[j])
        return [(Form.of(x - y), ranks[i] < ranks[j]) for i, j, x, y in found]

    def _carriers(self, symbol: Symbol) -> list[Form]:
        return [Form.of(symbol), *(whole for whole, digits in self.joins if symbol in digits[0].terms)]


@dataclass(repr=False)
class _Role:
    """A role in motion; what `Endpoint` calls its engine."""

    name: str
    tape: Tape
    post_office: list[Sent]
    greetings: Mapping[str, Greeted[Any]]
    coroutine: Coroutine[Any, Any, Any] | None = None
    want: Want | None = None
    done: bool = False
    stages: int = 0
    made: dict[str, Any] = field(default_factory=dict)
    mail: dict[str, deque[Message]] = field(default_factory=dict)

    def post(self, to: str, message: Message) -> None:
        self.post_office.append(Sent(self.name, to, message))

    def publish(self, message: Message) -> None:
        self.post_office.append(Sent(self.name, PUBLIC_NAME, message))

    def enter(self, name: str, replaces: bool) -> tuple[bool, Any, Any]:
        self.stages += 1
        return False, None, Coins(self.tape, self.name, f"stage {self.stages}")

    def leave(self, result: Any) -> None:
        self.made = {}

    def once(self, label: str, make: Callable[[Any], Any]) -> Any:
        if label not in self.made:
            self.made[label] = make(Coins(self.tape, self.name, f"stage {self.stages} {label}"))
        return self.made[label]

    def admit(self, name: str, key: Any) -> None:
        pass

    def evidence(self, sender: str) -> list[int]:
        return []

    def greeting_rng(self) -> Any:
        return Coins(self.tape, self.name, GREETING)

    def attest(self, message: Message) -> bytes:
        raise LocalError(f"{self.name} attests {type(message).__name__}: no symbol stands for a signature")

    def attested(self, name: str, message: Message, signature: bytes) -> bool:
        raise LocalError(f"{self.name} checks {type(message).__name__}: no symbol stands for a signature")

    def spend(self, label: str) -> None:
        pass  # a charge tells nobody anything

    def doubt(self, sender: str, rule: str) -> None:
        raise LocalError(f"{self.name} doubts {sender}: {rule}; everybody follows the protocol here")

    def _read(self, want: Want, sender: str) -> Message | Greeted[Any]:
        if want.greetings:
            return self.greetings[sender]
        message = self.mail[sender].popleft()
        if type(message) is not want.kind:
            raise LocalError(f"{self.name} wants {want.kind.__name__}, got {type(message).__name__}")
        return message

    def run(self) -> None:
        """Until it waits for mail that is not there, or ends."""
        self.tape.role = self.name
        try:
            while self.coroutine is not None:
                answer = None
                if self.want is not None:
                    if not self.want.greetings and not all(self.mail.get(sender) for sender in self.want.senders):
                        return
                    answer = {sender: self._read(self.want, sender) for sender in self.want.senders}
                self.want = self.coroutine.send(answer)
        except StopIteration:
            self.done, self.coroutine = True, None
        except (TypeError, AttributeError) as error:
            raise LocalError(f"{self.name} does with a symbol what only numbers can: {error}") from error


def run(program: Program, model: Model, p: Any, world: World) -> Trace:
    """Run all roles in this world; raises `LocalError` where the code asks what linear forms cannot answer."""
    tape = Tape(world, model.permutations, model.compared(p))
    session = Session(program, p, dict.fromkeys(program.participants(p), bytes(32)), bytes(SESSION_BYTES))
    unknowns: dict[str, Symbol] = {}

    def unknown(name: str, bits: int) -> Form:
        unknowns[name] = Symbol(name, 0, (1 << bits) - 1, "input", "")
        return Form.of(unknowns[name])

    given = model.inputs(p, unknown)
    office: list[Sent] = []
    greetings = _greetings(session, tape, office)
    roles = {name: _Role(name, tape, office, greetings) for name in session.names}
    code: Mapping[Kind, Any] = program.roles
    rebinding = Rebinding(blocks.instead(tape), {role.__module__ for role in code.values()})
    for name, role in roles.items():
        function = rebinding.function(code[session.kind(name)])
        role.coroutine = function(Endpoint(session, name, role), *given[name])
    try:
        _drive(roles, office)
    finally:
        for role in roles.values():
            if role.coroutine is not None:
                role.coroutine.close()
    owners = {name: _owner(symbol, given) for name, symbol in unknowns.items()}
    return Trace(tape, tuple(office), unknowns, owners)


def _greetings(session: Session, tape: Tape, office: list[Sent]) -> dict[str, Greeted[Any]]:
    """What everybody says in its greeting, which all can read before anything else is sent."""
    found: dict[str, Greeted[Any]] = {}
    for name in session.greeters:
        greeting = session.says(name)
        if greeting is not None:
            tape.role = name
            made = greeting.make(session.parameters, name, Coins(tape, name, GREETING))  # type: ignore[arg-type]
            found[name] = Greeted(made, tape.digest(f"{GREETING} {name}".encode()))
            office.append(Sent(name, PUBLIC_NAME, made, greets=True))
    return found


def _drive(roles: Mapping[str, _Role], office: list[Sent]) -> None:
    delivered = -1
    position = 0
    while not all(role.done for role in roles.values()):
        if delivered == len(office):
            raise StallError({r.name: r.want.kind.__name__ for r in roles.values() if r.want and not r.done})
        delivered = len(office)
        for role in roles.values():
            role.run()
            while position < len(office):
                sent, position = office[position], position + 1
                if sent.to != PUBLIC_NAME:
                    roles[sent.to].mail.setdefault(sent.sender, deque()).append(sent.message)


def _owner(symbol: Symbol, given: Mapping[str, tuple[Any, ...]]) -> str:
    return next(name for name, inputs in given.items() if _mentions(inputs, symbol))


def _mentions(value: Any, symbol: Symbol) -> bool:
    if isinstance(value, Form):
        return symbol in value.terms
    if isinstance(value, tuple | list):
        return any(_mentions(v, symbol) for v in value)
    return hasattr(value, "__dict__") and any(_mentions(v, symbol) for v in vars(value).values())
