"""What is drawn in one run of roles that are tried: coins under all their values, or under the one looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from protocols.errors import LocalError
from support.exact.many import ManyOrOne, coin

WIDEST = 1 << 12  # values of one coin


@dataclass(repr=False)
class DrawnCoins:
    """`fixed` are the coins with one value, by name, the others are axes; `drawn` are all of them.

    `coins` are those of each role, `exponents` and `keys` map what was drawn to who drew it.
    """

    fixed: Mapping[str, int]
    axes: list[tuple[str, int]] = field(default_factory=list)
    drawn: dict[str, tuple[int, ManyOrOne]] = field(default_factory=dict)
    coins: dict[str, list[ManyOrOne]] = field(default_factory=dict)
    exponents: dict[str, str] = field(default_factory=dict)
    keys: dict[int, str] = field(default_factory=dict)


class Draws:
    """A role's randomness in one stage, in place of a `Stream`."""

    def __init__(self, tape: DrawnCoins, owner: str, path: str) -> None:
        self._tape, self._owner, self._path, self._count = tape, owner, path, 0

    def _name(self) -> str:
        self._count += 1
        return f"{self._owner}, {self._path}, {self._count}"

    def bits(self, k: int) -> ManyOrOne:
        """A coin in [0, 2**k)."""
        return self.below(1 << k)

    def numbers(self, count: int, k: int) -> tuple[ManyOrOne, ...]:
        """So many coins in [0, 2**k)."""
        return tuple(self.bits(k) for _ in range(count))

    def below(self, n: int) -> ManyOrOne:
        """A coin in [0, n)."""
        size = range(n).stop  # asks, where n depends on coins
        name = self._name()
        if size > WIDEST:
            raise LocalError("exact.too_many_values_drawn", owner=self._owner, size=size)
        if name not in self._tape.drawn:
            self._tape.drawn[name] = size, self._new(name, size)
        known, value = self._tape.drawn[name]
        if known != size:
            raise LocalError("exact.draws_otherwise", owner=self._owner, known=known, size=size)
        return value

    def _new(self, name: str, size: int) -> ManyOrOne:
        value: ManyOrOne = self._tape.fixed.get(name, 0)
        if size > 1 and name not in self._tape.fixed:
            value = coin(len(self._tape.axes), size)
            self._tape.axes.append((name, size))
        self._tape.coins.setdefault(self._owner, []).append(value)
        return value

    def exponent(self) -> str:
        """A new exponent of h, by its name."""
        name = self._name()
        self._tape.exponents[name] = self._owner
        return name

    def bytes(self, n: int) -> bytes:
        """Refused: strings of bytes are too many to try."""
        raise LocalError("exact.too_many_bytes", owner=self._owner, n=n)

    def fork(self, label: str) -> Draws:
        """Randomness of its own."""
        return Draws(self._tape, self._owner, f"{self._path} {label}")

    def keys(self) -> int:
        """How many keys there are."""
        return len(self._tape.keys)

    def holds(self, n: int) -> None:
        """Note that the owner made the key with this n."""
        self._tape.keys[n] = self._owner
