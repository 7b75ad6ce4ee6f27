"""DGK ciphertexts as boxes: a plaintext mod u, and the exponent of h as a sum of drawn ones.

Who has the key reads both, everybody else the plaintext and the exponent added up; so only a new exponent hides, from
the one what a ciphertext was made of, from the other what it holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from protocols.arithmetic import modular
from protocols.crypto import dgk
from protocols.errors import LocalError
from support.exact.many import Many, ManyOrOne
from support.exact.tape import Draws

Exponent = Mapping[str, ManyOrOne]


@dataclass(frozen=True)
class KeySecret:
    """A secret number of a key. Whoever has one of a key's holds the key."""

    n: int


@dataclass(frozen=True, eq=False)
class BitBox:
    """A ciphertext under the key with this n, of a number mod u; `exponent` maps drawn exponents by name to how often
    they are in it.
    """

    n: int
    u: int
    content: ManyOrOne = field(repr=False)
    exponent: Exponent = field(repr=False)

    @property
    def value(self) -> BitBox:
        """The number that the ciphertext is."""
        return self

    def times(self, factor: ManyOrOne) -> BitBox:
        """The number to this power."""
        exponent = {name: k * factor for name, k in self.exponent.items()}
        return BitBox(self.n, self.u, (self.content * factor) % self.u, exponent)

    def plus(self, other: BitBox) -> BitBox:
        """The product of the numbers."""
        total = dict(self.exponent)
        for name, k in other.exponent.items():
            total[name] = total[name] + k if name in total else k
        return BitBox(self.n, self.u, (self.content + other.content) % self.u, total)


@dataclass(frozen=True)
class PublicBoxes:
    """`DgkPublicKey`, whose numbers are any of the right length."""

    n: int
    u: int
    t: int

    @property
    def g(self) -> int:
        """The base of the plaintexts."""
        return self.n - 2

    @property
    def h(self) -> int:
        """The base of the randomisers."""
        return self.n - 1

    def encrypt(self, m: ManyOrOne, rng: Draws) -> BitBox:
        """A box of m under a new exponent."""
        return self.blind(self.constant(m), 1, rng)

    def constant(self, m: ManyOrOne) -> BitBox:
        """A box of m that hides nothing."""
        return BitBox(self.n, self.u, m % self.u, {})

    def blind(self, c: BitBox, factor: ManyOrOne, rng: Draws) -> BitBox:
        """A box of the content times the factor, with a new exponent."""
        return self._mine(c).times(factor).plus(BitBox(self.n, self.u, 0, {rng.exponent(): 1}))

    def add(self, *boxes: BitBox) -> BitBox:
        """A box of the sum, with the sum of the exponents."""
        total = self.constant(0)
        for box in boxes:
            total = total.plus(self._mine(box))
        return total

    def negate(self, c: BitBox) -> BitBox:
        """A box of minus the content, with minus the exponent."""
        return self._mine(c).times(-1)

    def _mine(self, c: BitBox) -> BitBox:
        if c.n != self.n:
            raise LocalError("ciphertext.under_another_key")
        return c


@dataclass(frozen=True)
class PrivateBoxes:
    """`DgkPrivateKey`: opens boxes."""

    public: PublicBoxes

    @property
    def p(self) -> KeySecret:
        """The first prime."""
        return KeySecret(self.public.n)

    q = v_p = v_q = p

    def is_zero(self, c: BitBox) -> ManyOrOne:
        """Whether the content is zero."""
        return c.content.is_zero() if isinstance(c.content, Many) else int(c.content == 0)

    def decrypt(self, c: BitBox) -> ManyOrOne:
        """The content."""
        return c.content

    def encrypt(self, m: ManyOrOne, rng: Draws) -> BitBox:
        """A box of m under a new exponent."""
        return self.public.encrypt(m, rng)

    def encrypt_all(self, values: Sequence[ManyOrOne], rng: Draws) -> list[BitBox]:
        """A box of each."""
        return [self.encrypt(m, rng) for m in values]


def _generate(bits: int, u: int, rng: Draws) -> PrivateBoxes:
    n = (1 << bits) - 1 - 4 * rng.keys()
    rng.holds(n)
    return PrivateBoxes(PublicBoxes(n, u, dgk.order_bits(bits)))


def _ciphertext(n: int, value: BitBox) -> BitBox:
    return value


INSTEAD: Mapping[Any, Any] = {
    dgk: SimpleNamespace(
        generate=_generate,
        DgkPublicKey=lambda n, g, h, u, t: PublicBoxes(n, u, t),
        has_size=lambda key, bits: key.n.bit_length() == bits,
        order_bits=dgk.order_bits,
        BitCiphertext=_ciphertext,
        FreshBit=_ciphertext,
    ),
    modular: SimpleNamespace(
        next_prime=modular.next_prime,
        power=lambda base, exponent, _: base.times(exponent),
        multiply=lambda x, y, _: x.plus(y),
    ),
    dgk.BitCiphertext: _ciphertext,
    dgk.FreshBit: _ciphertext,
}
"""What the names of real building blocks mean to a role that is tried."""
