"""Sharing and masking of a symbolic run: strings that open with enough shares, and masks that are vectors of unknowns.

A mask is determined by its label and by the string that it is stretched from: the same of both give the same unknowns,
and whoever has the string, by drawing, reading, opening or agreeing on it, knows them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from protocols.arithmetic import shamir
from protocols.crypto import masking
from smc_dp.audit.code.symbolic.coins import AgreedCoins, Coins, Tape
from smc_dp.audit.code.symbolic.form import Form, Number

_Mask = tuple[Number, ...]


def sharing(tape: Tape) -> Any:
    """`arithmetic.shamir`: shares are new strings, and so many of them give the secret."""
    strings = tape.strings

    def deal(secret: bytes, threshold: int, count: int, rng: Coins) -> tuple[bytes, ...]:
        shares = tuple(rng.bytes(len(secret)) for _ in range(count))
        strings.opens(secret, shares, threshold)
        return shares

    def combine(shares: Mapping[int, bytes]) -> bytes:
        for secret, ways in strings.ways.items():
            for dealt, enough in ways:
                right = [0 < x <= len(dealt) and dealt[x - 1] == share for x, share in shares.items()]
                if all(right) and len(right) >= enough:
                    return secret
        return strings.digest(b"shares of nothing" + b"".join(shares.values()))

    return SimpleNamespace(deal=deal, combine=combine, MOST_SHARES=shamir.MOST_SHARES)


class Masking:
    """`crypto.masking`: keys and what is agreed under them are strings, masks are unknowns."""

    SECRET_BYTES, KEY_BYTES, DIGEST_BYTES = masking.SECRET_BYTES, masking.KEY_BYTES, masking.DIGEST_BYTES

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._secrets: dict[bytes, bytes] = {}  # by key

    def public_key(self, secret: bytes) -> bytes:
        """A string that follows from the secret, and not the other way."""
        key = self._tape.strings.follows(b"mask key", secret)
        self._secrets[key] = secret
        return key

    def agree(self, secret: bytes, peer: bytes) -> bytes:
        """A string that follows from either secret."""
        return self._tape.strings.follows(b"agreed", *sorted((secret, self._secrets[peer])))

    def agreeing(self, key: bytes) -> bytes | None:
        """The key itself: with no other does everybody agree on the same. None for one that has no secret."""
        return key if key in self._secrets else None

    def self_mask(self, context: bytes, index: int, seed: bytes, length: int, width: int) -> _Mask:
        """Unknowns to whoever does not have the seed."""
        return self._stretched(b"self" + context + b"%d\0" % index + seed, length, width)

    def pair_mask(self, context: bytes, one: int, other: int, agreed: bytes, length: int, width: int) -> _Mask:
        """Unknowns to whoever does not have what was agreed on."""
        low, high = sorted((one, other))
        return self._stretched(b"pair" + context + b"%d\0%d\0" % (low, high) + agreed, length, width)

    def combined(self, plus: Sequence[_Mask], minus: Sequence[_Mask], length: int, width: int) -> _Mask:
        """The sum of the first less that of the others."""
        modulus = 1 << (8 * width)
        return tuple((sum(m[i] for m in plus) - sum(m[i] for m in minus)) % modulus for i in range(length))

    def digest(self, vector: Sequence[Number], width: int) -> bytes:
        """A digest of numbers."""
        return self._tape.strings.digest_of(vector)

    def _stretched(self, source: bytes, length: int, width: int) -> _Mask:
        agreed = AgreedCoins(self._tape, source)
        return tuple(Form.of(agreed.bits(8 * width)) for _ in range(length))
