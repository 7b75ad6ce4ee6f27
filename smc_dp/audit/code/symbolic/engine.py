"""All roles of a protocol run over symbols: the driver that carries their messages and keeps what everybody saw."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
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
from smc_dp.audit.code.symbolic.box import Box, Secret
from smc_dp.audit.code.symbolic.coins import Coins, Tape
from smc_dp.audit.code.symbolic.form import Form, Symbol, slots
from smc_dp.audit.code.symbolic.rebind import Rebinding
from smc_dp.audit.code.symbolic.refusing import UndecidedError
from smc_dp.audit.code.symbolic.worlds import World

GREETING = "greeting"


def values(message: Message) -> Iterator[Any]:
    """Everything that a message holds, field by field."""
    for slot in message.slots:
        value = getattr(message, slot.name)
        yield from value if isinstance(value, tuple | list) else (value,)


@dataclass(frozen=True, repr=False)
class Sent:
    """A message on its way, with the name of its sender's stage, which anybody reads; `to` is `PUBLIC_NAME` for what is
    published, or said in a greeting.
    """

    sender: str
    to: str
    message: Message
    stage: str = ""
    greets: bool = False


@dataclass(frozen=True, repr=False)
class Trace:
    """One run: its notes, all its messages in the order of sending, private unknowns and their owners by name, and the
    stages of each role, whose ends it signs.
    """

    tape: Tape
    sent: tuple[Sent, ...]
    inputs: Mapping[str, Symbol]
    owners: Mapping[str, str]
    stages: Mapping[str, tuple[str, ...]]

    def check_bytes(self, other: Trace) -> None:
        """Raises `LocalError` where this run differs from one with other random bytes in more than whole strings.

        Bytes are drawn, hashed and sent as they are. What else is made of them no form stands for, and if it were taken
        for a constant, it would pass for something public.
        """
        for one, two in zip(self.sent, other.sent, strict=True):
            for x, y in zip(values(one.message), values(two.message), strict=True):
                whole = self.tape.is_string(x) and other.tape.is_string(y)
                if isinstance(x, int | bytes) and not whole and (type(x) is not type(y) or x != y):
                    what = type(one.message).__name__
                    raise LocalError(
                        f"{one.sender} sends in {what} a number made of random bytes, which no form can follow"
                    )

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

    @cached_property
    def carried(self) -> tuple[tuple[Form, Form], ...]:
        """Every difference of two numbers that begin with compared ones, and that of the compared ones."""
        pairs = permutations((self.inputs[name] for name in self.tape.compared), 2)
        return tuple(
            (Form.of(x - y), Form.of(Form.of(one) - Form.of(other)))
            for one, other in pairs
            for x in self._carriers(one)[1:]
            for y in self._carriers(other)[1:]
        )

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
    stages: list[str] = field(default_factory=list)
    made: dict[str, Any] = field(default_factory=dict)
    mail: dict[str, deque[Message]] = field(default_factory=dict)

    def post(self, to: str, message: Message) -> None:
        self._check(message)
        self.post_office.append(Sent(self.name, to, message, self.stages[-1]))

    def publish(self, message: Message) -> None:
        self._check(message)
        self.post_office.append(Sent(self.name, PUBLIC_NAME, message, self.stages[-1]))

    def _check(self, message: Message) -> None:
        """Refuse what no message can hold, such as the length of an unknown number."""
        for value in values(message):
            if not isinstance(value, int | bytes | Form | Box | Secret | None):
                what = f"what is no number: {type(value).__name__}"
                raise LocalError(f"{self.name} sends in {type(message).__name__} {what}")

    def enter(self, name: str, replaces: bool) -> tuple[bool, Any, Any]:
        self.stages.append(name.partition(".")[0])
        return False, None, Coins(self.tape, self.name, f"stage {len(self.stages)}")

    def leave(self, result: Any) -> None:
        self.made = {}

    def once(self, label: str, make: Callable[[Any], Any]) -> Any:
        if label not in self.made:
            self.made[label] = make(Coins(self.tape, self.name, f"stage {len(self.stages)} {label}"))
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
        except UndecidedError as error:
            raise UndecidedError(f"{self.name} {error}") from None
        except (TypeError, AttributeError) as error:
            raise LocalError(f"{self.name} does with a symbol what only numbers can: {error}") from error
        except LocalError:
            raise
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise LocalError(f"{self.name} does not reach its end when it is run over symbols: {what}") from error


def run(program: Program, model: Model, p: Any, world: World, salt: str = "") -> Trace:
    """Run all roles in this world; raises `LocalError` where the code asks what linear forms cannot answer, whatever
    the role makes of the refusal.
    """
    tape = Tape(world, model.permutations, model.compared(p), salt=salt)
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
    _nothing_refused([*unknowns.values(), *tape.named.values(), *tape.products.values()])
    owners = {name: _owner(symbol, given) for name, symbol in unknowns.items()}
    stages = {name: tuple(role.stages) for name, role in roles.items()}
    return Trace(tape, tuple(office), unknowns, owners, stages)


def _nothing_refused(symbols: Iterable[Symbol]) -> None:
    why = next((why for s in symbols for why in s.refused), None)
    if why is not None:
        raise LocalError(f"a role {why}, and goes on without an answer")


def _greetings(session: Session, tape: Tape, office: list[Sent]) -> dict[str, Greeted[Any]]:
    """What everybody says in its greeting, which all can read before anything else is sent."""
    found: dict[str, Greeted[Any]] = {}
    for name in session.greeters:
        greeting = session.says(name)
        if greeting is not None:
            tape.role = name
            made = greeting.make(session.parameters, name, Coins(tape, name, GREETING))  # type: ignore[arg-type]
            found[name] = Greeted(made, tape.digest(f"{GREETING} {name}".encode()))
            office.append(Sent(name, PUBLIC_NAME, made, GREETING, greets=True))
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
