"""Symbolic engine: all roles of a protocol run over unknowns, and the trace shows what everybody saw."""

# Theory
# ------
# The question is which secrets of the others a coalition can compute from what it sees. The engine answers it from the
# role files as they run, not from a model of them.
#
# Unknowns. Every private input and every coin is an unknown (`Symbol`). A number is an integer linear form over
# unknowns with a range (`Form`); a reduction mod M is remembered by the form. So one run stands for all values of the
# unknowns. A question whose answer depends on them (is x < y, how long is x, what is x y) stops the run: nothing is
# guessed, and a role that catches the error does not undo it (`undecidable.py`).
#
# Ideal building blocks. Encryption, sharing, masks, commitments, garbling and comparison are replaced by stand-ins
# (`ideal_primitives.py`, `rebind.py`). A ciphertext is a box, a mask is a vector of unknowns, a random string is a
# string of its own; each says who can open it. The trace therefore says nothing about the strength of the real blocks.
#
# Worlds. Two kinds of secrets are no linear forms: the permutations, and the order of compared numbers. A `World` fixes
# both and answers what depends on them. A run in a world is deterministic, so all worlds, or enough of them, are run.
#
# Views. A member reads facts (headers, bytes, permutations that it drew) and rows: forms whose value it has. The
# others' unknowns have no prior. Rows that are linearly independent take all values as the unknowns do, and dependent
# rows follow from the others by the relation. So two runs look the same to a coalition exactly when the facts and the
# linear relations among the rows are the same (`views.py`, `span.py`).
#
# Secrets. A secret that is a form is determined if it lies in the span of the rows, and if all worlds that look the
# same give it by one computation; by several, it is one of a few numbers. For a secret that a world fixes, its values
# are counted in the worlds that look the same. Linear algebra takes every coin for one that hides; `hiding.py` adds
# what short coins fail to hide, and what a coalition can compute from that is called a hint.
#
# Drop-outs. Under a `Pattern` one participant drops out before one of its messages, or that message is late. Roles wait
# by the rule of all engines (`RoleStepper`). Only when nobody can move does the engine mark as absent those of whom
# nothing more will come. Apart from that the order of delivery makes no difference: a role waits for named messages.
#
# Limits. Participants follow the protocol. Knowledge from priors (plausible sizes, the distribution of noise) is not
# there, nor what shows in the remainder of a multiple, nor timing.

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from protocols.errors import LocalError, StallError
from protocols.runtime.claims import Model
from protocols.runtime.endpoint import Greeted
from protocols.runtime.message import Kind
from protocols.runtime.session import PUBLIC_NAME, SESSION_BYTES, Program, Session
from smc_dp.leakage.symbolic import ideal_primitives
from smc_dp.leakage.symbolic.coins import Coins, Tape
from smc_dp.leakage.symbolic.form import Form, Symbol
from smc_dp.leakage.symbolic.patterns import EVERYBODY_STAYS, Pattern
from smc_dp.leakage.symbolic.rebind import Rebinding
from smc_dp.leakage.symbolic.role import SymbolicRole
from smc_dp.leakage.symbolic.trace import GREETED, Sent, Trace
from smc_dp.leakage.symbolic.worlds import Question, World

Gate = Callable[[Sent], bool]


def _open_gate(sent: Sent) -> bool:
    """Return True: this gate is always open."""
    return True


class _Delivery:
    """Delivery of messages, in the order in which they were handed in.

    It keeps those that the gate holds back, and a late one until its reader has given it up.
    """

    def __init__(self, pattern: Pattern, gate: Gate) -> None:
        self.gate = gate
        self.withheld: dict[int, Sent] = {}
        self.delayed: deque[Sent] = deque()  # the late message, and what follows it on its link
        self._pattern = pattern
        self._sealed_counts = Counter[str]()  # the greeting and sealed ones, by sender
        self._out: dict[int, Sent] = {}
        self._new: list[tuple[Sent, bool]] = []  # with whether it is late
        self._late: int | None = None

    @property
    def sent(self) -> tuple[Sent, ...]:
        """Delivered messages, in the order in which they were handed in."""
        return tuple(self._out[place] for place in sorted(self._out))

    def put(self, sent: Sent) -> None:
        """Take a message."""
        self._sealed_counts[sent.sender] += sent.greets or sent.to != PUBLIC_NAME
        place = len(self._out) + len(self.withheld)
        if self._is_late(sent):
            self._late = place
        self.withheld[place] = sent
        self.let_out()

    def let_out(self) -> None:
        """Let out the messages for which the gate is open by now."""
        for place in [place for place, sent in self.withheld.items() if self.gate(sent)]:
            sent = self._out[place] = self.withheld.pop(place)
            self._new.append((sent, place == self._late))

    def carry(self, roles: Mapping[str, SymbolicRole]) -> bool:
        """Deliver what is out and not late; return whether there was anything."""
        new, self._new = self._new, []
        for sent, late in new:
            if late or (self.delayed and self._link(sent) == self._link(self.delayed[0])):
                self.delayed.append(sent)
            elif sent.to != PUBLIC_NAME:
                _deliver(roles, sent)
        return bool(new)

    def let_go(self, roles: Mapping[str, SymbolicRole]) -> None:
        """Deliver what was late."""
        while self.delayed:
            sent = self.delayed.popleft()
            _deliver(roles, sent)

    def stages(self, role: SymbolicRole) -> tuple[str, ...]:
        """Return the stages of a role that are public: it has sent a message in each, or signed its end."""
        shown = max((s.entered for s in self._out.values() if s.sender == role.name), default=0)
        waiting = min((s.entered for s in self.withheld.values() if s.sender == role.name), default=None)
        over = len(role.stages) if role.end else len(role.progress.results)
        return tuple(role.stages[: max(shown, over if waiting is None else min(over, waiting - 1))])

    def _is_late(self, sent: Sent) -> bool:
        pattern, number = self._pattern, self._sealed_counts[sent.sender]
        return (
            pattern.late and (sent.sender, number) == (pattern.name, pattern.message_number) and sent.to != PUBLIC_NAME
        )

    @staticmethod
    def _link(sent: Sent) -> tuple[str, str]:
        return sent.sender, sent.to


class SymbolicRun:
    """Run of all roles in one world, under a drop-out pattern, with a gate that may hold messages back."""

    def __init__(
        self,
        program: Program,
        model: Model,
        p: Any,
        world: World,
        salt: str = "",
        pattern: Pattern = EVERYBODY_STAYS,
        gate: Gate = _open_gate,
    ) -> None:
        self._tape = tape = Tape(world, model.permutations, model.compared(p), salt=salt)
        self._unknowns: dict[str, Symbol] = {}
        self._given = model.inputs(p, self._unknown)
        self._model, self._p, self._published = model, p, False
        self._delivery = _Delivery(pattern, gate)
        code: Mapping[Kind, Any] = program.roles
        rebinding = Rebinding(ideal_primitives.ideal_replacements(tape), {role.__module__ for role in code.values()})
        program = rebinding.program(program)
        session = Session(program, p, dict.fromkeys(program.participants(p), bytes(32)), bytes(SESSION_BYTES))
        board = _greetings(session, tape, self._delivery)
        self._roles = {name: SymbolicRole(session, name, tape, self._delivery, board) for name in session.names}
        for name, role in self._roles.items():
            role.inputs, role.answers = model.split_answers(p, self._given[name])
            if name == pattern.name and not pattern.late:
                role.drop_out(pattern.message_number - 2, counts_sealed=True)  # beside its greeting, which is posted

    def _unknown(self, name: str, bits: int) -> Form:
        return Form.of(self._unknowns.setdefault(name, Symbol(name, 0, (1 << bits) - 1, "input", "")))

    @property
    def sent(self) -> tuple[Sent, ...]:
        """Messages that are out, in the order in which they were handed in."""
        return self._delivery.sent

    @property
    def answers(self) -> Mapping[Question, Hashable]:
        """Answers of the world so far, in the order of asking."""
        return self._tape.world_answers

    @property
    def withheld(self) -> tuple[Sent, ...]:
        """Messages that the gate holds back."""
        return tuple(self._delivery.withheld.values())

    def go_on(self) -> None:
        """Run until all have ended, or nobody can do anything without a message that is held back.

        Raises `LocalError` where the code asks what linear forms cannot answer.
        """
        self._delivery.let_out()
        roles = self._roles
        while any(role.end is None for role in roles.values()):
            ends = [role.end for role in roles.values()]
            moved = self._delivery.carry(roles)
            for role in roles.values():
                role.step()
                moved |= self._delivery.carry(roles)
            if not moved and ends == [role.end for role in roles.values()]:
                if self.withheld:
                    return
                _give_up(roles, self._delivery)
        self._end()

    def _end(self) -> None:
        self._delivery.let_go(self._roles)
        if not self._published and all(role.end != "stopped" for role in self._roles.values()):
            for role in self._roles.values():
                role.release()
        self._published = True

    @property
    def trace(self) -> Trace:
        """Trace of the run so far; raises `LocalError` where a role was refused an answer, whatever it made of that."""
        tape, sent = self._tape, self._delivery.sent
        _nothing_refused([*self._unknowns.values(), *tape.named.values(), *tape.products.values()])
        first: dict[Symbol, str] = {}  # participant whose inputs mention it
        for name, inputs in self._given.items():
            first |= dict.fromkeys(_mentioned(inputs), name) | first
        owners = {x: first[symbol] for x, symbol in self._unknowns.items()}
        stages = {name: self._delivery.stages(role) for name, role in self._roles.items()}
        messages = [(s.sender, s.message) for s in sent]
        ideal = partial(self._model.given, self._p, self._given, messages) if self._model.given else None
        return Trace(tape, sent, dict(self._unknowns), owners, stages, ideal)

    def close(self) -> None:
        """Close all roles where they stand."""
        for role in self._roles.values():
            role.close()


def run_symbolically(
    program: Program, model: Model, p: Any, world: World, salt: str = "", pattern: Pattern = EVERYBODY_STAYS
) -> Trace:
    """Run all roles in this world, under this drop-out pattern.

    Raises `LocalError` where the code asks what linear forms cannot answer, whatever the role makes of the refusal.
    """
    running = SymbolicRun(program, model, p, world, salt, pattern)
    try:
        running.go_on()
    finally:
        running.close()
    return running.trace


def _nothing_refused(symbols: Iterable[Symbol]) -> None:
    why = next((why for s in symbols for why in s.refused), None)
    if why is not None:
        raise LocalError("role.goes_on_undecided", why=why)


def _greetings(session: Session, tape: Tape, delivery: _Delivery) -> dict[str, Greeted[Any] | None]:
    """Post all greetings, which everybody can read before anything else is sent."""
    found: dict[str, Greeted[Any] | None] = dict.fromkeys(session.names)
    for name in session.greeters:
        greeting = session.says(name)
        if greeting is not None:
            tape.role = name
            coins: Any = Coins(tape, name, "").fork("greeting")
            made = greeting.make(session.parameters, name, greeting.draw(session.parameters, coins))
            found[name] = Greeted(made, tape.digest(f"{GREETED} {name}".encode()))
            delivery.put(Sent(name, PUBLIC_NAME, made, GREETED, greets=True))
    return found


def _give_up(roles: Mapping[str, SymbolicRole], delivery: _Delivery) -> None:
    """Mark as absent those of whom nothing more will come, or whose message is late, once nobody can move."""
    over = {name for name, role in roles.items() if role.end in ("gone", "stopped")}
    delayed = {(s.to, s.sender) for s in delivery.delayed}
    absent = {role: [s for s in role.awaited if s in over or (role.name, s) in delayed] for role in roles.values()}
    if not any(absent.values()) and not delivery.delayed:
        raise StallError({role.name: role.waiting for role in roles.values() if role.waiting})
    for role, senders in absent.items():
        role.miss(*senders)
    delivery.let_go(roles)


def _deliver(roles: Mapping[str, SymbolicRole], sent: Sent) -> None:
    roles[sent.to].hand(sent.sender, sent.message, sent.stage)


def _mentioned(value: Any) -> Iterator[Symbol]:
    if isinstance(value, Form):
        yield from value.terms
    elif isinstance(value, tuple | list):
        for x in value:
            yield from _mentioned(x)
    elif hasattr(value, "__dict__"):
        yield from _mentioned(tuple(vars(value).values()))
