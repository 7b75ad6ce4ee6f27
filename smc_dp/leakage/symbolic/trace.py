"""What is left of a symbolic run: every message in the order of sending, and whose the unknowns in it are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from typing import Any

from protocols.errors import LocalError
from protocols.runtime.message import Message
from smc_dp.leakage.symbolic.coins import Tape
from smc_dp.leakage.symbolic.form import Form, Symbol, slots

GREETING = "greeting"


def values(message: Message) -> Iterator[Any]:
    """Everything that a message holds, field by field."""
    for slot in message.slots:
        value = getattr(message, slot.name)
        yield from value if isinstance(value, tuple | list) else (value,)


@dataclass(frozen=True, repr=False)
class Sent:
    """A message on its way, with the name of its sender's stage, which anybody reads; `to` is `PUBLIC_NAME` for what is
    published, or said in a greeting. `entered` says how many stages its sender had begun by then.
    """

    sender: str
    to: str
    message: Message
    stage: str = ""
    greets: bool = False
    entered: int = 0


@dataclass(frozen=True, repr=False)
class Trace:
    """One run: its notes, all its messages in the order of sending, private unknowns and their owners by name, and the
    stages of each role, whose ends it signs. `ideal` is what the functionality gives to a coalition by name, if that is
    not what the published shares add up to.
    """

    tape: Tape
    sent: tuple[Sent, ...]
    inputs: Mapping[str, Symbol]
    owners: Mapping[str, str]
    stages: Mapping[str, tuple[str, ...]]
    ideal: Callable[[frozenset[str]], Mapping[str, Any]] | None = None

    def given(self, members: frozenset[str]) -> dict[str, Form]:
        """What the functionality gives to this coalition by name."""
        return {name: Form.of(x) for name, x in self.ideal(members).items()} if self.ideal else {}

    def check_bytes(self, other: Trace) -> None:
        """Raises `LocalError` where this run differs from one with other random bytes in more than whole strings.

        Bytes are drawn, hashed and sent as they are. What else is made of them no form stands for, and if it were taken
        for a constant, it would pass for something public.
        """
        for one, two in zip(self.sent, other.sent, strict=True):
            for x, y in zip(values(one.message), values(two.message), strict=True):
                whole = self.tape.strings.is_string(x) and other.tape.strings.is_string(y)
                if isinstance(x, int | bytes) and not whole and (type(x) is not type(y) or x != y):
                    what = type(one.message).__name__
                    raise LocalError("role.sends_random_bytes_as_number", sender=one.sender, what=what)

    @cached_property
    def joins(self) -> list[tuple[Form, tuple[Form, ...]]]:
        """Every number that was made by joining digits, with its digits, highest first."""
        coins = (s for owned in self.tape.coins.values() for s in owned)
        return [(x, tuple(reversed(slots(x)))) for s in coins for x in s.joined]

    @cached_property
    def contests(self) -> list[tuple[int, int, Form]]:
        """Every difference of two compared numbers, or of numbers that begin with them, with the places of the two."""
        carriers = [self._carriers(self.inputs[name]) for name in self.tape.compared]
        pairs = combinations(range(len(carriers)), 2)
        return [(i, j, Form.of(x - y)) for i, j in pairs for x in carriers[i] for y in carriers[j]]

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
