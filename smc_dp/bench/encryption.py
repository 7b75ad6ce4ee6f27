"""Paillier encryptions and keys over those of phe, taken in turn in one run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import phe

from protocols.arithmetic.rng import Stream
from protocols.crypto import paillier
from smc_dp.bench.clocks import CpuSeconds, agreed, clock, side_by_side, timed
from smc_dp.bench.goals import GoalRow, HearStep, at_least, at_most

GROUP = "encrypt"
FULL, QUICK = (2048, 3072), (512,)
SHORT = {2048: (45.0, 50.0), 3072: (80.0, 90.0), 512: (45.0, 50.0)}  # public side, owner
LONG = 4.0
_TRIES, _QUICK_TRIES = 30, 4
_KEYS, _QUICK_KEYS = 24, 2  # a single key takes anything from half to twice the mean
_PLAIN = 1 << 40
_WARM, _QUICK_WARM = 520, 10  # uses of a key before it is timed: by then its tables are those of a run of some size


def rows(quick: bool, hear: HearStep) -> Iterator[GoalRow]:
    """Both sides of a key, with exponents of full length, and the making of keys."""
    tries, made = (_QUICK_TRIES, _QUICK_KEYS) if quick else (_TRIES, _KEYS)
    for bits in QUICK if quick else FULL:
        hear(f"encrypting under {bits} bits")
        yield from _encryptions(bits, tries, quick)
        hear(f"making keys of {bits} bits")
        yield _keys(bits, made, quick)


def _encryptions(bits: int, tries: int, quick: bool) -> Iterator[GoalRow]:
    rng, uses = Stream.from_system(), _QUICK_WARM if quick else _WARM
    made = paillier.generate(bits, rng)
    for exponents in paillier.EXPONENTS:
        public = paillier.PublicKey(made.public.n, exponents)
        owner = paillier.PrivateKey(public, made.p, made.q)
        goals = SHORT[bits] if exponents == "short" else (LONG, LONG)
        for side, encrypt, least in (("public side", public.encrypt, goals[0]), ("owner", owner.encrypt, goals[1])):
            warm, _ = timed(lambda: [encrypt(0, rng) for _ in range(uses)])  # noqa: B023  (called at once)
            ours, theirs = encryption_seconds(owner, partial(encrypt, rng=rng), rng, tries)
            parts = {"ours_seconds": ours, "phe_seconds": theirs, "ours_with_making_tables_seconds": warm / uses}
            what, note = (
                f"encrypt over phe, {side}, {exponents} exponents, {bits} bits",
                f"after {uses} uses of the key",
            )
            yield GoalRow(GROUP, what, at_least(least), theirs / ours, parts, note, quick=quick)


def encryption_seconds(
    key: paillier.PrivateKey, encrypt: Callable[[int], paillier.Ciphertext], rng: Stream, tries: int
) -> tuple[float, float]:
    """Prices of one encryption, ours and phe's under the same key; raises DisagreeError unless all of both decrypt."""
    numbers = [rng.below(_PLAIN) for _ in range(tries + 1)]
    ours: list[paillier.Ciphertext] = []
    theirs: list[phe.EncryptedNumber] = []
    public = key.public.phe
    prices = side_by_side(
        lambda i: ours.append(encrypt(numbers[i])), lambda i: theirs.append(public.encrypt(numbers[i])), tries
    )
    agreed("our encryption", [key.phe.raw_decrypt(c.value) for c in ours], numbers)
    agreed("our encryption, twice the same ciphertext", len({c.value for c in ours}), len(numbers))
    agreed("phe's encryption", [key.phe.decrypt(c) for c in theirs], numbers)
    return prices


def _keys(bits: int, count: int, quick: bool) -> GoalRow:
    """In turn, and added up: the mean, for a median would not show how long the longest take."""
    rng, seconds = Stream.from_system(), CpuSeconds()
    for _ in range(count):
        with clock(seconds, "ours"):
            ours = paillier.generate(bits, rng)
        with clock(seconds, "phe"):
            theirs, _ = phe.generate_paillier_keypair(n_length=bits)
        agreed("a key's length", ours.public.bits, theirs.n.bit_length())
    parts = {f"{who}_seconds": taken / count for who, taken in seconds.items()}
    what, note = f"key generation over phe's, {bits} bits", f"mean of {count} keys each"
    return GoalRow(GROUP, what, at_most(1), seconds["ours"] / seconds["phe"], parts, note, quick=quick)
