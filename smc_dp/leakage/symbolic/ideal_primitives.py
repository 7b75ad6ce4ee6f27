"""Ideal building blocks of a symbolic run, by the real names for which they stand."""

from __future__ import annotations

import hashlib
from types import SimpleNamespace
from typing import Any

from protocols.arithmetic import halves, modular, permutation, shamir, words
from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.comparison import steps
from protocols.crypto import admission, commitment, dgk, encapsulation, garbling, masking, oblivious, paillier
from protocols.errors import LocalError
from smc_dp.leakage.symbolic.box import (
    Admission,
    Box,
    Commitments,
    Cryptosystem,
    IdealPublicKey,
    add_plaintext,
    raise_box,
)
from smc_dp.leakage.symbolic.coins import AgreedCoins, Coins, Tape
from smc_dp.leakage.symbolic.form import Form, Number, Symbol
from smc_dp.leakage.symbolic.garbled import Encapsulation, GarbledSearch, ideal_halves, ideal_words
from smc_dp.leakage.symbolic.masks import Masking, ideal_sharing


def ideal_replacements(tape: Tape) -> dict[Any, Any]:
    """Return the replacement of each real building block."""
    crypto = Cryptosystem(tape)
    search = GarbledSearch(tape)

    def ciphertext(n: int, value: Box) -> Box:
        return value

    return {
        paillier: SimpleNamespace(
            generate=crypto.generate, PublicKey=crypto.public_key, assemble=crypto.assemble, Ciphertext=ciphertext
        ),
        dgk: SimpleNamespace(
            generate=crypto.generate,
            DgkPublicKey=crypto.public_key,
            has_size=crypto.has_size,
            order_bits=crypto.order_bits,
        ),
        admission: Admission(admission.POINTS),
        commitment: Commitments(tape),
        steps: _Comparison(tape),
        shamir: ideal_sharing(tape),
        masking: Masking(tape),
        halves: ideal_halves(),
        words: ideal_words(),
        encapsulation: Encapsulation(tape),
        oblivious: search.transfers,
        garbling: search.circuits,
        hashlib: SimpleNamespace(sha256=lambda data: SimpleNamespace(digest=lambda: tape.digest(data))),
        modular: SimpleNamespace(
            power=lambda base, exponent, _: raise_box(tape, base, exponent),
            multiply=lambda base, factor, _: add_plaintext(base, factor),
        ),
        paillier.Ciphertext: ciphertext,
        Permutation: _Permutations(),
        permutation: SimpleNamespace(drawn=lambda seed, size: tuple(range(size))),  # any public order is like another
        Stream: lambda key, insecure: AgreedCoins(tape, key),
    }


class _Permutations:
    """Stand-in for the class `Permutation`, with the world's permutations in place of random ones."""

    def __call__(self, images: tuple[int, ...]) -> Permutation:
        return Permutation(images)

    def random(self, size: int, rng: Coins | AgreedCoins) -> Permutation:
        """Return the world's permutation for this source of randomness."""
        return rng.permutation(size)


class _Comparison:
    """Stand-in for `comparison.steps`, the ideal functionality: the holder learns the sign of the difference alone.

    The real steps are claimed beside them and checked as a protocol of its own, `comparison`. Bits are unknowns, sums
    of them are taken mod 2; none of what goes on between the two roles is a constant, so a role that sends it elsewhere
    shows it.
    """

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._tops: dict[str, dict[str, Symbol]] = {}  # by role, then by share

    def chooser_half(self, ring: Any, d: Number) -> tuple[Number, Number]:
        """Return the chooser's share of the difference as it is, and its top bit as the flip."""
        return d, self._top(d)

    def holder_half(self, ring: Any, d: Number) -> tuple[Number, Number]:
        """Return the holder's share of the difference as it is, and its top bit."""
        return d, self._top(d)

    def bits(self, value: Number, length: int) -> list[Number]:
        """Return one number in place of its bits."""
        return [value]

    def xor(self, x: Number, y: Number) -> Number:
        """Return the sum mod 2."""
        return _parity(x, y)

    def blinded_differences(
        self, key: IdealPublicKey, x: Number, y: tuple[Box], delta_a: Number, rng: Coins
    ) -> tuple[Box, ...]:
        """Return a box of the one bit that tells whether a term is zero, which depends on the holder's box.

        With the mask, the flip and the holder's top bit it is the sign of x + y. Where coins do not order equal
        numbers, the sign also tells whether they are equal.
        """
        held = Form.of(y[0].content)
        offered = next((tops[held.text] for tops in self._tops.values() if held.text in tops), None)
        if offered is None:
            raise LocalError("symbol.no_half", role=self._tape.role)
        difference = Form.of(x + held)
        zero = _parity(1, self._tape.is_negative(difference), Form.of(offered), self._top(x), delta_a)
        hints = () if self._tape.breaks_ties(difference) else (difference,)
        return (Box(key.n, zero, y[0].randomiser + Form.of(rng.randomiser()), zero, hints=hints),)

    def is_at_most(self, key: Any, c: tuple[Box], delta: Number) -> Number:
        """Return the answer: whether a term is zero, and delta."""
        return _parity(key.decrypt(c[0]) if hasattr(key, "decrypt") else c[0].content, delta)

    def is_negative(self, answer: Number, top: Number) -> Number:
        """Return the sign, in which all unknowns cancel."""
        return _parity(1, answer, top)

    def _top(self, d: Number) -> Form:
        """Return the top bit of a role's share: an unknown of its own, which is a hint on the share to others."""
        role, share = self._tape.role, Form.of(d)
        tops = self._tops.setdefault(role, {})
        if share.text not in tops:
            tops[share.text] = self._tape.draw(Symbol(f"top bit {len(tops)} of {role}", 0, 1, "coin", role, share))
        return Form.of(tops[share.text])


def _parity(*bits: Number) -> Number:
    """Return the sum of bits mod 2: a number, where no unknown is left."""
    total = Form.of(sum(bits))
    odd = {s: 1 for s, c in total.terms.items() if c % 2}
    return Form(total.constant % 2, odd, 0, 1, 2, 2) if odd else total.constant % 2
