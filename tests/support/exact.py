"""The comparison on every input and with every coin, at sizes at which that can be done: exact distributions of views.

Role code runs on plain numbers. A coin has one value in a run, and a run is made for each value. The one exception is
a factor that is uniform on Z_u^*: what it multiplies is known up to a factor. DGK ciphertexts are boxes, which hold a
plaintext mod u and the randomisers that were multiplied into them. Who has the key reads the plaintext. Who has not
reads it as well, unless a randomiser that nobody saw before hides it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from types import SimpleNamespace
from typing import Any, NamedTuple

from protocols.arithmetic import modular
from protocols.comparison import ideal
from protocols.comparison.parameters import Comparisons
from protocols.comparison.signs import CHOOSER, HOLDER
from protocols.crypto import dgk
from protocols.errors import StallError
from protocols.runtime.claims import Inputs
from protocols.runtime.message import Message
from protocols.runtime.role_stepper import RoleStepper
from protocols.runtime.session import SESSION_BYTES, Program, Session
from smc_dp.leakage.matrix import LEVELS, Cell, Level
from smc_dp.leakage.symbolic.rebind import Rebinding

MORE = "anything more"
COALITIONS = ((CHOOSER,), (HOLDER,), (CHOOSER, HOLDER))
View = tuple[tuple[Hashable, ...], tuple[Hashable, ...]]
Law = Mapping[View, Fraction]


# Coins.


class AskedError(Exception):
    """A role asks for the value of a coin, in [0, size)."""

    def __init__(self, name: str, size: int) -> None:
        super().__init__(name)
        self.name, self.size = name, size


@dataclass
class Tape:
    """Coins that have values in a run; `asked` are those that a role asked for, `owners` who drew what."""

    fixed: Mapping[str, int]
    asked: dict[str, int] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)

    def value(self, name: str, size: int) -> int:
        if size > 1 and name not in self.fixed:
            raise AskedError(name, size)
        return self.asked.setdefault(name, self.fixed.get(name, 0))


@dataclass(frozen=True)
class Coin:
    """A number in [0, size) that has a value as soon as a role computes with it; one more than it is a factor."""

    tape: Tape
    name: str
    size: int

    def __index__(self) -> int:
        return self.tape.value(self.name, self.size)

    def __radd__(self, other: int) -> int | Factor:
        return Factor(self) if other == 1 else other + int(self)


@dataclass(frozen=True)
class Factor:
    """One more than a coin."""

    coin: Coin


def _asking(name: str) -> Callable[..., Any]:
    return lambda coin, *other: getattr(int(coin), name)(*map(int, other))


for _name in ("add", "sub", "rsub", "mul", "rmul", "mod", "and", "rand", "or", "xor", "rxor", "eq", "bool"):
    setattr(Coin, f"__{_name}__", _asking(f"__{_name}__"))


class Draws:
    """A role's randomness in one stage, in place of a `Stream`."""

    def __init__(self, tape: Tape, owner: str, path: str = "") -> None:
        self._tape, self._owner, self._path, self._count = tape, owner, path, 0

    def name(self) -> str:
        """The name of what is drawn next; equal in two streams of one label."""
        self._count += 1
        name = f"{self._owner}, {self._path}, {self._count}"
        self._tape.owners[name] = self._owner
        return name

    def below(self, n: int) -> Coin:
        return Coin(self._tape, self.name(), n)

    def bits(self, k: int) -> Coin:
        return self.below(1 << k)

    def fork(self, label: str) -> Draws:
        return Draws(self._tape, self._owner, f"{self._path} {label}")


# Boxes.


@dataclass(frozen=True)
class Box:
    """A ciphertext of `content`, or of `content` times a factor, with these randomisers in it."""

    u: int
    content: int
    randomisers: frozenset[str] = frozenset()
    factor: Coin | None = None

    @property
    def value(self) -> Box:
        """The number that the ciphertext is."""
        return self

    def times(self, factor: int | Factor) -> Box:
        """The number to this power."""
        if not isinstance(factor, Factor):
            return replace(self, content=self.content * factor % self.u)
        if factor.coin.size != self.u - 1:
            return self.times(1 + int(factor.coin))
        assert self.factor is None, "two factors"
        return replace(self, factor=factor.coin if self.content else None)

    def plus(self, other: Box) -> Box:
        """The product of the numbers."""
        scaled = [box for box in (self, other) if box.factor is not None]
        assert not scaled or not (self.content and other.content), "a sum with something under a factor"
        content, randomisers = (self.content + other.content) % self.u, self.randomisers | other.randomisers
        return Box(self.u, content, randomisers, scaled[0].factor if scaled else None)


@dataclass(frozen=True)
class PublicBoxes:
    """`DgkPublicKey`, whose numbers are any of the right length."""

    n: int
    g: int
    h: int
    u: int
    t: int

    def encrypt(self, m: int, rng: Draws) -> Box:
        return self.blind(self.constant(m), 1, rng)

    def constant(self, m: int) -> Box:
        return Box(self.u, m % self.u)

    def blind(self, c: Box, factor: int | Factor, rng: Draws) -> Box:
        return c.times(factor).plus(Box(self.u, 0, frozenset([rng.name()])))

    def add(self, *boxes: Box) -> Box:
        total = self.constant(0)
        for box in boxes:
            total = total.plus(box)
        return total

    def negate(self, c: Box) -> Box:
        return c.times(-1)


@dataclass(frozen=True)
class PrivateBoxes:
    """`DgkPrivateKey`: tells which boxes hold zero."""

    public: PublicBoxes

    def is_zero(self, c: Box) -> bool:
        return c.content == 0

    def encrypt(self, m: int, rng: Draws) -> Box:
        return self.public.encrypt(m, rng)


def _generate(bits: int, u: int, rng: Draws) -> PrivateBoxes:
    n = (1 << bits) - 1
    return PrivateBoxes(PublicBoxes(n, n - 2, n - 1, u, dgk.order_bits(bits)))


def _ciphertext(n: int, value: Box) -> Box:
    return value


INSTEAD: Mapping[Any, Any] = {
    dgk: SimpleNamespace(
        generate=_generate,
        DgkPublicKey=PublicBoxes,
        has_size=lambda key, bits: key.n.bit_length() == bits,
        order_bits=dgk.order_bits,
    ),
    modular: SimpleNamespace(next_prime=modular.next_prime, power=lambda base, exponent, _: base.times(exponent)),
    dgk.BitCiphertext: _ciphertext,
    dgk.FreshBit: _ciphertext,
}
"""What the names of real building blocks mean to a role that is tried."""


# Runs.


class Branch(NamedTuple):
    """A run under coins of which each has one value: its probability, coins, messages with both ends, and results."""

    probability: Fraction
    tape: Tape
    sent: tuple[tuple[str, str, Message], ...]
    results: Mapping[str, Any]


class _Tried(RoleStepper):
    """A role over boxes, which greets nobody."""

    def __init__(self, session: Session, name: str, tape: Tape, inputs: tuple[Any, ...]) -> None:
        draws: Any = Draws(tape, name)
        super().__init__(session, name, draws, inputs, dict.fromkeys(session.names))
        self.greeted, self.sent = True, list[tuple[str, str, Message]]()

    def greet(self) -> None:
        """Nobody waits for it."""

    def announce_stage_end(self, stage: str) -> None:
        """Nobody waits for it."""

    def send(self, to: str, message: Message) -> None:
        self.sent.append((self.name, to, message))

    def keep(self, message: Message) -> None:
        raise NotImplementedError

    def statement_signature(self, signer: str, kind: str, payload: bytes) -> bytes:
        raise NotImplementedError


class Player:
    """The two roles of a program under one set of parameters."""

    def __init__(self, program: Program, p: Comparisons) -> None:
        code: Mapping[Any, Any] = program.roles
        rebinding = Rebinding(INSTEAD, {role.__module__ for role in code.values()})
        program = replace(program, roles={kind: rebinding.function(role) for kind, role in code.items()})
        self.session = Session(program, p, dict.fromkeys(program.participants(p), bytes(32)), bytes(SESSION_BYTES))

    def branches(self, inputs: Inputs) -> Iterator[Branch]:
        """Runs that together are all runs on these inputs."""
        todo: list[tuple[Fraction, dict[str, int]]] = [(Fraction(1), {})]
        while todo:
            probability, fixed = todo.pop()
            tape = Tape(fixed)
            try:
                yield Branch(probability, tape, *self._played(tape, inputs))
            except AskedError as asked:
                todo += [(probability / asked.size, {**fixed, asked.name: value}) for value in range(asked.size)]

    def _played(self, tape: Tape, inputs: Inputs) -> tuple[tuple[tuple[str, str, Message], ...], dict[str, Any]]:
        roles = {name: _Tried(self.session, name, tape, inputs[name]) for name in self.session.names}
        sent: list[tuple[str, str, Message]] = []
        try:
            while waiting := [role for role in roles.values() if not role.done]:
                delivered = len(sent)
                for role in roles.values():
                    role.step()
                    for sender, to, message in role.sent:
                        roles[to].hand(sender, message, roles[sender].stage or "")
                    sent += role.sent
                    role.sent.clear()
                if delivered == len(sent) and all(not role.done for role in waiting):
                    raise StallError({role.name: role.waiting or "" for role in waiting})
        finally:
            for role in roles.values():
                role.close()
        return tuple(sent), {name: role.result for name, role in roles.items()}


# Views.


def view(branch: Branch, members: Sequence[str]) -> View:
    """Everything that the members see together, their own coins with it."""
    own = [(name, value) for name, value in branch.tape.asked.items() if branch.tape.owners[name] in members]
    known = {name for name, owner in branch.tape.owners.items() if owner in members}
    scales: dict[str, int] = {}
    found: list[Hashable] = []
    for sender, to, message in branch.sent:
        found.append((sender, to, type(message).__name__))
        for value in _values(message) if to in members else ():
            found.append(_read(value, HOLDER in members, known, scales) if isinstance(value, Box) else value)
    return tuple(sorted(own)), tuple(found)


def _values(message: Any) -> Iterator[Any]:
    for slot in message.slots:
        value = getattr(message, slot.name)
        yield from value if isinstance(value, tuple) else (value,)


def _read(box: Box, has_key: bool, known: set[str], scales: dict[str, int]) -> Hashable:
    """A box as it is read: what a factor multiplies is divided by the first number that this factor multiplied."""
    hidden = not box.randomisers <= known
    known |= box.randomisers
    if not hidden:
        return box.content, box.randomisers  # a factor shows in the randomisers
    if not has_key:
        return "hidden"
    if box.factor is None or box.factor.name in known:
        return box.content
    return box.content * pow(scales.setdefault(box.factor.name, box.content), -1, box.u) % box.u


# The matrix.


@dataclass(frozen=True)
class Case:
    """One input of both, what the functionality gives, and the law of what each coalition sees."""

    inputs: Mapping[str, Any]
    given: Mapping[str, Any]
    laws: Mapping[tuple[str, ...], Law]


def every_input(p: Comparisons) -> Iterator[Inputs]:
    """All shares of the chooser, with the first, the middle and the last of all shares of the holder."""
    everything = list(product(range(p.ring.modulus), repeat=p.comparisons))
    for held in (everything[0], everything[(len(everything) - 1) // 2], everything[-1]):
        yield from ({CHOOSER: (p, chosen), HOLDER: (p, held)} for chosen in everything)


def cases_of(program: Program, p: Comparisons, inputs: Iterable[Inputs]) -> list[Case]:
    """Every case of one size; raise `ValueError` where roles give something else than they should."""
    player, found = Player(program, p), []
    for given in inputs:
        laws: dict[tuple[str, ...], Counter[View]] = {members: Counter() for members in COALITIONS}
        results = ideal.gives(p, given)
        for branch in player.branches(given):
            if branch.results != results:
                raise ValueError("the roles give another result")
            for members, law in laws.items():
                law[view(branch, members)] += branch.probability  # type: ignore[assignment]
        found.append(Case({name: own[1] for name, own in given.items()}, results, laws))  # type: ignore[arg-type]
    return found


def matrix(program: Program, *sizes: tuple[Comparisons, Iterable[Inputs]]) -> dict[tuple[str, ...], dict[str, Cell]]:
    """By coalition and secret, how much of it is learnt: the most at any of these sizes."""
    found: dict[tuple[str, ...], dict[str, Cell]] = {members: {} for members in COALITIONS}
    for p, inputs in sizes:
        cases = cases_of(program, p, inputs)
        for members, row in found.items():
            for secret, cell in _cells(cases, members).items():
                row[secret] = max(row.get(secret, cell), cell, key=lambda c: LEVELS.index(c.level))
    return found


OWN = Cell("own", "own", "")


def _cells(cases: Sequence[Case], members: tuple[str, ...]) -> dict[str, Cell]:
    def own(case: Case) -> Hashable:
        return tuple(case.inputs[name] for name in members)

    def result(case: Case) -> Hashable:
        return tuple(case.given[name] for name in members)

    def cell(value: Callable[[Case], Hashable]) -> Cell:
        groups = [group for group in _grouped(cases, own) if len({value(case) for case in group}) > 1]
        if not groups:
            return Cell("all", "all", "")
        seen = _worst(_told(group, lambda case: case.laws[members], value) for group in groups)
        return Cell(seen, _worst(_told(group, lambda case: {result(case): Fraction(1)}, value) for group in groups), "")

    numbers: dict[str, Callable[[Case], Hashable]] = {
        CHOOSER: lambda case: case.inputs[CHOOSER],
        HOLDER: lambda case: case.inputs[HOLDER],
    }
    found = {f"numbers of {name}": OWN if name in members else cell(value) for name, value in numbers.items()}
    found["result of holder"] = cell(lambda case: case.given[HOLDER])
    (other,) = [value for name, value in numbers.items() if name not in members] or [None]
    if other is None:
        return {**found, MORE: OWN}
    groups = _grouped(cases, lambda case: (own(case), result(case)))
    return {**found, MORE: Cell(_worst(_told(g, lambda c: c.laws[members], other) for g in groups), "nothing", "")}


def _grouped(cases: Sequence[Case], key: Callable[[Case], Hashable]) -> list[list[Case]]:
    groups: defaultdict[Hashable, list[Case]] = defaultdict(list)
    for case in cases:
        groups[key(case)].append(case)
    return list(groups.values())


def _told(group: Sequence[Case], seen: Callable[[Case], Law], value: Callable[[Case], Hashable]) -> Level:
    """How much of a value shows in what is seen, all cases being equally likely."""
    laws = []
    for same in _grouped(group, value):
        law: Counter[View] = Counter()
        for case in same:
            for found, probability in seen(case).items():
                law[found] += probability / len(same)  # type: ignore[assignment]
        laws.append(law)
    if all(law == laws[0] for law in laws):
        return "nothing"
    return "all" if len(set().union(*laws)) == sum(map(len, laws)) else "partly"


def _worst(levels: Iterable[Level]) -> Level:
    return max(levels, key=LEVELS.index)
