"""All roles of a protocol run over symbols: the driver that carries their messages and keeps what everybody saw.

It counts letters, lets somebody vanish and marks the absent as `protocols.runtime.simulate` does.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from protocols.errors import LocalError, StallError
from protocols.runtime.claims import Model
from protocols.runtime.endpoint import Endpoint, Greeted
from protocols.runtime.message import Kind
from protocols.runtime.session import PUBLIC_NAME, SESSION_BYTES, Program, Session
from smc_dp.audit.code.symbolic import blocks
from smc_dp.audit.code.symbolic.coins import Coins, Tape
from smc_dp.audit.code.symbolic.form import Form, Symbol
from smc_dp.audit.code.symbolic.patterns import EVERYBODY_STAYS, Pattern
from smc_dp.audit.code.symbolic.rebind import Rebinding
from smc_dp.audit.code.symbolic.role import SymbolicRole, VanishedError
from smc_dp.audit.code.symbolic.trace import GREETING, Sent, Trace
from smc_dp.audit.code.symbolic.worlds import World


class _Office:
    """Every letter on its way, and the one that is held back until its reader has given it up."""

    def __init__(self, pattern: Pattern) -> None:
        self.sent: list[Sent] = []
        self.held: deque[Sent] = deque()  # the late letter, and what follows it on its link
        self._pattern = pattern
        self._letters = Counter[str]()  # sealed ones, by sender
        self._carried = 0

    def post(self, sent: Sent) -> None:
        """Take a letter; raises `VanishedError` when its sender sends no more."""
        number = 1 if sent.greets else self._letters[sent.sender] + 2
        if sent.sender == self._pattern.name and not self._pattern.late and number >= self._pattern.letter:
            raise VanishedError
        self._letters[sent.sender] += sent.to != PUBLIC_NAME
        self.sent.append(sent)
        if self._is_late(sent, number) or (self.held and self._link(sent) == self._link(self.held[0])):
            self.held.append(sent)

    def carry(self, roles: Mapping[str, SymbolicRole]) -> bool:
        """Deliver what was sent, and was not held back; whether there was anything."""
        new = self.sent[self._carried :]
        self._carried = len(self.sent)
        waiting = {id(s) for s in self.held}
        for sent in new:
            if sent.to != PUBLIC_NAME and id(sent) not in waiting:
                roles[sent.to].deliver(sent)
        return bool(new)

    def let_go(self, roles: Mapping[str, SymbolicRole]) -> None:
        """Deliver what was held back."""
        while self.held:
            sent = self.held.popleft()
            roles[sent.to].deliver(sent)

    def _is_late(self, sent: Sent, number: int) -> bool:
        pattern = self._pattern
        return pattern.late and (sent.sender, number) == (pattern.name, pattern.letter) and sent.to != PUBLIC_NAME

    @staticmethod
    def _link(sent: Sent) -> tuple[str, str]:
        return sent.sender, sent.to


def run(
    program: Program, model: Model, p: Any, world: World, salt: str = "", pattern: Pattern = EVERYBODY_STAYS
) -> Trace:
    """Run all roles in this world, as far as the pattern lets them.

    Raises `LocalError` where the code asks what linear forms cannot answer, whatever the role makes of the refusal.
    """
    tape = Tape(world, model.permutations, model.compared(p), salt=salt)
    session = Session(program, p, dict.fromkeys(program.participants(p), bytes(32)), bytes(SESSION_BYTES))
    unknowns: dict[str, Symbol] = {}

    def unknown(name: str, bits: int) -> Form:
        unknowns[name] = Symbol(name, 0, (1 << bits) - 1, "input", "")
        return Form.of(unknowns[name])

    given = model.inputs(p, unknown)
    office = _Office(pattern)
    code: Mapping[Kind, Any] = program.roles
    rebinding = Rebinding(blocks.instead(tape), {role.__module__ for role in code.values()})
    greetings = _greetings(session, tape, office, rebinding)
    roles = {name: SymbolicRole(name, tape, office, greetings) for name in session.names}
    for name, role in roles.items():
        function = rebinding.function(code[session.kind(name)])
        beforehand, role.answers = model.asked(p, given[name])
        role.coroutine = function(Endpoint(session, name, role), *beforehand)
    try:
        _drive(roles, office)
    finally:
        for role in roles.values():
            role.close()
    _nothing_refused([*unknowns.values(), *tape.named.values(), *tape.products.values()])
    owners = {name: _owner(symbol, given) for name, symbol in unknowns.items()}
    stages = {name: tuple(role.stages) for name, role in roles.items()}
    said = [(s.sender, s.message) for s in office.sent]
    ideal = partial(model.given, p, given, said) if model.given else None
    return Trace(tape, tuple(office.sent), unknowns, owners, stages, ideal)


def _nothing_refused(symbols: Iterable[Symbol]) -> None:
    why = next((why for s in symbols for why in s.refused), None)
    if why is not None:
        raise LocalError(f"a role {why}, and goes on without an answer")


def _greetings(session: Session, tape: Tape, office: _Office, rebinding: Rebinding) -> dict[str, Greeted[Any]]:
    """What everybody says in its greeting, which all can read before anything else is sent."""
    found: dict[str, Greeted[Any]] = {}
    for name in session.greeters:
        greeting = session.says(name)
        if greeting is not None:
            tape.role = name
            make: Any = greeting.make
            made = rebinding.function(make)(session.parameters, name, Coins(tape, name, GREETING))
            found[name] = Greeted(made, tape.digest(f"{GREETING} {name}".encode()))
            office.post(Sent(name, PUBLIC_NAME, made, GREETING, greets=True))
    return found


def _drive(roles: Mapping[str, SymbolicRole], office: _Office) -> None:
    while any(role.end is None for role in roles.values()):
        ends = [role.end for role in roles.values()]
        moved = False
        for role in roles.values():
            role.run()
            moved |= office.carry(roles)
        if not moved and ends == [role.end for role in roles.values()]:
            _give_up(roles, office)
    office.let_go(roles)
    if all(role.end != "stopped" for role in roles.values()):
        for role in roles.values():
            _publish(role, office)


def _give_up(roles: Mapping[str, SymbolicRole], office: _Office) -> None:
    """Nobody can move: mark those absent of whom nothing more will come, or what is held back, and let that go."""
    over = {name for name, role in roles.items() if role.end in ("gone", "stopped")}
    held = {(s.to, s.sender) for s in office.held}
    marks = [(role, s) for role in roles.values() for s in role.awaited if s in over or (role.name, s) in held]
    if not marks and not office.held:
        raise StallError({r.name: r.want.kind.__name__ for r in roles.values() if r.want})
    for role, sender in marks:
        role.miss(sender)
    office.let_go(roles)


def _publish(role: SymbolicRole, office: _Office) -> None:
    """What a role has published leaves when everybody has ended, and nobody was stopped."""
    if role.end == "done":
        for sent in role.unpublished:
            try:
                office.post(sent)
            except VanishedError:
                return


def _owner(symbol: Symbol, given: Mapping[str, tuple[Any, ...]]) -> str:
    return next(name for name, inputs in given.items() if _mentions(inputs, symbol))


def _mentions(value: Any, symbol: Symbol) -> bool:
    if isinstance(value, Form):
        return symbol in value.terms
    if isinstance(value, tuple | list):
        return any(_mentions(v, symbol) for v in value)
    return hasattr(value, "__dict__") and any(_mentions(v, symbol) for v in vars(value).values())
