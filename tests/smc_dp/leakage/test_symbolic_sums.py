"""Shared secrets, masks, signatures and vanishing in symbolic runs: small cases, and the letters of real runs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from protocols import secure_sum
from protocols.arithmetic.rng import Stream
from protocols.crypto import masking
from protocols.crypto.identity import Identity
from protocols.runtime.envelope import STAGE_END
from protocols.runtime.session import PUBLIC_NAME, Session
from protocols.runtime.simulate import DropOutAfter, Setting, simulate
from protocols.secure_sum import ideal, leakage_model
from smc_dp.leakage.symbolic.coins import Coins, Tape
from smc_dp.leakage.symbolic.engine import run_symbolically
from smc_dp.leakage.symbolic.form import Form, Symbol
from smc_dp.leakage.symbolic.masks import Masking, ideal_sharing
from smc_dp.leakage.symbolic.patterns import EVERYBODY_STAYS, Pattern, dropout_patterns
from smc_dp.leakage.symbolic.trace import GREETED, Trace
from smc_dp.leakage.symbolic.worlds import World

WORLD = World((), (0, 1, 2))
P = leakage_model.sample_session(3)
WORDS = Stream.insecure_from_seed("words")


def tape() -> Tape:
    return Tape(WORLD, (), ())


# Strings.


@pytest.mark.parametrize("threshold", [1, 2, 3])
def test_a_shared_secret_opens_with_so_many_shares_and_no_fewer(threshold: int) -> None:
    notes = tape()
    rng = Coins(notes, "P1", "here")
    secret = rng.bytes(32)
    shares = ideal_sharing(notes).deal(secret, threshold, 3, rng)
    for count in range(4):
        theirs = notes.strings.reached({"P2"}, set(shares[:count]))
        assert (secret in theirs) == (count >= threshold)
        if count:
            opened = ideal_sharing(notes).combine({x: shares[x - 1] for x in range(1, count + 1)})
            assert (opened == secret) == (count >= threshold)
    if threshold > 1:
        assert ideal_sharing(notes).combine({1: shares[1], 2: shares[0]}) != secret  # at the wrong places


def test_who_knows_the_string_of_a_mask_knows_the_mask() -> None:
    notes = tape()
    crypto, mine, other = Masking(notes), Coins(notes, "P1", "here"), Coins(notes, "P2", "here")
    s, peer, b = mine.bytes(32), other.bytes(32), mine.bytes(32)
    keys = [crypto.public_key(x) for x in (s, peer)]
    agreed = crypto.agree(s, keys[1])
    assert agreed == crypto.agree(peer, keys[0])
    pair, own = crypto.pair_mask(b"at", 0, 1, agreed, 2, 8), crypto.self_mask(b"at", 0, b, 2, 8)
    assert names(pair) == names(crypto.pair_mask(b"at", 1, 0, agreed, 2, 8))
    assert not names(pair) & names(crypto.pair_mask(b"later", 0, 1, agreed, 2, 8))
    assert not names(own) & names(crypto.self_mask(b"at", 1, b, 2, 8))
    known = {
        "owner": ({"P1"}, set(), names(pair) | names(own)),
        "the other end": ({"P2"}, set(), names(pair)),
        "whoever reads the seed": ({"P3"}, {b}, names(own)),
        "whoever reads both mask keys": ({"P3"}, set(keys), set()),
        "whoever opens one of them": ({"P3"}, {peer}, names(pair)),
    }
    for who, (members, read, wanted) in known.items():
        found = {s.name for s in notes.coins_of(notes.strings.reached(members, read))}
        assert found & (names(pair) | names(own)) == wanted, who


def names(mask: Any) -> set[str]:
    return {s.name for word in mask for s in Form.of(word).terms}


def test_masks_add_up_as_real_ones_do() -> None:
    notes = tape()
    crypto, rng = Masking(notes), Coins(notes, "P1", "here")
    masks = [crypto.self_mask(b"at", i, rng.bytes(32), 3, 2) for i in range(4)]
    drawn = {name: WORDS.bits(16) for name in sorted(set().union(*map(names, masks)))}
    real = [b"".join(drawn[Form.of(w).text].to_bytes(2, "big") for w in mask) for mask in masks]
    got = crypto.combined(masks[:3], masks[2:], 3, 2)
    values = [sum(c * drawn[s.name] for s, c in Form.of(x).terms.items()) % 2**16 for x in got]
    assert tuple(values) == masking.combined(real[:3], real[2:], 3, 2)


def test_numbers_can_be_tried_by_who_has_all_else_that_was_hashed() -> None:
    notes = tape()
    strings = notes.strings
    x = Form.of(Symbol("x", 0, 255, "input", "P1"))
    salt = Coins(notes, "P1", "here").bytes(32)
    plain, salted = strings.digest(b"a" + strings.digest_of([x])), strings.digest(salt + strings.digest_of([x]))
    signature = strings.signature("P1", [strings.digest_of([x])])
    hashed = strings.digest(signature)
    for read, tried in (({plain}, 1), ({salted}, 0), ({salted, salt}, 1), ({signature}, 1), ({hashed}, 0), (set(), 0)):
        assert len(strings.guessable_numbers(strings.reached({"P2"}, read))) == tried, read


# Vanishing, against real runs.


def symbolic(pattern: Pattern = EVERYBODY_STAYS) -> Trace:
    return run_symbolically(secure_sum.PROGRAM, ideal.MODEL, P, WORLD, pattern=pattern)


def really(pattern: Pattern) -> list[tuple[str, str, str, str]]:
    """Sender, addressee, kind and stage of everything but greetings and ends of stages that a real run sends."""
    names = tuple(secure_sum.participants(P))
    identities = {name: Identity.generate(Stream.insecure_from_seed(name)) for name in names}
    public = {name: identity.public for name, identity in identities.items()}
    session = Session(secure_sum.PROGRAM, P, public, bytes(32))
    seeds = {name: Stream.insecure_from_seed(name) for name in names}
    given = ideal.inputs(P, lambda name, bits: 1)
    vanish = {pattern.name: DropOutAfter(pattern.message_number - 1)} if pattern.name else {}
    sent = simulate(session, identities, seeds, given, Setting(drop_outs=vanish)).transcript.envelopes
    return [(e.sender, e.to, e.kind, e.stage) for e in sent if e.kind not in ("Hello", STAGE_END)]


EVERY = [EVERYBODY_STAYS, *(p for p in dropout_patterns(symbolic().sent, ("P1", "P3")) if not p.late)]


FEW = [p if i in (0, 6, 14) else pytest.param(p, marks=pytest.mark.slow) for i, p in enumerate(EVERY)]


@pytest.mark.parametrize("pattern", FEW, ids=str)
def test_a_symbolic_run_sends_what_a_real_one_does(pattern: Pattern) -> None:
    here = [(s.sender, s.to, type(s.message).__name__, s.stage) for s in symbolic(pattern).sent if s.stage != GREETED]
    assert Counter(here) == Counter(really(pattern))
    for sender in P.parties:
        assert [s for s in here if s[0] == sender] == [s for s in really(pattern) if s[0] == sender]


def test_who_is_late_is_left_out_and_comes_back() -> None:
    late = next(p for p in dropout_patterns(symbolic().sent, ("P3",)) if p.late and p.place == "Masked in sum0")
    sent = [(s.sender, s.to, type(s.message).__name__, s.stage) for s in symbolic(late).sent]
    assert ("P3", "charlie", "Masked", "sum0") in sent
    assert ("P3", "charlie", "Signed", "sum0") not in sent
    assert ("P3", "charlie", "Signed", "sum1") in sent
    assert sum(to == PUBLIC_NAME for _, to, kind, _ in sent if kind == "PublishedSum") == 1
