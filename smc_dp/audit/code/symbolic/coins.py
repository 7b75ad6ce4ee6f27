"""What a symbolic run writes down: every coin with its owner, every key, every permutation."""

from __future__ import annotations

import hashlib
from collections.abc import Set
from dataclasses import dataclass, field
from typing import Any

from protocols.arithmetic.permutation import Permutation
from protocols.errors import LocalError
from smc_dp.audit.code.symbolic.form import Form, Number, Symbol, UndecidedError, extent
from smc_dp.audit.code.symbolic.worlds import World

FULL = 1 << 4096  # beyond every modulus: a randomiser is uniform whatever it is added to


@dataclass(repr=False)
class Tape:
    """The notes of one run. `compared` are the unknowns whose order the world knows.

    `secrets` are those of keys, by the role that made the key, `strings` the random bytes by the role that drew them.
    `labels` maps a source of randomness to the permutation drawn from it, `drawers` its name to the roles that drew it,
    `hashed` a digest to what was hashed, `committed` a commitment to its context, its value and its opening.
    """

    world: World
    names: tuple[str, ...]
    compared: tuple[str, ...]
    role: str = ""
    coins: dict[str, list[Symbol]] = field(default_factory=dict)
    named: dict[str, Symbol] = field(default_factory=dict)
    secrets: dict[str, set[Any]] = field(default_factory=dict)
    strings: dict[str, list[bytes]] = field(default_factory=dict)
    hashed: dict[bytes, bytes] = field(default_factory=dict)
    committed: dict[bytes, tuple[bytes, Any, bytes]] = field(default_factory=dict)
    labels: dict[bytes, str] = field(default_factory=dict)
    drawers: dict[str, set[str]] = field(default_factory=dict)
    keys: list[int] = field(default_factory=list)
    products: dict[str, Symbol] = field(default_factory=dict)

    def draw(self, symbol: Symbol) -> Symbol:
        """Note a coin of its owner; one of the same name is the same coin, drawn again from the beginning."""
        known = self.named.setdefault(symbol.name, symbol)
        if known is symbol:
            self.coins.setdefault(symbol.owner, []).append(symbol)
        return known

    def product(self, x: Form, y: Form) -> Symbol:
        """The unknown that stands for x y: the same one for the same factors."""
        name = f"({x.text})({y.text})"
        return self.products.setdefault(name, Symbol(name, 0, FULL - 1, "product", "", None, (x, y)))

    def digest(self, data: bytes) -> bytes:
        """A hash whose preimage is remembered."""
        made = hashlib.sha256(data).digest()
        self.hashed[made] = data
        return made

    def drawn(self, members: Set[str], read: Set[bytes]) -> frozenset[str]:
        """The permutations that these roles can draw, having read these bytes: they have all bytes of the source."""
        theirs = {*read, *(s for name in members for s in self.strings.get(name, ()))}
        everything = [s for strings in self.strings.values() for s in strings]
        needed = {
            label: [s for s in everything if s in self.hashed.get(key, key)] for key, label in self.labels.items()
        }
        return frozenset(label for label, strings in needed.items() if strings and theirs.issuperset(strings))

    def permutation(self, size: int, source: bytes) -> Permutation:
        """The world's permutation for this source of randomness; the same for all roles that share the source."""
        if source not in self.labels:
            if len(self.labels) == len(self.names):
                raise LocalError(f"{self.role} draws a permutation that the model does not name")
            self.labels[source] = self.names[len(self.labels)]
        label = self.labels[source]
        self.drawers.setdefault(label, set()).add(self.role)
        images = self.images(label)
        if len(images) != size:
            raise LocalError(f"{label} has {len(images)} places in the model, {size} are wanted")
        return Permutation(images)

    def images(self, label: str) -> tuple[int, ...]:
        """The permutation of this name."""
        return self.world.permutations[self.names.index(label)]

    def is_negative(self, x: Number) -> int:
        """Whether the difference x of two compared numbers is negative, as the world has it."""
        terms = Form.of(x).terms
        sides = {s.name: c for s, c in terms.items() if s.name in self.compared}
        rest = {s: c for s, c in terms.items() if s.name not in self.compared}
        unit = max((abs(c) for c in sides.values()), default=0)
        least, most = extent(rest)
        if sorted(sides.values()) != [-unit, unit] or least <= -unit or most >= unit:
            raise UndecidedError(f"{self.role} compares what is no difference of two compared numbers")
        rank = {c: self.world.ranks[self.compared.index(name)] for name, c in sides.items()}
        return int(rank[unit] < rank[-unit])


class Coins:
    """A role's randomness: every draw is a new unknown, every string of bytes a new string."""

    def __init__(self, tape: Tape, owner: str, path: str) -> None:
        self._tape, self._owner, self._path = tape, owner, path
        self._count = 0

    def _name(self, what: str) -> str:
        self._count += 1
        return f"{what} {self._count} of {self._owner} in {self._path}"

    def bits(self, k: int) -> Number:
        """A coin in [0, 2**k)."""
        return self.below(1 << k)

    def below(self, n: Number) -> Number:
        """A coin in [0, n); where n is an unknown, the coin tells of it."""
        if not isinstance(n, Form):
            return Form.of(self._coin(n - 1)) if n > 1 else 0
        return Form.of(self._coin(n.high - 1, n))

    def _coin(self, high: int, about: Form | None = None) -> Symbol:
        return self._tape.draw(Symbol(self._name("coin"), 0, high, "coin", self._owner, about))

    def randomiser(self) -> Symbol:
        """A new encryption of zero, written as an exponent."""
        return self._tape.draw(Symbol(self._name("randomiser"), 0, FULL - 1, "randomiser", self._owner))

    def bytes(self, n: int) -> bytes:
        """A string that nobody else draws."""
        made = hashlib.shake_256(self._name("bytes").encode()).digest(n)
        self._tape.strings.setdefault(self._owner, []).append(made)
        return made

    def fork(self, label: str) -> Coins:
        """Randomness of its own."""
        return Coins(self._tape, self._owner, f"{self._path} {label}")

    def holds(self, secret: Any) -> None:
        """Note that the owner knows this secret of a key."""
        self._tape.secrets.setdefault(self._owner, set()).add(secret)

    def permutation(self, size: int) -> Permutation:
        """A permutation of the world."""
        return self._tape.permutation(size, self.bytes(32))


class Agreed:
    """A stream keyed by bytes: whoever has the bytes draws the same."""

    def __init__(self, tape: Tape, key: bytes) -> None:
        self._tape, self._key = tape, key

    def permutation(self, size: int) -> Permutation:
        """The permutation that all holders of the bytes draw."""
        return self._tape.permutation(size, self._key)
