"""Encryption of a symbolic run: boxes in place of Paillier and DGK ciphertexts.

A Paillier ciphertext is (1 + n)**m times a randomiser, h_s**r or y**n, and all that the cryptosystem offers multiplies
and raises to powers: it is linear in m and in the randomiser written as an exponent r. So a box holds two forms,
content m and randomiser r. The holder of the secret key reads both; everybody else sees the single form m + r, in which
r is an unknown of full length, as y**n is in `Uniform`. A box stands for `Fresh` as well, by short exponents or full
ones, for that nobody tells these apart is what short ones assume: where the difference counts, in what returns to the
owner of a key, the codec takes nothing but `Uniform`. So exactly the products in which the randomisers cancel show
anything of the contents. `trials` remembers the unknowns that a box was raised to: an observer of such a box and the
box below it finds the exponent by trying, as long as no other unknown is in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from typing_extensions import override

from protocols.crypto.commitment import COMMITMENT_BYTES, OPENING_BYTES
from protocols.errors import LocalError
from smc_dp.leakage.symbolic.coins import Coins, Tape
from smc_dp.leakage.symbolic.form import Form, Number, extent
from smc_dp.leakage.symbolic.undecidable import UndecidableNumber


@dataclass(frozen=True, repr=False)
class Secret(UndecidableNumber):
    """Secret number of a key; with one of a key's secrets a participant holds the key."""

    key: int
    part: str

    @override
    def _notes(self) -> list[list[str]]:
        return []


@dataclass(frozen=True, eq=False)
class Box:
    """Ciphertext under the key with this n; `plain` is its content without what was raised to unknowns.

    `hints`: forms on which the opener of the box gets a hint.
    """

    n: int
    content: Number = field(repr=False)
    randomiser: Number = field(repr=False)
    plain: Number = field(repr=False)
    trials: tuple[tuple[Box, Form], ...] = field(default=(), repr=False)
    hints: tuple[Form, ...] = field(default=(), repr=False)

    @cached_property
    def closed(self) -> Form:
        """Form that everybody without the secret key sees."""
        return Form.of(self.content + self.randomiser)

    @property
    def value(self) -> Box:
        """Number that the ciphertext is; raised to a power it is `raise_box`."""
        return self

    def plus(self, other: Box) -> Box:
        """Return the product of the ciphertexts: a box of the sum."""
        return Box(
            self.n,
            self.content + other.content,
            self.randomiser + other.randomiser,
            self.plain + other.plain,
            self.trials + other.trials,
        )


@dataclass(frozen=True)
class IdealPublicKey:
    """Paillier or DGK public key; its numbers are any numbers of the right length, h and g the bases of DGK."""

    tape: Tape = field(repr=False, compare=False)
    n: int

    @property
    def h(self) -> int:
        return self.n - 1

    @property
    def g(self) -> int:
        return self.n - 2

    @property
    def n_square(self) -> int:
        return self.n**2

    @property
    def digest(self) -> bytes:
        return self.n.to_bytes(-(-self.n.bit_length() // 8), "big")

    def encrypt(self, m: Number, rng: Coins) -> Box:
        """Return a box of m under a new randomiser."""
        return Box(self.n, m, Form.of(rng.randomiser()), m)

    def refresh(self, c: Box, rng: Coins) -> Box:
        """Return a box of the same content under a new randomiser."""
        return self.blind(c, 0, rng)

    def blind(self, c: Box, r: Number, rng: Coins) -> Box:
        """Return a box of the content plus r under a new randomiser."""
        return self.add(c, self.encrypt(r, rng))

    def add(self, *boxes: Box) -> Box:
        """Return a box of the sum, with the sum of the randomisers."""
        total = Box(self.n, 0, 0, 0)
        for box in boxes:
            if box.n != self.n:
                raise LocalError("symbol.under_another_key")
            total = total.plus(box)
        return total

    def scale(self, c: Box, factors: Sequence[Number]) -> list[Box]:
        """Return boxes of the content times each factor, with the randomiser times the same factor."""
        return [self.add(raise_box(self.tape, c, k)) for k in factors]


@dataclass(frozen=True)
class IdealPrivateKey:
    """Public key and the secrets that open its boxes, the primes p and q."""

    public: IdealPublicKey

    @property
    def p(self) -> Secret:
        return Secret(self.public.n, "p")

    @property
    def q(self) -> Secret:
        return Secret(self.public.n, "q")

    def decrypt(self, c: Box) -> Number:
        if c.n != self.public.n:
            raise LocalError("symbol.under_another_key")
        return c.content

    def decrypt_batch(self, boxes: Sequence[Box], bits: int, rng: Coins) -> list[Number]:
        return [self.decrypt(c) for c in boxes]

    def encrypt(self, m: Number, rng: Coins) -> Box:
        return self.public.encrypt(m, rng)


def raise_box(tape: Tape, c: Box, k: Number) -> Box:
    """Return the ciphertext to the power k."""
    if not isinstance(k, Form):
        return Box(c.n, c.content * k, c.randomiser * k, c.plain * k, c.trials if k else ())
    randomiser = Form.of(tape.product(k, Form.of(c.randomiser)))
    return Box(c.n, c.content * k, randomiser, 0, ((c, k),))


def add_plaintext(c: Box, factor: Number) -> Box:
    """Return the ciphertext times 1 + m n: m is added to the content, and the randomiser stays."""
    f = Form.of(factor)
    parts = {s: k // c.n for s, k in f.terms.items()}
    constant = f.constant // c.n
    if constant * c.n + 1 != f.constant or any(parts[s] * c.n != k for s, k in f.terms.items()):
        f.refuse("symbol.multiplies_a_ciphertext")
    least, most = extent(parts)
    m = Form(constant, parts, constant + least, constant + most) if parts else constant
    return Box(c.n, c.content + m, c.randomiser, c.plain + m, c.trials)


class Cryptosystem:
    """Stand-in for the functions and classes of `crypto.paillier` and `crypto.dgk` that role files use."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape

    def generate(self, bits: int, *rest: Any) -> IdealPrivateKey:
        """Return a new key; one of the arguments is the maker's randomness."""
        (rng,) = (argument for argument in rest if isinstance(argument, Coins))
        n = (1 << bits) - 1 - 4 * len(self._tape.moduli)
        self._tape.moduli.append(n)
        key = IdealPrivateKey(IdealPublicKey(self._tape, n))
        rng.holds(key.p)
        return key

    def public_key(self, n: int, *_: Any) -> IdealPublicKey:
        return IdealPublicKey(self._tape, n)

    def assemble(self, p: Secret, *_: Any) -> IdealPrivateKey:
        return IdealPrivateKey(IdealPublicKey(self._tape, p.key))

    def has_size(self, key: IdealPublicKey, bits: int) -> bool:
        return key.n.bit_length() == bits

    def order_bits(self, bits: int) -> int:
        return bits // 8


class Admission:
    """Stand-in for `crypto.admission`, in which every key is valid."""

    def __init__(self, points: int) -> None:
        self._points = points

    def prove(self, key: IdealPrivateKey, context: bytes) -> tuple[int, ...]:
        return (1,) * self._points

    def verify(self, *_: Any) -> None: ...


class Commitments:
    """Stand-in for `crypto.commitment`: new strings, which the tape keeps with their values.

    The holder of a commitment and its opening is taken to know the value, for he can try guesses; the commitment alone
    is a string like any other.
    """

    COMMITMENT_BYTES, OPENING_BYTES = COMMITMENT_BYTES, OPENING_BYTES

    def __init__(self, tape: Tape) -> None:
        self._tape = tape

    def canonical(self, numbers: Sequence[Number]) -> tuple[Number, ...]:
        return tuple(numbers)

    def commit(self, context: bytes, value: Any, rng: Coins) -> tuple[bytes, bytes]:
        committed, opening = rng.bytes(COMMITMENT_BYTES), rng.bytes(OPENING_BYTES)
        self._tape.commitments[committed] = (context, value, opening)
        return committed, opening

    def made(self, context: bytes, value: Any, opening: bytes) -> bytes:
        """Return the commitment that this opening opens to this value: always the same one."""
        committed = self._tape.digest(b"committed" + context + opening)
        self._tape.commitments[committed] = (context, value, opening)
        return committed

    def opens(self, committed: bytes, context: bytes, value: Any, opening: bytes) -> bool:
        return self._tape.commitments.get(committed) == (context, value, opening)
