"""Ideal functionalities: the function of the parties' parts that somebody whom all trust could compute.

A part is what one party enters. Nothing is said here of who computes it: `ideal` does it in one place, a protocol among
the parties themselves, and both give the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from protocols.arithmetic.ring import Vector as Vector
from protocols.arithmetic.rng import Stream


class Sampler(Protocol):
    """Distribution of noise: d integers at each draw."""

    def sample(self, rng: Stream) -> Sequence[int]:
        """Draw once."""


class Functionality(Protocol):
    """Function of all parts."""

    def check(self, parts: Sequence[Any]) -> None:
        """Raise ValueError unless the parts fit together."""

    def compute(self, parts: Sequence[Any], rng: Stream) -> Any:
        """Return the value; `rng` draws what no party draws."""


@dataclass(frozen=True)
class Contribution:
    """One party's part of `SumWithSmallestNoise`.

    `size` is its number of rows; `weights` its model and `noise` the noise it would add to the sum of all
    models if it were the smallest party: d signed integers each, on the same grid.
    """

    size: int = field(repr=False)
    weights: Vector = field(repr=False)
    noise: Vector = field(repr=False)


@dataclass(frozen=True)
class SumWithSmallestNoise:
    """The sum of all weights and the noise of the smallest party, uniform among equals: d integers.

    `times` is what multiplies the noise: 1, or K for the steps as published in Pathak, Rane and Raj (2010).
    """

    times: int = 1

    def check(self, parts: Sequence[Contribution]) -> None:
        """Raise ValueError for fewer than two parties, a size below 1, or vectors of different lengths."""
        if len(parts) < 2:
            raise ValueError(f"contributions: wanted those of at least 2 parties, got {len(parts)}")
        d = len(parts[0].weights)
        for j, part in enumerate(parts, start=1):
            if part.size < 1:
                raise ValueError(f"party {j}: size must be positive")
            if len(part.weights) != d or len(part.noise) != d or not d:
                came = f"{len(part.weights)} and {len(part.noise)}"
                raise ValueError(f"party {j}: wanted {d} weights and as much noise, got {came}")

    def compute(self, parts: Sequence[Contribution], rng: Stream) -> Vector:
        """Return the noisy sum."""
        smallest = min(part.size for part in parts)
        candidates = [part for part in parts if part.size == smallest]
        noise = candidates[rng.below(len(candidates))].noise
        return add_vectors([*(part.weights for part in parts), [self.times * e for e in noise]])


@dataclass(frozen=True)
class Sum:
    """The sum of all vectors of d integers, and one draw of `distribution`, if any, that nobody knows."""

    distribution: Sampler | None = None

    def check(self, parts: Sequence[Sequence[int]]) -> None:
        """Raise ValueError for no vector at all, or vectors of different lengths."""
        if not parts or not len(parts[0]) or len({len(part) for part in parts}) > 1:
            raise ValueError(f"vectors: wanted at least one, all of one length, got {[len(part) for part in parts]}")

    def compute(self, parts: Sequence[Sequence[int]], rng: Stream) -> Vector:
        """Return the sum; noise is drawn last."""
        total = add_vectors(parts) if len(parts) > 1 else tuple(parts[0])
        return total if self.distribution is None else add_vectors([total, self.distribution.sample(rng)])


@dataclass(frozen=True)
class Addend:
    """One party's part of `SumWithShares`: what it adds, and its own share of the noise, signed integers."""

    numbers: Vector = field(repr=False)
    noise: Vector = field(repr=False)


@dataclass(frozen=True)
class SumWithShares:
    """The sum of all numbers and of all shares of the noise, which nobody knows: `length` integers.

    The parts are those of the parties that took part; a party that dropped out before has none.
    """

    length: int

    def check(self, parts: Sequence[Addend]) -> None:
        """Raise ValueError for no part at all, or vectors of another length."""
        if not parts:
            raise ValueError("parts: wanted at least one, got none")
        for j, part in enumerate(parts, start=1):
            if (len(part.numbers), len(part.noise)) != (self.length, self.length):
                came = f"{len(part.numbers)} and {len(part.noise)}"
                raise ValueError(f"party {j}: wanted {self.length} numbers and as much noise, got {came}")

    def compute(self, parts: Sequence[Addend], rng: Stream) -> Vector:
        """Return the noisy sum; nothing is drawn here."""
        return add_vectors([vector for part in parts for vector in (part.numbers, part.noise)])


@dataclass(frozen=True)
class EachPublishes:
    """Every party publishes its part, with whatever noise it added itself: nobody is trusted, nothing is computed."""

    def check(self, parts: Sequence[Any]) -> None:
        """Raise ValueError for no part."""
        if not parts:
            raise ValueError("parts: wanted at least one, got none")

    def compute(self, parts: Sequence[Any], rng: Stream) -> tuple[Any, ...]:
        """Return the parts, in the order of the parties."""
        return tuple(parts)


@dataclass(frozen=True)
class Trusted:
    """Somebody who is trusted gets all parts and computes `by` of them; there is no protocol that does it instead."""

    by: Callable[[Sequence[Any], Stream], Any]

    def check(self, parts: Sequence[Any]) -> None:
        """Raise ValueError for no part."""
        EachPublishes().check(parts)

    def compute(self, parts: Sequence[Any], rng: Stream) -> Any:
        """Return the value that the trusted one computes."""
        return self.by(parts, rng)


RoundAnswer: TypeAlias = Callable[[tuple[Any, ...]], Any]
"""A party's part where there are several rounds: what it enters next, given the values of the rounds before."""


@dataclass(frozen=True)
class Rounds:
    """Sequence of functionalities: a party's part is a `RoundAnswer`.

    The value is that of every round. An answer may use randomness of its own; it sees values and no other party's part.
    """

    each: tuple[Functionality, ...]

    def check(self, parts: Sequence[RoundAnswer]) -> None:
        """Raise ValueError for no part, or no round."""
        EachPublishes().check(parts)
        if not self.each:
            raise ValueError("rounds: wanted at least 1, got 0")

    def compute(self, parts: Sequence[RoundAnswer], rng: Stream) -> tuple[Any, ...]:
        """Return the values, in the order of the rounds."""
        values: tuple[Any, ...] = ()
        for one in self.each:
            answers = [answer(values) for answer in parts]
            one.check(answers)
            values = (*values, one.compute(answers, rng))
        return values


def add_vectors(vectors: Sequence[Sequence[int]]) -> Vector:
    """Add up vectors of one length."""
    return tuple(map(sum, zip(*vectors, strict=True)))


def ideal(functionality: Functionality, parts: Sequence[Any], rng: Stream | None = None) -> Any:
    """Return the value of the functionality of these parts; randomness from `rng`, else the system's.

    Raises ValueError if the parts do not fit together.
    """
    functionality.check(parts)
    return functionality.compute(parts, Stream.from_system() if rng is None else rng)
