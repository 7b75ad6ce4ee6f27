"""Numbers of a symbolic run: integer linear forms over unknowns, with the range that their value lies in.

A role computes with them as with integers. What a form cannot decide, because the answer depends on the value of an
unknown, stops the run with `UndecidedError`; nothing is guessed. A reduction mod M keeps the form and narrows the
range; the value is then that of the form mod M only, which the form remembers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import gcd
from typing import Any, Literal, NoReturn, TypeAlias, Union

from protocols.errors import LocalError

FormKind: TypeAlias = Literal["input", "coin", "randomiser", "product"]
Number: TypeAlias = Union[int, "Form"]


class UndecidedError(LocalError):
    """The role asks something that has not the same answer for all values of the unknowns."""


@dataclass(frozen=True, eq=False)
class Symbol:
    """An unknown in [low, high]. `owner` is the role that drew it.

    `about` is the form that its range depends on: whoever knows the unknown has a hint on that form. `factors` are the
    two forms that a product of unknowns has, which is treated as an unknown of its own. `joined` collects the numbers
    that hold this unknown as their lowest digits: who knows such a number knows its digits.
    """

    name: str
    low: int
    high: int
    kind: FormKind
    owner: str
    about: Form | None = field(default=None, repr=False)
    factors: tuple[Form, ...] = field(default=(), repr=False)
    joined: list[Form] = field(default_factory=list, repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class Form:
    """constant + sum of coefficient times unknown. `modulus` is M when the value was just reduced mod M, else None.

    `wrap`: the value is congruent to the form's mod this number; 0 when they are equal.
    """

    constant: int
    terms: Mapping[Symbol, int]
    low: int
    high: int
    modulus: int | None = None
    wrap: int = 0

    @classmethod
    def of(cls, x: Number | Symbol) -> Form:
        """A number or an unknown as a form."""
        if isinstance(x, Symbol):
            return cls(0, {x: 1}, x.low, x.high)
        return x if isinstance(x, Form) else cls(x, {}, x, x)

    def __add__(self, other: Number) -> Number:
        o = Form.of(other)
        if not o.terms and not o.constant:
            return self  # reduced as it was
        terms = dict(self.terms)
        for symbol, c in o.terms.items():
            terms[symbol] = terms.get(symbol, 0) + c
        wrap = gcd(self.wrap, o.wrap)
        return _number(self.constant + o.constant, terms, self.low + o.low, self.high + o.high, wrap)

    __radd__ = __add__

    def __mul__(self, k: Number) -> Number:
        if isinstance(k, Form):
            raise UndecidedError("multiplies two unknowns")
        ends = (self.low * k, self.high * k)
        terms = {s: c * k for s, c in self.terms.items()}
        return _number(self.constant * k, terms, min(ends), max(ends), self.wrap * abs(k))

    __rmul__ = __mul__

    def __neg__(self) -> Number:
        return self * -1

    def __sub__(self, other: Number) -> Number:
        return self + other * -1

    def __rsub__(self, other: Number) -> Number:
        return -self + other

    def __mod__(self, modulus: int) -> Form:
        fits = self.low >= 0 and self.high < modulus
        if fits and self.modulus is not None:
            return self
        if not fits and self.wrap % modulus:
            raise UndecidedError(f"reduces mod {modulus} what was reduced mod {self.wrap} before")
        return Form(self.constant, self.terms, 0, modulus - 1, modulus, self.wrap if fits else modulus)

    def __lshift__(self, bits: int) -> Number:
        return self * (1 << bits)

    def __rshift__(self, bits: int) -> Number:
        return self.digits(bits)[0]

    def __and__(self, mask: int) -> Number:
        if mask & (mask + 1):
            raise UndecidedError("masks other bits than the lowest")
        return self.digits(mask.bit_length())[1]

    def __or__(self, other: Number) -> Number:
        """The sum, where no bit can be set on both sides."""
        o = Form.of(other)
        free = o.high.bit_length()
        if o.low < 0 or any(c % (1 << free) for c in (self.constant, *self.terms.values())):
            raise UndecidedError("joins bits that may overlap")
        whole = self + other
        for symbol in o.terms:
            symbol.joined.append(Form.of(whole))
        return whole

    def digits(self, bits: int) -> tuple[Number, Number]:
        """(x >> bits, x & (2**bits - 1)), read off the coefficients."""
        unit = 1 << bits
        if self.low >= 0 and self.high < unit:
            return 0, self
        if self.wrap:
            raise UndecidedError("asks for digits of a number that is known mod another only")
        low = {s: c for s, c in self.terms.items() if c % unit}
        least, most = extent(low)
        constant = self.constant % unit
        if least + constant < 0 or most + constant >= unit:
            raise UndecidedError(f"asks for digits beyond bit {bits} of a number that may carry into them")
        high = {s: c // unit for s, c in self.terms.items() if s not in low}
        above = _number(self.constant // unit, high, self.low // unit, self.high // unit)
        return above, _number(constant, low, max(0, least + constant), most + constant)

    def bit_length(self) -> int:
        """The most bits that the value can have."""
        return max(abs(self.low), abs(self.high)).bit_length()

    def __lt__(self, other: Number) -> bool:
        o = Form.of(other)
        if self.high < o.low:
            return True
        if self.low >= o.high:
            return False
        raise UndecidedError("compares an unknown number")

    def __ge__(self, other: Number) -> bool:
        return not self < other

    def __gt__(self, other: Number) -> bool:
        return Form.of(other) < self

    def __le__(self, other: Number) -> bool:
        return not Form.of(other) < self

    def __eq__(self, other: object) -> bool:
        return self is other or self._unknown()

    def __bool__(self) -> bool:
        return self._unknown()

    __hash__ = None  # type: ignore[assignment]

    def _unknown(self) -> NoReturn:
        raise UndecidedError("asks whether an unknown number is zero, or equal to another")

    @property
    def text(self) -> str:
        """The form in words: its name among products."""
        parts = [f"{'' if c == 1 else f'{c} '}{s.name}" for s, c in sorted(self.terms.items(), key=_name)]
        return " + ".join([*parts, *([str(self.constant)] if self.constant or not parts else [])])


def _name(term: tuple[Symbol, int]) -> str:
    return term[0].name


def _number(constant: int, terms: Mapping[Symbol, int], low: int, high: int, wrap: int = 0) -> Number:
    kept = {s: c for s, c in terms.items() if c}
    if kept:
        return Form(constant, kept, low, high, None, wrap)
    if wrap:
        constant = low + (constant - low) % wrap
        if constant + wrap <= high:
            raise UndecidedError("takes for a number what is known mod another only")
    return constant


def extent(terms: Mapping[Symbol, int]) -> tuple[int, int]:
    """The least and the greatest value of a sum of unknowns."""
    ends = [(c * s.low, c * s.high) for s, c in terms.items()]
    return sum(min(e) for e in ends), sum(max(e) for e in ends)


def slots(x: Form) -> list[Form]:
    """The numbers that are packed into one: cut wherever the terms below a power of two stay below it."""
    if x.wrap:
        return [x]
    found: list[Form] = []
    rest: Number = x
    while isinstance(rest, Form):
        cut = next((b for b in _places(rest) if _fits(rest, b)), None)
        if cut is None:
            return [*found, rest]
        rest, low = rest.digits(cut)
        found.append(Form.of(low))
    return found


def _places(x: Form) -> list[int]:
    """The powers of two in the coefficients, lowest first."""
    return sorted({(c & -c).bit_length() - 1 for c in x.terms.values()} - {0})


def _fits(x: Form, bits: int) -> bool:
    low = {s: c for s, c in x.terms.items() if c % (1 << bits)}
    least, most = extent(low)
    constant = x.constant % (1 << bits)
    return 0 < len(low) < len(x.terms) and least + constant >= 0 and most + constant < 1 << bits


def symbols_of(forms: Iterable[Any]) -> set[Symbol]:
    """All unknowns in these forms."""
    return {s for x in forms if isinstance(x, Form) for s in x.terms}
