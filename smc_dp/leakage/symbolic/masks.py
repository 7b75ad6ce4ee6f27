"""Sharing and masking of a symbolic run: strings that open with enough shares, and masks of unknowns.

A mask is determined by its label and by the string that it is stretched from: equal ones give the same unknowns. A
participant that has the string, by drawing, reading, opening or agreeing on it, knows them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from protocols.arithmetic import shamir
from protocols.crypto import masking
from protocols.errors import DecodeError
from smc_dp.leakage.symbolic.coins import AgreedCoins, Coins, Tape
from smc_dp.leakage.symbolic.form import Form, Number
from smc_dp.leakage.symbolic.strings import NO_OWNER

_Mask = tuple[Number, ...]


def ideal_sharing(tape: Tape) -> Any:
    """Return the stand-in for `arithmetic.shamir`: shares are new strings, and enough of them give the secret."""
    strings = tape.strings

    def deal(secret: bytes, threshold: int, count: int, rng: Coins) -> tuple[bytes, ...]:
        shares = tuple(rng.bytes(len(secret)) for _ in range(count))
        strings.opens(secret, shares, threshold)
        return shares

    def combine(shares: Mapping[int, bytes]) -> bytes:
        for secret, derivations in strings.derivations.items():
            for dealt, enough in derivations:
                right = [0 < x <= len(dealt) and dealt[x - 1] == share for x, share in shares.items()]
                if all(right) and len(right) >= enough:
                    return secret
        return strings.digest(b"shares of nothing" + b"".join(shares.values()))

    return SimpleNamespace(deal=deal, combine=combine, MOST_SHARES=shamir.MOST_SHARES)


def _covering(context: bytes, dealer: int, holder: int, agreed: bytes) -> bytes:
    return b"cover" + context + b"%d\0%d\0" % (dealer, holder) + agreed


class Masking:
    """Stand-in for `crypto.masking`: keys and agreed secrets are strings, masks are unknowns without their source."""

    ClosedSecret = masking.ClosedSecret
    SECRET_BYTES, KEY_BYTES, DIGEST_BYTES = masking.SECRET_BYTES, masking.KEY_BYTES, masking.DIGEST_BYTES
    TAG_BYTES = masking.TAG_BYTES

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._secrets: dict[bytes, bytes] = {}  # by key
        self._under: dict[tuple[bytes, bytes], tuple[bytes, ...]] = {}  # what is covered, by label and cover

    def public_key(self, secret: bytes) -> bytes:
        """Return a string that follows from the secret, and not the other way."""
        key = self._tape.strings.follows(b"mask key", secret)
        self._secrets[key] = secret
        return key

    def agree(self, secret: bytes, peer: bytes) -> bytes:
        """Return a string that follows from either secret."""
        return self._tape.strings.follows(b"agreed", *sorted((secret, self._secrets[peer])))

    def agree_with_all(self, secret: bytes, peers: Sequence[bytes]) -> tuple[bytes, ...]:
        return tuple(self.agree(secret, peer) for peer in peers)

    def agreeing(self, key: bytes) -> bytes | None:
        """Return the key itself where it has a secret: with no other does everybody agree on the same. Else None."""
        return key if key in self._secrets else None

    def closed_key(self, secret: masking.ClosedSecret) -> bytes:
        return self.public_key(secret.secret)

    def closed_pairs(self, secret: masking.ClosedSecret, index: int, keys: Sequence[bytes]) -> masking.ClosedPairs:
        """Return a string for each key that has a secret, which follows from either secret."""
        agreed = (self.agree(secret.secret, key) if key in self._secrets else None for key in keys)
        return masking.ClosedPairs(index, tuple(agreed))

    def closed_after(self, pairs: masking.ClosedPairs) -> masking.ClosedPairs:
        """Return strings that follow from these, and not the other way."""
        after = (agreed and self._tape.strings.follows(b"after", agreed) for agreed in pairs.agreed)
        return masking.ClosedPairs(pairs.index, tuple(after))

    def closed_mask(
        self, context: bytes, pairs: masking.ClosedPairs, other: int, length: int, width: int, at: int | None = None
    ) -> _Mask:
        low, high = sorted((pairs.index, other))
        agreed = pairs.agreed[other if at is None else at] or b""
        return self._stretched(b"closed" + context + b"%d\0%d\0" % (low, high) + agreed, length, width)

    def self_mask(self, context: bytes, index: int, seed: bytes, length: int, width: int) -> _Mask:
        return self._stretched(b"self" + context + b"%d\0" % index + seed, length, width)

    def pair_mask(self, context: bytes, one: int, other: int, agreed: bytes, length: int, width: int) -> _Mask:
        low, high = sorted((one, other))
        return self._stretched(b"pair" + context + b"%d\0%d\0" % (low, high) + agreed, length, width)

    def expand(self, key: bytes, length: int, width: int) -> _Mask:
        return self._stretched(key, length, width)

    def combined(self, plus: Iterable[_Mask], minus: Iterable[_Mask], length: int, width: int) -> _Mask:
        """Return the sum of the first masks less that of the others."""
        # a vector that role code packed as words stands for its numbers, as a mask does
        plus, minus = ([getattr(m, "numbers", m) for m in some] for some in (plus, minus))
        modulus = 1 << (8 * width)
        return tuple((sum(m[i] for m in plus) - sum(m[i] for m in minus)) % modulus for i in range(length))

    def covered(self, context: bytes, dealer: int, holder: int, agreed: bytes, strings: Sequence[bytes]) -> bytes:
        """Return a string that opens to `strings` with the agreed string."""
        label, known = _covering(context, dealer, holder, agreed), self._tape.strings
        made = known.draw(NO_OWNER, hashlib.sha256(label + b"".join(strings)).digest())
        for under in strings:
            known.opens(under, (made, agreed), 2)
        self._under[label, made] = tuple(strings)
        return made

    def uncovered(self, context: bytes, dealer: int, holder: int, agreed: bytes, body: bytes) -> tuple[bytes, ...]:
        """Return the strings under a cover; raise `DecodeError` for any other string."""
        under = self._under.get((_covering(context, dealer, holder, agreed), body))
        if under is None:
            raise DecodeError("seal.broken")
        return under

    def digest(self, vector: Sequence[Number], width: int) -> bytes:
        return self._tape.strings.digest_of(vector)

    def _stretched(self, source: bytes, length: int, width: int) -> _Mask:
        agreed = AgreedCoins(self._tape, source)
        return tuple(Form.of(agreed.bits(8 * width)) for _ in range(length))
