"""Masks of pairs cancel whoever is there and in whatever order; and one party's masked input alone is uniform.

That whole runs give exactly the sum over the survivors, or none, is in `test_drop_outs.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from protocols import secure_sum
from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.crypto import masking
from protocols.errors import DecodeError, LocalError
from protocols.secure_sum import dealing, masks
from protocols.secure_sum.parameters import Block, Parameters
from protocols.secure_sum.values import Secrets, Vault
from tests.support.refusals import refused

HOME = Path(secure_sum.__file__).parent
CONTEXT = bytes(range(32))
EVERYBODY = range(4)
ORDERS = [order for size in (1, 2, 3, 4) for U in combinations(EVERYBODY, size) for order in permutations(U)]


class Session:
    """What all parties add, their secrets, and their masked inputs."""

    def __init__(self, p: Parameters) -> None:
        self.p, coins = p, Stream.insecure_from_seed("masks cancel")
        streams = [coins.fork(f"dealer {i}") for i in range(p.K)]
        self.keys = [
            dealing.make_greeting(p, name, dealing.draw_greeting_secrets(p, rng.fork(""))).keys[0]
            for name, rng in zip(p.parties, streams, strict=True)
        ]
        self.closed = [] if p.D else [dealing.closed_secret(rng.fork("")) for rng in streams]
        self.pairs = [masking.closed_pairs(secret, i, self.keys) for i, secret in enumerate(self.closed)]
        self.dealt = [dealing.deal_seeds(p, rng.fork("")) for rng in streams] if p.D else []
        self.z = [p.ring.random_vector(p.length(0), coins) for _ in range(p.K)]
        self.y = [self.blinded(i, z) for i, z in enumerate(self.z)]

    def blinded(self, i: int, z: Vector) -> Vector:
        """The masked input of party i for these numbers."""
        if not self.p.D:
            return masks.mask_closed(self.p, z, CONTEXT, self.pairs[i])
        return masks.mask_openly(self.p, z, CONTEXT, i, self.dealt[i].b[0], self.dealt[i].s[0], self.keys)

    def is_exact(self, order: Sequence[int]) -> bool:
        """Whether what is added up in this order, with the secrets that are then opened, is what these parties add."""
        seeds = {i: of.b[0] if i in order else of.s[0] for i, of in enumerate(self.dealt)}
        lifted = masks.unmask_sum(self.p, CONTEXT, {i: self.y[i] for i in order}, seeds, self.keys)
        return lifted == self.p.ring.add_vectors(*(self.z[i] for i in order))


def session(t: int, D: int) -> Session:
    """Names are in another order than parties."""
    return Session(Parameters(("Zoe", "Ann", "Max", "Bea"), t, D, ((Block(3, "none"),),)))


def test_masks_cancel_for_any_survivors_in_any_order() -> None:
    found = session(1, 1)
    assert all(found.is_exact(order) for order in ORDERS)


def test_where_nobody_may_vanish_they_cancel_in_any_order_of_all_and_for_nobody_less() -> None:
    found = session(3, 0)
    assert [found.is_exact(order) for order in ORDERS] == [len(order) == 4 for order in ORDERS]


@pytest.mark.parametrize(("t", "D"), [(1, 1), (3, 0)])
def test_masks_that_both_of_a_pair_add_are_told_apart(t: int, D: int, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = masking.combined
    monkeypatch.setattr(masking, "combined", lambda plus, minus, *rest: honest([*plus, *minus], [], *rest))
    broken = session(t, D)
    assert not any(broken.is_exact(order) for order in ORDERS)


def p_value(words: Vector) -> float:
    """That the high bytes of these words of 16 bits are uniform, and the low bytes; the smaller (chi-square)."""
    parts = np.divmod(np.array(words), 256)
    return min(float(scipy.stats.chisquare(np.bincount(part, minlength=256)).pvalue) for part in parts)


def two(length: int = 16_384) -> Session:
    return Session(Parameters(("P1", "P2"), 1, 0, ((Block(length, "none"),),), 16))


def test_one_message_is_uniform_whatever_it_hides(monkeypatch: pytest.MonkeyPatch) -> None:
    found = two()
    for number in (0, 1, 0x7FFF):
        assert p_value(found.blinded(0, (number,) * found.p.length(0))) > 1e-3
    honest = masking.closed_mask

    def short(*given: object) -> bytes:
        """Twin: words of 15 bits."""
        return bytes(x & 127 if i % 2 == 0 else x for i, x in enumerate(honest(*given)))  # type: ignore[arg-type]

    monkeypatch.setattr(masking, "closed_mask", short)
    assert p_value(found.blinded(0, (0,) * found.p.length(0))) < 1e-6


def test_what_may_be_opened_is_no_closed_pair() -> None:
    with refused("opening.no_closed_pair", error=LocalError):
        _ = Vault(b"", b"", (), (Secrets(bytes(32), bytes(32), ()),)).pairs


def test_one_place_makes_closed_secrets_and_one_expands_them() -> None:
    """In the whole protocol; the broken twin is a seed that is called closed where it is dealt."""
    source = {path.stem: path.read_text(encoding="utf-8") for path in HOME.glob("*.py")}

    def users(texts: dict[str, str], name: str) -> list[tuple[str, int]]:
        return [(module, text.count(name)) for module, text in texts.items() if name in text]

    assert users(source, "ClosedSecret(") == [("dealing", 1)]
    assert users(source, "closed_mask(") == [("masks", 1)]
    assert users(source, "masking.expand") == users(source, "masking.ClosedPairs(") == []
    twin = source["dealing"].replace(
        "(rng.bytes(SEED_BYTES) for _", "(masking.ClosedSecret(rng.bytes(SEED_BYTES)) for _"
    )
    assert users({"dealing": twin}, "ClosedSecret(") != [("dealing", 1)]


def test_where_seeds_may_be_opened_all_that_hides_a_number_is_shake_256() -> None:
    """Of its context, its places and its secret: a proof programs the expansion."""
    found = session(1, 1)
    p = found.p
    for i, of in enumerate(found.dealt):
        labels = [(1, b"smc-dp sum self\0" + CONTEXT + i.to_bytes(2, "big") + of.b[0])]
        for j in set(EVERYBODY) - {i}:
            places = b"".join(place.to_bytes(2, "big") for place in sorted((i, j)))
            agreed = masking.agree(of.s[0], found.keys[j])
            labels.append((1 if i < j else -1, b"smc-dp sum pair\0" + CONTEXT + places + agreed))
        y = list(found.z[i])
        for sign, label in labels:
            raw = hashlib.shake_256(label).digest(len(y) * p.width)
            for place in range(len(y)):
                y[place] += sign * int.from_bytes(raw[place * p.width : (place + 1) * p.width], "big")
        assert found.y[i] == p.ring.vector(y)


def test_masks_of_a_stream_cipher_are_bound_to_all_that_they_stand_for() -> None:
    """To the context, to both places and to the sum; both ends have the same."""
    found = session(3, 0)
    size = (3, 8)
    mask = masking.closed_mask(CONTEXT, found.pairs[0], 2, *size)
    after = [masking.closed_after(pairs) for pairs in found.pairs]
    assert mask == masking.closed_mask(CONTEXT, found.pairs[2], 0, *size)
    assert masking.closed_mask(CONTEXT, after[0], 2, *size) == masking.closed_mask(CONTEXT, after[2], 0, *size)
    assert mask != masking.closed_mask(CONTEXT, after[0], 2, *size)
    label = b"smc-dp sum closed\0" + CONTEXT + b"\0\0\0\2" + masking.agree(found.closed[0].secret, found.keys[2])
    assert mask == masking.expand(hashlib.sha256(label).digest(), *size)
    for nobody in (0, 3):
        pairs = masking.closed_pairs(masking.ClosedSecret(bytes(32)), 0, [*found.keys[:3], bytes(32)])
        with refused("mask_key.not_usable", error=DecodeError):
            masking.closed_mask(CONTEXT, pairs, nobody, *size)
