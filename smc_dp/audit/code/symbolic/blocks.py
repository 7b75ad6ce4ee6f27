"""The building blocks of protocols as a symbolic run has them: what each real name stands for."""

from __future__ import annotations

import hashlib
from types import SimpleNamespace
from typing import Any

from protocols.arithmetic import modular
from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.comparison import steps
from protocols.crypto import admission, commitment, dgk, paillier
from smc_dp.audit.code.symbolic.box import Admission, Box, Commitments, Cryptosystem, PublicKey, raised, with_plaintext
from smc_dp.audit.code.symbolic.coins import Agreed, Coins, Tape
from smc_dp.audit.code.symbolic.form import Form, Number


def instead(tape: Tape) -> dict[Any, Any]:
    """What the names of real building blocks mean in a symbolic run."""
    crypto = Cryptosystem(tape)

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
        hashlib: SimpleNamespace(sha256=lambda data: SimpleNamespace(digest=lambda: tape.digest(data))),
        modular: SimpleNamespace(
            power=lambda base, exponent, _: raised(tape, base, exponent),
            multiply=lambda base, factor, _: with_plaintext(base, factor),
        ),
        paillier.Ciphertext: ciphertext,
        Permutation: _Permutations(),
        Stream: lambda key, insecure: Agreed(tape, key),
    }


class _Permutations:
    """The class `Permutation`, with the world's in place of random ones."""

    def __call__(self, images: tuple[int, ...]) -> Permutation:
        return Permutation(images)

    def random(self, size: int, rng: Coins | Agreed) -> Permutation:
        """The world's permutation for this source of randomness."""
        return rng.permutation(size)


class _Comparison:
    """`comparison.steps` as its ideal functionality: the holder learns the sign of the difference, and nothing else.

    What the real steps are worth is claimed and checked beside them, in `protocols.comparison`.
    """

    def __init__(self, tape: Tape) -> None:
        self._tape = tape

    def chooser_half(self, ring: Any, d: Number) -> tuple[Number, int]:
        """The chooser's share of the difference as it is."""
        return d, 0

    def holder_half(self, ring: Any, d: Number) -> tuple[Number, int]:
        """The holder's share of the difference as it is."""
        return d, 0

    def bits(self, value: Number, length: int) -> list[Number]:
        """One number in place of its bits."""
        return [value]

    def xor(self, x: Number, y: int) -> Number:
        """The sum mod 2: the mask hides the flip."""
        return x

    def differences(self, key: PublicKey, x: Number, y: tuple[Box], delta_a: Number, rng: Coins) -> tuple[Box, ...]:
        """A box of the sign of x + y that depends on the holder's box as the real ones do."""
        sign = self._tape.is_negative(x + y[0].content)
        return (Box(key.n, sign, y[0].randomiser + Form.of(rng.randomiser()), sign),)

    def at_most(self, key: Any, c: tuple[Box], delta: Number) -> Number:
        """The sign."""
        return key.decrypt(c[0]) if hasattr(key, "decrypt") else c[0].content

    def is_negative(self, answer: int, top: int) -> int:
        """The sign."""
        return answer
