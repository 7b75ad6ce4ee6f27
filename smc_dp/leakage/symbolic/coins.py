"""Tape of a symbolic run: every coin with its owner, every key, every permutation."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Set
from dataclasses import dataclass, field
from typing import Any

from protocols.arithmetic.permutation import Permutation
from protocols.errors import LocalError
from smc_dp.leakage.symbolic.circuits import Circuit, LockedUp
from smc_dp.leakage.symbolic.form import Form, Number, Symbol, extent
from smc_dp.leakage.symbolic.strings import Strings
from smc_dp.leakage.symbolic.worlds import Question, World

_AGREED_OWNER = ""  # the owner of coins that each holder of their source can draw
_TIE_BITS = 40  # two uniform coins of so many bits are equal with probability 2^-40
_BEYOND_MODULI = 1 << 4096  # beyond every modulus: a randomiser is uniform whatever it is added to


@dataclass(repr=False)
class Tape:
    """Register of one run; `compared` are the unknowns whose order the world knows.

    `role`: the role that runs now. `salt`: text that enters random bytes; runs with another one differ in these alone.
    `coins`: by the role that drew them. `secrets`: those of keys, by the role that made the key. `moduli`: stand-ins
    for the moduli of keys, each new one smaller than those before.

    `permutation_labels`: from a source of randomness to the name of the permutation drawn from it;
    `permutation_drawers`: from that name to the roles that drew it. `agreed_draws`: from a source to the coins drawn
    from it by its holders. `commitments`: from a commitment to its context, value and opening. `circuits`: from the
    gates of a garbled search to that search; `locked_rows`: from locked bytes to its rows. `products`: unknowns that
    stand for products, by the text of the factors. `world_answers`: all answers of the world so far; the run depends on
    these alone.
    """

    world: World
    names: tuple[str, ...]
    compared: tuple[str, ...]
    role: str = ""
    salt: str = ""
    coins: dict[str, list[Symbol]] = field(default_factory=dict)
    named: dict[str, Symbol] = field(default_factory=dict)
    secrets: dict[str, set[Any]] = field(default_factory=dict)
    strings: Strings = field(default_factory=Strings)
    commitments: dict[bytes, tuple[bytes, Any, bytes]] = field(default_factory=dict)
    agreed_draws: dict[bytes, list[Symbol]] = field(default_factory=dict)
    permutation_labels: dict[bytes, str] = field(default_factory=dict)
    permutation_drawers: dict[str, set[str]] = field(default_factory=dict)
    moduli: list[int] = field(default_factory=list)
    products: dict[str, Symbol] = field(default_factory=dict)
    circuits: dict[bytes, Circuit] = field(default_factory=dict)
    locked_rows: dict[bytes, LockedUp] = field(default_factory=dict)
    world_answers: dict[Question, Hashable] = field(default_factory=dict)

    def draw(self, symbol: Symbol, register: list[Symbol] | None = None) -> Symbol:
        """Note a coin of its owner, also in `register`; one of the same name is the same coin, drawn again."""
        known = self.named.setdefault(symbol.name, symbol)
        if known is symbol:
            self.coins.setdefault(symbol.owner, []).append(symbol)
            if register is not None:
                register.append(symbol)
        return known

    def product(self, x: Form, y: Form) -> Symbol:
        """Return the unknown that stands for x y: the same one for the same factors."""
        name = f"({x.text})({y.text})"
        return self.products.setdefault(name, Symbol(name, 0, _BEYOND_MODULI - 1, "product", "", None, (x, y)))

    def digest(self, data: bytes) -> bytes:
        """Return a hash whose preimage is remembered."""
        return self.strings.digest(data)

    def permutations_of(self, theirs: Set[bytes]) -> frozenset[str]:
        """Return the permutations that a holder of these strings can draw."""
        return frozenset(
            label for source, label in self.permutation_labels.items() if self.strings.makes(source, theirs)
        )

    def sources_of(self, theirs: Set[bytes]) -> list[bytes]:
        """Return the agreed sources that a holder of these strings can draw from."""
        return [source for source in self.agreed_draws if self.strings.makes(source, theirs)]

    def coins_of(self, theirs: Set[bytes]) -> set[Symbol]:
        """Return the coins from agreed sources that a holder of these strings can draw."""
        return {s for source in self.sources_of(theirs) for s in self.agreed_draws[source]}

    def permutation(self, size: int, source: bytes) -> Permutation:
        """Return the world's permutation for this source; the same for all roles that share the source."""
        if source not in self.permutation_labels:
            if len(self.permutation_labels) == len(self.names):
                raise LocalError("model.permutation_without_name", role=self.role)
            # The model lists its permutations in the order in which roles first draw them.
            self.permutation_labels[source] = self.names[len(self.permutation_labels)]
        label = self.permutation_labels[source]
        self.permutation_drawers.setdefault(label, set()).add(self.role)
        images = self.images(label)
        if len(images) != size:
            raise LocalError("model.permutation_of_another_size", name=label, places=len(images), wanted=size)
        return Permutation(images)

    def images(self, label: str) -> tuple[int, ...]:
        """Return the permutation of this name."""
        images: tuple[int, ...] = self._ask((self.names.index(label),))
        return images

    def _ask(self, question: Question) -> Any:
        self.world_answers[question] = self.world.answer(question)
        return self.world_answers[question]

    def fits(self, world: World) -> bool:
        """Return whether this run is that of the other world, too: all that was asked is the same in both."""
        return all(world.answer(question) == answer for question, answer in self.world_answers.items())

    def is_negative(self, x: Number) -> int:
        """Return whether the difference x of two compared numbers is negative in this world."""
        terms = Form.of(x).terms
        sides = {s.name: c for s, c in terms.items() if s.name in self.compared}
        rest = {s: c for s, c in terms.items() if s.name not in self.compared}
        unit = max((abs(c) for c in sides.values()), default=0)
        least, most = extent(rest)
        # unit (a - b) + rest has the sign of a - b only if |rest| < unit: a and b are integers, and differ.
        if sorted(sides.values()) != [-unit, unit] or least <= -unit or most >= unit:
            Form.of(x).refuse("symbol.no_difference")
        less, more = sorted(sides, key=lambda name: sides[name])
        return int(self._ask((self.compared.index(more), self.compared.index(less))))

    def breaks_ties(self, x: Form) -> bool:
        """Return whether both numbers of a difference end in coins, so many that two are hardly ever equal."""
        coins = [c for s, c in x.terms.items() if s.kind == "coin" and s.high >> (_TIE_BITS - 1)]
        return any(c > 0 for c in coins) and any(c < 0 for c in coins)


class Coins:
    """Randomness of a role: every draw is a new unknown, every string of bytes a new string."""

    def __init__(self, tape: Tape, owner: str, path: str) -> None:
        self._tape, self._owner, self._path = tape, owner, path
        self._count = 0

    def _name(self, what: str) -> str:
        self._count += 1
        return f"{what} {self._count} of {self._owner} in {self._path}"

    def bits(self, k: int) -> Number:
        """Draw a coin in [0, 2**k)."""
        return self.below(1 << k)

    def numbers(self, count: int, k: int) -> tuple[Number, ...]:
        """Draw `count` coins in [0, 2**k)."""
        return tuple(self.bits(k) for _ in range(count))

    def below(self, n: Number) -> Number:
        """Draw a coin in [0, n); where n is an unknown, the coin tells of it."""
        if not isinstance(n, Form):
            return Form.of(self._coin(n - 1)) if n > 1 else 0
        return Form.of(self._coin(n.high - 1, n))

    def _coin(self, high: int, about: Form | None = None) -> Symbol:
        return self._tape.draw(Symbol(self._name("coin"), 0, high, "coin", self._owner, about))

    def randomiser(self) -> Symbol:
        """Draw an encryption of zero, written as an exponent."""
        return self._tape.draw(Symbol(self._name("randomiser"), 0, _BEYOND_MODULI - 1, "randomiser", self._owner))

    def bytes(self, n: int) -> bytes:
        """Draw a string that nobody else draws."""
        made = hashlib.shake_256(f"{self._name('bytes')}{self._tape.salt}".encode()).digest(n)
        return self._tape.strings.draw(self._owner, made)

    def fork(self, label: str) -> Coins:
        """Return independent randomness under this label."""
        return Coins(self._tape, self._owner, f"{self._path} {label}")

    def holds(self, secret: Any) -> None:
        """Note that the owner knows this secret of a key."""
        self._tape.secrets.setdefault(self._owner, set()).add(secret)

    def permutation(self, size: int) -> Permutation:
        """Draw a permutation of the world."""
        return self._tape.permutation(size, self.bytes(32))


class AgreedCoins:
    """Stream keyed by bytes: all holders of the bytes draw the same."""

    def __init__(self, tape: Tape, key: bytes) -> None:
        self._tape, self._key = tape, key
        self._count = 0

    def permutation(self, size: int) -> Permutation:
        """Draw the permutation of all holders of the bytes."""
        return self._tape.permutation(size, self._key)

    def bits(self, k: int) -> Number:
        """Draw a coin in [0, 2**k)."""
        return self.below(1 << k)

    def numbers(self, count: int, k: int) -> tuple[Number, ...]:
        """Draw `count` coins in [0, 2**k)."""
        return tuple(self.bits(k) for _ in range(count))

    def below(self, n: int) -> Number:
        """Draw a coin in [0, n)."""
        self._count += 1
        name = f"coin {self._count} of {self._key.hex()}"
        drawn = self._tape.agreed_draws.setdefault(self._key, [])
        return Form.of(self._tape.draw(Symbol(name, 0, n - 1, "coin", _AGREED_OWNER), drawn)) if n > 1 else 0
