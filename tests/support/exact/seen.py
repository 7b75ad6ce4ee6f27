"""What a coalition sees of a run that was tried: facts, and numbers whose joint law is all that can differ.

A ciphertext shows a row to whoever reads it: the exponent of h, and for whoever has no key the plaintext added to it. A
row with a drawn exponent of somebody else, which no row before it has, is uniform and shows nothing. From a row that
only has exponents of rows before it these are taken off: what is left, and how often they were in it, is shown.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from protocols.runtime.session import PUBLIC_NAME
from support.exact.boxes import BitBox, KeySecret
from support.exact.many import Many, ManyOrOne, array
from support.exact.play import Branch


@dataclass(repr=False)
class Sight:
    """`facts` are read off; `numbers` are read, `own` are the members' own coins."""

    facts: list[Hashable] = field(default_factory=list)
    numbers: list[ManyOrOne] = field(default_factory=list)
    own: list[ManyOrOne] = field(default_factory=list)


def sight(branch: Branch, members: frozenset[str]) -> Sight:
    """Everything that the members see together, their own coins with it."""
    tape = branch.tape
    own = [value for name in members for value in tape.coins.get(name, ())]
    found = Sight([(sender, to, type(message).__name__) for sender, to, message in branch.sent], [], own)
    mail = [m for _, to, m in branch.sent if to in members or to == PUBLIC_NAME]
    values = [value for message in mail for value in _values(message)]
    held = {n for n, maker in tape.keys.items() if maker in members}
    held |= {value.n for value in values if isinstance(value, KeySecret)}
    rows = _Rows(found, frozenset(name for name, owner in tape.exponents.items() if owner in members))
    for value in values:
        if isinstance(value, BitBox):
            rows.read(value, value.n in held)
        elif isinstance(value, Many | int):
            found.numbers.append(value if isinstance(value, Many) or value < 1 << 62 else 0)
            found.facts.append("a number" if isinstance(value, Many) or value < 1 << 62 else value)
        else:
            found.facts.append(value)
    return found


def _values(message: Any) -> Iterator[Any]:
    for slot in message.slots:
        value = getattr(message, slot.name)
        yield from value if isinstance(value, tuple | list) else (value,)


class _Rows:
    """The rows read so far; `known` are exponents that the members drew."""

    def __init__(self, sight: Sight, known: frozenset[str]) -> None:
        self._sight, self._known = sight, known
        self._pivots: dict[str, tuple[Mapping[str, ManyOrOne], ManyOrOne]] = {}

    def read(self, box: BitBox, opened: bool) -> None:
        """A box: its content if it is opened, and whatever its exponent does not hide."""
        if opened:
            self._sight.numbers.append(box.content)
        exponent, content, taken = dict(box.exponent), 0 if opened else box.content, list[ManyOrOne]()
        for name, (row, its_content) in self._pivots.items():
            factor, own = exponent.get(name, 0), row[name]
            if isinstance(factor, Many) or factor:
                taken += [factor, own]
                every = {**exponent, **row}
                exponent = {k: exponent.get(k, 0) * own - row.get(k, 0) * factor for k in every if k != name}
                content = content * own - its_content * factor
        new = next((k for k, times in exponent.items() if k not in self._known and _never_zero(times)), None)
        self._sight.facts.append("a box" if new else ("a box that shows", *exponent))
        if new:
            self._pivots[new] = (exponent, content)
        else:
            self._sight.numbers += [content, *taken, *exponent.values()]


def _never_zero(x: ManyOrOne) -> bool:
    return bool(np.all(array(x) != 0))
