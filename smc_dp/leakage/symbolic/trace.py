"""Trace of a symbolic run: every message in the order of sending, and the owners of the unknowns in it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from typing import Any

from protocols.arithmetic.words import Words
from protocols.errors import LocalError
from protocols.runtime.message import Message
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.leakage.symbolic.coins import Tape
from smc_dp.leakage.symbolic.form import Form, Symbol

GREETED = "greeting"


def message_values(message: Message) -> Iterator[Any]:
    """Yield everything that a message holds, field by field."""
    for slot in message.slots:
        value = getattr(message, slot.name)
        yield from value if isinstance(value, tuple | list | Words) else (value,)


@dataclass(frozen=True, eq=False, repr=False)
class Sent:
    """Message on its way, with the public name of its sender's stage.

    `to` is `PUBLIC_NAME` for what is published, or said in a greeting. `entered`: how many stages its sender had begun
    by then.
    """

    sender: str
    to: str
    message: Message
    stage: str = ""
    greets: bool = False
    entered: int = 0

    @cached_property
    def values(self) -> tuple[Any, ...]:
        """Everything that the message holds, field by field."""
        return tuple(message_values(self.message))


@dataclass(frozen=True, repr=False)
class Trace:
    """Trace of one run: its tape, its messages, private unknowns and their owners by name, and the stages of each role.

    `ideal`: what the functionality gives a coalition by name, if that is not what the published shares add up to.
    """

    tape: Tape
    sent: tuple[Sent, ...]
    inputs: Mapping[str, Symbol]
    owners: Mapping[str, str]
    stages: Mapping[str, tuple[str, ...]]
    ideal: Callable[[frozenset[str]], Mapping[str, Any]] | None = None

    def given(self, members: frozenset[str]) -> dict[str, Form]:
        """Return what the functionality gives to this coalition by name."""
        return {name: Form.of(x) for name, x in self.ideal(members).items()} if self.ideal else {}

    @cached_property
    def released(self) -> list[Form]:
        """Sum of the published shares, number by number."""
        published = (s for s in self.sent if s.to == PUBLIC_NAME and not s.greets)
        shares = [[v for v in s.values if not isinstance(v, bytes)] for s in published]
        return [Form.of(sum(column)) for column in zip(*shares, strict=True)]

    def check_bytes(self, other: Trace) -> None:
        """Raise `LocalError` where a run with other random bytes differs in more than whole strings.

        Bytes are drawn, hashed and sent as they are. A value made of them otherwise is no form, and taken for a
        constant it would pass for something public.
        """
        for one, two in zip(self.sent, other.sent, strict=True):
            for x, y in zip(one.values, two.values, strict=True):
                whole = self.tape.strings.is_string(x) and other.tape.strings.is_string(y)
                if isinstance(x, int | bytes) and not whole and (type(x) is not type(y) or x != y):
                    what = type(one.message).__name__
                    raise LocalError("role.sends_random_bytes_as_number", sender=one.sender, what=what)

    @cached_property
    def headers(self) -> tuple[Hashable, ...]:
        """Headers of all messages, and the stages of each role: anybody sees them."""
        sent = [(s.sender, s.to, type(s.message).__name__, s.stage) for s in self.sent]
        return *sent, *self.stages.items()

    @cached_property
    def joins(self) -> list[tuple[Form, tuple[Form, ...]]]:
        """Numbers that were made by joining digits, each with its digits, highest first."""
        coins = (s for owned in self.tape.coins.values() for s in owned)
        return [(x, tuple(reversed(x.slots))) for s in coins for x in s.joined]

    @cached_property
    def contests(self) -> list[tuple[int, int, Form]]:
        """Differences of two compared numbers, or of numbers that begin with them, with the places of the two."""
        carriers = [self._carriers(self.inputs[name]) for name in self.tape.compared]
        pairs = combinations(range(len(carriers)), 2)
        return [(i, j, Form.of(x - y)) for i, j in pairs for x in carriers[i] for y in carriers[j]]

    @cached_property
    def carried(self) -> tuple[tuple[Form, Form], ...]:
        """Differences of two numbers that begin with compared ones, each with that of the compared ones."""
        pairs = permutations((self.inputs[name] for name in self.tape.compared), 2)
        return tuple(
            (Form.of(x - y), Form.of(Form.of(one) - Form.of(other)))
            for one, other in pairs
            for x in self._carriers(one)[1:]
            for y in self._carriers(other)[1:]
        )

    def _carriers(self, symbol: Symbol) -> list[Form]:
        return [Form.of(symbol), *(whole for whole, digits in self.joins if symbol in digits[0].terms)]
