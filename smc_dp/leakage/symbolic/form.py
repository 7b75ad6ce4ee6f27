"""Numbers of a symbolic run: integer linear forms over unknowns, with the range of their value.

A role computes with them as with integers. A question whose answer depends on the value of an unknown stops the run
with `UndecidedError`; nothing is guessed. A reduction mod M keeps the form and narrows the range; from then on the
value is known mod M only, which the form remembers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd
from typing import Any, Literal, NoReturn, TypeAlias, Union

from typing_extensions import override

from smc_dp.leakage.symbolic.undecidable import UndecidableNumber, UndecidedError

FormKind: TypeAlias = Literal["input", "coin", "randomiser", "product"]
Number: TypeAlias = Union[int, "Form"]


@dataclass(frozen=True, eq=False)
class Symbol:
    """Unknown in [low, high]; `owner` is the role that drew it.

    `about`: the form that its range depends on, or of which it is a part, such as a top bit: the unknown is a hint on
    that form. `factors`: the two forms of a product of unknowns, which is an unknown of its own. `joined`: numbers with
    this unknown as their lowest digits, from which their digits are known. `refused`: questions that a role asked in
    vain.
    """

    name: str
    low: int
    high: int
    kind: FormKind
    owner: str
    about: Form | None = field(default=None, repr=False)
    factors: tuple[Form, ...] = field(default=(), repr=False)
    joined: list[Form] = field(default_factory=list, repr=False)
    refused: list[str] = field(default_factory=list, repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class Form(UndecidableNumber):
    """Linear form: constant plus sum of coefficient times unknown.

    `modulus` is M when the value was just reduced mod M, else None. `wrap`: the value is congruent to the form's mod
    this number; 0 when they are equal.
    """

    constant: int
    terms: Mapping[Symbol, int]
    low: int
    high: int
    modulus: int | None = None
    wrap: int = 0

    @classmethod
    def of(cls, x: Number | Symbol) -> Form:
        """Return a number or an unknown as a form."""
        if isinstance(x, Symbol):
            return cls(0, {x: 1}, x.low, x.high)
        return x if isinstance(x, Form) else cls(x, {}, x, x)

    def __add__(self, other: Number) -> Number:
        if not isinstance(other, Form) and not other:
            return self  # reduced as it was
        o = Form.of(other)
        terms = dict(self.terms)
        for symbol, c in o.terms.items():
            terms[symbol] = terms.get(symbol, 0) + c
        wrap = gcd(self.wrap, o.wrap)
        return _number(self.constant + o.constant, terms, self.low + o.low, self.high + o.high, wrap)

    __radd__ = __add__

    def __mul__(self, k: Number) -> Number:
        if isinstance(k, Form):
            self.refuse("symbol.two_multiplied")
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
            self.refuse("symbol.reduced_before", modulus=modulus, before=self.wrap)
        return Form(self.constant, self.terms, 0, modulus - 1, modulus, self.wrap if fits else modulus)

    def __lshift__(self, bits: int) -> Number:
        return self * (1 << bits)

    def __rshift__(self, bits: int) -> Number:
        return self.digits(bits)[0]

    def __and__(self, mask: int) -> Number:
        if mask & (mask + 1):
            self.refuse("symbol.other_bits_masked")
        return self.digits(mask.bit_length())[1]

    def __or__(self, other: Number) -> Number:
        """Return the sum, where no bit can be set on both sides."""
        o = Form.of(other)
        free = o.high.bit_length()
        if o.low < 0 or any(c % (1 << free) for c in (self.constant, *self.terms.values())):
            self.refuse("symbol.bits_overlap")
        whole = self + other
        for symbol in o.terms:
            symbol.joined.append(Form.of(whole))
        return whole

    def digits(self, bits: int) -> tuple[Number, Number]:
        """Return (x >> bits, x & (2**bits - 1)), read off the coefficients."""
        unit = 1 << bits
        if self.low >= 0 and self.high < unit:
            return 0, self
        if self.wrap:
            self.refuse("symbol.digits_mod_another")
        parts = _cut(self, bits)
        if parts is None:
            self.refuse("symbol.digits_with_carry", bits=bits)
        return parts

    def bit_length(self) -> Bound:
        """Return bounds on the number of bits of the value."""
        ends = abs(self.low), abs(self.high)
        return Bound(self, 0 if self.low <= 0 <= self.high else min(ends).bit_length(), max(ends).bit_length())

    def __lt__(self, other: Number) -> bool:
        o = Form.of(other)
        if self.high < o.low:
            return True
        if self.low >= o.high:
            return False
        self.refuse("symbol.compared")

    def __ge__(self, other: Number) -> bool:
        return not self < other

    def __gt__(self, other: Number) -> bool:
        return Form.of(other) < self

    def __le__(self, other: Number) -> bool:
        return not Form.of(other) < self

    @override
    def __eq__(self, other: object) -> bool:
        return self is other or self._unknown()

    def __bool__(self) -> bool:
        return self._unknown()

    __hash__ = UndecidableNumber.__hash__

    @override
    def _notes(self) -> list[list[str]]:
        return [s.refused for s in self.terms]

    def _unknown(self) -> NoReturn:
        self.refuse("symbol.asked_for_equality")

    @cached_property
    def named(self) -> Mapping[str, int]:
        """Coefficients by the names of the unknowns, and the constant by the name ""."""
        return {s.name: c for s, c in self.terms.items()} | ({"": self.constant} if self.constant else {})

    @cached_property
    def slots(self) -> list[Form]:
        """Numbers that are packed into this one: cut wherever the terms below a power of two stay below it."""
        found: list[Form] = []
        rest: Number = self
        while isinstance(rest, Form):
            cuts = (_cut(rest, bits) for bits in ([] if self.wrap else _places(rest)))
            parts = next((p for p in cuts if p and isinstance(p[0], Form) and isinstance(p[1], Form)), None)
            if parts is None:
                return [*found, rest]
            rest, low = parts
            found.append(Form.of(low))
        return found

    @property
    def text(self) -> str:
        """Text of the form, which names it among products."""
        terms = sorted(self.terms.items(), key=lambda term: term[0].name)
        parts = [f"{'' if c == 1 else f'{c} '}{s.name}" for s, c in terms]
        return " + ".join([*parts, *([str(self.constant)] if self.constant or not parts else [])])


@dataclass(frozen=True, eq=False, repr=False)
class Bound(UndecidableNumber):
    """Length of an unknown number, between `least` and `most`.

    It can be compared where the answer is the same for every value in the range of the number. Nothing else can be made
    of it: a role that sends a length, or branches on it, tells of the number.
    """

    of: Form
    least: int
    most: int

    def __lt__(self, other: int) -> bool:
        return self._side(other, 0)

    def __le__(self, other: int) -> bool:
        return self._side(other, 1)

    def __gt__(self, other: int) -> bool:
        return not self._side(other, 1)

    def __ge__(self, other: int) -> bool:
        return not self._side(other, 0)

    @override
    def __eq__(self, other: object) -> bool:
        self.refuse("symbol.asked_for_length")

    __hash__ = UndecidableNumber.__hash__

    def __bool__(self) -> bool:
        return self > 0

    def _side(self, other: int, least: int) -> bool:
        """Return whether the length is below `other` (least = 0), or at most that (least = 1)."""
        if isinstance(other, int) and (self.most < other + least or self.least >= other + least):
            return self.most < other + least
        self.refuse("symbol.asked_for_length")

    @override
    def _notes(self) -> list[list[str]]:
        return [s.refused for s in self.of.terms]


def _number(constant: int, terms: Mapping[Symbol, int], low: int, high: int, wrap: int = 0) -> Number:
    kept = {s: c for s, c in terms.items() if c}
    if kept:
        return Form(constant, kept, low, high, None, wrap)
    if wrap:
        constant = low + (constant - low) % wrap
        if constant + wrap <= high:
            raise UndecidedError("symbol.known_mod_another")
    return constant


def extent(terms: Mapping[Symbol, int]) -> tuple[int, int]:
    """Return the least and the greatest value of a sum of unknowns."""
    ends = [(c * s.low, c * s.high) for s, c in terms.items()]
    return sum(min(e) for e in ends), sum(max(e) for e in ends)


def _places(x: Form) -> list[int]:
    """Return the powers of two in the coefficients, lowest first, and those of unknowns in several places."""
    ends = {(k & -k).bit_length() - 1 for c in x.terms.values() for k in (c, c - (c & -c))}
    return sorted(ends - {0, -1})


def _cut(x: Form, bits: int) -> tuple[Number, Number] | None:
    """Return the digits above and below a place, if those below cannot carry for any value of the unknowns.

    An unknown may be in both: then its coefficient is cut as well.
    """
    unit = 1 << bits
    for shift in (0, unit // 2):  # coefficients below are not negative, or else of either sign
        low = {s: (c + shift) % unit - shift for s, c in x.terms.items()}
        least, most = extent(low)
        constant = x.constant % unit
        if least + constant >= 0 and most + constant < unit:
            high = {s: (c - low[s]) // unit for s, c in x.terms.items()}
            above = _number(x.constant // unit, high, x.low // unit, x.high // unit)
            return above, _number(constant, low, max(0, least + constant), most + constant)
    return None


def symbols_of(forms: Iterable[Any]) -> set[Symbol]:
    """Return all unknowns in these forms."""
    return {s for x in forms if isinstance(x, Form) for s in x.terms}
